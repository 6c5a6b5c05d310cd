// What the page and the worker say to each other.
//
// The page sends one `load` and then any number of calls; every request has a number and gets exactly one `done` or
// `failed`, unless it was aborted. Disposing terminates the worker and needs no message.

import type { ErrorData } from "./errors.js";
import type { AttentionHeads, CachePlace, Comparison, Device, EmbeddingsData, EmbeddingType, Explanation, GalleryData, Grouping, LoadedInfo, OnTruncate, Pooling, Progress, TokenPooling } from "./types.js";

/** Where a file comes from: an absolute URL, bytes that now belong to the worker, or a blob. */
export type Source = ({ readonly url: string } | { readonly bytes: Uint8Array<ArrayBuffer> } | { readonly blob: Blob }) & {
  /** What it has to be, in hexadecimal digits. */
  readonly sha256?: string;
};

/** The wasm module, where it is not the one that lies beside the worker. */
export type WasmSource = Source | { readonly module: WebAssembly.Module };

/** How files are asked for. */
export interface RequestForm {
  readonly headers: Readonly<Record<string, string>>;
  /** How long a server may send nothing, in ms. */
  readonly timeout: number;
  /** Takes {@link WorkerRequest}s, where the caller has a `fetch` of its own. It belongs to the worker. */
  readonly port?: MessagePort;
}

/** A request that the page does for the worker. Its answers are {@link FromRequest}, through the port that comes with it. */
export interface WorkerRequest {
  readonly url: string;
  readonly init: Omit<RequestInit, "signal">;
  readonly port: MessagePort;
}
/** What the worker says to the page of a request: it asks for a chunk, or leaves the rest. */
export type ToRequest = "more" | "leave";
/** What the page says to the worker of a request. */
export type FromRequest =
  | { readonly type: "answer"; readonly status: number; readonly headers: readonly (readonly [string, string])[]; readonly kind: ResponseType }
  | { readonly type: "chunk"; readonly chunk: Uint8Array<ArrayBuffer> }
  | { readonly type: "end" }
  | { readonly type: "failed"; readonly why: string };

export interface LoadCall {
  readonly method: "load";
  readonly model: Source;
  /** Absent for the bare encoder. */
  readonly head?: Source;
  readonly device: "auto" | Device;
  /** Where downloads are kept. */
  readonly cache: CachePlace;
  readonly request: RequestForm;
  /** Whether what is downloaded and kept nowhere comes to the page (`brought`), for further workers. */
  readonly handOn?: boolean;
  readonly wasm?: WasmSource;
}

/** Asks about files or forgets them, without loading them; the only call of its worker. */
export interface FilesCall {
  readonly method: "files";
  readonly urls: readonly string[];
  readonly what: "look" | "measure" | "drop";
  readonly cache: CachePlace;
  readonly request: RequestForm;
}
/** What is known of a file. */
export interface FileState {
  readonly kept: boolean;
  /** In bytes; null where it is not known, or was not asked for. */
  readonly size: number | null;
}

/** A call about a list, or a part of one that is shared out. */
interface Part {
  /** How much of the list comes before this part, which errors and warnings count from; absent where it is the whole. */
  readonly first?: number;
  /** Absent for `"warn"`. */
  readonly onTruncate?: OnTruncate;
  /** Whether this is only looked at ahead of its turn: what is worth knowing of it is told when that comes. */
  readonly ahead?: boolean;
  /** What errors call the one text that this is, where it is none of a list of the caller's. */
  readonly named?: string;
}
export interface CompareCall extends Part {
  readonly method: "compare";
  readonly sentence1: string;
  readonly sentence2: string;
  readonly conditions: readonly string[];
  /** The similarity without a condition, where it is not to be computed. */
  readonly unconditional?: number;
  /** Whether to tell where each condition looked. */
  readonly attention: boolean;
}
/** In which form embeddings are given; `dims` undefined for all. */
interface Form {
  readonly dims: number | undefined;
  readonly dtype: EmbeddingType;
}
export interface EmbedCall extends Form, Part {
  readonly method: "embed";
  readonly sentences: readonly string[];
  /** One for each sentence; undefined for none. */
  readonly conditions: readonly (string | undefined)[];
}
export interface EncodeCall extends Form, Part {
  readonly method: "encode";
  readonly texts: readonly string[];
  readonly pooling: Pooling;
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
export interface AttentionCall {
  readonly method: "attention";
  readonly sentence: string;
  readonly condition: string | undefined;
  /** Undefined for the last. */
  readonly layer: number | undefined;
}
export interface TokenizeCall {
  readonly method: "tokenize";
  readonly text: string;
}

export interface LanguagesCall {
  readonly method: "languages";
  readonly texts: readonly string[];
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
  readonly wasm?: WasmSource;
}

export type Call =
  | LoadCall | CompareCall | EmbedCall | EncodeCall | ExplainCall | AttentionCall | TokenizeCall | LanguagesCall | PeakCall | GroupCall | PlaneCall | GalleryCall
  | FilesCall;

/** What each call gives. */
export interface Results {
  load: LoadedInfo;
  compare: Comparison[];
  embed: EmbeddingsData;
  encode: EmbeddingsData;
  explain: Explanation;
  attention: AttentionHeads;
  tokenize: Uint32Array;
  /** Empty where there is nothing to tell. */
  languages: string[];
  /** Operations per second; null where a GPU computes. */
  peak: number | null;
  group: Grouping[];
  plane: Float32Array;
  gallery: GalleryData;
  files: FileState[];
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
  | { readonly type: "info"; readonly info: LoadedInfo }
  /** What was downloaded is in the cache, or cannot be. */
  | { readonly type: "kept" }
  /** What was downloaded and is kept nowhere; comes before `done` of a `load` that asks to hand it on. */
  | { readonly type: "brought"; readonly model?: Uint8Array<ArrayBuffer>; readonly head?: Uint8Array<ArrayBuffer> }
  /** What is worth knowing; of which call, its number says. */
  | { readonly type: "warning"; readonly id: number; readonly message: string };
