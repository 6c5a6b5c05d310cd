// Node and Deno: worker threads, paths beside URLs, and a folder for downloads where one is named.

import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";
import { CaseLensError, inWords } from "../errors.js";
import { folderOf, type Platform } from "../page/platform.js";
import type { WorkerPort } from "../page/port.js";
import { WebWorkerPort } from "../page/start.js";
import type { FromWorker, ToWorker } from "../protocol.js";
import type { WorkerLike } from "../types.js";
import { indexFiles } from "./indexes.js";

/** Two letters at least: `C:\model.gguf` is a path. */
const HAS_SCHEME = /^[a-z][a-z0-9+.-]+:/i;

/**
 * @param startThread starts the worker thread of the package.
 * @param startHere gives what stands in for it in this thread.
 */
export const nodePlatform = (startThread: () => Worker, startHere: () => Promise<WorkerLike>): Platform => ({
  startWorker: () => {
    try {
      return new ThreadPort(startThread());
    } catch (cause) {
      throw new CaseLensError("worker", "The worker thread of caselens could not be started. Keep the `dist` folder of the package whole, and let bundlers leave the package out.", { cause });
    }
  },
  startHere: async () => new WebWorkerPort(await startHere()),
  // Deno has both kinds.
  portOf: (worker) => ("on" in worker ? new ThreadPort(worker as Worker) : new WebWorkerPort(worker)),
  base,
  resolve,
  cache: (option) => {
    if (option === undefined || option === false) return "none";
    const folder = option === true ? path.join(cachesFolder(), "caselens") : folderOf(option);
    return folder === undefined ? undefined : { folder: path.resolve(folder) };
  },
  hardware: () => ({ hardwareConcurrency: os.availableParallelism(), deviceMemory: os.totalmem() / 2 ** 30 }),
  indexes: indexFiles((name) => resolve(name, base())),
});

const base = (): string => pathToFileURL(`${process.cwd()}${path.sep}`).href;

function resolve(name: string, base: string): string {
  return HAS_SCHEME.test(name) ? new URL(name).href : pathToFileURL(path.resolve(fileURLToPath(base), name)).href;
}

/** Where the programs of this user keep what they can get again. */
function cachesFolder(): string {
  const home = os.homedir();
  if (process.platform === "win32") return process.env.LOCALAPPDATA ?? path.join(home, "AppData", "Local");
  if (process.platform === "darwin") return path.join(home, "Library", "Caches");
  return process.env.XDG_CACHE_HOME ?? path.join(home, ".cache");
}

/**
 * A worker thread that looks like a browser's worker, and that keeps the process alive while a call waits for its answer and
 * no longer: a script ends by itself without `dispose`.
 */
class ThreadPort implements WorkerPort {
  readonly #thread: Worker;
  /** Calls that wait for their answer. */
  readonly #waiting = new Set<number>();
  #ended = false;

  constructor(thread: Worker) {
    this.#thread = thread;
  }

  listen({ message, failed }: Parameters<WorkerPort["listen"]>[0]): void {
    const fail = (why: string) => {
      if (!this.#ended) failed(why);
      this.#ended = true;
    };
    this.#thread.on("message", (data: FromWorker) => {
      if (data.type === "done" || data.type === "failed") this.#answered(data.id);
      message(data);
    });
    this.#thread.on("messageerror", () => fail("a message from it could not be read"));
    this.#thread.on("error", (error) => fail(`it failed (${inWords(error)})`));
    this.#thread.on("exit", (code) => fail(`its thread ended with code ${code}`));
    this.#thread.unref();
  }

  post(message: ToWorker, transfer: Transferable[]): void {
    this.#thread.postMessage(message, transfer as never);
    if (message.type === "abort") return this.#answered(message.id);
    this.#waiting.add(message.id);
    this.#thread.ref();
  }

  end(): void {
    this.#ended = true;
    void this.#thread.terminate();
  }

  #answered(id: number): void {
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#thread.unref();
  }
}
