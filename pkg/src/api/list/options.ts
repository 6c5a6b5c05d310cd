// What the calls about a list of texts have in common: checks of the list, its embeddings, and their progress.

import type { Pool } from "../../page/pool.js";
import type { CallOptions, EmbeddingsData, EmbeddingType, OnTruncate } from "../../types.js";
import { checkFilled, checkFunction, checkOptions, checkSignal, checkStrings, checkTexts, invalid } from "../check.js";
import { Embeddings, type VectorOptions } from "../embeddings.js";
import type { ProgressOptions } from "../progress.js";
import { checkTruncate, type TruncateOptions } from "../truncate.js";

/** What these calls need of a pool of workers. */
export type Calls = Pick<Pool, "call" | "info">;

/** Which of several texts say something about their condition; all of them where nothing tells that. */
export function saying({ info }: Calls, { mentioned, length }: Pick<EmbeddingsData, "mentioned" | "length">): boolean[] {
  const threshold = info.mentioned?.threshold ?? 0;
  // NaN is of a text without a condition.
  return Array.from({ length }, (_, i) => !((mentioned?.[i] ?? 1) < threshold));
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
export function listRequest<E extends Embeddings>(
  { info }: Calls,
  texts: readonly string[],
  value: ListOptions<E> | undefined,
): ListRequest<E> {
  const options = checkOptions<ListOptions<E>>(value);
  // Texts whose embeddings are there are not read.
  const list = options.embeddings === undefined ? checkTexts("texts", texts) : checkStrings("texts", texts);
  const { condition, embeddings } = options;
  if (condition !== undefined) checkFilled("condition", condition);
  const given = embeddings === undefined || embeddings instanceof Embeddings ? embeddings : asEmbeddings(embeddings);
  if (given) checkFitting(given, list.length, condition, info.model);
  return {
    texts: list,
    condition,
    embeddings: given as E | undefined,
    signal: checkSignal(options.signal),
    onTruncate: checkTruncate(options),
    onProgress: checkFunction("onProgress", options.onProgress),
  };
}

/** Refuses embeddings of other texts, of another model or of another condition, as far as they say what they are of. */
function checkFitting(given: Embeddings, texts: number, condition: string | undefined, model: string): void {
  if (given.length !== texts) throw invalid(`embeddings must be an Embeddings with one row for each of the ${texts} texts.`);
  if (given.model !== undefined && given.model !== model) {
    throw invalid(`embeddings are of the model ${given.model}, and ${model} is loaded: embed the texts again.`);
  }
  const named = (text: string | null | undefined): string => (text == null ? "no condition" : `the condition "${asRead(text)}"`);
  if (given.condition !== undefined && named(given.condition) !== named(condition)) {
    throw invalid(`embeddings are of texts seen under ${named(given.condition)}, not under ${named(condition)}: embed the texts again.`);
  }
}

/** A condition without what the engine leaves out of it too (`normalize_condition`): white space around it, and its full stop. */
export function asRead(condition: string): string {
  const text = condition.trim();
  return /[^.]\.$/.test(text) ? text.slice(0, -1).trimEnd() : text;
}

/** What is no `Embeddings` of this copy of the package, but may be one of another, or was kept as plain data. */
function asEmbeddings(value: unknown): Embeddings {
  if (typeof value !== "object" || value === null) throw invalid("embeddings must be an Embeddings, as `embed` gives them.");
  return new Embeddings(value as EmbeddingsData);
}

/** Embeds texts under one condition. */
export async function embedAll<T extends EmbeddingType = "float32">(
  calls: Calls,
  sentences: readonly string[],
  condition: string | undefined,
  { dims, dtype, onTruncate, named }: VectorOptions<T> & { onTruncate: OnTruncate; named?: string },
  signal: AbortSignal | undefined,
  onPart?: (share: number) => void,
): Promise<Embeddings<T>> {
  const conditions = sentences.map(() => condition);
  const embedded = await calls.call({ method: "embed", sentences, conditions, dims, dtype: dtype ?? "float32", onTruncate, ...(named !== undefined && { named }) }, signal, onPart);
  return new Embeddings({ ...(embedded as EmbeddingsData<T>), model: calls.info.model, condition: condition ?? null });
}
