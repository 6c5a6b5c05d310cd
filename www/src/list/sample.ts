// A random sample that is the same each time: of a sorted file the first thousand rows would be all of one kind.

/** Up to `most` of the items, drawn at random, in their own order (selection sampling, Knuth); all of them where they are no more. */
export function sampleOf<T>(items: readonly T[], most: number, seed = 1): readonly T[] {
  if (items.length <= most) return items;
  const random = mulberry32(seed);
  const taken: T[] = [];
  items.forEach((item, i) => {
    if (random() * (items.length - i) < most - taken.length) taken.push(item);
  });
  return taken;
}

/** Numbers from 0 to 1 (Tommy Ettinger's mulberry32). */
export function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
