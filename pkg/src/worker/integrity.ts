// Files that are told by their SHA-256: whatever they come from, they are the right ones to the bit.

import { CaseLensError } from "../errors.js";
import type { Sink } from "./download.js";
import type { Hash } from "./sha256.js";

/** Passes a file on, and refuses it at its end where it is another. */
export class Verified implements Sink {
  readonly #sink: Sink;
  readonly #what: string;
  readonly #expected: string;
  readonly #start: () => Hash;
  readonly #url: string | undefined;
  #hash: Hash;
  /** It was checked before it was kept: to do it each time takes a browser longer than to read the file. */
  #isKnown = false;

  /**
   * @param what the file, at the beginning of a sentence.
   * @param expected its SHA-256, in hexadecimal digits.
   * @param start begins a hash.
   * @param url where it comes from, if from a URL.
   */
  constructor(sink: Sink, what: string, expected: string, start: () => Hash, url?: string) {
    this.#sink = sink;
    this.#what = what;
    this.#expected = expected;
    this.#start = start;
    this.#url = url;
    this.#hash = start();
  }

  begin(size: number | null, sha256?: string): void | Promise<void> {
    this.#isKnown = sha256 === this.#expected;
    this.#hash = this.#start();
    return this.#sink.begin(size, sha256);
  }

  push(chunk: Uint8Array): void {
    if (!this.#isKnown) this.#hash.update(chunk);
    this.#sink.push(chunk);
  }

  /** @throws CaseLensError `integrity`. */
  end(): void {
    const found = this.#isKnown ? this.#expected : this.#hash.digest("hex");
    if (found !== this.#expected) {
      throw new CaseLensError(
        "integrity",
        `${this.#what} is not the file that was asked for: its SHA-256 is ${found}, not ${this.#expected}. It was damaged on the way, or is another version; where that is meant, change \`integrity\`.`,
        { url: this.#url },
      );
    }
    this.#sink.end?.();
  }
}
