// Work that follows what is chosen, for as long as its part of the page is unfolded.

import { effect } from "@preact/signals";

/**
 * Begins work now, and anew whenever a signal changes that it reads before it first waits; what was under way before is aborted.
 *
 * @returns ends it.
 */
export function watch(work: (signal: AbortSignal) => void): () => void {
  let asked = new AbortController();
  const dispose = effect(() => {
    asked.abort();
    asked = new AbortController();
    work(asked.signal);
  });
  return () => {
    dispose();
    asked.abort();
  };
}
