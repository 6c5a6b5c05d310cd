// A file from a server, chunk by chunk: one that falls silent is not waited for for ever, and where a connection breaks the rest of
// the file is asked for, as far as the server lets it.

import type { CaseLensError } from "../errors.js";
import type { Fetch } from "../types.js";

/** How files are asked for. */
export interface RequestOptions {
  readonly fetch: Fetch;
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long a server may send nothing, in ms. */
  readonly timeout: number;
}

export const DEFAULT_REQUEST: RequestOptions = { fetch: (url, init) => fetch(url, init), headers: {}, timeout: 30_000 };

/** How often the rest of a file is asked for in a row without a byte of it, and how long after the connection broke, in ms. */
const PAUSES = [250, 1000, 4000];

/** The body of an answer, that goes on in further answers where it breaks off. */
export class Body {
  /** Its length in bytes, where the server told it reliably. */
  readonly size: number | null;
  readonly #url: string;
  readonly #options: RequestOptions;
  /** What tells the file from a later version of it; undefined where the server gave nothing that does. */
  readonly #version: Version | undefined;
  readonly #incomplete: (what: "broke off" | "ended", at: number, cause: unknown) => CaseLensError;
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  #at = 0;
  /** Answers in a row that brought nothing. */
  #vain = 0;

  /**
   * @param first the answer to the first request.
   * @param incomplete makes the error for a body that cannot go on, after so many bytes.
   */
  constructor(
    first: Answer,
    url: string,
    options: RequestOptions,
    incomplete: (what: "broke off" | "ended", at: number, cause: unknown) => CaseLensError,
  ) {
    const { size, exact } = statedSize(first.response);
    this.size = exact ? size : null;
    this.#url = url;
    this.#options = options;
    this.#version = versionOf(first.response);
    this.#incomplete = incomplete;
    this.#take(first);
  }

  #answer!: Answer;

  #take(answer: Answer): void {
    this.#answer = answer;
    this.#reader = answer.response.body?.getReader();
  }

  /**
   * The next chunk; undefined at the end.
   *
   * @throws CaseLensError as `incomplete` makes it.
   */
  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    for (;;) {
      let cause: unknown;
      try {
        const { done, value } = this.#reader ? await this.#answer.within(this.#reader.read()) : { done: true, value: undefined };
        if (value) {
          this.#at += value.byteLength;
          this.#vain = 0;
          return value;
        }
        if (done && this.#at >= (this.size ?? 0)) return undefined;
      } catch (thrown) {
        cause = thrown;
      }
      await this.#goOn(cause);
    }
  }

  /** Leaves the rest. */
  cancel(reason: unknown): void {
    this.#reader?.cancel(reason).catch(() => {});
  }

  /** Asks for what is missing. */
  async #goOn(cause: unknown): Promise<void> {
    const incomplete = () => this.#incomplete(cause === undefined ? "ended" : "broke off", this.#at, cause);
    if (!this.#version) throw incomplete();
    for (;;) {
      const pause = PAUSES[this.#vain++];
      if (pause === undefined) throw incomplete();
      await new Promise((resolve) => setTimeout(resolve, pause));
      const headers = { Range: `bytes=${this.#at}-` };
      const answer = await ask(this.#url, this.#options, { headers, cache: "no-store" }).catch(() => undefined);
      if (!answer) continue; // perhaps the network comes back
      if (this.#fits(answer.response)) return this.#take(answer);
      answer.response.body?.cancel().catch(() => {});
      throw incomplete();
    }
  }

  /** Whether an answer is the rest of this file. Across origins a server need not show which part it sends. */
  #fits(response: Response): boolean {
    if (response.status !== 206 || !this.#version || !sameVersion(this.#version, response)) return false;
    if ((response.headers.get("content-encoding") ?? "identity") !== "identity") return false;
    const range = response.headers.get("content-range");
    if (range !== null) return range.startsWith(`bytes ${this.#at}-`);
    return this.size !== null && statedSize(response).size === this.size - this.#at;
  }
}

/** The answer to a request, whose server is not waited for for ever. */
export interface Answer {
  readonly response: Response;
  /** Waits for what comes from the body: too long a silence ends the request. */
  within<T>(operation: Promise<T>): Promise<T>;
}

/** Sends a request; rejects as `fetch` does, or with a `TimeoutError` after too long a silence. */
export async function ask(url: string, { fetch, headers, timeout }: RequestOptions, init: RequestInit = {}): Promise<Answer> {
  const controller = new AbortController();
  const within = async <T>(operation: Promise<T>): Promise<T> => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new DOMException(`the server sent nothing for ${timeout / 1000} s`, "TimeoutError");
        reject(error);
        controller.abort(error);
      }, timeout);
    });
    try {
      return await Promise.race([operation, silence]);
    } finally {
      clearTimeout(timer);
    }
  };
  const request = fetch(url, { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) }, signal: controller.signal });
  return { response: await within(request), within };
}

/**
 * The size of the decoded body in bytes as far as the headers tell it, else null. `exact` is false across origins: the
 * encoding is hidden from us there, so the length may be that of the compressed body and serves as an estimate.
 */
export function statedSize(response: Response): { size: number | null; exact: boolean } {
  const encoding = response.headers.get("content-encoding") ?? "identity";
  const length = response.headers.get("content-length");
  if (encoding !== "identity" || length === null || !/^\d+$/.test(length)) return { size: null, exact: false };
  return { size: Number(length), exact: response.type !== "cors" };
}

/** A header by which a server tells one version of a file from another. */
interface Version {
  readonly header: "etag" | "last-modified";
  readonly value: string;
}

function versionOf({ headers }: Response): Version | undefined {
  if (headers.get("accept-ranges") === "none") return undefined;
  const etag = headers.get("etag");
  if (etag !== null && !etag.startsWith("W/")) return { header: "etag", value: etag };
  const modified = headers.get("last-modified");
  return modified === null ? undefined : { header: "last-modified", value: modified };
}

function sameVersion({ header, value }: Version, { headers }: Response): boolean {
  return headers.get(header) === value;
}
