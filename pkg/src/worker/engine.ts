// The wasm module is built twice, for relaxed SIMD and for machines without it: which of the two runs here.

import * as simd128 from "../wasm/caselens.js";
import * as relaxed from "../wasm/relaxed/caselens.js";
import { instructions } from "./support.js";

// Bundlers look for these expressions as they stand here, in the package's `dist/worker.js`: the modules lie beside that.
const builds = {
  "simd128": { module: simd128, url: () => new URL("./wasm/caselens_bg.wasm", import.meta.url) },
  "relaxed-simd": { module: relaxed, url: () => new URL("./wasm/relaxed/caselens_bg.wasm", import.meta.url) },
};

/** What the session takes of the module. */
export interface Module {
  readonly Engine: Pick<typeof simd128.Engine, "load">;
  readonly EngineDevice: Pick<typeof simd128.EngineDevice, "open" | "cpu">;
  readonly Gallery: typeof simd128.Gallery;
  readonly ModelFile: typeof simd128.ModelFile;
}

/**
 * Starts the module that this machine can run.
 *
 * @param read gets its bytes, or an answer that holds them.
 * @throws CaseLensError `unsupported` where it can run neither.
 */
export async function startEngine(read: (url: URL) => Promise<Response | BufferSource>): Promise<Module> {
  const { module, url } = builds[instructions()];
  await module.default({ module_or_path: await read(url()) });
  return module;
}

/** How the module is named in messages. */
export const ENGINE = "The WebAssembly module of caselens";
