// The surface of the wasm module that this package relies on. `build.sh` places the module itself, made by
// wasm-bindgen from src/web.rs, at dist/wasm/.

import type { EngineInfo } from "../info.js";

export default function init(options: {
  module_or_path: Response | Promise<Response> | BufferSource | WebAssembly.Module;
}): Promise<unknown>;

export class Engine {
  private constructor();
  static load(model: Uint8Array, head: Uint8Array | undefined, device: string): Promise<Engine>;
  info(): EngineInfo;
  compare(sentence1: string, sentence2: string, conditions: string[]): Promise<Compared>;
  embed(sentences: string[], conditions: (string | undefined)[]): Promise<Embedded>;
  encode(texts: string[], pooling: string, normalize: boolean): Promise<Embedded>;
  tokenize(text: string): Uint32Array;
  free(): void;
}

export interface Compared {
  results: { condition: string; similarity: number; rating: number; unconditional: number; truncated?: boolean }[];
  warnings: string[];
}

export interface Embedded {
  rows: Float32Array[];
  warnings: string[];
}
