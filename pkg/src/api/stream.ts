// Embeddings of texts that come one after the other: a batch is read when there is work for it, and given when it is done.

import type { EmbeddingType } from "../types.js";
import { checkInteger, checkSignal, invalid } from "./check.js";
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

/** A batch is begun while the one before it is waited for: alone, its last text would leave the other workers idle. */
const BEGUN = 2;
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
  if (!isIterable(texts)) throw invalid("texts must be a list, or anything else that `for await` goes through.");
  if (signal?.aborted) throw signal.reason;

  const work = new AbortController();
  const stopped = rejecting(work.signal);
  const abort = (): void => work.abort(signal?.reason);
  signal?.addEventListener("abort", abort);
  const reading = batches(texts, size, work.signal);
  const begin = async (): Promise<EmbeddedBatch<I, T> | undefined> => {
    const { value } = await reading.next(); // in turn, also where the one before is still being read
    return value && { ...value, embeddings: await embed(value.texts, value.index, work.signal) };
  };
  const begun: Promise<EmbeddedBatch<I, T> | undefined>[] = [];
  try {
    for (;;) {
      while (begun.length < BEGUN) begun.push(heard(begin()));
      const batch = await Promise.race([stopped, begun.shift()]);
      if (!batch) return undefined;
      yield batch;
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    work.abort();
    // Not waited for: it is over when the text is there that is being waited for, which may be never.
    void heard(reading.return(undefined));
  }
}

/** Reads texts, so many at a time, until nobody wants them any more. */
async function* batches<I>(
  texts: Iterable<I> | AsyncIterable<I>,
  size: number,
  stop: AbortSignal,
): AsyncGenerator<{ readonly index: number; readonly texts: I[] }, undefined> {
  let index = 0;
  let batch: I[] = [];
  for await (const text of texts) {
    if (stop.aborted) return undefined;
    batch.push(text);
    if (batch.length < size) continue;
    yield { index, texts: batch };
    index += size;
    batch = [];
  }
  if (batch.length > 0) yield { index, texts: batch };
  return undefined;
}

/** Whether `for await` goes through it, and it is no single text, which it would take for a list of letters. */
function isIterable(value: unknown): boolean {
  return typeof value === "object" && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
}

/** Rejects when a signal is aborted. */
function rejecting(signal: AbortSignal): Promise<never> {
  return heard(new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))));
}

/** A promise that may reject when nobody waits for it any more. */
function heard<P extends Promise<unknown>>(promise: P): P {
  promise.catch(() => {});
  return promise;
}
