/**
 * Conditional sentence similarity in browsers, Node and Deno: two sentences, some conditions, and how alike the sentences are
 * under each. Everything runs in workers, on WebGPU or the CPU; no text leaves the page or the process.
 *
 * @module caselens
 */

export { CaseLens, type ConditionedSentence } from "./caselens.js";
export { type EmbeddingNumbers, Embeddings, type EmbeddingsData, type EmbeddingType, type VectorOptions } from "./embeddings.js";
export { type EmbedOptions, Encoder } from "./encoder.js";
export { CaseLensError, type ErrorCode } from "./errors.js";
export type { ExplainedStep, ExplainedToken, ExplainOptions, Explanation, Reading, Recipe, TokenPooling } from "./explain.js";
export { Gallery, type GalleryAnswer, type GalleryLoadOptions } from "./gallery.js";
export type { Device, Info } from "./info.js";
export type { ClusterOptions, Clustering, Group, Member } from "./list/cluster.js";
export type { ListOptions, ListProgress } from "./list/options.js";
export type { Hit, SearchOptions } from "./list/search.js";
export type { Suggestion, SuggestOptions } from "./list/suggest.js";
export type { CallOptions, EncoderLoadOptions, FileSource, LoadOptions } from "./options.js";
export type { Progress } from "./progress.js";
export type { Comparison, GalleryItem } from "./rpc/protocol.js";
