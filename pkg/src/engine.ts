// The wasm module is built twice, for relaxed SIMD and for machines without it: which of the two runs here.

import initSimd128, { Engine as Simd128Engine, Gallery as Simd128Gallery, ModelFile as Simd128ModelFile } from "./wasm/caselens.js";
import initRelaxed, { Engine as RelaxedEngine, Gallery as RelaxedGallery, ModelFile as RelaxedModelFile } from "./wasm/relaxed/caselens.js";

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
  simd128: { init: initSimd128, Engine: Simd128Engine, Gallery: Simd128Gallery, ModelFile: Simd128ModelFile, url: () => new URL("./wasm/caselens_bg.wasm", import.meta.url) },
  relaxed: { init: initRelaxed, Engine: RelaxedEngine, Gallery: RelaxedGallery, ModelFile: RelaxedModelFile, url: () => new URL("./wasm/relaxed/caselens_bg.wasm", import.meta.url) },
};

/** What the session takes of the module. */
export interface Module {
  readonly load: typeof Simd128Engine.load;
  readonly Gallery: typeof Simd128Gallery;
  readonly ModelFile: typeof Simd128ModelFile;
}

/**
 * Starts the module that this machine can run.
 *
 * @param read gets its bytes, or an answer that holds them.
 */
export async function startEngine(read: (url: URL) => Promise<Response | BufferSource>): Promise<Module> {
  const { init, Engine, Gallery, ModelFile, url } = WebAssembly.validate(RELAXED_SIMD) ? builds.relaxed : builds.simd128;
  await init({ module_or_path: await read(url()) });
  return { load: (...given) => Engine.load(...given), Gallery, ModelFile };
}

/** How the module is named in messages. */
export const ENGINE = "The WebAssembly module of caselens";
