// What the page and the worker say to each other.
//
// The page sends one `load` and then any number of calls; every request has a number and gets exactly one `done` or
// `failed`, unless it was aborted. Disposing terminates the worker and needs no message.

import type { EmbeddingsData, EmbeddingType } from "../embeddings.js";
import type { ErrorData } from "../errors.js";
import type { Explanation, TokenPooling } from "../explain.js";
import type { Device, EngineInfo } from "../info.js";
import type { CachePlace } from "../platform.js";
import type { Progress } from "../progress.js";

/** Where a file comes from: an absolute URL, or bytes that now belong to the worker. */
export type Source = { readonly url: string } | { readonly bytes: Uint8Array<ArrayBuffer> };

export interface LoadCall {
  readonly method: "load";
  readonly model: Source;
  /** Absent for the bare encoder. */
  readonly head?: Source;
  readonly device: "auto" | Device;
  /** Where downloads are kept. */
  readonly cache: CachePlace;
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
/** In which form embeddings are given; `dims` undefined for all. */
interface Form {
  readonly dims: number | undefined;
  readonly dtype: EmbeddingType;
}
export interface EmbedCall extends Form {
  readonly method: "embed";
  readonly sentences: readonly string[];
  /** One for each sentence; undefined for none. */
  readonly conditions: readonly (string | undefined)[];
}
export interface EncodeCall extends Form {
  readonly method: "encode";
  readonly texts: readonly string[];
  readonly pooling: "mean" | "cls";
  readonly normalize: boolean;
}
export interface ExplainCall {
  readonly method: "explain";
  readonly sentence1: string;
  readonly sentence2: string;
  readonly condition: string | undefined;
  /** Undefined where the model's own way is meant. */
  readonly subtract: boolean | undefined;
  readonly pooling: TokenPooling | undefined;
  readonly head: boolean | undefined;
}
export interface TokenizeCall {
  readonly method: "tokenize";
  readonly text: string;
}

export interface PeakCall {
  readonly method: "peak";
}

/** Unit vectors in groups, once for each of `counts`. */
export interface GroupCall {
  readonly method: "group";
  /** `[texts, dims]` */
  readonly data: Float32Array;
  readonly dims: number;
  readonly counts: readonly number[];
}
/** Vectors on a plane. */
export interface PlaneCall {
  readonly method: "plane";
  /** `[texts, dims]` */
  readonly data: Float32Array;
  readonly dims: number;
  readonly previous: Float32Array | undefined;
}

/** Reads a gallery; the only call of its worker. */
export interface GalleryCall {
  readonly method: "gallery";
  /** Absolute. */
  readonly manifest: string;
}

export type Call = LoadCall | CompareCall | EmbedCall | EncodeCall | ExplainCall | TokenizeCall | PeakCall | GroupCall | PlaneCall | GalleryCall;

/** Vectors in groups. */
export interface Grouping {
  /** The group of each vector, from 0, the largest group. */
  readonly labels: Uint32Array;
  /** Cosine of each vector and its group's centre. */
  readonly centrality: Float32Array;
  /** Mean silhouette by cosine distance, −1 to 1; 0 where there is one group. */
  readonly silhouette: number;
}

/** A stored answer: two sentences under a condition, and how alike a model finds them. */
export interface GalleryItem {
  /** The one sentence. */
  readonly sentence1: string;
  /** The other. */
  readonly sentence2: string;
  /** The aspect under which they are compared. */
  readonly condition: string;
  /** What people said, 1 (unlike) to 5 (alike), where somebody was asked. */
  readonly label?: number;
  /** Cosine similarity of the two sentences under the condition, −1 to 1. */
  readonly similarity: number;
  /** The same on the 1–5 scale of human ratings. */
  readonly rating: number;
}

/** A gallery with the answers of its model. */
export interface GalleryData {
  /** The name of the encoder that made the embeddings. */
  readonly encoder: string;
  /** Numbers of an embedding behind the head. */
  readonly dim: number;
  /** Under which licences encoder, head and texts may be used. */
  readonly licences: readonly string[];
  readonly items: readonly GalleryItem[];
}

/** What each call gives. */
export interface Results {
  load: EngineInfo;
  compare: Comparison[];
  embed: EmbeddingsData;
  encode: EmbeddingsData;
  explain: Explanation;
  tokenize: Uint32Array;
  /** Operations per second; null where a GPU computes. */
  peak: number | null;
  group: Grouping[];
  plane: Float32Array;
  gallery: GalleryData;
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
  /** What was downloaded is in the cache, or cannot be. */
  | { readonly type: "kept" }
  | { readonly type: "warning"; readonly message: string };
