// Files of this machine: models read from disk, and the folder that downloads are kept in.

import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type FileCache, inWords } from "../cache.js";
import { type Download, type DownloadOptions, download } from "../download.js";
import { CaseLensError } from "../errors.js";

/**
 * Reads a file from disk or from the network.
 *
 * @throws CaseLensError `file`, or as {@link download}.
 */
export async function readOrDownload(url: string, options: DownloadOptions): Promise<Download> {
  if (!url.startsWith("file:")) return download(url, options);
  const { role, meter } = options;
  try {
    const read = await readFile(fileURLToPath(url));
    // A small file's Buffer is a window on Node's pool.
    const bytes = new Uint8Array(read);
    meter.size(bytes.byteLength);
    meter.at(bytes.byteLength);
    return { bytes, fromCache: false };
  } catch (cause) {
    throw new CaseLensError(
      "file",
      `The ${role} could not be read from ${nameOf(url)}: ${inWords(cause)}. Check the path; relative ones belong to the working directory.`,
      { cause },
    );
  }
}

function nameOf(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}

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
    return files;
  }

  async read(url: string): Promise<{ response: Response; size: number } | undefined> {
    const bytes = await this.#attempt(() =>
      readFile(this.#path(url)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      }),
    );
    return bytes && { response: new Response(new Uint8Array(bytes)), size: bytes.byteLength };
  }

  async keep(url: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    if (!/^https?:/.test(url)) return;
    const file = this.#path(url);
    const part = `${file}.${randomUUID()}.part`;
    await this.#attempt(async () => {
      try {
        await writeFile(part, bytes);
        await rename(part, file); // so that whoever reads meanwhile never sees half a file
      } catch (error) {
        await rm(part, { force: true });
        throw error;
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
