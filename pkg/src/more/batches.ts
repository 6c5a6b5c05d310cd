// Work on items that come one after the other: a batch is read when there is work for it, and given when it is done.

import { CaseLensError } from "../errors.js";

/** A batch of items, the first of which has the place `index` among all. */
interface Batch<I> {
  readonly index: number;
  readonly texts: readonly I[];
}

/** A batch is begun while the one before it is waited for: alone, its last text would leave the other workers idle. */
const BEGUN = 2;

/** What is made of the batches, in the order of the texts. Whoever aborts, or leaves before the end, ends the work and the reading. */
export async function* batches<I, R>(
  texts: Iterable<I> | AsyncIterable<I>,
  size: number,
  signal: AbortSignal | undefined,
  make: (batch: Batch<I>, signal: AbortSignal) => Promise<R>,
): AsyncGenerator<R, undefined> {
  if (!isIterable(texts)) throw new CaseLensError("invalid-argument", "texts must be a list, or anything else that `for await` goes through.");
  if (signal?.aborted) throw signal.reason;
  const work = new AbortController();
  const stopped = rejecting(work.signal);
  const abort = (): void => work.abort(signal?.reason);
  signal?.addEventListener("abort", abort);
  const reading = read(texts, size, work.signal);
  const begin = async (): Promise<R | undefined> => {
    const { value } = await reading.next(); // in turn, also where the one before is still being read
    return value && make(value, work.signal);
  };
  const begun: Promise<R | undefined>[] = [];
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
async function* read<I>(
  texts: Iterable<I> | AsyncIterable<I>,
  size: number,
  stop: AbortSignal,
): AsyncGenerator<Batch<I>, undefined> {
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
