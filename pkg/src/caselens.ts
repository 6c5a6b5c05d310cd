// CaseLens: an encoder and a projection head, compared under conditions.

import { checkArray, checkOptions, checkSignal, checkText, checkTexts, invalid } from "./check.js";
import { CaseLensError } from "./errors.js";
import type { Info } from "./info.js";
import { type CallOptions, type LoadOptions, loadRequest, pageBase } from "./options.js";
import { Pool } from "./rpc/pool.js";
import type { Comparison } from "./rpc/protocol.js";

/** A sentence to embed, with or without a condition. */
export interface ConditionedSentence {
  readonly sentence: string;
  /** The aspect under which the sentence is seen, for example `"the animal"`. */
  readonly condition?: string | undefined;
}

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
    this.#pool = pool;
  }

  /**
   * Downloads, or takes from the browser's cache, an encoder and its head, and starts them in a worker of their own.
   *
   * @throws {@link CaseLensError} with any code but `disposed`.
   */
  static async load(options?: LoadOptions): Promise<CaseLens> {
    const { call, threads, events, signal } = loadRequest(options, true, pageBase());
    return new CaseLens(await Pool.load(call, threads, events, signal));
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
   * `invalid-argument`, `gpu-lost`, `aborted` or `disposed`.
   */
  async compare(
    sentence1: string,
    sentence2: string,
    conditions: readonly string[],
    options?: CallOptions,
  ): Promise<Comparison[]> {
    const { signal } = checkOptions<CallOptions>(options);
    return this.#pool.call(
      {
        method: "compare",
        sentence1: checkText("sentence1", sentence1),
        sentence2: checkText("sentence2", sentence2),
        conditions: checkTexts("conditions", conditions),
      },
      checkSignal(signal),
    );
  }

  /**
   * Embeds sentences. With a condition, the embedding is the one that `compare` compares, of length `info.dim`;
   * without one it is the encoder's own, whose length can differ.
   *
   * @returns one vector of unit length for each item.
   * @throws {@link CaseLensError} as `compare`.
   */
  async embed(items: readonly ConditionedSentence[], options?: CallOptions): Promise<Float32Array[]> {
    const { signal } = checkOptions<CallOptions>(options);
    const sentences: string[] = [];
    const conditions: (string | undefined)[] = [];
    for (const [i, item] of checkArray("items", items).entries()) {
      if (typeof item !== "object" || item === null) throw invalid(`items[${i}] must be an object with a \`sentence\`.`);
      const { sentence, condition } = item as Partial<ConditionedSentence>;
      sentences.push(checkText(`items[${i}].sentence`, sentence));
      conditions.push(condition === undefined ? undefined : checkText(`items[${i}].condition`, condition));
    }
    return this.#pool.call({ method: "embed", sentences, conditions }, checkSignal(signal));
  }

  /** The encoder's token ids of a text, special tokens included. */
  async tokenize(text: string): Promise<Uint32Array> {
    return this.#pool.call({ method: "tokenize", text: checkText("text", text) }, undefined);
  }

  /** Ends the workers and frees their memory. Calls that wait, and all later ones, reject with `disposed`. */
  dispose(): void {
    this.#pool.close(new CaseLensError("disposed", "This CaseLens was disposed of. Load a new one."));
  }
}
