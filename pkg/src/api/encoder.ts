// Encoder: a sentence encoder alone, without head or conditions.

import { CaseLensError } from "../errors.js";
import { Pool } from "../page/pool.js";
import type { CallOptions, EmbeddingsData, EmbeddingType, Info, Pooling } from "../types.js";
import { checkBoolean, checkFunction, checkInteger, checkMade, checkOptions, checkSignal, checkText, checkTexts, invalid } from "./check.js";
import { disposable } from "./dispose.js";
import { checkDtype, Embeddings, type VectorOptions } from "./embeddings.js";
import { files } from "./files.js";
import { indexes, originOf } from "./index/lazy.js";
import type { EncoderIndexOptions, LoadIndexOptions } from "./index/open.js";
import type { Index } from "./index/text-index.js";
import { type EncoderLoadOptions, encoderRequest } from "./options.js";
import { checkPooling } from "./pooling.js";
import { type ProgressOptions, toldOfReading } from "./progress.js";
import { type BatchOptions, type EmbeddedBatch, embedStream } from "./stream.js";
import { checkTruncate, type TruncateOptions } from "./truncate.js";

/** Options of `Encoder.embed`. */
export interface EmbedOptions<T extends EmbeddingType = EmbeddingType> extends CallOptions, ProgressOptions, TruncateOptions, VectorOptions<T> {
  /**
   * How the vectors of a text's tokens become one. Not every file holds a pooler.
   *
   * @defaultValue what the file says, `info.pooling`
   */
  pooling?: Pooling | undefined;
  /**
   * Whether to scale embeddings to unit length, so that their dot product is their cosine similarity.
   *
   * @defaultValue `true`
   */
  normalize?: boolean | undefined;
}

/** Options of `Encoder.embedStream`. */
export interface EmbedStreamOptions<T extends EmbeddingType = EmbeddingType> extends Omit<EmbedOptions<T>, "onProgress">, BatchOptions {}

/**
 * A sentence encoder alone: texts without conditions. With a GGUF file of a published encoder its embeddings are those that
 * sentence-transformers gives, to within the rounded weights (all-MiniLM-L6-v2 with 8 bits: cosine above 0.996, and above 0.998 where the processor has no relaxed SIMD).
 *
 * @example
 * ```ts
 * const encoder = await Encoder.load({ model: "models/all-MiniLM-L6-v2-q8_0.gguf" });
 * const [a, b] = await encoder.embed(["A cat sleeps.", "A kitten naps."]);
 * ```
 */
export class Encoder {
  readonly #pool: Pool;

  private constructor(pool: Pool) {
    checkMade(pool);
    this.#pool = pool;
    disposable(this);
  }

  /**
   * Reads an encoder from the network, the cache or (in Node and Deno) a file, and starts it in a worker of its own.
   *
   * @throws {@link CaseLensError} with any code but `disposed` and those of heads.
   */
  static async load(options: EncoderLoadOptions): Promise<Encoder> {
    const { call, threads, events, signal } = await encoderRequest(options);
    return encoderOf(await Pool.load(call, threads, events, signal));
  }

  /**
   * Whether the files of a model are kept here ({@link EncoderLoadOptions.cache}), so that `load` with the same options downloads nothing.
   *
   * @param options those of `load`: the encoder, the cache, and how to ask for them.
   */
  static async isCached(options: EncoderLoadOptions): Promise<boolean> {
    return (await files("look", encoderRequest(options))).kept;
  }

  /**
   * How large the files of a model are, in bytes, without loading them: as they are kept, or as their server states; null where it
   * does not.
   *
   * @throws {@link CaseLensError} `network`, `http`, `file`, `invalid-argument` or `worker`.
   */
  static async size(options: EncoderLoadOptions): Promise<number | null> {
    return (await files("measure", encoderRequest(options))).size;
  }

  /** Forgets the kept files of a model. One that is loaded stays loaded. */
  static async delete(options: EncoderLoadOptions): Promise<void> {
    await files("drop", encoderRequest(options));
  }

  /** What is loaded and where it runs. Changes when the GPU is lost and `device` was `"auto"`. */
  get info(): Info {
    return this.#pool.info;
  }

  /**
   * Embeds texts.
   *
   * @returns one embedding of length `info.dims`, or `dims`, for each text.
   * @throws {@link CaseLensError} `empty-text`, `invalid-text`, `text-too-long`, `invalid-argument`, `gpu-lost`
   * or `disposed`.
   */
  async embed<T extends EmbeddingType = "float32">(texts: readonly string[], options?: EmbedOptions<T>): Promise<Embeddings<T>> {
    return this.#embed(texts, options);
  }

  /**
   * Embeds texts of any number, a batch at a time, as `embed` does: for lists that are too long for memory, and for whoever wants the
   * first embeddings before the last are made. Texts are read as they are needed: while one batch is waited for, the next is begun,
   * and no more. Leaving the loop ends the work.
   *
   * @example
   * ```ts
   * for await (const { index, texts, embeddings } of encoder.embedStream(lines)) {
   *   await table.insert(texts.map((text, i) => ({ id: index + i, text, vector: embeddings.at(i) })));
   * }
   * ```
   *
   * @param texts a list, or anything else that `for await` goes through, such as the lines of a file.
   * @returns batches in the order of the texts. Each text is checked when its turn comes.
   * @throws {@link CaseLensError} as `embed`, from the loop; and whatever reading the texts throws.
   */
  embedStream<T extends EmbeddingType = "float32">(
    texts: Iterable<string> | AsyncIterable<string>,
    options?: EmbedStreamOptions<T>,
  ): AsyncGenerator<EmbeddedBatch<string, T>, undefined> {
    const { batchSize, signal, ...rest } = checkOptions<EmbedStreamOptions<T>>(options);
    return embedStream(texts, { batchSize, signal }, this.info.threads, (batch, index, signal) => this.#embed<T>(batch, { ...rest, signal }, index));
  }

  async #embed<T extends EmbeddingType>(texts: readonly string[], options: EmbedOptions<T> | undefined, start = 0): Promise<Embeddings<T>> {
    const { pooling, normalize, dims, dtype, signal, ...rest } = checkOptions<EmbedOptions<T>>(options);
    if ("condition" in rest && rest.condition !== undefined) throw invalid("An Encoder knows no conditions: load a CaseLens for them.");
    const onProgress = checkFunction("onProgress", rest.onProgress);
    const embedded = await this.#pool.call(
      {
        method: "encode",
        texts: checkTexts("texts", texts, start),
        ...(start > 0 && { first: start }),
        pooling: checkPooling(pooling, this.info),
        normalize: checkBoolean("normalize", normalize, true),
        dims: checkInteger("dims", dims, 1, this.info.dims),
        dtype: checkDtype(dtype),
        onTruncate: checkTruncate(rest),
      },
      checkSignal(signal),
      toldOfReading(onProgress),
    );
    onProgress?.({ phase: "embed", progress: 1 });
    return new Embeddings({ ...(embedded as EmbeddingsData<T>), model: this.info.model, condition: null });
  }

  /**
   * An index of texts: empty, to be filled and searched. As {@link CaseLens.index}, without conditions.
   *
   * @throws {@link CaseLensError} as `embed`, or `network`.
   */
  async index<M = unknown>(options?: EncoderIndexOptions): Promise<Index<M>> {
    return (await indexes()).newIndex<M>(originOf(this.#pool, "encoder"), options);
  }

  /** The index of bytes that {@link Index.save} wrote; see {@link CaseLens.loadIndex}. */
  async loadIndex<M = unknown>(bytes: ArrayBuffer | Uint8Array, options?: LoadIndexOptions): Promise<Index<M>> {
    return (await indexes()).loadIndex<M>(originOf(this.#pool, "encoder"), bytes, options);
  }

  /** The index that {@link Index.store} keeps under a name, undefined where there is none; see {@link CaseLens.openIndex}. */
  async openIndex<M = unknown>(name: string, options?: LoadIndexOptions): Promise<Index<M> | undefined> {
    return (await indexes()).openIndex<M>(originOf(this.#pool, "encoder"), name, options);
  }

  /** The encoder's token ids of a text, special tokens included. */
  async tokenize(text: string): Promise<Uint32Array> {
    return this.#pool.call({ method: "tokenize", text: checkText("text", text) }, undefined);
  }

  /**
   * What one worker could reach here: operations per second in a loop of the instruction that the CPU path multiplies with, a
   * product and a sum being two. Measured now, for a fifth of a second; the share that `embed` reaches says how well the
   * encoder runs on this processor.
   *
   * @returns `null` where a GPU computes.
   */
  async measurePeak(): Promise<number | null> {
    return this.#pool.call({ method: "peak" }, undefined);
  }

  /** Whether it was disposed of: no call is answered any more. */
  get closed(): boolean {
    return this.#pool.closed;
  }

  /** Ends the workers and frees their memory. Calls that wait, and all later ones, reject with `disposed`. */
  dispose(): void {
    this.#pool.close(new CaseLensError("disposed", "This Encoder was disposed of. Load a new one."));
  }

  /** As `dispose`: `using encoder = await Encoder.load({ model })` does it at the end of the block. */
  declare readonly [Symbol.dispose]: () => void;
}

// Outside of the class: one that names itself in its body has another name in a bundle (`_Encoder`), which consoles show.
const encoderOf = (pool: Pool): Encoder => new (Encoder as unknown as new (pool: Pool) => Encoder)(pool);
