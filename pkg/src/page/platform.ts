// What differs between a browser and Node: how a worker starts, what a relative path belongs to, where files can be kept.
//
// The entry for browsers needs to do nothing; the one for Node (`node.ts`) puts its own platform here before anything loads.

import type { CachePlace, WorkerLike } from "../types.js";
import type { WorkerPort } from "./port.js";
import { startHere, startWebWorker, WebWorkerPort } from "./start.js";

export interface Platform {
  /** @throws CaseLensError `worker` when none can be started. */
  startWorker(): WorkerPort | Promise<WorkerPort>;
  /** The engine in this thread, behind the same face. */
  startHere(): Promise<WorkerPort>;
  /** A worker that the caller started. */
  portOf(worker: WorkerLike): WorkerPort;
  /** The URL that relative URLs belong to. */
  base(): string;
  /** The absolute URL of a file that the caller named; throws when it is none. */
  resolve(name: string, base: string): string;
  /** The place that the option `cache` names; undefined when there is no such place here. */
  cache(option: unknown): CachePlace | undefined;
  /** Processors, and memory in GB where it is known. */
  hardware(): { hardwareConcurrency?: number; deviceMemory?: number } | undefined;
  /** Where indexes are stored; IndexedDB where this is absent. */
  readonly indexes?: IndexStore;
}

/** Keeps the bytes of indexes by their names. What fails is a CaseLensError `storage`, or `storage-full`. */
export interface IndexStore {
  /** What is stored under a name; undefined where there is nothing. The bytes belong to the caller. */
  read(name: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /**
   * Stores bytes under a name: all of them, or what was there before stays.
   *
   * @param mayReplace is given the first bytes of what is there, if anything is, and throws where that has to stay. Nobody else
   * writes between that and the writing. It may change the first bytes of what is to be written.
   */
  write(name: string, bytes: Uint8Array<ArrayBuffer>, mayReplace: (head: Uint8Array) => void): Promise<void>;
  /** Forgets what is stored under a name. */
  delete(name: string): Promise<void>;
}

const browser: Platform = {
  startWorker: startWebWorker,
  startHere,
  portOf: (worker) => new WebWorkerPort(worker),
  // Without a page or a worker there is nothing to load from, and starting the worker says so.
  base: () => globalThis.document?.baseURI ?? globalThis.location?.href ?? "http://localhost/",
  resolve: (name, base) => new URL(name, base).href,
  cache: (option) => {
    if (option === false) return "none";
    return option === undefined || option === true || folderOf(option) !== undefined ? "browser" : undefined;
  },
  hardware: () => globalThis.navigator,
};

/** The folder that the option `cache` names; undefined where it names none. */
export function folderOf(option: unknown): string | undefined {
  const folder = (option as { folder?: unknown } | null | undefined)?.folder;
  return typeof folder === "string" && folder !== "" ? folder : undefined;
}

let current = browser;

/** Where this package runs. */
export function platform(): Platform {
  return current;
}

/** From now on the package runs there. */
export function usePlatform(platform: Platform): void {
  current = platform;
}
