// CaseLens: an encoder and a projection head, compared under conditions.

import { CaseLensError } from "../errors.js";
import { platform } from "../page/platform.js";
import { Pool } from "../page/pool.js";
import type { AttentionHeads, Comparison, EmbeddingsData, EmbeddingType, Explanation, Info } from "../types.js";
import { attentionCall, type AttentionOptions } from "./attention.js";
import { checkMade, checkOptions, checkSignal, checkText, checkTexts } from "./check.js";
import { compareCall, type CompareOptions } from "./compare.js";
import { disposable } from "./dispose.js";
import { type ConditionalEmbedOptions, type ConditionalEmbedStreamOptions, type ConditionedSentence, embedRequest } from "./embed.js";
import { Embeddings } from "./embeddings.js";
import { explainCall, type ExplainOptions } from "./explain.js";
import { files } from "./files.js";
import { indexes, originOf } from "./index/lazy.js";
import type { IndexOptions, LoadIndexOptions } from "./index/open.js";
import type { Index } from "./index/text-index.js";
import { type ClusterOptions, type Clustering, cluster } from "./list/cluster.js";
import { type Hit, type SearchOptions, search } from "./list/search.js";
import { type Suggestion, type SuggestOptions, suggest } from "./list/suggest.js";
import { type LoadOptions, lensRequest } from "./options.js";
import { toldOfReading } from "./progress.js";
import { type EmbeddedBatch, embedStream } from "./stream.js";

/**
 * Conditional sentence similarity: how alike two sentences are in one respect.
 *
 * @example
 * ```ts
 * const lens = await CaseLens.load({ onProgress: ({ progress }) => (bar.value = progress) });
 * const results = await lens.compare("A cat sleeps on a red sofa.", "A dog sleeps on a red sofa.", ["the animal", "the colour"]);
 * for (const { condition, rating } of results) console.log(condition, rating.toFixed(1));
 * lens.dispose();
 * ```
 */
export class CaseLens {
  readonly #pool: Pool;

  private constructor(pool: Pool) {
    checkMade(pool);
    this.#pool = pool;
    disposable(this);
  }

  /**
   * Reads an encoder and its head from the network, the cache or (in Node and Deno) a file, and starts them in a worker of their own.
   *
   * @throws {@link CaseLensError} with any code but `disposed`.
   */
  static async load(options?: LoadOptions): Promise<CaseLens> {
    const { call, threads, events, signal } = await lensRequest(options);
    return lensOf(await Pool.load(call, threads, events, signal));
  }

  /**
   * Whether the files of a model are kept here ({@link LoadOptions.cache}), so that `load` with the same options downloads nothing.
   *
   * @param options those of `load`: the encoder and its head, the cache, and how to ask for them.
   */
  static async isCached(options?: LoadOptions): Promise<boolean> {
    return (await files("look", lensRequest(options))).kept;
  }

  /**
   * How large the files of a model are, in bytes, without loading them: as they are kept, or as their server states; null where it
   * does not.
   *
   * @throws {@link CaseLensError} `network`, `http`, `file`, `invalid-argument` or `worker`.
   */
  static async size(options?: LoadOptions): Promise<number | null> {
    return (await files("measure", lensRequest(options))).size;
  }

  /** Forgets the kept files of a model. One that is loaded stays loaded. */
  static async delete(options?: LoadOptions): Promise<void> {
    await files("drop", lensRequest(options));
  }

  /** What is loaded and where it runs. Changes when the GPU is lost and `device` was `"auto"`. */
  get info(): Info {
    return this.#pool.info;
  }

  /**
   * Compares two sentences under each condition.
   *
   * @param conditions any number; the results come in the same order.
   * @throws {@link CaseLensError} `empty-text`, `invalid-text`, `text-too-long`, `condition-too-long`,
   * `invalid-argument`, `gpu-lost` or `disposed`.
   */
  async compare(
    sentence1: string,
    sentence2: string,
    conditions: readonly string[],
    options?: CompareOptions,
  ): Promise<Comparison[]> {
    const call = compareCall(sentence1, sentence2, conditions, options);
    return this.#pool.call(call, checkSignal(options?.signal));
  }

  /**
   * Embeds texts: all under one condition (`condition`), each under its own, or without any. With a condition, the embedding is
   * the one that `compare` compares, of length `info.dims`; without one it is the encoder's own, whose length can differ: texts
   * of both kinds are then for two calls.
   *
   * @example
   * ```ts
   * const byPlace = await lens.embed(["A cat sleeps on a sofa.", "It rains in Bergen."], { condition: "the place" });
   * const mixed = await lens.embed([{ sentence: "A cat sleeps.", condition: "the animal" }, { sentence: "It rains." }]);
   * ```
   *
   * @returns one embedding of unit length for each text.
   * @throws {@link CaseLensError} as `compare`.
   */
  async embed<T extends EmbeddingType = "float32">(
    texts: readonly (string | ConditionedSentence)[],
    options?: ConditionalEmbedOptions<T>,
  ): Promise<Embeddings<T>> {
    return this.#embed(texts, options);
  }

  /**
   * Embeds texts of any number, a batch at a time, as `embed` does: for lists that are too long for memory, and for whoever wants the first
   * embeddings before the last are made. Texts are read as they are needed: while one batch is waited for, the next is begun, and no
   * more. Leaving the loop ends the work.
   *
   * @example
   * ```ts
   * for await (const { index, texts, embeddings } of lens.embedStream(lines, { condition: "the place" })) {
   *   await table.insert(texts.map((text, i) => ({ id: index + i, text, vector: embeddings.at(i) })));
   * }
   * ```
   *
   * @param texts a list, or anything else that `for await` goes through, such as the lines of a file.
   * @returns batches in the order of the texts. Each text is checked when its turn comes.
   * @throws {@link CaseLensError} as `compare`, from the loop; and whatever reading the texts throws.
   */
  embedStream<I extends string | ConditionedSentence = string, T extends EmbeddingType = "float32">(
    texts: Iterable<I> | AsyncIterable<I>,
    options?: ConditionalEmbedStreamOptions<T>,
  ): AsyncGenerator<EmbeddedBatch<I, T>, undefined> {
    const { batchSize, signal, ...rest } = checkOptions<ConditionalEmbedStreamOptions<T>>(options);
    return embedStream(texts, { batchSize, signal }, this.info.threads, (batch, index, signal) => this.#embed<T>(batch, { ...rest, signal }, index));
  }

  async #embed<T extends EmbeddingType>(
    texts: readonly (string | ConditionedSentence)[],
    options: ConditionalEmbedOptions<T> | undefined,
    start?: number,
  ): Promise<Embeddings<T>> {
    const { call, condition, onProgress, signal } = embedRequest(texts, options, start);
    const embedded = await this.#pool.call(call, signal, toldOfReading(onProgress));
    onProgress?.({ phase: "embed", progress: 1 });
    return new Embeddings({ ...(embedded as EmbeddingsData<T>), model: this.info.model, condition });
  }

  /**
   * Takes a comparison apart: what the encoder reads, how the condition's tokens attend to the sentences', and what the
   * sentences become at each step. Without options it ends with what `compare` gives; `options` do steps differently.
   *
   * @param condition undefined for none: the explanation then ends with the sentences alone.
   * @throws {@link CaseLensError} as `compare`; `invalid-argument` also for a head where there is none.
   */
  async explain(
    sentence1: string,
    sentence2: string,
    condition?: string,
    options?: ExplainOptions,
  ): Promise<Explanation> {
    const call = explainCall(sentence1, sentence2, condition, options);
    return this.#pool.call(call, checkSignal(options?.signal));
  }

  /**
   * How the tokens of a sentence, read with its condition, attend to one another in a layer, by each of its attention heads:
   * what the mean that `explain` tells is made of. The sentence is read in one piece, up to what the encoder reads at once.
   *
   * @example
   * ```ts
   * const { tokens, shares } = await lens.attention("She plays chess in the park", "the game");
   * const first = shares.subarray(0, tokens.length); // where the first token looks by the first head, in the last layer
   * ```
   *
   * @param condition undefined for none: the sentence is then read by itself.
   * @throws {@link CaseLensError} as `explain`; `invalid-argument` also for a layer that is not there.
   */
  async attention(sentence: string, condition?: string, options?: AttentionOptions): Promise<AttentionHeads> {
    return this.#pool.call(attentionCall(sentence, condition, options), checkSignal(options?.signal));
  }

  /**
   * Ranks texts by how alike they are to a query, under a condition where one is given.
   *
   * @returns the most similar first; of two as similar, the one that comes first in `texts`.
   * @throws {@link CaseLensError} as `compare`.
   */
  async search(query: string, texts: readonly string[], options?: SearchOptions): Promise<Hit[]> {
    return search(this.#pool, query, texts, options);
  }

  /**
   * Gathers texts that are alike under a condition, by spherical k-means on their embeddings, and lays them out on a plane.
   * The same texts give the same groups every time.
   *
   * @throws {@link CaseLensError} as `compare`; `invalid-argument` also where there are more groups than texts.
   */
  async cluster(texts: readonly string[], options?: ClusterOptions): Promise<Clustering> {
    return cluster(this.#pool, texts, options);
  }

  /**
   * Suggests conditions for two sentences, from a built-in list of general ones and yours: those that judge the pair most
   * differently, alike and unlike in turn, and no two that say the same.
   *
   * @throws {@link CaseLensError} as `compare`.
   */
  async suggest(sentence1: string, sentence2: string, options?: SuggestOptions): Promise<Suggestion[]> {
    return suggest(this.#pool, sentence1, sentence2, options);
  }

  /**
   * An index of texts under one condition, or without any: empty, to be filled and searched. The part of the package that keeps
   * indexes is loaded now.
   *
   * @example
   * ```ts
   * const index = await lens.index({ condition: "the place" });
   * await index.add([{ id: "a", text: "She plays chess in the park." }, { id: "b", text: "It rains in Bergen." }]);
   * const [nearest] = await index.search("He reads on a bench under trees.");
   * ```
   *
   * @throws {@link CaseLensError} as `embed`, or `network`.
   */
  async index<M = unknown>(options?: IndexOptions): Promise<Index<M>> {
    return (await indexes()).newIndex<M>(originOf(this.#pool, "lens"), options);
  }

  /**
   * The index of bytes that {@link Index.save} wrote. The bytes are copied.
   *
   * @throws {@link CaseLensError} `index-format`, `index-version`, `index-mismatch` where another model made it, `index-condition`,
   * `invalid-argument`, `network` or `disposed`.
   */
  async loadIndex<M = unknown>(bytes: ArrayBuffer | Uint8Array, options?: LoadIndexOptions): Promise<Index<M>> {
    return (await indexes()).loadIndex<M>(originOf(this.#pool, "lens"), bytes, options);
  }

  /**
   * The index that {@link Index.store} keeps under a name: in browsers in IndexedDB, in Node and Deno in the file with this path or
   * `file:` URL.
   *
   * @returns undefined where there is none.
   * @throws {@link CaseLensError} as `loadIndex`, or `storage`.
   */
  async openIndex<M = unknown>(name: string, options?: LoadIndexOptions): Promise<Index<M> | undefined> {
    return (await indexes()).openIndex<M>(originOf(this.#pool, "lens"), name, options);
  }

  /** Forgets the index that is stored under a name, where there is one. */
  static async deleteIndex(name: string): Promise<void> {
    return (await indexes()).deleteIndex(platform().indexes, name);
  }

  /** The encoder's token ids of a text, special tokens included. */
  async tokenize(text: string): Promise<Uint32Array> {
    return this.#pool.call({ method: "tokenize", text: checkText("text", text) }, undefined);
  }

  /**
   * Of each text, the language that it is certainly in and that the model was not trained on (`info.languages`), by its ISO 639-1 code;
   * null elsewhere. It takes a hundredth of the time that embedding takes.
   *
   * @throws {@link CaseLensError} `invalid-argument`, or `disposed`.
   */
  async languages(texts: readonly string[]): Promise<(string | null)[]> {
    const codes = await this.#pool.call({ method: "languages", texts: checkTexts("texts", texts) }, undefined);
    return codes.map((code) => code || null);
  }

  /** Whether it was disposed of: no call is answered any more. */
  get closed(): boolean {
    return this.#pool.closed;
  }

  /** Ends the workers and frees their memory. Calls that wait, and all later ones, reject with `disposed`. */
  dispose(): void {
    this.#pool.close(new CaseLensError("disposed", "This CaseLens was disposed of. Load a new one."));
  }

  /** As `dispose`: `using lens = await CaseLens.load()` does it at the end of the block. */
  declare readonly [Symbol.dispose]: () => void;
}

// Outside of the class: one that names itself in its body has another name in a bundle (`_CaseLens`), which consoles show.
const lensOf = (pool: Pool): CaseLens => new (CaseLens as unknown as new (pool: Pool) => CaseLens)(pool);
