// Where the conditions look: the model's last layer, told for the words of both sentences. It comes with the answers.

import { computed } from "@preact/signals";
import { answers, comparisonOf, failure, stale } from "./answers";
import { conditions, sentences } from "./fields";
import type { Look } from "./stored";
import { attended, type Attended } from "./words";

/** Whether a piece is more than punctuation marks and signs: those are narrow, and their numbers would run into their neighbours'. */
export const isWord = (text: string): boolean => !/^[\p{P}\p{S}]+$/u.test(text);

/** By the condition's identity; only where the answer fits what is typed. */
const looks = computed((): ReadonlyMap<number, Look> => {
  if (stale.value || failure.value) return new Map();
  const [first, second] = sentences;
  return new Map(
    conditions.value.flatMap(({ id, text }) => {
      const answer = answers.value.get(id);
      const comparison = comparisonOf(answer);
      if (answer && "look" in answer) return [[id, answer.look] as const];
      if (!comparison?.readings || comparison.condition !== text) return [];
      const [ofFirst, ofSecond] = comparison.readings;
      return [[id, [attended(first.value, ofFirst, 0), attended(second.value, ofSecond, 0)]] as const];
    }),
  );
});

/** Where a condition looks. */
export const lookOf = (id: number | undefined): Look | undefined => (id === undefined ? undefined : looks.value.get(id));

/**
 * The whole percentages that stand below the pieces, where they have room: of two words with no space between them the smaller share is
 * left out where no more letters than the first number's digits lie between where they begin.
 */
export function numbersBelow({ pieces }: Attended): readonly (number | undefined)[] {
  const numbers = pieces.map(({ text, share }) => (share === undefined || !isWord(text) ? undefined : Math.round(100 * share)));
  let before: { readonly at: number; readonly start: number } | undefined;
  let [start, isSpaced] = [0, true];
  pieces.forEach(({ text }, at) => {
    const number = numbers[at];
    if (number !== undefined) {
      const earlier = before && numbers[before.at];
      if (before && earlier !== undefined && !isSpaced && start - before.start <= String(earlier).length) numbers[earlier < number ? before.at : at] = undefined;
      if (numbers[at] !== undefined) [before, isSpaced] = [{ at, start }, false];
    }
    start += text.length;
    isSpaced ||= /\s/.test(text);
  });
  return numbers;
}
