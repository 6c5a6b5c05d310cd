// Embeddings of texts that come one after the other.

import { more } from "../page/more.js";
import type { EmbeddingType } from "../types.js";
import { checkInteger, checkSignal } from "./check.js";
import type { Embeddings } from "./embeddings.js";

/** Options of calls that give embeddings a batch at a time. */
export interface BatchOptions {
  /**
   * How many texts are in a batch; the last may have fewer. A large one keeps more workers busy, a small one comes sooner.
   *
   * @defaultValue 32 for each of `info.threads`
   */
  batchSize?: number | undefined;
}

/** A batch of texts, embedded. */
export interface EmbeddedBatch<I = string, T extends EmbeddingType = EmbeddingType> {
  /** The place of its first text among all, from 0. */
  readonly index: number;
  /** The texts, as they were given. */
  readonly texts: readonly I[];
  /** One for each of them, in their order. */
  readonly embeddings: Embeddings<T>;
}

/** Embeds a batch, the first text of which has the place `index` among all. */
type Embed<I, T extends EmbeddingType> = (texts: readonly I[], index: number, signal: AbortSignal) => Promise<Embeddings<T>>;

const BATCH = 32;
const LARGEST = 65_536;

/** The batches in the order of the texts. Whoever aborts, or leaves before the end, ends the work and the reading. */
export async function* embedStream<I, T extends EmbeddingType>(
  texts: Iterable<I> | AsyncIterable<I>,
  options: BatchOptions & { readonly signal?: AbortSignal | undefined },
  threads: number,
  embed: Embed<I, T>,
): AsyncGenerator<EmbeddedBatch<I, T>, undefined> {
  const size = checkInteger("batchSize", options.batchSize, 1, LARGEST) ?? BATCH * threads;
  const signal = checkSignal(options.signal);
  const { batches } = await more();
  return yield* batches(texts, size, signal, async (batch, signal) => ({ ...batch, embeddings: await embed(batch.texts, batch.index, signal) }));
}
