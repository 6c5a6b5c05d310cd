// A gallery's items by their pair of sentences: each pair is shown once, with its conditions.

import type { GalleryItem } from "caselens";

/** Two sentences under one condition or more. */
export interface Pair {
  readonly sentence1: string;
  readonly sentence2: string;
  readonly items: readonly PairItem[];
}

export interface PairItem extends GalleryItem {
  /** Its place in the gallery. */
  readonly index: number;
}

/** In the order of each pair's first item. */
export function pairsOf(items: readonly GalleryItem[]): Pair[] {
  const found = new Map<string, { sentence1: string; sentence2: string; items: PairItem[] }>();
  for (const [index, item] of items.entries()) {
    const { sentence1, sentence2 } = item;
    const key = JSON.stringify([sentence1, sentence2]);
    const pair = found.get(key) ?? { sentence1, sentence2, items: [] };
    pair.items.push({ ...item, index });
    found.set(key, pair);
  }
  return [...found.values()];
}
