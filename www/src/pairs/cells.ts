// What a file says of a comparison: the same columns for a table of pairs and for one pair.

import { type Answer, comparisonOf } from "../state/answers";
import { unsaidIn } from "../state/said";

/**
 * The numbers, then what makes them other than they look; that is empty where all is well. Where a sentence says nothing about the
 * condition there is no similarity, as in the page.
 */
export const answerFields = [
  "similarity",
  "rating",
  "similarity_without_condition",
  "sentences_that_say_nothing",
  "sentences_in_other_languages",
  "unknown_pieces",
  "cut",
  "problem",
] as const;

/** The numbers of the sentences that say nothing. */
const silent = { both: "1 2", first: "1", second: "2" } as const;

/** Numbers, not their digits as text: a text that begins with a minus is taken for a formula and escaped. */
const rounded = (value: number): number => Number(value.toFixed(4));

/** The numbers of the sentences that are in other languages, each with that language’s ISO 639-1 code. */
const foreign = (language: readonly (string | null)[] = []): string =>
  language.flatMap((code, place) => (code === null ? [] : [`${place + 1}: ${code}`])).join(" ");

export function answerCells(answer: Answer | undefined): (string | number)[] {
  const comparison = comparisonOf(answer);
  const unsaid = unsaidIn(comparison);
  return [
    ...(comparison && !unsaid ? [rounded(comparison.similarity), rounded(comparison.rating)] : ["", ""]),
    comparison ? rounded(comparison.unconditional) : "",
    unsaid ? silent[unsaid] : "",
    foreign(comparison?.language),
    comparison?.unknown ?? "",
    comparison?.truncated ? "yes" : "",
    answer && "problem" in answer ? answer.problem.code : "",
  ];
}
