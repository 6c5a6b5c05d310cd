// Long calls are done in chunks, with the event loop running in between (only then can an abort be heard), and shared out in them.

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

/** Texts are numbered within a chunk; whoever made the call knows those of the call. `at` is where the chunk begins. */
export function countedInCall(message: string, at: number): string {
  return message.replace(/^(sentence|condition|text) (\d+)\b/i, (_, kind: string, n: string) => `${kind} ${Number(n) + at}`);
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
