// The worker: everything heavy runs here, so that the page never waits. The session does the work; this file only
// ties it to the browser.

import { FileCache } from "./cache.js";
import { checkAnswer, download, unreachable } from "./download.js";
import type { FromWorker, ToWorker } from "./rpc/protocol.js";
import { Session } from "./rpc/session.js";
import initSimd128, { Engine as Simd128Engine } from "./wasm/caselens.js";
import initRelaxed, { Engine as RelaxedEngine } from "./wasm/relaxed/caselens.js";

/** The part of a worker's global scope that is used here (the DOM's own types describe a page). */
interface WorkerScope {
  postMessage(message: FromWorker, transfer: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToWorker>) => void): void;
  addEventListener(type: "error", listener: (event: ErrorEvent) => void): void;
  addEventListener(type: "unhandledrejection", listener: (event: PromiseRejectionEvent) => void): void;
}
const scope = globalThis as unknown as WorkerScope;

/** A module with one function that uses `i32x4.relaxed_dot_i8x16_i7x16_add_s`: valid where relaxed SIMD is. */
// prettier-ignore
const RELAXED_SIMD = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, // "\0asm", version 1
  1, 5, 1, 96, 0, 1, 123, // one type: () -> v128
  3, 2, 1, 0, // one function of that type
  10, 19, 1, 17, 0, 65, 1, 253, 15, 65, 1, 253, 15, 65, 1, 253, 15, 253, 147, 2, 11, // its body: three splats and the dot product
]);

// Bundlers look for these expressions as they stand here.
const builds = {
  simd128: { init: initSimd128, Engine: Simd128Engine, url: () => new URL("./wasm/caselens_bg.wasm", import.meta.url) },
  relaxed: { init: initRelaxed, Engine: RelaxedEngine, url: () => new URL("./wasm/relaxed/caselens_bg.wasm", import.meta.url) },
};

async function boot(): Promise<typeof Simd128Engine> {
  const { init, Engine, url } = WebAssembly.validate(RELAXED_SIMD) ? builds.relaxed : builds.simd128;
  const { href } = url();
  const subject = "The WebAssembly module of caselens";
  const response = await fetch(href).catch((error: unknown) => {
    throw unreachable(href, subject, error);
  });
  checkAnswer(response, href, subject, "Serve the whole `dist` folder of the package; `./build.sh` makes it.");
  await init({ module_or_path: response });
  return Engine;
}

const session = new Session({
  boot,
  openCache: (warn) => FileCache.open(warn),
  download,
  post: (message, transfer = []) => scope.postMessage(message, transfer),
});

scope.addEventListener("message", (event) => session.receive(event.data));
scope.addEventListener("error", (event) => {
  event.preventDefault(); // the page hears of it as a rejected call
  session.fail(event.error ?? event.message);
});
scope.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  session.fail(event.reason);
});
