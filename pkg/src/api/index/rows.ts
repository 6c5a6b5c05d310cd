// The vectors of an index: rows in blocks of a fixed number, so that growing moves nothing that is there, and a search has a
// place to give way after each.

import type { EmbeddingNumbers, EmbeddingsData, EmbeddingType } from "../../types.js";
import { countDiffering, multiply, multiplyBytes, square } from "./kernels.js";

/** Rows in a block: some 2 MB of 384 float32 dimensions, one or two milliseconds of a search. */
export const BLOCK = 1024;

/** The numbers of rows: floats, bytes, or words of 32 bits. */
type Numbers = Float32Array | Int8Array | Uint32Array;
interface Block {
  readonly numbers: Numbers;
  /** 1 / length of each row, 0 for one of zeros; not for bits. */
  readonly inverse: Float64Array;
}

/** A query, as the rows are kept: its numbers for the loops, and 1 / its length. */
export interface Prepared {
  readonly numbers: Float64Array | Int32Array | Uint32Array;
  readonly inverse: number;
}

/**
 * Numbers of a row in memory and in a file: `dims` floats or bytes, or, of bits, words of 32. There the bits are those of
 * `Embeddings`, byte by byte, with zeros up to a whole word.
 */
export const strideOf = (dtype: EmbeddingType, dims: number): number => (dtype === "binary" ? Math.ceil(dims / 32) : dims);

/** Bytes of a row in memory and in a file. */
export const rowBytes = (dtype: EmbeddingType, dims: number): number => strideOf(dtype, dims) * (dtype === "int8" ? 1 : 4);

const ARRAYS = { float32: Float32Array, int8: Int8Array, binary: Uint32Array } as const;

/** Rows of one form. What is given and taken are row numbers from 0; there are `length` of them. */
export class Rows {
  readonly #dtype: EmbeddingType;
  readonly #dims: number;
  readonly #stride: number;
  readonly #blocks: Block[] = [];
  #length = 0;
  /** `"int8"` alone: what each row's bytes are multiplied by. A cosine does not need it; who takes the embeddings out does. */
  #scales: number[] = [];

  constructor(dtype: EmbeddingType, dims: number) {
    this.#dtype = dtype;
    this.#dims = dims;
    this.#stride = strideOf(dtype, dims);
  }

  get length(): number {
    return this.#length;
  }

  /** Puts row `from` of embeddings in place of row `to`, or behind the last one. */
  put(embeddings: EmbeddingsData, from: number, to: number): void {
    const { data, scales } = embeddings;
    const width = this.#dtype === "binary" ? Math.ceil(this.#dims / 8) : this.#dims;
    const target = this.#bytesOf(to);
    target.fill(0);
    target.set(new Uint8Array(data.buffer, data.byteOffset + from * width * data.BYTES_PER_ELEMENT, width * data.BYTES_PER_ELEMENT));
    if (this.#dtype === "int8") this.#scales[to] = scales?.[from] ?? 0;
    this.#length = Math.max(this.#length, to + 1);
    this.#measure(to, to + 1);
  }

  /**
   * Puts bytes of a file behind the last row: `count` rows, at most what is left of the last block, as {@link bytesOf} gives them.
   *
   * @param owned whether the bytes may be kept as they are, where they fill a block; else they are copied.
   */
  append(bytes: Uint8Array<ArrayBuffer>, scales: Float32Array | undefined, owned: boolean): void {
    const size = rowBytes(this.#dtype, this.#dims);
    const count = bytes.byteLength / size;
    const from = this.#length;
    const make = ARRAYS[this.#dtype];
    const fits = owned && count === BLOCK && from % BLOCK === 0 && bytes.byteOffset % make.BYTES_PER_ELEMENT === 0;
    if (fits) this.#blocks.push({ numbers: new make(bytes.buffer, bytes.byteOffset, BLOCK * this.#stride), inverse: new Float64Array(BLOCK) });
    else {
      const { numbers } = this.#block(from);
      new Uint8Array(numbers.buffer, numbers.byteOffset + (from % BLOCK) * size, bytes.byteLength).set(bytes);
    }
    if (scales) this.#scales.push(...scales);
    this.#length += count;
    this.#measure(from, this.#length);
  }

  /** Leaves only these rows, which are in rising order. */
  keep(places: readonly number[]): void {
    for (const [to, from] of places.entries()) {
      if (to === from) continue;
      this.#bytesOf(to).set(this.#bytesOf(from));
      if (this.#dtype === "int8") this.#scales[to] = this.#scales[from] as number;
      (this.#blocks[Math.floor(to / BLOCK)] as Block).inverse[to % BLOCK] = this.#inverse(from);
    }
    this.#length = places.length;
    this.#scales.length = Math.min(this.#scales.length, places.length);
    this.#blocks.length = Math.ceil(places.length / BLOCK);
  }

  /** The bytes of the rows of a block, as a file has them; undefined behind the last one. */
  bytesOf(block: number): Uint8Array<ArrayBuffer> | undefined {
    const found = this.#blocks[block];
    if (!found) return undefined;
    const count = Math.min(BLOCK, this.#length - block * BLOCK);
    return new Uint8Array(found.numbers.buffer as ArrayBuffer, found.numbers.byteOffset, count * rowBytes(this.#dtype, this.#dims));
  }

  /** `"int8"` alone: what each row's bytes are multiplied by. */
  get scales(): Float32Array | undefined {
    return this.#dtype === "int8" ? Float32Array.from(this.#scales) : undefined;
  }

  /** Row `place` of embeddings, as a query. */
  prepare({ data }: EmbeddingsData, place: number): Prepared {
    const alone = new Rows(this.#dtype, this.#dims);
    alone.put({ dtype: this.#dtype, data, length: 1, dims: this.#dims }, place, 0);
    return alone.query(0);
  }

  /** A row of these, as a query. */
  query(row: number): Prepared {
    const { numbers } = this.#block(row);
    const at = (row % BLOCK) * this.#stride;
    const own = numbers.subarray(at, at + this.#stride);
    const inverse = this.#inverse(row);
    if (this.#dtype === "float32") return { numbers: Float64Array.from(own), inverse };
    return { numbers: this.#dtype === "int8" ? Int32Array.from(own) : Uint32Array.from(own), inverse };
  }

  /** The similarities of the rows of a block to a query, −1 to 1: how many they are. */
  similarities(query: Prepared, block: number, into: Float64Array): number {
    const { numbers, inverse } = this.#blocks[block] as Block;
    const count = Math.min(BLOCK, this.#length - block * BLOCK);
    if (this.#dtype === "binary") {
      countDiffering(numbers as Uint32Array, query.numbers as Uint32Array, 0, count, into);
      for (let i = 0; i < count; i++) into[i] = 1 - (2 * (into[i] as number)) / this.#dims;
      return count;
    }
    if (this.#dtype === "int8") multiplyBytes(numbers as Int8Array, query.numbers as Int32Array, 0, count, into);
    else multiply(numbers as Float32Array, query.numbers as Float64Array, 0, count, into);
    for (let i = 0; i < count; i++) into[i] = Math.max(-1, Math.min(1, (into[i] as number) * (inverse[i] as number) * query.inverse));
    return count;
  }

  /** All rows as embeddings have them. */
  embeddings(): Pick<EmbeddingsData, "dtype" | "data" | "scales" | "length" | "dims"> {
    const [dtype, dims, length] = [this.#dtype, this.#dims, this.#length];
    const width = dtype === "binary" ? Math.ceil(dims / 8) : dims * (dtype === "int8" ? 1 : 4);
    const bytes = new Uint8Array(length * width);
    for (let row = 0; row < length; row++) bytes.set(this.#bytesOf(row).subarray(0, width), row * width);
    const data: EmbeddingNumbers[EmbeddingType] =
      dtype === "float32" ? new Float32Array(bytes.buffer) : dtype === "int8" ? new Int8Array(bytes.buffer) : bytes;
    return { dtype, data, scales: this.scales, length, dims };
  }

  /** The block of a row, which is made where there is none yet. */
  #block(row: number): Block {
    const place = Math.floor(row / BLOCK);
    return (this.#blocks[place] ??= { numbers: new ARRAYS[this.#dtype](BLOCK * this.#stride), inverse: new Float64Array(BLOCK) });
  }

  #bytesOf(row: number): Uint8Array<ArrayBuffer> {
    const { numbers } = this.#block(row);
    const size = rowBytes(this.#dtype, this.#dims);
    return new Uint8Array(numbers.buffer as ArrayBuffer, numbers.byteOffset + (row % BLOCK) * size, size);
  }

  #inverse(row: number): number {
    return this.#block(row).inverse[row % BLOCK] as number;
  }

  /** Takes down the lengths of the rows `from` to `to`, which lie in one block. */
  #measure(from: number, to: number): void {
    if (this.#dtype === "binary" || to <= from) return;
    const { numbers, inverse } = this.#block(from);
    const squares = new Float64Array(to - from);
    square(numbers as Float32Array | Int8Array, this.#stride, from % BLOCK, squares);
    for (const [i, value] of squares.entries()) inverse[(from % BLOCK) + i] = value > 0 ? 1 / Math.sqrt(value) : 0;
  }
}
