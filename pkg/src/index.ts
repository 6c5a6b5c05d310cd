/**
 * Conditional sentence similarity in the browser: two sentences, some conditions, and how alike the sentences are under each.
 * Everything runs in a Web Worker, on WebGPU or the CPU; no text leaves the page.
 *
 * @packageDocumentation
 */

export { CaseLens, type ConditionedSentence } from "./caselens.js";
export { type EmbedOptions, Encoder } from "./encoder.js";
export { CaseLensError, type ErrorCode } from "./errors.js";
export type { Device, Info } from "./info.js";
export type { CallOptions, EncoderLoadOptions, FileSource, LoadOptions } from "./options.js";
export type { Progress } from "./progress.js";
export type { Comparison } from "./rpc/protocol.js";
