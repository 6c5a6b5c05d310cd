// What a session is tied to in Node and Deno, in a worker thread and in any other.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { CaseLensError } from "../errors.js";
import type { WasmSource } from "../protocol.js";
import { NO_CACHE } from "../worker/cache.js";
import { ENGINE, type Module, startEngine } from "../worker/engine.js";
import type { Outside } from "../worker/session.js";
import { FolderCache, readOrDownload, sizeOf } from "./files.js";

export const nodeOutside: Omit<Outside, "post"> = {
  boot,
  openCache: async (place, warn) => (typeof place === "object" ? FolderCache.open(place.folder, warn) : NO_CACHE),
  download: readOrDownload,
  sizeOf,
  sha256: () => createHash("sha256"),
};

/**
 * WebGPU is taken only where it is asked for. Node has none; Deno has, but with some drivers its process crashes as it ends
 * after a thread has used it, which `"auto"` must not bring about.
 */
async function boot(wasm?: WasmSource): Promise<Module> {
  const built = await startEngine(async (url) => {
    if (url.protocol !== "file:") return fetch(url);
    return readFile(url).catch((cause: unknown) => {
      throw new CaseLensError("file", `${ENGINE} could not be read from ${url.href}. Install the package again.`, { cause });
    });
  }, wasm);
  const { EngineDevice } = built;
  return {
    ...built,
    EngineDevice: {
      open: async (device) => {
        if (device === "auto") return EngineDevice.cpu("auto: the CPU, since Node and Deno take WebGPU only where it is asked for");
        if (device === "webgpu") offerGpu();
        return EngineDevice.open(device);
      },
      cpu: (reason) => EngineDevice.cpu(reason),
    },
  };
}

/** The module looks for a GPU in the scope of a browser's worker. */
function offerGpu(): void {
  const scope = globalThis as { WorkerGlobalScope?: unknown; navigator?: unknown };
  scope.WorkerGlobalScope ??= Object;
  scope.navigator ??= {};
}
