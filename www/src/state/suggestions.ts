// Conditions worth adding, found when nothing else is to be done: the comparison itself always goes first.

import { effect, signal } from "@preact/signals";
import type { Suggestion } from "caselens";
import { bothTyped, failure, lastMs, pending } from "./answers";
import { lens } from "./engine";
import { sentences } from "./fields";
import { view } from "./route";

const pauseMs = 1000;
/** Suggesting takes some eight comparisons' work. Where one takes longer than this it would never come to an end. */
const slowMs = 2000;
const limit = 8;

export interface Suggested {
  readonly pair: string;
  readonly list: readonly Suggestion[];
}

export const suggested = signal<Suggested | undefined>(undefined);

const pairNow = (): readonly [string, string] => [sentences[0].value, sentences[1].value];

export function startSuggestions(): void {
  effect(() => {
    const [by, pair] = [lens.value, pairNow()];
    const key = JSON.stringify(pair);
    if (suggested.peek()?.pair !== key) suggested.value = undefined;
    const busy = pending.value || failure.value !== undefined || view.value !== "compare";
    if (!by || busy || !bothTyped.value || suggested.peek() || lastMs.peek() === undefined || (lastMs.peek() as number) > slowMs) return undefined;
    const own = new AbortController();
    const timer = setTimeout(() => {
      by.suggest(...pair, { limit, signal: own.signal }).then(
        (list) => {
          if (!own.signal.aborted) suggested.value = { pair: key, list };
        },
        () => {}, // a page without suggestions is a whole page
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  });
}
