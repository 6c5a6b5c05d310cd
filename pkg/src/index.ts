/**
 * Conditional sentence similarity in browsers, Node and Deno: two sentences, some conditions, and how alike the sentences are
 * under each. Everything runs in workers, on WebGPU or the CPU; no text leaves the page or the process.
 *
 * @module caselens
 */

export type { AttentionOptions } from "./api/attention.js";
export { CaseLens } from "./api/caselens.js";
export type { CompareOptions } from "./api/compare.js";
export type { ConditionalEmbedOptions, ConditionalEmbedStreamOptions, ConditionedSentence } from "./api/embed.js";
export { Embeddings, type EmbeddingsJSON, type VectorOptions } from "./api/embeddings.js";
export { type EmbedOptions, type EmbedStreamOptions, Encoder } from "./api/encoder.js";
export type { ExplainOptions } from "./api/explain.js";
export type { Item, ItemChange, ItemId, NewItem } from "./api/index/items.js";
export type { EncoderIndexOptions, IndexOptions, LoadIndexOptions } from "./api/index/open.js";
export type {
  Index,
  IndexClustering,
  IndexClusterOptions,
  IndexGroup,
  IndexHit,
  IndexingOptions,
  IndexMember,
  IndexQuery,
  IndexSearchOptions,
  IndexStoreOptions,
} from "./api/index/text-index.js";
export { type Unsaid, unsaid } from "./api/mentioned.js";
export { Gallery, type GalleryAnswer, type GalleryLoadOptions } from "./api/gallery.js";
export type { ClusterOptions, Clustering, Group, Member } from "./api/list/cluster.js";
export type { ListOptions } from "./api/list/options.js";
export type { Hit, SearchOptions } from "./api/list/search.js";
export type { Suggestion, SuggestOptions } from "./api/list/suggest.js";
export type { EncoderLoadOptions, EngineOptions, FileSource, LoadOptions, PackagedFile, PackagedModel } from "./api/options.js";
export type { ListProgress, ProgressOptions } from "./api/progress.js";
export type { BatchOptions, EmbeddedBatch } from "./api/stream.js";
export type { TruncateOptions } from "./api/truncate.js";
export { CaseLensError, type ErrorCode, type ErrorDetails } from "./errors.js";
export type {
  AttentionHeads,
  CallOptions,
  Comparison,
  ConditionAdvice,
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
  OnTruncate,
  Pooling,
  Progress,
  Reading,
  Recipe,
  TokenPooling,
  WasmModule,
  WorkerLike,
} from "./types.js";

declare global {
  // For `using`; compilers and libraries before TypeScript 5.2 have none.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}
