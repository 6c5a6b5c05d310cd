/**
 * An embedding model for the [AI SDK](https://ai-sdk.dev): for its `embed`, `embedMany` and `wrapEmbeddingModel`. Nothing of the AI SDK
 * is imported.
 *
 * @example
 * ```ts
 * import { embedMany } from "ai";
 * import { CaseLens } from "caselens";
 * import { embeddingModel } from "caselens/ai";
 *
 * const lens = await CaseLens.load({ model });
 * const { embeddings } = await embedMany({ model: embeddingModel(lens, { condition: "the place" }), values: texts });
 * ```
 *
 * @module caselens/ai
 */

import type { CaseLens, ConditionalEmbedOptions, EmbedOptions, Encoder } from "./index.js";

/** Options of {@link embeddingModel} with a `CaseLens`: those of its `embed`. */
export interface CaseLensModelOptions extends Pick<ConditionalEmbedOptions, "condition" | "dims" | "onTruncate"> {}

/** Options of {@link embeddingModel} with an `Encoder`: those of its `embed`. */
export interface EncoderModelOptions extends Pick<EmbedOptions, "pooling" | "normalize" | "dims" | "onTruncate"> {}

/** What the AI SDK asks of a model. */
export interface ModelCall {
  /** The texts. */
  values: string[];
  /** The first so many dimensions alone; in place of the option `dims`. */
  dimensions?: number | undefined;
  /** Ends the call. */
  abortSignal?: AbortSignal | undefined;
  /** Options for this call alone, under the name of the provider: `{ caselens: { condition: "the place" } }`. */
  providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

/** An embedding model as the AI SDK takes it, in versions 6 and 7: `EmbeddingModelV3`. */
export interface EmbeddingModel {
  /** Version of the interface: the newest that both of them take. */
  readonly specificationVersion: "v3";
  /** `"caselens"` */
  readonly provider: string;
  /** Name of the encoder, `info.model`. */
  readonly modelId: string;
  /** There is no limit: a long call is done in chunks. */
  readonly maxEmbeddingsPerCall: number;
  /** They take turns. */
  readonly supportsParallelCalls: boolean;
  /**
   * Does a call; the AI SDK calls it.
   *
   * @throws `CaseLensError`, as `embed` does.
   */
  doEmbed(call: ModelCall): Promise<{
    /** One for each of the values. */
    embeddings: number[][];
    /** How many tokens the texts have, special tokens included. */
    usage: {
      /** Of all of them. */
      tokens: number;
    };
    /** None: what is worth knowing, `onWarning` of `load` hears. */
    warnings: never[];
  }>;
}

/**
 * An embedding model of the AI SDK.
 *
 * @param lens stays the caller's, to dispose of. With a `condition`, all texts are seen under it.
 */
export function embeddingModel(lens: CaseLens, options?: CaseLensModelOptions): EmbeddingModel;
/**
 * An embedding model of the AI SDK.
 *
 * @param encoder stays the caller's, to dispose of.
 */
export function embeddingModel(encoder: Encoder, options?: EncoderModelOptions): EmbeddingModel;
export function embeddingModel(model: Pick<Encoder, "embed" | "info" | "tokenize">, options?: CaseLensModelOptions & EncoderModelOptions): EmbeddingModel {
  // An object and no class: the AI SDK puts proxies around it, which private members do not live through.
  return {
    specificationVersion: "v3",
    provider: "caselens",
    modelId: model.info.model,
    maxEmbeddingsPerCall: Infinity,
    supportsParallelCalls: true,
    async doEmbed({ values, dimensions, abortSignal, providerOptions }) {
      const dims = dimensions ?? options?.dims;
      const embedded = await model.embed(values, { ...options, dims, ...providerOptions?.["caselens"], dtype: "float32", signal: abortSignal });
      const ids = await Promise.all(values.map((text) => model.tokenize(text))); // a hundredth of the time that embedding takes
      return { embeddings: embedded.toArrays(), usage: { tokens: ids.reduce((sum, { length }) => sum + length, 0) }, warnings: [] };
    },
  };
}
