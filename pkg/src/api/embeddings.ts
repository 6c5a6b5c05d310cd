// Many embeddings as one object: one block of numbers that can be kept, sent and compared as it is.

import type { EmbeddingNumbers, EmbeddingsData, EmbeddingType } from "../types.js";
import { checkChoice, invalid } from "./check.js";
import { arrayOf, type TypedArray } from "./realm.js";

/** The arrays that numbers of each form are kept in. */
const ARRAYS = { float32: Float32Array, int8: Int8Array, binary: Uint8Array } as const;
const TYPES = Object.keys(ARRAYS) as EmbeddingType[];

/** Options that say in which form embeddings are given. */
export interface VectorOptions<T extends EmbeddingType = EmbeddingType> {
  /**
   * Keeps the first `dims` dimensions alone, and gives embeddings of unit length that length again (Matryoshka embeddings).
   *
   * @defaultValue all, `info.dim`
   */
  dims?: number | undefined;
  /**
   * How the numbers are kept.
   *
   * - `"float32"`: 4 bytes a dimension.
   * - `"int8"`: a number is `scale · byte`, bytes from −127 to 127; one scale an embedding, its largest magnitude / 127.
   * - `"binary"`: one bit a dimension, 1 above 0; eight to a byte, the first in the highest bit, zeros at the end. As
   *   `numpy.packbits` and `"ubinary"` of sentence-transformers have it.
   *
   * @defaultValue `"float32"`
   */
  dtype?: T | undefined;
}

export const checkDtype = <T extends EmbeddingType>(value: T | undefined): T =>
  checkChoice<EmbeddingType>("dtype", value, TYPES, "float32") as T;

/**
 * Embeddings of several texts, in their order: an array of rows that are views of one block of numbers.
 *
 * @example
 * ```ts
 * const embeddings = await encoder.embed(["A cat sleeps.", "A kitten naps.", "It rains."]);
 * embeddings.similarity(0, 1); // cosine
 * const [first] = embeddings; // or embeddings[0]: a Float32Array
 * ```
 */
export class Embeddings<T extends EmbeddingType = EmbeddingType> extends Array<EmbeddingNumbers[T]> implements EmbeddingsData<T> {
  /** How the numbers are kept. */
  readonly dtype: T;
  /** All rows, one after the other; see {@link EmbeddingsData.data}. */
  readonly data: EmbeddingNumbers[T];
  /** `"int8"` alone: what each row's bytes are multiplied by. */
  readonly scales: Float32Array | undefined;
  /** How many embeddings there are. */
  readonly count: number;
  /** How many dimensions each has. */
  readonly dims: number;
  /** How probable it is that each sentence says anything about its condition; see {@link EmbeddingsData.mentioned}. */
  readonly mentioned: Float32Array | undefined;
  /** How many tokens at the end of each text were left out; see {@link EmbeddingsData.truncated}. */
  readonly truncated: Uint32Array | undefined;
  /** How many tokens of each text the encoder does not know; see {@link EmbeddingsData.unknown}. */
  readonly unknown: Uint32Array | undefined;

  /**
   * Takes what an `Embeddings` was kept as; the numbers are not copied.
   *
   * @throws {@link CaseLensError} `invalid-argument` when they do not fit together.
   */
  constructor({ dtype, data, scales, count, dims, mentioned, truncated, unknown }: EmbeddingsData<T>) {
    super();
    this.dtype = checkDtype(dtype);
    const type = ARRAYS[this.dtype];
    const length = count * (dtype === "binary" ? Math.ceil(dims / 8) : dims);
    const numbers = arrayOf<EmbeddingNumbers[EmbeddingType]>(type, data);
    if (numbers?.length !== length) {
      throw invalid(`data of ${count} embeddings with ${dims} dimensions must be a ${type.name} of length ${length}.`);
    }
    this.data = numbers as EmbeddingNumbers[T];
    this.scales = dtype === "int8" ? oneEach(Float32Array, "scales", scales, count) : undefined;
    this.mentioned = mentioned && oneEach(Float32Array, "mentioned", mentioned, count);
    this.truncated = truncated && oneEach(Uint32Array, "truncated", truncated, count);
    this.unknown = unknown && oneEach(Uint32Array, "unknown", unknown, count);
    this.count = count;
    this.dims = dims;
    const width = count > 0 ? length / count : 0;
    for (let i = 0; i < count; i++) this.push(this.data.subarray(i * width, (i + 1) * width) as EmbeddingNumbers[T]);
  }

  /** What `map`, `filter` and the like give: plain arrays. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  /**
   * An embedding as numbers, of length `dims`. `"float32"`: the row itself, a view of `data`; `"int8"`: the bytes times their
   * scale; `"binary"`: ±1 / √dims.
   */
  row(i: number): Float32Array {
    const part = this.#part(i);
    if (this.dtype === "float32") return part as Float32Array;
    if (this.dtype === "int8") return Float32Array.from(part, (byte) => byte * (this.scales?.[i] ?? 0));
    const one = 1 / Math.sqrt(this.dims);
    return Float32Array.from({ length: this.dims }, (_, d) => (((part[d >> 3] as number) >> (7 - (d & 7))) & 1 ? one : -one));
  }

  /**
   * How alike two embeddings are, −1 to 1: the cosine of row `i` here and row `j` of `other` (here, where absent), computed
   * in the form they are kept in. For `"binary"` that is 1 − 2 · (bits that differ) / dims.
   *
   * @throws {@link CaseLensError} `invalid-argument` when there is no such row, or `other` is of another form or width.
   */
  similarity(i: number, j: number, other: Embeddings<T> = this): number {
    if (other.dtype !== this.dtype || other.dims !== this.dims) {
      throw invalid(`${this.dtype} embeddings of ${this.dims} dimensions cannot be compared with ${other.dtype} ones of ${other.dims}.`);
    }
    const [a, b] = [this.#part(i), other.#part(j)];
    return this.dtype === "binary" ? 1 - (2 * differing(a, b)) / this.dims : cosine(a, b);
  }

  #part(i: number): EmbeddingNumbers[EmbeddingType] {
    const part = Number.isInteger(i) ? this[i] : undefined;
    if (!part) throw invalid(`There is no embedding ${i}: they are 0 to ${this.count - 1}.`);
    return part;
  }
}

/** Numbers, one for each of `count` embeddings. */
function oneEach<A extends Float32Array | Uint32Array>(type: TypedArray<A>, what: string, value: unknown, count: number): A {
  const numbers = arrayOf(type, value);
  if (numbers?.length !== count) throw invalid(`${what} must be a ${type.name} of length ${count}, one number for each embedding.`);
  return numbers;
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (let d = 0; d < a.length; d++) {
    const [x, y] = [a[d] as number, b[d] as number];
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa > 0 && bb > 0 ? Math.max(-1, Math.min(1, dot / Math.sqrt(aa * bb))) : 0;
}

/** How many bits of two rows differ. */
function differing(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let bits = 0;
  for (let k = 0; k < a.length; k++) {
    for (let rest = (a[k] as number) ^ (b[k] as number); rest !== 0; rest &= rest - 1) bits++;
  }
  return bits;
}
