// Long calls are done in chunks, so that others have their turn in between, and an abort is heard; and they are shared out in
// chunks: how large they are, and how what they give becomes one result.

import type { Device, EmbeddingNumbers, EmbeddingsData, EmbeddingType } from "./types.js";

/** Conditions in one engine call of `compare`. */
export const COMPARE_CHUNK = 8;
/** Texts in one engine call of `embed` and `encode`. */
export const EMBED_CHUNK = 32;

/**
 * How many of `items` a worker takes at a time: a chunk, or less where that leaves workers idle (two parts for each let a
 * fast one do more), but never under a quarter of a chunk. What is no more than half a chunk is not shared at all. An
 * embedding does not depend on the part it is in.
 */
export function partSize(items: number, chunk: number, threads: number): number {
  if (items <= chunk / 2) return chunk;
  return Math.min(chunk, Math.max(chunk / 4, Math.ceil(items / (2 * threads))));
}

/**
 * Characters in one engine call, where that is more than one text: a short call waits for a chunk of a long one, and a tenth of a
 * second is as long as anybody does. A processor reads so many in less; a GPU more, and small chunks would leave it idle.
 */
export const CHARACTERS: Record<Device, number> = { wasm: 600, webgpu: 6000 };

/**
 * The chunks of a list, each with the place of its first item: of `size` items at most, and of so many that their lengths
 * come to no more than `room`, but of one at least.
 */
export function* chunksOf<T>(
  items: readonly T[],
  size: number,
  room: number,
  lengthOf: (item: T) => number,
): Generator<{ readonly chunk: T[]; readonly at: number }> {
  for (let at = 0; at < items.length; ) {
    let end = at;
    let length = 0;
    while (end < Math.min(items.length, at + size)) {
      length += lengthOf(items[end] as T);
      if (end > at && length > room) break;
      end++;
    }
    yield { chunk: items.slice(at, end), at };
    at = end;
  }
}

type Numbers = Float32Array | Int8Array | Uint8Array | Uint32Array;

/** The arrays of numbers in each form. */
export const ARRAYS = { float32: Float32Array, int8: Int8Array, binary: Uint8Array } as const;

/** What is known of each embedding besides, a number a row, and the arrays of these numbers. */
export const EACH = { scales: Float32Array, mentioned: Float32Array, truncated: Uint32Array, unknown: Uint32Array } as const;
type Each = keyof typeof EACH;
const KINDS = Object.keys(EACH) as Each[];

/** Something made of each kind of number that is known; undefined where it is not. */
export function each<V, R>(from: { readonly [K in Each]?: V | undefined }, make: (numbers: V, what: Each) => R): { [K in Each]: R | undefined } {
  return Object.fromEntries(KINDS.map((what) => [what, from[what] && make(from[what], what)])) as { [K in Each]: R | undefined };
}

/** The numbers of all `parts`, one after the other, in an array of their own. */
function concatenated<A extends Numbers>(make: new (length: number) => A, parts: readonly Numbers[]): A {
  const whole = new make(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Embeddings made in several parts, as one. */
export function joined(parts: readonly EmbeddingsData[]): EmbeddingsData {
  const [first] = parts;
  if (!first || parts.length === 1) return first ?? NONE;
  const known = KINDS.filter((what) => parts.some((part) => part[what]));
  return {
    dtype: first.dtype,
    dims: first.dims,
    length: parts.reduce((sum, { length }) => sum + length, 0),
    data: concatenated<EmbeddingNumbers[EmbeddingType]>(ARRAYS[first.dtype], parts.map(({ data }) => data)),
    ...Object.fromEntries(known.map((what) => [what, concatenated<Numbers>(EACH[what], parts.map((part) => part[what] ?? unknownOf(what, part.length)))])),
  };
}

/** What stands for numbers that a part does not have: NaN, or no tokens. */
const unknownOf = (what: Each, length: number): Numbers => (what === "mentioned" ? new Float32Array(length).fill(NaN) : new EACH[what](length));

const NONE: EmbeddingsData = { dtype: "float32", data: new Float32Array(0), length: 0, dims: 0 };

/** No embeddings, of a form. */
export function noEmbeddings(dtype: EmbeddingType, dims: number): EmbeddingsData {
  if (dtype === "float32") return { ...NONE, dtype, dims };
  const data = dtype === "int8" ? new Int8Array(0) : new Uint8Array(0);
  return { dtype, dims, data, length: 0, scales: dtype === "int8" ? new Float32Array(0) : undefined };
}
