// A worker as the page sees it, in a browser and in Node alike.

import type { FromWorker, ToWorker } from "../protocol.js";

/** A worker, seen from the thread that started it. */
export interface WorkerPort {
  /** Hears what the worker says, and once, in words, that it failed, with what to do about it where that is known. */
  listen(listener: { message(message: FromWorker): void; failed(why: string, remedy?: string): void }): void;
  post(message: ToWorker, transfer: Transferable[]): void;
  /** Ends the worker at once. */
  end(): void;
}
