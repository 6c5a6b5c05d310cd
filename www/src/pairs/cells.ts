// What a file says of a comparison: the same columns for a table of pairs and for one pair.

import { type Answer, comparisonOf } from "../state/answers";
import { unsaidIn } from "../state/said";

export const answerFields = ["similarity", "rating", "similarity_without_condition", "sentences_that_say_nothing", "problem"] as const;

/** The numbers of the sentences that say nothing. */
const silent = { both: "1 2", first: "1", second: "2" } as const;

/** Numbers, not their digits as text: a text that begins with a minus is taken for a formula and escaped. */
const rounded = (value: number): number => Number(value.toFixed(4));

export function answerCells(answer: Answer | undefined): (string | number)[] {
  const comparison = comparisonOf(answer);
  const unsaid = unsaidIn(comparison);
  return [
    ...(comparison ? [rounded(comparison.similarity), rounded(comparison.rating), rounded(comparison.unconditional)] : ["", "", ""]),
    unsaid ? silent[unsaid] : "",
    answer && "problem" in answer ? answer.problem.code : "",
  ];
}
