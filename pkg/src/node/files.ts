// Files of this machine: models read from disk, and the folder that downloads are kept in.

import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { CaseLensError, inWords } from "../errors.js";
import type { FileCache, Kept } from "../worker/cache.js";
import { type Download, type DownloadOptions, download, type Sink } from "../worker/download.js";
import { statedByServer } from "../worker/kept.js";
import type { RequestOptions } from "../worker/request.js";
import { sweep } from "./sweep.js";

/** Bytes read from disk at a time. */
const STEP = 1 << 20;

/**
 * Reads a file from disk or from the network into `sink`.
 *
 * @throws CaseLensError `file`, or as {@link download}.
 */
export async function readOrDownload(url: string, options: DownloadOptions, sink: Sink): Promise<Download> {
  if (!url.startsWith("file:")) {
    const found = await download(url, options, sink);
    await found.kept; // a script may be over soon, and this thread with it
    return found;
  }
  const { role, meter } = options;
  const attempt = async <T>(operation: () => Promise<T>) => operation().catch((cause: unknown) => {
    throw unreadable(role, url, cause);
  });
  const found = await attempt(async () => stat(fileURLToPath(url)));
  if (found.isDirectory()) throw unreadable(role, url, new Error("it is a folder: name the file in it"));
  const { size } = found;
  meter.size(size);
  await sink.begin(size);
  const chunks = createReadStream(fileURLToPath(url), { highWaterMark: STEP })[Symbol.asyncIterator]();
  for (let at = 0; ; ) {
    const { done, value } = await attempt(() => chunks.next());
    if (done) break;
    sink.push(value);
    meter.at((at += value.byteLength));
  }
  sink.end?.();
  return { fromCache: false, kept: Promise.resolve() };
}

/** The size of a file in bytes, on disk or as its server states it. */
export async function sizeOf(url: string, request: RequestOptions): Promise<number | null> {
  if (!url.startsWith("file:")) return statedByServer(url, request);
  try {
    return (await stat(fileURLToPath(url))).size;
  } catch (cause) {
    throw unreadable("file", url, cause);
  }
}

function unreadable(what: string, url: string, cause: unknown): CaseLensError {
  return new CaseLensError(
    "file",
    `The ${what} could not be read from ${nameOf(url)}: ${inWords(cause)}. Check the path; relative ones belong to the working directory. npm has a model as \`caselens-csts\`.`,
    { cause, url },
  );
}

function nameOf(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}

/**
 * A file as a stream that may be left at any time. Streams that Node makes of its own (`Readable.toWeb`) are closed once more after
 * that, which ends the thread: a kept file is left when it turns out to be damaged.
 */
function streamOf(file: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  let opened: FileHandle | undefined;
  return new ReadableStream(
    {
      pull: async (controller) => {
        opened ??= await open(file);
        const { bytesRead, buffer } = await opened.read(new Uint8Array(STEP)).catch(async (error: unknown) => {
          await opened?.close();
          throw error;
        });
        if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
        await opened.close();
        controller.close();
      },
      cancel: () => opened?.close(),
    },
    { highWaterMark: 0 },
  );
}

/** What {@link FolderCache.keep} has not finished: a hash, the file's name and a UUID. */
const PART = /^[0-9a-f]{16}-.*\.[0-9a-f-]{36}\.part$/;

/** Files kept in a folder, each under its own name and a hash of its full URL. */
export class FolderCache implements FileCache {
  readonly #folder: string;
  readonly #warn: (message: string) => void;
  #off = false;

  private constructor(folder: string, warn: (message: string) => void) {
    this.#folder = folder;
    this.#warn = warn;
  }

  /** Opens the folder, and makes it. `warn` is told, once and in words, when it cannot be used; from then on nothing is kept. */
  static async open(folder: string, warn: (message: string) => void): Promise<FolderCache> {
    const files = new FolderCache(folder, warn);
    await files.#attempt(() => mkdir(folder, { recursive: true }));
    await sweep(folder, PART);
    return files;
  }

  get keeps(): boolean {
    return !this.#off;
  }

  async read(url: string): Promise<Kept | undefined> {
    if (!/^https?:/.test(url)) return undefined;
    const file = this.#path(url);
    const found = await this.#attempt(() =>
      stat(file).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      }),
    );
    if (!found) return undefined;
    return { response: new Response(streamOf(file)), size: found.size };
  }

  async keep(...[url, body, { signal }]: Parameters<FileCache["keep"]>): Promise<void> {
    if (!/^https?:/.test(url)) return;
    const file = this.#path(url);
    const part = `${file}.${randomUUID()}.part`;
    await this.#attempt(async () => {
      try {
        await pipeline(Readable.from(body), createWriteStream(part));
        await rename(part, file); // so that whoever reads meanwhile never sees half a file
      } catch (error) {
        await rm(part, { force: true });
        if (!signal.aborted) throw error;
      }
    });
  }

  async drop(url: string): Promise<void> {
    if (/^https?:/.test(url)) await this.#attempt(() => rm(this.#path(url), { force: true }));
  }

  #path(url: string): string {
    const name = new URL(url).pathname.split("/").at(-1) ?? "";
    const hash = createHash("sha256").update(url).digest("hex").slice(0, 16);
    return path.join(this.#folder, `${hash}-${name.replace(/[^\w.-]/g, "_").slice(-80)}`);
  }

  async #attempt<T>(operation: () => Promise<T>): Promise<T | undefined> {
    if (this.#off) return undefined;
    try {
      return await operation();
    } catch (error) {
      this.#off = true;
      this.#warn(`Files cannot be kept in ${this.#folder} and will be downloaded again next time: ${inWords(error)}.`);
      return undefined;
    }
  }
}
