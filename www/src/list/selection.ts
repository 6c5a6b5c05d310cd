// What is selected of the list, and the text that is at hand: under the pointer, or where the keyboard has got to on the map.

import { batch, computed, signal } from "@preact/signals";
import { grouped } from "./grouping";

/** A text that is at hand, by its place in the list. */
export interface AtHand {
  readonly index: number;
  /** What is reached by the keyboard is spoken. */
  readonly by: "pointer" | "keys" | "list";
}

interface Picked {
  readonly lines: readonly string[];
  readonly places: ReadonlySet<number>;
  /** The one that was picked last, and is to be seen in the list. */
  readonly last: number | undefined;
}

const picked = signal<Picked>({ lines: [], places: new Set(), last: undefined });
const none: ReadonlySet<number> = new Set();
const current = computed(() => (picked.value.lines === grouped.value?.lines ? picked.value : undefined));

/** Places of what is selected. They stay selected under another condition. */
export const selected = computed(() => current.value?.places ?? none);
/** The text that was picked by itself. */
export const revealed = computed(() => current.value?.last);
export const atHand = signal<AtHand | undefined>(undefined);
/** A value of the column by which the map is coloured, that is pointed at in the legend. */
export const pointedValue = signal<number | undefined>(undefined);

/** Selects these alone, or adds them; one that is selected already is dropped again by `add`. */
export function select(places: readonly number[], add = false): void {
  const lines = grouped.peek()?.lines;
  if (!lines) return;
  const before = add ? selected.peek() : none;
  const next = new Set(before);
  const [only] = places.length === 1 ? places : [];
  if (only !== undefined && before.has(only)) next.delete(only);
  else for (const place of places) next.add(place);
  picked.value = { lines, places: next, last: only !== undefined && next.has(only) ? only : undefined };
}

export const clearSelection = (): void =>
  batch(() => {
    picked.value = { lines: [], places: none, last: undefined };
  });

/** What is selected, in the order of the list. */
export const selectedLines = computed(() => [...selected.value].sort((a, b) => a - b).map((place) => grouped.value?.lines[place] ?? ""));
