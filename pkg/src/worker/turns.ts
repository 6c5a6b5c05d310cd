// Turns: calls share one engine, which does one thing at a time. Each waits for its turn, chunk by chunk, so that a short call
// is not held up by all of a long one.

import { nextMacrotask } from "../pause.js";

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
