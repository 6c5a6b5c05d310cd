// Turns: calls share one engine, which does one thing at a time. Each waits for its turn, chunk by chunk, so that a short call
// is not held up by all of a long one.

/** Does pieces of work one after the other, in the order in which they were asked for. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Does `work` when all that was asked for before is done. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const isAlone = this.#waiting++ === 0;
    const turn = this.#last.then(async () => {
      if (!isAlone) await nextMacrotask();
      return work();
    });
    const done = () => this.#waiting--;
    this.#last = turn.then(done, done);
    return turn;
  }
}

/** Lets messages that have already arrived be handled. A timer would do, but browsers hold nested timers back by 4 ms. */
export function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
