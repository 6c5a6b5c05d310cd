// The surface of the wasm module that this package relies on. `build.sh` places the module itself, made by
// wasm-bindgen from src/web.rs, at dist/wasm/.

import type { Explanation } from "../explain.js";
import type { EngineInfo } from "../info.js";

export default function init(options: {
  module_or_path: Response | Promise<Response> | BufferSource | WebAssembly.Module;
}): Promise<unknown>;

export class ModelFile {
  constructor(size?: number);
  push(piece: Uint8Array): void;
  free(): void;
}

export class EngineDevice {
  private constructor();
  static open(device: string): Promise<EngineDevice>;
  static cpu(reason: string): EngineDevice;
  free(): void;
}

export class Engine {
  private constructor();
  /** Takes the model and the device, also where it fails: they must not be freed then. */
  static load(model: ModelFile, head: Uint8Array | undefined, device: EngineDevice): Promise<Engine>;
  info(): EngineInfo;
  compare(sentence1: string, sentence2: string, conditions: string[]): Promise<Compared>;
  embed(sentences: string[], conditions: (string | undefined)[], dims: number | undefined, dtype: string): Promise<Embedded>;
  encode(texts: string[], pooling: string, normalize: boolean, dims: number | undefined, dtype: string): Promise<Embedded>;
  explain(
    sentence1: string,
    sentence2: string,
    condition: string | undefined,
    subtract: boolean | undefined,
    pooling: string | undefined,
    head: boolean | undefined,
  ): Promise<Explanation>;
  group(data: Float32Array, dims: number, count: number): Grouped;
  plane(data: Float32Array, dims: number, previous: Float32Array | undefined): Float32Array;
  tokenize(text: string): Uint32Array;
  peak(): number | undefined;
  free(): void;
}

export class Gallery {
  constructor(manifest: string);
  info(): GalleryInfo;
  answers(head: Uint8Array, embeddings: Uint8Array): Promise<GalleryAnswer[]>;
  free(): void;
}

export interface GalleryInfo {
  encoder: string;
  dim: number;
  licences: string[];
  /** The head's and the embeddings', beside the manifest. */
  files: [string, string];
}

export interface GalleryAnswer {
  sentence1: string;
  sentence2: string;
  condition: string;
  label?: number;
  similarity: number;
  rating: number;
}

export interface Compared {
  results: { condition: string; similarity: number; rating: number; unconditional: number; truncated?: boolean }[];
  warnings: string[];
}

export interface Embedded {
  data: Float32Array | Int8Array | Uint8Array;
  scales?: Float32Array;
  count: number;
  dims: number;
  warnings: string[];
}

export interface Grouped {
  labels: Uint32Array;
  centrality: Float32Array;
  silhouette: number;
}
