// The worker thread: everything heavy runs here, so that Node's event loop stays free. The session does the work; this
// file only ties it to Node.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parentPort } from "node:worker_threads";
import { CaseLensError } from "./errors.js";
import { FolderCache, readOrDownload, sizeOf } from "./node/files.js";
import { NO_CACHE } from "./worker/cache.js";
import { ENGINE, type Module, startEngine } from "./worker/engine.js";
import { Session } from "./worker/session.js";

const port = parentPort;
if (!port) throw new Error("This is the worker of caselens. Import the package instead.");

/**
 * WebGPU is taken only where it is asked for. Node has none; Deno has, but with some drivers its process crashes as it ends
 * after a thread has used it, which `"auto"` must not bring about.
 */
async function boot(): Promise<Module> {
  const built = await startEngine((url) =>
    readFile(url).catch((cause: unknown) => {
      throw new CaseLensError("file", `${ENGINE} could not be read from ${url.href}. Install the package again.`, { cause });
    }),
  );
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

const session = new Session({
  boot,
  openCache: async (place, warn) => (typeof place === "object" ? FolderCache.open(place.folder, warn) : NO_CACHE),
  download: readOrDownload,
  sizeOf,
  sha256: () => createHash("sha256"),
  post: (message, transfer = []) => port.postMessage(message, transfer as never),
});

port.on("message", (message) => session.receive(message));
process.on("uncaughtException", (error) => session.fail(error));
process.on("unhandledRejection", (reason) => session.fail(reason));
