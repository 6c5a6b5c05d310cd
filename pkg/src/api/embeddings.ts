// Many embeddings as one object: one block of numbers that can be kept, sent and compared as it is.

import { ARRAYS, EACH, each, joined } from "../chunks.js";
import type { EmbeddingNumbers, EmbeddingsData, EmbeddingType } from "../types.js";
import { arrayOf, type TypedArray } from "../realm.js";
import { areFinite, checkArray, checkChoice, invalid } from "./check.js";

const TYPES = Object.keys(ARRAYS) as EmbeddingType[];

/** Options that say in which form embeddings are given. */
export interface VectorOptions<T extends EmbeddingType = EmbeddingType> {
  /**
   * Keeps the first `dims` dimensions alone, and gives embeddings of unit length that length again (Matryoshka embeddings).
   *
   * @defaultValue all, `info.dims`
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

/** Embeddings as `JSON.stringify` writes them: {@link EmbeddingsData} with its numbers in plain arrays. */
export interface EmbeddingsJSON<T extends EmbeddingType = EmbeddingType>
  extends Omit<EmbeddingsData<T>, "data" | "scales" | "mentioned" | "truncated" | "unknown"> {
  /** See {@link EmbeddingsData.data}. */
  readonly data: readonly number[];
  /** See {@link EmbeddingsData.scales}. */
  readonly scales?: readonly number[] | undefined;
  /** See {@link EmbeddingsData.mentioned}; null stands for NaN. */
  readonly mentioned?: readonly (number | null)[] | undefined;
  /** See {@link EmbeddingsData.truncated}. */
  readonly truncated?: readonly number[] | undefined;
  /** See {@link EmbeddingsData.unknown}. */
  readonly unknown?: readonly number[] | undefined;
}

/**
 * Embeddings of several texts, in their order: rows that are views of one block of numbers. The numbers are meant to stay as
 * they are.
 *
 * @example
 * ```ts
 * const embeddings = await encoder.embed(["A cat sleeps.", "A kitten naps.", "It rains."]);
 * embeddings.similarity(0, 1); // cosine
 * const [first] = embeddings; // or embeddings.at(0): a Float32Array
 * ```
 */
export class Embeddings<T extends EmbeddingType = EmbeddingType> implements EmbeddingsData<T>, Iterable<EmbeddingNumbers[T]> {
  /** How the numbers are kept. */
  readonly dtype: T;
  /** All rows, one after the other; see {@link EmbeddingsData.data}. */
  readonly data: EmbeddingNumbers[T];
  /** `"int8"` alone: what each row's bytes are multiplied by. */
  declare readonly scales: Float32Array | undefined;
  /** How many embeddings there are. */
  readonly length: number;
  /** How many dimensions each has. */
  readonly dims: number;
  /** Name of the encoder that made them; see {@link EmbeddingsData.model}. */
  readonly model: string | undefined;
  /** The condition that all texts were seen under, null for none; see {@link EmbeddingsData.condition}. */
  readonly condition: string | null | undefined;
  /** How probable it is that each sentence says anything about its condition; see {@link EmbeddingsData.mentioned}. */
  declare readonly mentioned: Float32Array | undefined;
  /** How many tokens at the end of each text were left out; see {@link EmbeddingsData.truncated}. */
  declare readonly truncated: Uint32Array | undefined;
  /** How many tokens of each text the encoder does not know; see {@link EmbeddingsData.unknown}. */
  declare readonly unknown: Uint32Array | undefined;
  /** Each row's product with itself, NaN until somebody asks for it. */
  #squares: Float64Array | undefined;

  /**
   * Takes what an `Embeddings` was kept as; the numbers are not copied.
   *
   * @throws {@link CaseLensError} `invalid-argument` when they do not fit together, or hold what is no number.
   */
  constructor(given: EmbeddingsData<T>) {
    const { data, length, dims, model, condition } = given;
    this.dtype = checkDtype(given.dtype);
    const type = ARRAYS[this.dtype];
    const size = length * widthOf(this.dtype, dims);
    const numbers = arrayOf<EmbeddingNumbers[EmbeddingType]>(type, data);
    if (numbers?.length !== size || ![length, dims].every((number) => Number.isInteger(number) && number >= 0)) {
      throw invalid(`data of ${length} embeddings with ${dims} dimensions must be a ${type.name} of length ${size}.`);
    }
    this.data = numbers as EmbeddingNumbers[T];
    this.length = length;
    this.dims = dims;
    this.model = model;
    this.condition = condition;
    const scales = this.dtype === "int8" ? (given.scales ?? NO_SCALES) : undefined;
    Object.assign(this, each({ ...given, scales }, (numbers, what) => oneEach<Float32Array | Uint32Array>(EACH[what], what, numbers, length)));
    if (!areFinite(this.scales ?? numbers)) throw notFinite(this.scales ? "scales" : "data");
  }

  /**
   * Takes what `JSON.stringify` wrote of an `Embeddings`, parsed.
   *
   * @throws {@link CaseLensError} `invalid-argument` when it is no such thing.
   */
  static fromJSON<T extends EmbeddingType = EmbeddingType>(json: EmbeddingsJSON<T>): Embeddings<T> {
    if (typeof json !== "object" || json === null) throw invalid("The JSON of embeddings must be an object.");
    const type: TypedArray<EmbeddingNumbers[EmbeddingType]> = ARRAYS[checkDtype(json.dtype)];
    const data = typed(type, "data", json.data);
    return embeddingsOf<T>({ ...json, data, ...each<unknown, Picked>(json, (numbers, what) => typed<Picked>(EACH[what], what, numbers)) } as EmbeddingsData<T>);
  }

  /** The rows, as views of `data`. */
  *[Symbol.iterator](): Generator<EmbeddingNumbers[T], undefined> {
    for (let i = 0; i < this.length; i++) yield this.#view(i);
  }

  /** A row, as a view of `data`; below 0 from the end. Undefined where there is none. */
  at(i: number): EmbeddingNumbers[T] | undefined {
    const place = i < 0 ? this.length + i : i;
    return this.#has(place) ? this.#view(place) : undefined;
  }

  /**
   * An embedding as numbers, of length `dims`. `"float32"`: the row itself, a view of `data`; `"int8"`: the bytes times their
   * scale; `"binary"`: ±1 / √dims.
   *
   * @throws {@link CaseLensError} `invalid-argument` when there is no such row.
   */
  row(i: number): Float32Array {
    this.#check(i);
    const part = this.#view(i);
    if (this.dtype === "float32") return part as Float32Array;
    if (this.dtype === "int8") return Float32Array.from(part, (byte) => byte * (this.scales?.[i] ?? 0));
    const one = 1 / Math.sqrt(this.dims);
    return Float32Array.from({ length: this.dims }, (_, d) => (((part[d >> 3] as number) >> (7 - (d & 7))) & 1 ? one : -one));
  }

  /** All embeddings as plain arrays of numbers, as vector databases and other libraries take them; see {@link Embeddings.row}. */
  toArrays(): number[][] {
    return Array.from({ length: this.length }, (_, i) => Array.from(this.row(i)));
  }

  /** What `JSON.stringify` writes; {@link Embeddings.fromJSON} reads it again. */
  toJSON(): EmbeddingsJSON<T> {
    const { dtype, length, dims, model, condition, data } = this;
    // JSON has no NaN.
    const kept = each<Picked, (number | null)[]>(this, (numbers) => Array.from(numbers, (number) => (Number.isNaN(number) ? null : number)));
    return { dtype, length, dims, model, condition, data: Array.from(data), ...(kept as Partial<EmbeddingsJSON<T>>) };
  }

  /**
   * How alike two embeddings are, −1 to 1: the cosine of row `i` here and row `j` of `other` (here, where absent), computed
   * in the form they are kept in. For `"binary"` that is 1 − 2 · (bits that differ) / dims.
   *
   * @throws {@link CaseLensError} `invalid-argument` when there is no such row, or `other` is of another form or width.
   */
  similarity(i: number, j: number, other: Embeddings<T> = this): number {
    this.#checkLike(other);
    this.#check(i);
    other.#check(j);
    return this.#similarity(i, other.#view(j), other.#square(j));
  }

  /**
   * How alike all embeddings here are to row `j` of `other`, as {@link Embeddings.similarity} has it: one number for each. For
   * many, this is much faster.
   *
   * @throws {@link CaseLensError} as `similarity`.
   */
  similarities(j: number, other: Embeddings<T> = this): Float64Array {
    this.#checkLike(other);
    other.#check(j);
    const [view, square] = [other.#view(j), other.#square(j)];
    const similarities = new Float64Array(this.length);
    for (let i = 0; i < this.length; i++) similarities[i] = this.#similarity(i, view, square);
    return similarities;
  }

  /**
   * Some of the embeddings, copied, in the order of `places`.
   *
   * @throws {@link CaseLensError} `invalid-argument` when there is no row at one of them.
   */
  select(places: readonly number[]): Embeddings<T> {
    for (const place of checkArray("places", places)) this.#check(place as number);
    const { dtype, dims, model, condition } = this;
    const data = picked<Picked>(ARRAYS[dtype], this.data, widthOf(dtype, dims), places);
    const kept = each<Picked, Picked>(this, (numbers, what) => picked(EACH[what], numbers, 1, places));
    return embeddingsOf<T>({ dtype, data, length: places.length, dims, model, condition, ...kept } as EmbeddingsData<T>);
  }

  /**
   * These embeddings and all `others`, one after the other. Where not all are of one condition, the result has none.
   *
   * @throws {@link CaseLensError} `invalid-argument` when some are of another form, width or model.
   */
  concat(...others: readonly Embeddings<T>[]): Embeddings<T> {
    const all = [this, ...others];
    for (const other of others) this.#checkLike(other);
    const models = new Set(all.flatMap(({ model }) => model ?? []));
    if (models.size > 1) throw invalid(`Embeddings of different models (${[...models].join(", ")}) cannot be joined.`);
    const isSame = all.every(({ condition }) => condition === this.condition);
    return embeddingsOf<T>({
      ...(joined(all) as EmbeddingsData<T>),
      model: all.every(({ model }) => model !== undefined) ? this.model : undefined,
      condition: isSame ? this.condition : undefined,
    });
  }

  #view(i: number): EmbeddingNumbers[T] {
    const width = widthOf(this.dtype, this.dims);
    return this.data.subarray(i * width, (i + 1) * width) as EmbeddingNumbers[T];
  }

  /** Of row `i` and one of another block, whose product with itself is `square`. */
  #similarity(i: number, other: ArrayLike<number>, square: number): number {
    const at = i * other.length;
    if (this.dtype === "binary") return 1 - (2 * differing(this.data, at, other)) / this.dims;
    return cosine(dot(this.data, at, other), this.#square(i), square);
  }

  /** The product of a row with itself: computed once, since a search asks for each of them every time. */
  #square(i: number): number {
    if (this.dtype === "binary") return 1;
    this.#squares ??= new Float64Array(this.length).fill(NaN);
    const known = this.#squares[i] as number;
    if (!Number.isNaN(known)) return known;
    return (this.#squares[i] = dot(this.data, i * this.dims, this.#view(i)));
  }

  #has(i: number): boolean {
    return Number.isInteger(i) && i >= 0 && i < this.length;
  }

  #check(i: number): void {
    if (!this.#has(i)) throw invalid(`There is no embedding ${i}: they are 0 to ${this.length - 1}.`);
  }

  #checkLike(other: Embeddings<T>): void {
    if (other.dtype === this.dtype && other.dims === this.dims) return;
    throw invalid(`${this.dtype} embeddings of ${this.dims} dimensions cannot be compared or joined with ${other.dtype} ones of ${other.dims}.`);
  }
}

// Outside of the class: one that names itself in its body has another name in a bundle (`_Embeddings`), which consoles show.
const embeddingsOf = <T extends EmbeddingType>(data: EmbeddingsData<T>): Embeddings<T> => new Embeddings<T>(data);

/** What is no list of scales. */
const NO_SCALES: unknown = {};
/** Numbers, or bytes, of a row. */
const widthOf = (dtype: EmbeddingType, dims: number): number => (dtype === "binary" ? Math.ceil(dims / 8) : dims);

/** Numbers, one for each of `count` embeddings. */
function oneEach<A extends Float32Array | Uint32Array>(type: TypedArray<A>, what: string, value: unknown, count: number): A {
  const numbers = arrayOf(type, value);
  if (numbers?.length !== count) throw invalid(`${what} must be a ${type.name} of length ${count}, one number for each embedding.`);
  return numbers;
}

type Picked = EmbeddingNumbers[EmbeddingType] | Uint32Array;

const notFinite = (what: string) => invalid(`${what} must be finite numbers.`);

/** A plain array of JSON as a typed one. */
function typed<A extends Picked>(type: TypedArray<A>, what: string, value: unknown): A {
  const numbers = checkArray(what, value).map((number) => (number === null ? NaN : Number(number)));
  if (what !== "mentioned" && !areFinite(numbers)) throw notFinite(what);
  const array = zeros(type, numbers.length);
  array.set(numbers);
  return array;
}

/** The rows at some places, each of `width` numbers, one after the other. */
function picked<A extends Picked>(type: TypedArray<A>, numbers: A, width: number, places: readonly number[]): A {
  const some = zeros(type, places.length * width);
  for (const [at, place] of places.entries()) some.set(numbers.subarray(place * width, (place + 1) * width), at * width);
  return some;
}

/** An array of zeros. */
function zeros<A extends Picked>(type: TypedArray<A>, length: number): A {
  return new type(new ArrayBuffer(length * type.BYTES_PER_ELEMENT), 0, length);
}

/** The product of the numbers from `at` on with those of `row`. */
function dot(numbers: ArrayLike<number>, at: number, row: ArrayLike<number>): number {
  let sum = 0;
  for (let d = 0; d < row.length; d++) sum += (numbers[at + d] as number) * (row[d] as number);
  return sum;
}

/** The cosine of two vectors, of their product and each one's with itself. */
const cosine = (ab: number, aa: number, bb: number): number => (aa > 0 && bb > 0 ? Math.max(-1, Math.min(1, ab / Math.sqrt(aa * bb))) : 0);

/** How many bits of the bytes from `at` on differ from those of `row`. */
function differing(bytes: ArrayLike<number>, at: number, row: ArrayLike<number>): number {
  let bits = 0;
  for (let k = 0; k < row.length; k++) bits += BITS[(bytes[at + k] as number) ^ (row[k] as number)] as number;
  return bits;
}

/** How many bits of each byte are 1. */
const BITS = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);
