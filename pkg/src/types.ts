// What crosses a border, from Rust into the worker and from the worker to the page: each type once, here. The wasm module's
// own declarations name these types (`src/web.rs`), and everything else in this package imports them.

/** Where a model runs: on the GPU through WebGPU, or on the CPU through WebAssembly. */
export type Device = "webgpu" | "wasm";

/**
 * How the vectors of a text's tokens become one: their mean; the first token's or the last token's; or what the encoder's pooler makes of
 * the first token's, as SimCSE has it.
 */
export type Pooling = "mean" | "cls" | "last" | "pooler";

/** What the module says of what it loaded, in the crate's own names. */
export interface EngineInfo {
  /** Where it runs. */
  readonly device: Device;
  /** The GPU adapter's name; null on the CPU. */
  readonly adapter: string | null;
  /**
   * The processor's instructions that the CPU path was built for, `"relaxed-simd"` or `"simd128"`; null on the GPU. With
   * `"relaxed-simd, 16-bit sums"` a timing as it was loaded has found products by four-bit weights to be faster that way.
   */
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
  /** The languages that the model was trained on, by their ISO 639-1 codes: texts in others are told. Null where it is not known. */
  readonly languages: readonly string[] | null;
  /**
   * Where the head tells whether a sentence says anything about a condition (`mentioned`): the probability from which on it
   * counts as saying something. Null where it does not tell that.
   */
  readonly mentioned: {
    /** 0 to 1. */
    readonly threshold: number;
  } | null;
  /** How the encoder's authors pool a text by itself, as its file says. */
  readonly pooling: Pooling;
  /** The longest input in tokens, special tokens included: what is left of a longer text is not read. */
  readonly maxLength: number;
}

/** What a worker says of what it loaded. */
export interface LoadedInfo extends Omit<EngineInfo, "dim" | "dtype"> {
  /** How the weights are stored, for example `"q8_0"`. */
  readonly weights: string;
  /** Length of an embedding: of `embed` with a condition for `CaseLens`, of `embed` for `Encoder`. */
  readonly dims: number;
}

/** What was loaded and where it runs. */
export interface Info extends LoadedInfo {
  /** Workers that share out a long call on the CPU; 1 on the GPU. */
  readonly threads: number;
}

/** How far loading has come. */
export interface Progress {
  /** `download`: files are read; `prepare`: the model is built; `ready`: the last event, just before `load` is fulfilled. */
  readonly phase: "download" | "prepare" | "ready";
  /** Bytes of the model and the head read so far, together. */
  readonly loaded: number;
  /** Bytes that the model and the head have together; null while a server has not said. */
  readonly total: number | null;
  /** 0 to 1. It never falls, and is exactly 1 once: in the `ready` event. */
  readonly progress: number;
}

/** The global `fetch`, or another in its place. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A worker: a browser's, one of Node's `worker_threads`, or what stands in for one (`caselens/inline`). */
export interface WorkerLike {
  /** Sends a message, and hands over what is to be transferred. */
  postMessage(message: unknown, transfer: never): void;
  /** Ends it at once. */
  terminate(): unknown;
}

/** A compiled WebAssembly module. */
export type WasmModule = typeof globalThis extends Record<"WebAssembly", Record<"Module", Record<"prototype", infer M>>> ? M : object;

/** Where downloads are kept: in Cache Storage, in the folder with this path, or nowhere. */
export type CachePlace = "browser" | "none" | { readonly folder: string };

/** Options of every call. */
export interface CallOptions {
  /** Aborts this call: it rejects at once with the signal's `reason`, and the worker stops working on it soon after. */
  signal?: AbortSignal | undefined;
}

/** What happens where the encoder reads less than there is of a text. */
export type OnTruncate = "warn" | "error" | "ignore";

/**
 * What a condition may better not be, by the guidelines of C-STS's annotators: `"value"`, a value in the place of an aspect ("the colour is
 * green" for "the colour"); `"sentence"`, about the sentences themselves ("the dog in the sentence"); `"vague"`, an aspect that narrows
 * nothing down ("the activity"); `"literal"`, a number of something; `"ungrammatical"`, no whole phrase.
 */
export type ConditionAdvice = "value" | "sentence" | "vague" | "literal" | "ungrammatical";

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
  /**
   * Present when the texts hold tokens that the encoder's vocabulary lacks: how many, in the sentences and the condition
   * together. The encoder reads all of them as the same.
   */
  readonly unknown?: number;
  /**
   * Present when a sentence is certainly in a language that the model was not trained on (`info.languages`): the ISO 639-1 codes
   * of both, null for a sentence of which nothing is to be told.
   */
  readonly language?: readonly [string | null, string | null];
  /**
   * How probable it is that either sentence says anything about the condition, 0 to 1: below `info.mentioned.threshold` it
   * counts as saying nothing, and the similarity means little. Absent where the head does not tell that.
   */
  readonly mentioned?: readonly [number, number];
  /** Present when the condition's words make it look like one to be put in another way. It is compared all the same. */
  readonly advice?: readonly ConditionAdvice[];
  /**
   * Where the condition looked, when that was asked for (`attention`): for each sentence what `explain` gives, with the last
   * layer's attention alone.
   */
  readonly readings?: readonly [readonly Reading[], readonly Reading[]];
}

/** What the module gives for two sentences. */
export interface Compared {
  /** One for each condition. */
  readonly results: readonly Comparison[];
  /** What is worth knowing besides, in words. */
  readonly warnings: readonly string[];
}

/** Which tokens' vectors are averaged: all of them, the condition's, the sentence's, or the first token's alone. */
export type TokenPooling = "all" | "condition" | "sentence" | "cls";

/** How embeddings under a condition are made. */
export interface Recipe {
  /** One input an order, their embeddings side by side. */
  readonly orders: readonly ("condition-sentence" | "sentence-condition")[];
  /** Which tokens' vectors are averaged. */
  readonly pooling: TokenPooling;
  /** Whether the condition's own embedding is subtracted. */
  readonly subtract: boolean;
  /** Whether the embedding goes through the head. */
  readonly head: boolean;
}

/** What the two sentences have become at one step, and how alike they are there. */
export interface ExplainedStep {
  /**
   * `plain`: the sentence alone, all tokens averaged; `joint`: the sentence with its condition; `offset`: that minus the
   * condition alone; `projected`: through the head.
   */
  readonly name: "plain" | "joint" | "offset" | "projected";
  /** One vector a sentence, not scaled to any length. */
  readonly vectors: readonly [Float32Array, Float32Array];
  /** Their cosine similarity, −1 to 1. */
  readonly cosine: number;
}

/** A token that the encoder reads. */
export interface ExplainedToken {
  /** Its number in the vocabulary. */
  readonly id: number;
  /** As the vocabulary writes it. */
  readonly text: string;
  /** Whose it is; `special` are the encoder's own, such as `[CLS]`. */
  readonly part: "condition" | "sentence" | "special";
  /** What it stands for: `text.slice(start, end)` of the sentence, or of `Explanation.condition`. Empty for special tokens. */
  readonly start: number;
  /** Where that ends; see `start`. */
  readonly end: number;
  /**
   * The word it belongs to, counted from 0 within its part; undefined for special tokens. An emoji is one word: where the
   * vocabulary has none, its tokens are those of its name.
   */
  readonly word: number | undefined;
  /** Present where it stands for what the vocabulary lacks. */
  readonly unknown?: true | undefined;
}

/** What the encoder read of one sentence. */
export interface Reading {
  /** Null for the sentence alone. */
  readonly order: Recipe["orders"][number] | null;
  /** Its tokens, special ones included, in the order in which they are read. */
  readonly tokens: readonly ExplainedToken[];
  /**
   * How the condition's tokens attend to all tokens: for each layer, for each of the condition's tokens, one number a token,
   * averaged over the attention heads. The numbers of one row sum to 1. `[layers][condition's tokens][tokens]`; `compare` gives
   * the last layer alone, as the only one.
   */
  readonly attention: readonly (readonly Float32Array[])[];
  /** How many of the sentence's tokens did not fit and were left out. */
  readonly cut: number;
}

/** How the tokens of one input attend to one another in a layer, by each of its attention heads. */
export interface AttentionHeads extends Omit<Reading, "attention"> {
  /** As the encoder is given it, which its tokens' `start` and `end` count in. Null without one. */
  readonly condition: string | null;
  /** The layer whose attention it is, counted from 0. */
  readonly layer: number;
  /** How many layers the encoder has. */
  readonly layers: number;
  /** How many attention heads the layer has. */
  readonly heads: number;
  /**
   * How much of its attention each token gives to each token, `[heads][tokens][tokens]` end to end: what token `i` gives to token
   * `j` by head `h` is `shares[(h * tokens.length + i) * tokens.length + j]`. The numbers of one row sum to 1. The mean over the
   * heads is what {@link Reading.attention} tells of the condition's tokens.
   */
  readonly shares: Float32Array;
}

/** A comparison taken apart. All numbers are the loaded model's own. */
export interface Explanation {
  /** As the encoder is given it: without white space around it and its final full stop. Null without one. */
  readonly condition: string | null;
  /** What was done; null without a condition. */
  readonly recipe: Recipe | null;
  /** What the model does where nothing is asked otherwise, and what `compare` does. */
  readonly usual: Recipe;
  /** For each sentence one reading for each of the recipe's orders; without a condition the sentence alone. */
  readonly readings: readonly [readonly Reading[], readonly Reading[]];
  /** The condition's own embedding, where it is subtracted. */
  readonly conditionAlone: Float32Array | undefined;
  /** The steps taken, in their order: the first is `plain`, the last gives the answer. */
  readonly steps: readonly ExplainedStep[];
  /** The last step's cosine similarity, −1 to 1. */
  readonly similarity: number;
  /** The same on the 1 (unlike) to 5 (alike) scale of human ratings. */
  readonly rating: number;
  /** As {@link Comparison.mentioned}; undefined too where something was done otherwise than the model does it. */
  readonly mentioned: readonly [number, number] | undefined;
}

/** How the numbers of embeddings are kept. See {@link VectorOptions.dtype}. */
export type EmbeddingType = keyof EmbeddingNumbers;

/** The numbers behind embeddings of each type. */
export interface EmbeddingNumbers {
  /** A number a dimension. */
  float32: Float32Array;
  /** A byte a dimension. */
  int8: Int8Array;
  /** A bit a dimension. */
  binary: Uint8Array;
}

/** Embeddings as plain data: all that has to be kept of them. `postMessage` and IndexedDB take it as it is. */
export interface EmbeddingsData<T extends EmbeddingType = EmbeddingType> {
  /** How the numbers are kept. */
  readonly dtype: T;
  /** Row by row: `length · dims` numbers, or `length · ⌈dims / 8⌉` bytes where `dtype` is `"binary"`. */
  readonly data: EmbeddingNumbers[T];
  /** `"int8"` alone: what each row's bytes are multiplied by. */
  readonly scales?: Float32Array | undefined;
  /** How many embeddings there are. */
  readonly length: number;
  /** How many dimensions each has. */
  readonly dims: number;
  /** Name of the encoder that made them, as `info.model`. Absent where nobody said. */
  readonly model?: string | undefined;
  /**
   * The condition that all texts were seen under, null for none. Absent where they were seen under different ones, and where
   * nobody said.
   */
  readonly condition?: string | null | undefined;
  /**
   * How probable it is that each sentence says anything about its condition, 0 to 1, as {@link Comparison.mentioned}; NaN for one
   * without a condition. Absent where the head does not tell that.
   */
  readonly mentioned?: Float32Array | undefined;
  /** How many tokens at the end of each text were left out, since the encoder reads no more. Absent where none were. */
  readonly truncated?: Uint32Array | undefined;
  /** How many tokens of each text the encoder's vocabulary lacks, as {@link Comparison.unknown}. Absent where it has all of them. */
  readonly unknown?: Uint32Array | undefined;
}

/** What the module gives for texts: embeddings in the form that was asked for. */
export interface Embedded extends Omit<EmbeddingsData, "dtype" | "length" | "model" | "condition"> {
  /** How many embeddings there are. */
  readonly count: number;
  /** What is worth knowing besides, in words. */
  readonly warnings: readonly string[];
}

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

/** What a gallery's manifest says, in its own names. */
export interface GalleryInfo {
  /** The name of the encoder that made the embeddings. */
  readonly encoder: string;
  /** Numbers of an embedding behind the head. */
  readonly dim: number;
  /** Under which licences encoder, head and texts may be used. */
  readonly licences: readonly string[];
  /** The head's and the embeddings', beside the manifest. */
  readonly files: readonly [head: string, embeddings: string];
}

/** A gallery with the answers of its model. */
export interface GalleryData {
  /** The name of the encoder that made the embeddings. */
  readonly encoder: string;
  /** Numbers of an embedding behind the head. */
  readonly dims: number;
  /** Under which licenses encoder, head and texts may be used. */
  readonly licenses: readonly string[];
  /** The pairs with their conditions and answers. */
  readonly items: readonly GalleryItem[];
}
