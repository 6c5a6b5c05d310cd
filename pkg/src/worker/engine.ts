// The wasm module is built twice, for relaxed SIMD and for machines without it: which of the two runs here.

import * as simd128 from "../wasm/caselens.js";
import * as relaxed from "../wasm/relaxed/caselens.js";

/** A module with one function that uses `i32x4.relaxed_dot_i8x16_i7x16_add_s`: valid where relaxed SIMD is. */
// prettier-ignore
const RELAXED_SIMD = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, // "\0asm", version 1
  1, 5, 1, 96, 0, 1, 123, // one type: () -> v128
  3, 2, 1, 0, // one function of that type
  10, 19, 1, 17, 0, 65, 1, 253, 15, 65, 1, 253, 15, 65, 1, 253, 15, 253, 147, 2, 11, // its body: three splats and the dot product
]);

// Bundlers look for these expressions as they stand here, in the package's `dist/worker.js`: the modules lie beside that.
const builds = {
  simd128: { module: simd128, url: () => new URL("./wasm/caselens_bg.wasm", import.meta.url) },
  relaxed: { module: relaxed, url: () => new URL("./wasm/relaxed/caselens_bg.wasm", import.meta.url) },
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
 */
export async function startEngine(read: (url: URL) => Promise<Response | BufferSource>): Promise<Module> {
  const { module, url } = WebAssembly.validate(RELAXED_SIMD) ? builds.relaxed : builds.simd128;
  await module.default({ module_or_path: await read(url()) });
  return module;
}

/** How the module is named in messages. */
export const ENGINE = "The WebAssembly module of caselens";
