// Values of another realm: an iframe, or a `vm` context such as Jest and jsdom run code in. Its classes are not the ones here,
// so `instanceof` says no to all of them. What a value is, it is asked itself.

import { CaseLensError } from "./errors.js";

type Numbers = Float32Array | Int8Array | Uint8Array | Uint32Array;
/** The class of a typed array. */
export interface TypedArray<A extends Numbers> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): A;
}

/** The name of the built-in class that a value is of, in whatever realm: `"URL"`, `"ArrayBuffer"`, … */
export const classOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/**
 * A typed array of this class, as one of this realm; undefined where the value is none. No number is copied.
 *
 * @param make the class here, for example `Float32Array`.
 */
export function arrayOf<A extends Numbers>(make: TypedArray<A>, value: unknown): A | undefined {
  if (!ArrayBuffer.isView(value) || classOf(value) !== make.name) return undefined;
  return value instanceof make ? value : new make(value.buffer, value.byteOffset, (value as A).length);
}

/**
 * The bytes of an `ArrayBuffer` or a `Uint8Array`, not copied; undefined where the value is neither.
 *
 * @param what the argument's name, for the error.
 * @throws CaseLensError `invalid-argument` where the buffer was handed over to another thread.
 */
export function bytesOf(what: string, value: unknown): Uint8Array<ArrayBuffer> | undefined {
  const given = classOf(value) === "ArrayBuffer" ? { buffer: value } : arrayOf(Uint8Array, value);
  try {
    return given && new Uint8Array(given.buffer as ArrayBuffer, (given as Partial<Uint8Array>).byteOffset, (given as Partial<Uint8Array>).length);
  } catch {
    throw new CaseLensError("invalid-argument", `${what} has no bytes any more: its ArrayBuffer was transferred. Transfer a copy.`);
  }
}
