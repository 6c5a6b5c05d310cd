// A file, from the cache or the network, checked to be whole.

import type { FileCache } from "./cache.js";
import { CaseLensError } from "./errors.js";
import type { PartMeter } from "./progress.js";

/** What a file is for; used in messages. */
export type FileRole = "model" | "head" | "manifest" | "gallery";

export interface DownloadOptions {
  readonly role: FileRole;
  readonly cache: FileCache;
  readonly meter: PartMeter;
  /** Asks the server whether what the browser itself has kept is still what is served. */
  readonly revalidate?: boolean;
}

export interface Download {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly fromCache: boolean;
}

const MAKES: Record<FileRole, string> = {
  model: "`./build.sh` or `caselens quantize` makes one",
  head: "`caselens train` makes one",
  manifest: "`caselens export` makes one",
  gallery: "`caselens export --gallery` makes one",
};

/**
 * Reads a file. It is not put into the cache here: the caller does that once the bytes have proved to be good.
 *
 * It cannot be aborted by itself: it runs in a worker, and ending the worker ends it.
 *
 * @throws CaseLensError `network`, `http` or `download-incomplete`.
 */
export async function download(url: string, options: DownloadOptions): Promise<Download> {
  const { cache, meter } = options;
  const kept = await cache.read(url);
  if (kept) {
    meter.size(kept.size);
    const bytes = await readBody(kept.response, kept.size, meter).catch(() => undefined);
    if (bytes?.byteLength === kept.size) return { bytes, fromCache: true };
    await cache.drop(url);
  }
  return { bytes: await fetchWhole(url, options), fromCache: false };
}

async function fetchWhole(url: string, { role, meter, revalidate }: DownloadOptions): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url, revalidate ? { cache: "no-cache" } : undefined).catch((error: unknown) => {
    throw unreachable(url, `The ${role}`, error);
  });
  checkAnswer(response, url, `The ${role}`, `Check the URL; ${MAKES[role]}.`);

  const { size, exact } = statedSize(response);
  meter.size(size);
  const tryAgain = "Load it again; if that does not help, the file on the server may be damaged.";
  const bytes = await readBody(response, size, meter).catch((cause: unknown) => {
    throw new CaseLensError("download-incomplete", `The download of the ${role} from ${url} broke off. ${tryAgain}`, { cause });
  });
  if (size !== null && exact && bytes.byteLength < size) {
    throw new CaseLensError(
      "download-incomplete",
      `The ${role} from ${url} ended after ${bytes.byteLength} of ${size} bytes. ${tryAgain}`,
    );
  }
  if (bytes.byteLength === 0) {
    throw new CaseLensError("download-incomplete", `The ${role} from ${url} is empty. ${tryAgain}`);
  }
  return bytes;
}

/** The error for a request that got no answer at all. `subject` begins the sentence. */
export function unreachable(url: string, subject: string, cause: unknown): CaseLensError {
  const offline = typeof navigator !== "undefined" && navigator.onLine === false;
  const why = offline
    ? "the browser is offline and the file has not been kept. Connect to the network and load it again"
    : "the server did not answer, or does not allow this page to read it (CORS). Check the URL and the network, and load it again";
  return new CaseLensError("network", `${subject} could not be fetched from ${url}: ${why}.`, { cause });
}

/** Throws unless the server answered with a file. */
export function checkAnswer(response: Response, url: string, subject: string, remedy: string): void {
  if (!response.ok) {
    const what = response.status === 404 || response.status === 410 ? "was not found" : "could not be fetched";
    const later = response.status >= 500 ? " The server may work again later." : "";
    throw new CaseLensError("http", `${subject} ${what} at ${url} (HTTP ${response.status}). ${remedy}${later}`);
  }
  // Servers of single-page apps answer every unknown path with their index.html and status 200.
  if (/^text\/html\b/i.test(response.headers.get("content-type") ?? "")) {
    throw new CaseLensError("http", `${subject} was not found at ${url}: the server answered with a web page (HTTP ${response.status}, text/html). ${remedy}`);
  }
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

/** Reads a body into one buffer, allocated once when the size is known. */
async function readBody(response: Response, size: number | null, meter: PartMeter): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(size ?? 0);
  const rest: Uint8Array[] = []; // what does not fit: all of it when the size is unknown
  let at = 0;
  const reader = response.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    if (rest.length === 0 && at + value.byteLength <= buffer.byteLength) buffer.set(value, at);
    else rest.push(value);
    at += value.byteLength;
    meter.at(at);
  }
  if (rest.length === 0) return buffer.subarray(0, at);

  const whole = new Uint8Array(at);
  let end = at;
  for (const piece of rest.reverse()) whole.set(piece, (end -= piece.byteLength));
  whole.set(buffer.subarray(0, end));
  return whole;
}
