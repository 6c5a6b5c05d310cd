// One after the other: what changes an index, or reads all of it while others have their turn, must not meet the next one halfway.

/** Does pieces of work one after the other, in the order in which they were asked for. */
export class Order {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Does `work` when all that was asked for before is done.
   *
   * @param signal where it is aborted before that, this rejects at once with its reason, and `work` is not done.
   */
  take<T>(work: () => Promise<T> | T, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject((signal as AbortSignal).reason);
      if (signal?.aborted) return onAbort();
      signal?.addEventListener("abort", onAbort);
      this.#last = this.#last.then(async () => {
        signal?.removeEventListener("abort", onAbort);
        if (signal?.aborted) return;
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
      });
    });
  }
}
