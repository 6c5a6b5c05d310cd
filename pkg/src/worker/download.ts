// A file, from the cache or the network, chunk by chunk and checked to be whole.

import { CaseLensError, inWords } from "../errors.js";
import { watchPolicy } from "../policy.js";
import type { AboutFile, FileCache } from "./cache.js";
import type { PartMeter } from "./progress.js";
import { type Answer, ask, Body, DEFAULT_REQUEST, type RequestOptions, statedSize } from "./request.js";
import { isTrap } from "./support.js";

/** What a file is for; used in messages. */
export type FileRole = "model" | "head" | "manifest" | "gallery";

export interface DownloadOptions {
  readonly role: FileRole;
  readonly cache: FileCache;
  readonly meter: PartMeter;
  /** How the file is asked for; as a page would ask where this is absent. */
  readonly request?: RequestOptions;
  /** Asks the server whether what the browser itself has kept is still what is served. */
  readonly revalidate?: boolean;
  /** The SHA-256 without which the sink refuses it. */
  readonly sha256?: string | undefined;
}

/** Takes what a download brings. */
export interface Sink {
  /**
   * A file begins, of `size` bytes where that is known; what came before is void. `sha256`: what it was found to have when it was
   * kept, where that is known.
   */
  begin(size: number | null, sha256?: string): void | Promise<void>;
  push(chunk: Uint8Array): void;
  /** That was all of it; throws where it is not what it should be. */
  end?(): void;
}

export interface Download {
  readonly fromCache: boolean;
  /** Fulfilled when the file is in the cache, or cannot be. */
  readonly kept: Promise<void>;
}

/** Where each file comes from. */
const HINTS: Record<FileRole, string> = {
  model: "npm has one as `caselens-csts` (`import model from \"caselens-csts\"`)",
  head: "it has to lie beside the model, or be named as `head`; `caselens-csts` has both",
  manifest: "`caselens export` makes one",
  gallery: "`caselens export --gallery` makes one",
};

/**
 * Reads a file into `sink`, and keeps what comes from the network, as it comes. Whoever finds that the file is no good drops
 * it from the cache.
 *
 * It cannot be aborted by itself: it runs in a worker, and ending the worker ends it.
 *
 * @throws CaseLensError `network`, `http` or `download-incomplete`, or what `sink` throws.
 */
export async function download(url: string, options: DownloadOptions, sink: Sink): Promise<Download> {
  const { cache, meter } = options;
  const kept = await cache.read(url);
  if (kept) {
    meter.size(kept.size);
    await sink.begin(kept.size, kept.sha256);
    try {
      const length = await readAll(readerOf(kept.response.body), meter, (chunk) => sink.push(chunk));
      if (length === (kept.size ?? length)) {
        sink.end?.();
        return { fromCache: true, kept: Promise.resolve() };
      }
    } catch (error) {
      // It is damaged, or older than what is served now. But after this nothing works.
      if (isTrap(error)) throw error;
    }
    await cache.drop(url);
  }
  return fetchWhole(url, options, sink);
}

async function fetchWhole(url: string, options: DownloadOptions, sink: Sink): Promise<Download> {
  const { role, cache, meter, sha256, request = DEFAULT_REQUEST } = options;
  const answer = await firstAnswer(url, options);
  const stated = statedSize(answer.response);
  meter.size(stated.size);
  const incomplete = (what: string, cause?: unknown) =>
    new CaseLensError("download-incomplete", `${what}. Load it again; if that does not help, the file on the server may be damaged.`, { cause, url });
  const body = new Body(answer, url, request, (what, at, cause) =>
    incomplete(
      what === "ended"
        ? `The ${role} from ${url} ended after ${at} of ${stated.size} bytes`
        : `The download of the ${role} from ${url} broke off after ${at} bytes: ${inWords(cause)}`,
      cause,
    ),
  );
  await sink.begin(body.size);
  const aside = new Aside(cache, url, { size: body.size, sha256 });
  try {
    const length = await readAll(body, meter, (chunk) => {
      sink.push(chunk);
      return aside.push(chunk);
    });
    if (length === 0) throw incomplete(`The ${role} from ${url} is empty`);
    sink.end?.();
  } catch (error) {
    await aside.abandon();
    throw error;
  }
  aside.end();
  return { fromCache: false, kept: aside.kept };
}

/**
 * Reads a blob into `sink`.
 *
 * @throws CaseLensError `file` where it cannot be read any more, or what `sink` throws.
 */
export async function readBlob(role: FileRole, blob: Blob, meter: PartMeter, sink: Sink): Promise<void> {
  meter.size(blob.size);
  await sink.begin(blob.size);
  const { read, cancel } = readerOf(blob.stream());
  const chunks: Chunks = {
    cancel,
    read: () =>
      read().catch((cause: unknown) => {
        throw new CaseLensError("file", `The ${role} could not be read from the file that was given: ${inWords(cause)}. It may have changed on disk: choose it again.`, { cause });
      }),
  };
  await readAll(chunks, meter, (chunk) => sink.push(chunk));
  sink.end?.();
}

/** @throws CaseLensError `network` or `http`. */
async function firstAnswer(url: string, { role, revalidate, request = DEFAULT_REQUEST }: DownloadOptions): Promise<Answer> {
  const answer = await reached(url, `The ${role}`, () => ask(url, request, revalidate ? { cache: "no-cache" } : {}));
  try {
    checkAnswer(answer.response, url, `The ${role}`, `Check the URL; ${HINTS[role]}.`);
    // Whoever asks for a part by headers of his own gets that.
    if (answer.response.status === 206 && !("range" in request.headers)) {
      throw new CaseLensError("http", `The ${role} did not come whole from ${url}: a part was sent that nobody had asked for (HTTP 206). A cache on the way may do so.`, { url, status: 206 });
    }
  } catch (error) {
    answer.response.body?.cancel().catch(() => {});
    throw error;
  }
  return answer;
}

/**
 * Sends a request, and says why where it gets no answer at all.
 *
 * @param subject begins the sentence.
 * @throws CaseLensError `network`.
 */
export async function reached<T>(url: string, subject: string, request: () => Promise<T>): Promise<T> {
  const isRefused = watchPolicy();
  try {
    return await request();
  } catch (cause) {
    throw unreachable(url, subject, cause, await isRefused(({ blockedURI }) => blockedURI !== "" && url.startsWith(blockedURI)));
  }
}

function unreachable(url: string, subject: string, cause: unknown, isForbidden: boolean): CaseLensError {
  let why = "the server did not answer, or does not allow this page to read it (CORS). Check the URL and the network, and load it again";
  if ((cause as { name?: unknown } | undefined)?.name === "TimeoutError") why = `${inWords(cause)}. Load it again, or give it more time (\`timeout\`)`;
  if (typeof navigator !== "undefined" && navigator.onLine === false) {
    why = "the browser is offline and the file has not been kept. Connect to the network and load it again";
  }
  if (isForbidden) {
    why = `a Content-Security-Policy does not allow it. Add ${new URL(url).origin} to \`connect-src\`, of the page and of what \`worker.js\` is served with`;
  }
  return new CaseLensError("network", `${subject} could not be fetched from ${url}: ${why}.`, { cause, url });
}

/** Throws unless the server answered with a file. */
export function checkAnswer(response: Response, url: string, subject: string, remedy: string): void {
  const details = { url, status: response.status };
  if (!response.ok) {
    const what = response.status === 404 || response.status === 410 ? "was not found" : "could not be fetched";
    const later = response.status >= 500 ? " The server may work again later." : "";
    throw new CaseLensError("http", `${subject} ${what} at ${url} (HTTP ${response.status}). ${remedy}${later}`, details);
  }
  // Servers of single-page apps answer every unknown path with their index.html and status 200.
  if (/^text\/html\b/i.test(response.headers.get("content-type") ?? "")) {
    throw new CaseLensError("http", `${subject} was not found at ${url}: the server answered with a web page (HTTP ${response.status}, text/html). ${remedy}`, details);
  }
}

/** What is read chunk by chunk; undefined at the end. */
interface Chunks {
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Leaves the rest. */
  cancel(reason: unknown): void;
}

function readerOf(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): Chunks {
  const reader = body?.getReader();
  return {
    read: async () => (await reader?.read())?.value,
    cancel: (reason) => void reader?.cancel(reason).catch(() => {}),
  };
}

/** Reads all there is, and gives its length. */
async function readAll(chunks: Chunks, meter: PartMeter, take: (chunk: Uint8Array<ArrayBuffer>) => void | Promise<void>): Promise<number> {
  let length = 0;
  try {
    for (let chunk = await chunks.read(); chunk; chunk = await chunks.read()) {
      await take(chunk);
      length += chunk.byteLength;
      meter.at(length);
    }
  } catch (error) {
    chunks.cancel(error);
    throw error;
  }
  return length;
}

/**
 * Bytes that a download may be ahead of the cache; beyond them it waits. Browsers write to their caches a third slower than
 * a fast network brings a model: with less, its first answer takes 60 ms longer.
 */
const AHEAD = 8 << 20;

/** The branch of a download that leads into the cache. Whatever happens there, the download goes on. */
class Aside {
  /** As {@link Download.kept}. */
  readonly kept: Promise<void>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #broken = new AbortController();

  constructor(cache: FileCache, url: string, about: Omit<AboutFile, "signal">) {
    const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>(
      undefined,
      new ByteLengthQueuingStrategy({ highWaterMark: AHEAD }),
    );
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => {});
    this.kept = cache.keep(url, readable, { ...about, signal: this.#broken.signal });
    // A cache that takes no more must not be waited for.
    void this.kept.then(() => this.#close());
  }

  /** Fulfilled when there is room for more. */
  async push(chunk: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#writer.write(chunk).catch(() => {});
    await this.#writer.ready.catch(() => {});
  }

  /** That was all of the file. */
  end(): void {
    this.#writer.close().catch(() => {});
  }

  /** The file is no good: nothing of it is kept. */
  async abandon(): Promise<void> {
    this.#broken.abort();
    this.#close();
    await this.kept;
  }

  #close(): void {
    this.#writer.abort(new Error("the download broke off")).catch(() => {});
  }
}

/** Gives a file to two at once. */
export class Both implements Sink {
  constructor(
    readonly first: Sink,
    readonly second: Sink,
  ) {}

  async begin(size: number | null, sha256?: string): Promise<void> {
    await this.second.begin(size, sha256);
    await this.first.begin(size, sha256);
  }

  push(chunk: Uint8Array): void {
    this.second.push(chunk.slice());
    this.first.push(chunk);
  }

  end(): void {
    this.second.end?.();
    this.first.end?.();
  }
}

/** A small file in one buffer. */
export class Whole implements Sink {
  #chunks: Uint8Array[] = [];

  begin(): void {
    this.#chunks = [];
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#chunks.reduce((sum, { byteLength }) => sum + byteLength, 0));
    let at = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at);
      at += chunk.byteLength;
    }
    return bytes;
  }
}
