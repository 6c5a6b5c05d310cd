// Suggestions: conditions that say something about two sentences, from both ends: alike in this, different in that.

import type { EmbedCall } from "../../protocol.js";
import type { CallOptions } from "../../types.js";
import { checkFilled, checkFunction, checkInteger, checkOptions, checkSignal, checkTexts } from "../check.js";
import { Embeddings } from "../embeddings.js";
import { type ProgressOptions, toldOfReading } from "../progress.js";
import { checkTruncate, type TruncateOptions } from "../truncate.js";
import { CONDITIONS } from "./conditions.js";
import { ofNoItem } from "./no-item.js";
import type { Calls } from "./options.js";

/** Options of `suggest`. */
export interface SuggestOptions extends CallOptions, ProgressOptions, TruncateOptions {
  /** Conditions to try besides the built-in ones, for example those of your field. */
  conditions?: readonly string[] | undefined;
  /**
   * How many suggestions to give at most.
   *
   * @defaultValue 8
   */
  limit?: number | undefined;
}

/** A condition worth looking through. */
export interface Suggestion {
  /** The condition, as `compare` takes it. */
  readonly condition: string;
  /** Cosine similarity of the two sentences under the condition, −1 to 1. */
  readonly similarity: number;
  /**
   * How much it stands out, 0 to 2: how far `similarity` lies from the median of all conditions, times how unlike the
   * condition's embeddings are to those of the suggestions before it.
   */
  readonly score: number;
}

const LIMIT = 8;
/** What is suggested has to be said by both sentences more probably than not. `mentioned` is told at a lower bar, which misses little that is said. */
const SAID = 0.5;

/** A condition, the similarity under it, and its place among the embeddings. */
interface Candidate {
  readonly condition: string;
  readonly similarity: number;
  readonly place: number;
}

export async function suggest(
  calls: Calls,
  sentence1: string,
  sentence2: string,
  value: SuggestOptions | undefined,
): Promise<Suggestion[]> {
  const options = checkOptions<SuggestOptions>(value);
  const own = checkTexts("conditions", options.conditions ?? []);
  const limit = checkInteger("limit", options.limit, 1, 1000) ?? LIMIT;
  const signal = checkSignal(options.signal);
  const onProgress = checkFunction("onProgress", options.onProgress);
  const pair = [checkFilled("sentence1", sentence1), checkFilled("sentence2", sentence2)] as const;

  const conditions = [...new Set([...own, ...CONDITIONS])];
  const call: EmbedCall = {
    method: "embed",
    sentences: conditions.flatMap(() => pair),
    conditions: conditions.flatMap((condition) => [condition, condition]),
    dims: undefined,
    dtype: "float32",
    onTruncate: checkTruncate(options),
  };
  const embedded = await calls.call(call, signal, toldOfReading(onProgress)).catch(ofNoItem);
  const { mentioned } = embedded;
  const isSaid = (place: number): boolean => [2 * place, 2 * place + 1].every((row) => (mentioned?.[row] ?? 1) >= SAID);
  const suggestions = ranked(conditions, new Embeddings(embedded), limit, isSaid);
  onProgress?.({ phase: "embed", progress: 1 });
  return suggestions;
}

/**
 * Ranks conditions; rows 2i and 2i + 1 are the two sentences under condition i. One about which not both sentences say
 * something, as `isSaid` tells by its place, is left out.
 *
 * Conditions above the median of all similarities and those below it take turns, beginning with the one that lies farthest
 * from it, so that both ends are there. Each time the one of the highest score is taken: its distance from the median
 * times 1 − overlap, where overlap is its largest mean cosine with a condition already taken, sentence by sentence. Two
 * conditions that the encoder hardly tells apart are not both suggested.
 */
export function ranked(
  conditions: readonly string[],
  rows: Embeddings,
  limit: number,
  isSaid: (place: number) => boolean = () => true,
): Suggestion[] {
  const candidates = conditions
    .map((condition, place) => ({ condition, place, similarity: rows.similarity(2 * place, 2 * place + 1) }))
    .filter(({ place }) => isSaid(place));
  const sorted = candidates.map(({ similarity }) => similarity).sort((a, b) => a - b);
  const middle = ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
  const overlap = (a: Candidate, b: Candidate): number =>
    (rows.similarity(2 * a.place, 2 * b.place) + rows.similarity(2 * a.place + 1, 2 * b.place + 1)) / 2;
  const left = candidates.map((candidate) => ({ ...candidate, overlap: 0 }));
  const result: Suggestion[] = [];
  const score = (one: { similarity: number; overlap: number }): number => Math.abs(one.similarity - middle) * (1 - one.overlap);
  const best = (side: (similarity: number) => boolean) =>
    left.filter(({ similarity }) => side(similarity)).reduce<(typeof left)[number] | undefined>((a, b) => (a && score(a) >= score(b) ? a : b), undefined);

  let above: boolean | undefined;
  while (result.length < limit && left.length > 0) {
    const [high, low] = [best((s) => s > middle), best((s) => s <= middle)];
    above ??= high !== undefined && (low === undefined || score(high) >= score(low));
    const taken = (above ? (high ?? low) : (low ?? high)) as (typeof left)[number];
    result.push({ condition: taken.condition, similarity: taken.similarity, score: score(taken) });
    left.splice(left.indexOf(taken), 1);
    for (const other of left) other.overlap = Math.max(other.overlap, Math.min(1, overlap(other, taken)));
    above = !above;
  }
  return result;
}
