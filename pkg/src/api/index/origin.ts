// What an index is made from: a lens or an encoder, and the way in which it reads texts.

import type { IndexStore } from "../../page/platform.js";
import type { EmbedCall, EncodeCall } from "../../protocol.js";
import type { EmbeddingsData, EmbeddingType, OnTruncate, Pooling } from "../../types.js";
import type { Calls } from "../list/options.js";

/** What an index belongs to. */
export interface Origin {
  readonly calls: Calls;
  /** A lens, or an encoder alone. */
  readonly kind: "lens" | "encoder";
  /** Where indexes are stored, where it is not IndexedDB. */
  readonly store: IndexStore | undefined;
}

/** How texts are read, all of them alike. */
export interface Manner {
  readonly condition: string | null;
  /** Of an encoder alone. */
  readonly pooling: Pooling | null;
  /** Undefined for all. */
  readonly dims: number | undefined;
  readonly dtype: EmbeddingType;
}

/** Embeds texts. */
export function embedded(
  { calls, kind }: Origin,
  texts: readonly string[],
  { condition, pooling, dims, dtype }: Manner,
  { onTruncate, named }: { readonly onTruncate: OnTruncate; readonly named?: string },
  signal: AbortSignal | undefined,
  onPart?: (share: number) => void,
): Promise<EmbeddingsData> {
  const form = { dims, dtype, onTruncate, ...(named !== undefined && { named }) };
  const call: EmbedCall | EncodeCall =
    kind === "lens"
      ? { method: "embed", sentences: texts, conditions: texts.map(() => condition ?? undefined), ...form }
      : { method: "encode", texts, pooling: pooling ?? calls.info.pooling, normalize: true, ...form };
  return calls.call(call, signal, onPart);
}

/** A sentence whose embedding tells encoders apart that have the same name. */
const PROBE = "A cat sleeps on a red sofa while it rains in Bergen.";

/** How an encoder, in this manner, reads the sentence by which it is known. Its length says how many dimensions there are. */
export async function probed(origin: Origin, manner: Manner, signal?: AbortSignal): Promise<Float32Array> {
  const { data } = await embedded(origin, [PROBE], { ...manner, dtype: "float32" }, { onTruncate: "ignore", named: "a text" }, signal);
  return data as Float32Array;
}

/**
 * The least cosine of two readings of a sentence by the same model: a GPU, or instructions of another processor, round otherwise, and
 * so do its weights in 4 and 8 bits. Training it once more moves it further.
 */
const SAME = 0.98;

/** Whether two readings are of the same model. */
export function isSame(a: Float32Array, b: Float32Array): boolean {
  const product = (x: Float32Array, y: Float32Array): number => x.reduce((sum, value, i) => sum + value * (y[i] as number), 0);
  return a.length === b.length && product(a, b) >= SAME * Math.sqrt(product(a, a) * product(b, b));
}
