// What the calls about a list of texts have in common: checks of the list, its embeddings, and their progress.

import { CaseLensError, withIndex } from "../../errors.js";
import type { Pool } from "../../page/pool.js";
import type { CallOptions, EmbeddingsData, OnTruncate } from "../../types.js";
import { checkFilled, checkFunction, checkOptions, checkSignal, checkTexts, invalid } from "../check.js";
import { Embeddings, type VectorOptions } from "../embeddings.js";
import type { ProgressOptions } from "../progress.js";
import { checkTruncate, type TruncateOptions } from "../truncate.js";

/** What these calls need of a pool of workers. */
export type Calls = Pick<Pool, "call" | "info">;

/** Which of several texts say something about their condition; all of them where nothing tells that. */
export function saying({ info }: Calls, { mentioned, count }: Pick<EmbeddingsData, "mentioned" | "count">): boolean[] {
  const threshold = info.mentioned?.threshold ?? 0;
  // NaN is of a text without a condition.
  return Array.from({ length: count }, (_, i) => !((mentioned?.[i] ?? 1) < threshold));
}

/** Options of every call about a list of texts. */
export interface ListOptions<E extends Embeddings = Embeddings> extends CallOptions, ProgressOptions, TruncateOptions {
  /** The aspect under which the texts are seen; without it they are seen as they are. */
  condition?: string | undefined;
  /**
   * The texts' embeddings under this condition, as `embed` or an earlier `cluster` gave them, so that they need not be made
   * again.
   */
  embeddings?: E | undefined;
}

/** List options, checked. */
export interface ListRequest<E extends Embeddings> {
  readonly texts: readonly string[];
  readonly condition: string | undefined;
  readonly embeddings: E | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onTruncate: OnTruncate;
  readonly onProgress: ProgressOptions["onProgress"];
}

/** @throws CaseLensError `invalid-argument`, `invalid-text`, `empty-text` or `text-too-long`, before any work is done. */
export function listRequest<E extends Embeddings>(texts: readonly string[], value: ListOptions<E> | undefined): ListRequest<E> {
  const options = checkOptions<ListOptions<E>>(value);
  const list = checkTexts("texts", texts);
  const { condition, embeddings } = options;
  if (condition !== undefined) checkFilled("condition", condition);
  const given = embeddings === undefined || embeddings instanceof Embeddings ? embeddings : asEmbeddings(embeddings);
  if (given && given.count !== list.length) {
    throw invalid(`embeddings must be an Embeddings with one row for each of the ${list.length} texts.`);
  }
  return {
    texts: list,
    condition,
    embeddings: given as E | undefined,
    signal: checkSignal(options.signal),
    onTruncate: checkTruncate(options),
    onProgress: checkFunction("onProgress", options.onProgress),
  };
}

/** What is no `Embeddings` of this copy of the package, but may be one of another, or was kept as plain data. */
function asEmbeddings(value: unknown): Embeddings {
  if (typeof value !== "object" || value === null) throw invalid("embeddings must be an Embeddings, as `embed` gives them.");
  return new Embeddings(value as EmbeddingsData);
}

/** Throws an error of what the caller gave no list of: a place in what was embedded is none there. */
export function ofNoItem(error: unknown): never {
  throw error instanceof CaseLensError ? withIndex(error, undefined) : error;
}

/** Embeds texts under one condition. */
export async function embedAll(
  calls: Calls,
  sentences: readonly string[],
  condition: string | undefined,
  { dims, dtype = "float32", onTruncate }: VectorOptions & { onTruncate: OnTruncate },
  signal: AbortSignal | undefined,
  onPart?: (share: number) => void,
): Promise<EmbeddingsData> {
  const conditions = sentences.map(() => condition);
  return calls.call({ method: "embed", sentences, conditions, dims, dtype, onTruncate }, signal, onPart);
}
