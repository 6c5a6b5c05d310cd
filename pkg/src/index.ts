/**
 * Conditional sentence similarity in browsers, Node and Deno: two sentences, some conditions, and how alike the sentences are
 * under each. Everything runs in workers, on WebGPU or the CPU; no text leaves the page or the process.
 *
 * @module caselens
 */

export { CaseLens, type ConditionedSentence } from "./api/caselens.js";
export type { CompareOptions } from "./api/compare.js";
export { Embeddings, type VectorOptions } from "./api/embeddings.js";
export { type EmbedOptions, Encoder } from "./api/encoder.js";
export type { ExplainOptions } from "./api/explain.js";
export { type Unsaid, unsaid } from "./api/mentioned.js";
export { Gallery, type GalleryAnswer, type GalleryLoadOptions } from "./api/gallery.js";
export type { ClusterOptions, Clustering, Group, Member } from "./api/list/cluster.js";
export type { ListOptions, ListProgress } from "./api/list/options.js";
export type { Hit, SearchOptions } from "./api/list/search.js";
export type { Suggestion, SuggestOptions } from "./api/list/suggest.js";
export type { EncoderLoadOptions, EngineOptions, FileSource, LoadOptions, PackagedFile, PackagedModel } from "./api/options.js";
export { CaseLensError, type ErrorCode } from "./errors.js";
export type {
  CallOptions,
  Comparison,
  Device,
  EmbeddingNumbers,
  EmbeddingsData,
  EmbeddingType,
  ExplainedStep,
  ExplainedToken,
  Explanation,
  Fetch,
  GalleryItem,
  Info,
  Progress,
  Reading,
  Recipe,
  TokenPooling,
  WasmModule,
  WorkerLike,
} from "./types.js";
