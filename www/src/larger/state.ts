// What the view “Larger model” shows: the stored answers, and what the page's own model says to the same pairs.
//
// Both are fetched when the view is first opened; the own answers come pair by pair, and again from another lens.

import { batch, effect, signal, untracked } from "@preact/signals";
import { type CaseLens, type Comparison, Gallery } from "caselens";
import { ask, comparisonOf } from "../state/answers";
import { lens, noteDevice, overcome } from "../state/engine";
import { asProblem, isAbort, type Problem } from "../state/problem";
import { view } from "../state/route";
import { type Pair, pairsOf } from "./pairs";

export interface Shown {
  readonly gallery: Gallery;
  readonly pairs: readonly Pair[];
}

export const shown = signal<Shown | undefined>(undefined);
/** The own model's answers by the item's place in the gallery; null where it cannot read the texts. */
export const own = signal<ReadonlyMap<number, Comparison | null>>(new Map());
/** Why the stored answers cannot be shown. */
export const problem = signal<Problem | undefined>(undefined);
/** Why the own answers are missing. */
export const ownProblem = signal<Problem | undefined>(undefined);

let loading = false;

export async function loadLarger(): Promise<void> {
  if (loading || shown.peek()) return;
  loading = true;
  problem.value = undefined;
  try {
    const gallery = await Gallery.load("bundle/");
    shown.value = { gallery, pairs: pairsOf(gallery.items) };
  } catch (error) {
    problem.value = asProblem(error);
  } finally {
    loading = false;
  }
}

async function compareAll(by: CaseLens, pairs: readonly Pair[], { signal }: AbortController): Promise<void> {
  try {
    for (const { sentence1, sentence2, items } of pairs) {
      const answers = await ask(by, [sentence1, sentence2], items.map(({ condition }) => condition), { signal });
      if (signal.aborted) return;
      const found = items.map(({ index }, i) => [index, comparisonOf(answers[i]) ?? null] as const);
      own.value = new Map([...own.peek(), ...found]);
    }
    noteDevice();
  } catch (error) {
    if (signal.aborted || isAbort(error)) return;
    const found = overcome(error, by);
    if (found) ownProblem.value = found;
  }
}

/** Whether the lens has still to be asked. */
const isOpen = ({ items }: Pair): boolean => items.some(({ index }) => !own.peek().has(index));

export function startLarger(): void {
  let answering: CaseLens | undefined;
  effect(() => {
    if (view.value === "larger") untracked(() => void loadLarger());
  });
  effect(() => {
    const by = lens.value;
    const pairs = shown.value?.pairs;
    if (!by || !pairs || view.value !== "larger") return undefined;
    return untracked(() => {
      const abort = new AbortController();
      batch(() => {
        if (answering !== by) own.value = new Map();
        ownProblem.value = undefined;
      });
      answering = by;
      void compareAll(by, pairs.filter(isOpen), abort);
      return () => abort.abort();
    });
  });
}
