// Giving way: long work in a thread lets others have it in between.

/** Lets messages that have already arrived be handled. A timer would do, but browsers hold nested timers back by 4 ms. */
export function nextMacrotask(): Promise<void> {
  // Some places on the edge have none.
  if (typeof MessageChannel === "undefined") return new Promise((resolve) => setTimeout(resolve));
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/** How long the page's thread is kept at a time, in ms: half of what a screen of 60 Hz has for a picture. */
const SLICE = 8;

/** Work in the page's thread, in slices: between them the page draws, and hears its visitor. */
export class Slices {
  #since = performance.now();

  /** Whether others should have their turn now: wait for `pause` then. */
  get over(): boolean {
    return performance.now() - this.#since > SLICE;
  }

  /** Gives way. */
  async pause(): Promise<void> {
    await nextMacrotask();
    this.#since = performance.now();
  }
}
