// Which pairs stand on the worksheet beside the page's own, and what the model answers to them: paper waits for nothing.

import { effect, signal } from "@preact/signals";
import type { Comparison } from "caselens";
import { ask, comparisonOf } from "../state/answers";
import { encoder, lens } from "../state/engine";
import { examples } from "../state/examples";
import { isAbort } from "../state/problem";

/** The picked examples, by their places. */
export const picked = signal<ReadonlySet<number>>(new Set());

/** What the model says of an example's pair: without a condition, and under each of its own. */
interface Answered {
  readonly plain: number | undefined;
  readonly under: readonly (Comparison | undefined)[];
}
/** By the example's place. */
export const answered = signal<ReadonlyMap<number, Answered>>(new Map());

export function pick(place: number, on: boolean): void {
  const next = new Set(picked.value);
  if (on) next.add(place);
  else next.delete(place);
  picked.value = next;
}

/** Asks the model about each pair that is picked, one after the other. */
export function startSheet(): void {
  effect(() => {
    encoder.value;
    answered.value = new Map(); // they were another encoder's
  });
  effect(() => {
    const by = lens.value;
    const wanted = [...picked.value].filter((place) => !answered.peek().has(place));
    if (!by || wanted.length === 0) return undefined;
    const abort = new AbortController();
    void (async () => {
      for (const place of wanted) {
        const example = examples[place];
        if (!example) continue;
        const found = (await ask(by, example.sentences, example.conditions, { signal: abort.signal })).map(comparisonOf);
        answered.value = new Map([...answered.peek(), [place, { plain: found[0]?.unconditional, under: found }]]);
      }
    })().catch((error: unknown) => {
      // The sheet says where it has no answers.
      if (!isAbort(error)) console.info(error);
    });
    return () => abort.abort();
  });
}
