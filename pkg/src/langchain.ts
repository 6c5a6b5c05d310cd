/**
 * Embeddings for [LangChain](https://docs.langchain.com/oss/javascript): for its vector stores, retrievers and whatever else takes an
 * `EmbeddingsInterface`. Nothing of LangChain is imported.
 *
 * @example
 * ```ts
 * import { CaseLens } from "caselens";
 * import { CaseLensEmbeddings } from "caselens/langchain";
 *
 * const lens = await CaseLens.load({ model });
 * const store = await MemoryVectorStore.fromTexts(texts, {}, new CaseLensEmbeddings(lens, { condition: "the place" }));
 * const [nearest] = await store.similaritySearch("She plays chess in the park", 1);
 * ```
 *
 * @module caselens/langchain
 */

import type { CaseLens, ConditionalEmbedOptions, EmbedOptions, Encoder } from "./index.js";

/** Options of {@link CaseLensEmbeddings} with a `CaseLens`: those of its `embed`. */
export interface CaseLensEmbeddingsOptions extends Pick<ConditionalEmbedOptions, "condition" | "dims" | "onTruncate"> {}

/** Options of {@link CaseLensEmbeddings} with an `Encoder`: those of its `embed`. */
export interface EncoderEmbeddingsOptions extends Pick<EmbedOptions, "pooling" | "normalize" | "dims" | "onTruncate"> {}

/** What LangChain calls `Embeddings`: texts, and queries that they are looked for by, as plain arrays of numbers. */
export class CaseLensEmbeddings {
  readonly #embed: (texts: readonly string[]) => Promise<number[][]>;

  /** @param lens stays the caller's, to dispose of. With a `condition`, texts and queries are seen under it. */
  constructor(lens: CaseLens, options?: CaseLensEmbeddingsOptions);
  /** @param encoder stays the caller's, to dispose of. */
  constructor(encoder: Encoder, options?: EncoderEmbeddingsOptions);
  constructor(model: Pick<Encoder, "embed">, options?: CaseLensEmbeddingsOptions & EncoderEmbeddingsOptions) {
    this.#embed = async (texts) => (await model.embed(texts, { ...options, dtype: "float32" })).toArrays();
  }

  /**
   * Embeds texts.
   *
   * @throws `CaseLensError`, as `embed` does.
   */
  async embedDocuments(documents: readonly string[]): Promise<number[][]> {
    return this.#embed(documents);
  }

  /**
   * Embeds a query, in the same way as texts are.
   *
   * @throws `CaseLensError`, as `embed` does.
   */
  async embedQuery(document: string): Promise<number[]> {
    const [row] = await this.#embed([document]);
    return row as number[];
  }
}
