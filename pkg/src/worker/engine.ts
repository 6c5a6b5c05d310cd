// The wasm module is built twice, for relaxed SIMD and for machines without it: which of the two runs here.

import { CaseLensError, inWords } from "../errors.js";
import type { WasmSource } from "../protocol.js";
// By their names: of a whole module bundlers would leave nothing out.
import startSimd128, { Engine, EngineDevice, Gallery, ModelFile } from "../wasm/caselens.js";
import startRelaxed, {
  Engine as RelaxedEngine,
  EngineDevice as RelaxedDevice,
  Gallery as RelaxedGallery,
  ModelFile as RelaxedFile,
} from "../wasm/relaxed/caselens.js";
import { checkWebAssembly, type Instructions, instructions } from "./support.js";

// Bundlers look for these expressions as they stand here, in the package's `dist/worker.js`: the modules lie beside that.
const builds = {
  "simd128": { start: startSimd128, module: { Engine, EngineDevice, Gallery, ModelFile }, url: () => new URL("./wasm/caselens_bg.wasm", import.meta.url) },
  "relaxed-simd": {
    start: startRelaxed,
    module: { Engine: RelaxedEngine, EngineDevice: RelaxedDevice, Gallery: RelaxedGallery, ModelFile: RelaxedFile },
    url: () => new URL("./wasm/relaxed/caselens_bg.wasm", import.meta.url),
  },
};

/** What the session takes of the module. */
export interface Module {
  readonly Engine: Pick<typeof Engine, "load">;
  readonly EngineDevice: Pick<typeof EngineDevice, "open" | "cpu">;
  readonly Gallery: typeof Gallery;
  readonly ModelFile: typeof ModelFile;
}

/**
 * Starts the module that this machine can run, or the one that is given.
 *
 * @param read gets its bytes, or an answer that holds them.
 * @throws CaseLensError `unsupported` where it can run neither, `invalid-argument` where what is given is another module.
 */
export async function startEngine(read: (url: URL) => Promise<Response | BufferSource>, given?: WasmSource): Promise<Module> {
  if (given) return startGiven(await compiled(given, read));
  const { start, module, url } = builds[instructions()];
  await start({ module_or_path: await read(url()) });
  return module;
}

async function startGiven(wasm: WebAssembly.Module): Promise<Module> {
  // `bundle.mjs` writes into each build which it is.
  const [section] = WebAssembly.Module.customSections(wasm, "caselens");
  const name = section && (new TextDecoder().decode(section) as Instructions);
  if (!name || !(name in builds)) throw notOurs("it is another module, or of another version");
  const { start, module } = builds[name];
  await start({ module_or_path: wasm });
  return module;
}

async function compiled(given: WasmSource, read: (url: URL) => Promise<Response | BufferSource>): Promise<WebAssembly.Module> {
  checkWebAssembly();
  // Where a platform compiles modules itself, it need not allow it here.
  if ("module" in given) return given.module;
  instructions();
  const code = "url" in given ? await read(new URL(given.url)) : "bytes" in given ? given.bytes : new Response(given.blob);
  return WebAssembly.compile(code instanceof Response ? await code.arrayBuffer() : code).catch((cause: unknown) => {
    throw notOurs(inWords(cause), cause);
  });
}

function notOurs(why: string, cause?: unknown): CaseLensError {
  return new CaseLensError("invalid-argument", `wasm cannot be used: ${why}. It has to be \`caselens/dist/wasm/caselens_bg.wasm\` of this version, or the one in \`relaxed/\`.`, { cause });
}

/** How the module is named in messages. */
export const ENGINE = "The WebAssembly module of caselens";
