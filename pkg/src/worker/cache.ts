// Downloaded files, kept in the browser's Cache Storage by their full URL.
//
// The cache is a convenience: whatever goes wrong with it is a warning, and the file comes from the network.

import { inWords } from "../errors.js";

/** Name of the Cache Storage bucket. */
const CACHE_NAME = "caselens-v1";
/** Size of the file in bytes, where it was known when the file was kept: what is read is checked against it. */
const SIZE_HEADER = "x-caselens-bytes";
/** The SHA-256 that the file was found to have when it was kept, where it was checked. */
const SHA256_HEADER = "x-caselens-sha256";

/** A kept file, and its size in bytes where that was known when it was kept. */
export interface Kept {
  readonly response: Response;
  readonly size: number | null;
  /** By what it was checked before it was kept; undefined where it was not, or where it is to be checked each time. */
  readonly sha256?: string | undefined;
}

/** What is known of a file before it is there. */
export interface AboutFile {
  readonly size: number | null;
  /** It is kept only if it has this SHA-256. */
  readonly sha256?: string | undefined;
  readonly signal: AbortSignal;
}

/** Files that were downloaded before. Nothing here rejects: a cache that cannot be used is one that holds nothing. */
export interface FileCache {
  /** Whether it keeps anything, as far as it is known. */
  readonly keeps: boolean;
  /** A kept file; undefined when there is none. */
  read(url: string): Promise<Kept | undefined>;
  /**
   * Keeps a file that is still coming, of `size` bytes where that is known. Fulfilled when it is kept, or cannot be; the rest
   * of `body` is left alone then. When `signal` is aborted, the file breaks off and nothing of it is kept.
   */
  keep(url: string, body: ReadableStream<Uint8Array<ArrayBuffer>>, about: AboutFile): Promise<void>;
  /** Forgets a file. */
  drop(url: string): Promise<void>;
}

/** Keeps nothing. */
export const NO_CACHE: FileCache = {
  keeps: false,
  read: async () => undefined,
  keep: async () => {},
  drop: async () => {},
};

/** The files kept so far in Cache Storage. */
export class BrowserCache implements FileCache {
  #cache: Cache | undefined;
  #warned = false;
  readonly #warn: (message: string) => void;

  private constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** Opens the cache. `warn` is told, once and in words, when it cannot be used; from then on nothing is kept. */
  static async open(warn: (message: string) => void): Promise<BrowserCache> {
    const files = new BrowserCache(warn);
    try {
      if (typeof caches === "undefined") files.#off("a page has one only over https or on localhost");
      else files.#cache = await caches.open(CACHE_NAME);
    } catch (error) {
      files.#off(inWords(error));
    }
    return files;
  }

  get keeps(): boolean {
    return this.#cache !== undefined;
  }

  read(url: string): Promise<Kept | undefined> {
    return this.#attempt(url, async (cache) => {
      const response = await cache.match(url);
      const size = response?.headers.get(SIZE_HEADER) ?? null;
      const sha256 = response?.headers.get(SHA256_HEADER) ?? undefined;
      return response && { response, size: size === null ? null : Number(size), sha256 };
    });
  }

  async keep(...[url, body, { size, sha256, signal }]: Parameters<FileCache["keep"]>): Promise<void> {
    const headers = new Headers({ "Content-Type": "application/octet-stream" });
    if (size !== null) headers.set(SIZE_HEADER, String(size));
    if (sha256 !== undefined) headers.set(SHA256_HEADER, sha256);
    await this.#attempt(url, (cache) => cache.put(url, new Response(body, { headers })), signal);
  }

  async drop(url: string): Promise<void> {
    await this.#attempt(url, (cache) => cache.delete(url));
  }

  async #attempt<T>(url: string, operation: (cache: Cache) => Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    if (!this.#cache || !/^https?:/.test(url)) return undefined; // Cache Storage takes no other scheme
    try {
      return await operation(this.#cache);
    } catch (error) {
      if (!signal?.aborted) this.#off(inWords(error));
      return undefined;
    }
  }

  #off(reason: string): void {
    this.#cache = undefined;
    if (this.#warned) return;
    this.#warned = true;
    this.#warn(`The model cannot be kept in the browser's cache and will be downloaded again next time: ${reason}.`);
  }
}
