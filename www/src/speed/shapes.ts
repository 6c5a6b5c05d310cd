// What is measured: batches of texts of given lengths.

/** A batch: how many tokens each of its texts has, `[CLS]` and `[SEP]` included. */
export interface Shape {
  readonly name: string;
  readonly lengths: readonly number[];
}

const alike = (texts: number, tokens: number): number[] => Array.from({ length: texts }, () => tokens);

export const SHAPES: readonly Shape[] = [
  { name: "a", lengths: alike(2, 25) },
  { name: "b", lengths: alike(32, 25) },
  { name: "c", lengths: alike(32, 128) },
  // 8 to 128 tokens, neither sorted nor alike: 5 and 32 have no factor in common.
  { name: "d", lengths: Array.from({ length: 32 }, (_, i) => 8 + Math.round((120 * ((i * 5) % 32)) / 31)) },
];

/** Common words, each one token of an English WordPiece vocabulary. */
const WORDS = "the of and to in a was he is for on as with his by at from her she it that were an are this".split(" ");

/** A text of so many tokens; texts of one batch differ. */
export function textOf(tokens: number, seed: number): string {
  return Array.from({ length: tokens - 2 }, (_, i) => WORDS[(seed * 7 + i * (1 + (seed % 3))) % WORDS.length]).join(" ");
}

/**
 * Operations of a forward pass of the encoder that ships (6 layers of width 384, 1536 in between): two for each weight and
 * token, and the two products of attention, whose cost grows with the square of a text's length.
 */
export function operations(lengths: readonly number[]): number {
  const [layers, width] = [6, 384];
  const weights = layers * (4 * width * width + 2 * width * 4 * width);
  return lengths.reduce((sum, n) => sum + 2 * weights * n + 4 * layers * width * n * n, 0);
}
