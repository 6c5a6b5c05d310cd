// What the page and the worker say to each other.
//
// The page sends one `load` and then any number of calls; every request has a number and gets exactly one `done` or
// `failed`, unless it was aborted. Disposing terminates the worker and needs no message.

import type { ErrorData } from "../errors.js";
import type { Device, EngineInfo } from "../info.js";
import type { Progress } from "../progress.js";

/** Where a file comes from: an absolute URL, or bytes that now belong to the worker. */
export type Source = { readonly url: string } | { readonly bytes: Uint8Array<ArrayBuffer> };

export interface LoadCall {
  readonly method: "load";
  readonly model: Source;
  /** Absent for the bare encoder. */
  readonly head?: Source;
  readonly device: "auto" | Device;
}

/** One comparison. */
export interface Comparison {
  /** The condition, as it was given. */
  readonly condition: string;
  /** Cosine similarity of the two sentences under the condition, −1 to 1. */
  readonly similarity: number;
  /** The same on the 1 (unlike) to 5 (alike) scale of human ratings. */
  readonly rating: number;
  /** Cosine similarity of the two sentences without a condition, −1 to 1; the same for every condition. */
  readonly unconditional: number;
  /** Present when a sentence was longer than the encoder can read and its end was left out. */
  readonly truncated?: true;
}

export interface CompareCall {
  readonly method: "compare";
  readonly sentence1: string;
  readonly sentence2: string;
  readonly conditions: readonly string[];
}
export interface EmbedCall {
  readonly method: "embed";
  readonly sentences: readonly string[];
  /** One for each sentence; undefined for none. */
  readonly conditions: readonly (string | undefined)[];
}
export interface EncodeCall {
  readonly method: "encode";
  readonly texts: readonly string[];
  readonly pooling: "mean" | "cls";
  readonly normalize: boolean;
}
export interface TokenizeCall {
  readonly method: "tokenize";
  readonly text: string;
}

export type Call = LoadCall | CompareCall | EmbedCall | EncodeCall | TokenizeCall;

/** What each call gives. */
export interface Results {
  load: EngineInfo;
  compare: Comparison[];
  embed: Float32Array[];
  encode: Float32Array[];
  tokenize: Uint32Array;
}

export type ToWorker =
  | { readonly type: "call"; readonly id: number; readonly call: Call }
  /** The page no longer waits for this call; what is left of it need not be done. */
  | { readonly type: "abort"; readonly id: number };

export type FromWorker =
  | { readonly type: "done"; readonly id: number; readonly value: Results[Call["method"]] }
  | { readonly type: "failed"; readonly id: number; readonly error: ErrorData }
  | { readonly type: "progress"; readonly progress: Progress }
  /** What runs has changed, for example the device after the GPU was lost. */
  | { readonly type: "info"; readonly info: EngineInfo }
  | { readonly type: "warning"; readonly message: string };
