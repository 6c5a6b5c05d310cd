// Long calls are done in chunks, with the event loop running in between (only then can an abort be heard), and shared out in
// them: how large they are, and how what they give becomes one result.

import type { EmbeddingsData, EmbeddingType } from "./types.js";

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
 * Runs `work` on `items`, `size` at a time (`at` is the index of the first), until done or until `stopped()` says so.
 * Undefined when it was stopped.
 */
export async function inChunks<T, R>(
  items: readonly T[],
  size: number,
  stopped: () => boolean,
  work: (chunk: T[], at: number) => Promise<readonly R[]>,
): Promise<R[] | undefined> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += size) {
    if (at > 0) await nextMacrotask();
    if (stopped()) return undefined;
    results.push(...(await work(items.slice(at, at + size), at)));
  }
  return results;
}

/** Lets messages that have already arrived be handled. A timer would do, but browsers hold nested timers back by 4 ms. */
function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

type Numbers = Float32Array | Int8Array | Uint8Array;

/** The arrays of numbers in each form. */
const ARRAYS = { float32: Float32Array, int8: Int8Array, binary: Uint8Array } as const;

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
  return {
    dtype: first.dtype,
    dims: first.dims,
    count: parts.reduce((sum, { count }) => sum + count, 0),
    data: concatenated<Numbers>(ARRAYS[first.dtype], parts.map(({ data }) => data)),
    scales: first.scales && concatenated(Float32Array, parts.flatMap(({ scales }) => scales ?? [])),
    ...(first.mentioned && { mentioned: concatenated(Float32Array, parts.flatMap(({ mentioned }) => mentioned ?? [])) }),
  };
}

const NONE: EmbeddingsData = { dtype: "float32", data: new Float32Array(0), count: 0, dims: 0 };

/** No embeddings, of a form. */
export function noEmbeddings(dtype: EmbeddingType, dims: number): EmbeddingsData {
  if (dtype === "float32") return { ...NONE, dtype, dims };
  const data = dtype === "int8" ? new Int8Array(0) : new Uint8Array(0);
  return { dtype, dims, data, count: 0, scales: dtype === "int8" ? new Float32Array(0) : undefined };
}
