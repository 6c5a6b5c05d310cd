// What a loaded model says about itself.

/** Where a model runs: on the GPU through WebGPU, or on the CPU through WebAssembly. */
export type Device = "webgpu" | "wasm";

/** What a worker says of what it loaded. */
export interface EngineInfo {
  /** Where it runs. */
  readonly device: Device;
  /** The GPU adapter's name; null on the CPU. */
  readonly adapter: string | null;
  /** The processor's instructions that the CPU path was built for, `"relaxed-simd"` or `"simd128"`; null on the GPU. */
  readonly instructions: string | null;
  /** How the weights are stored, for example `"q8_0"`. */
  readonly dtype: string;
  /** Length of an embedding: of `embed` with a condition for `CaseLens`, of `embed` for `Encoder`. */
  readonly dim: number;
  /** Name of the encoder. */
  readonly model: string;
  /** Size of the model and the head together, in bytes. */
  readonly bytes: number;
  /** Why it runs where it runs, in words. */
  readonly reason: string;
}

/** What was loaded and where it runs. */
export interface Info extends EngineInfo {
  /** Workers that share out a long call on the CPU; 1 on the GPU. */
  readonly threads: number;
}
