// Conditions worth adding, found when nothing else is to be done: the comparison itself always goes first.

import { computed, effect, signal } from "@preact/signals";
import type { Suggestion } from "caselens";
import { bothTyped, failure, pending, slow } from "./answers";
import { encoder, lens } from "./engine";
import { sentences } from "./fields";
import { view } from "./route";

const pauseMs = 1000;
const limit = 8;

interface Suggested {
  /** The pair, and the encoder that was asked. */
  readonly pair: string;
  readonly list: readonly Suggestion[];
}

export const suggested = signal<Suggested | undefined>(undefined);
/** Whether there are none because looking for them would take this device too long. */
export const leftOut = computed(() => slow.value === true && bothTyped.value && !suggested.value);

/** Whether there are none yet. */
export const looking = computed(() => lens.value !== undefined && bothTyped.value && !failure.value && !suggested.value && slow.value === false);

/** How often it failed for a pair. */
const failed = signal({ pair: "", times: 0 });

const pairNow = (): readonly [string, string] => [sentences[0].value, sentences[1].value];

export function startSuggestions(): void {
  effect(() => {
    const [by, pair] = [lens.value, pairNow()];
    const key = JSON.stringify([...pair, encoder.value]);
    if (suggested.peek()?.pair !== key) suggested.value = undefined;
    const busy = pending.value || failure.value !== undefined || view.value !== "compare";
    if (!by || busy || !bothTyped.value || suggested.peek() || slow.value !== false) return undefined;
    const times = failed.value.pair === key ? failed.value.times : 0;
    const own = new AbortController();
    const timer = setTimeout(() => {
      by.suggest(...pair, { limit, signal: own.signal }).then(
        (list) => {
          if (!own.signal.aborted) suggested.value = { pair: key, list };
        },
        () => {
          // A page without suggestions is a whole page: it is tried again, ever less often.
          if (!own.signal.aborted) failed.value = { pair: key, times: times + 1 };
        },
      );
    }, pauseMs * 4 ** times);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  });
}
