// Where the conditions look: the model's last layer, told for the words of both sentences. It comes with the answers.

import { computed } from "@preact/signals";
import { answers, comparisonOf, failure, pending } from "./answers";
import { conditions, sentences } from "./fields";
import { attended, type Attended } from "./words";

/** The words of both sentences, each with its share. */
type Look = readonly [Attended, Attended];

/** Whether a piece is more than a punctuation mark. */
export const isWord = (text: string): boolean => !/^\p{P}+$/u.test(text);

/** By the condition's identity; only where the answer fits what is typed. */
const looks = computed((): ReadonlyMap<number, Look> => {
  if (pending.value || failure.value) return new Map();
  const [first, second] = sentences;
  return new Map(
    conditions.value.flatMap(({ id, text }) => {
      const comparison = comparisonOf(answers.value.get(id));
      if (!comparison?.readings || comparison.condition !== text) return [];
      const [ofFirst, ofSecond] = comparison.readings;
      return [[id, [attended(first.value, ofFirst, 0), attended(second.value, ofSecond, 0)]] as const];
    }),
  );
});

/** Where a condition looks. */
export const lookOf = (id: number | undefined): Look | undefined => (id === undefined ? undefined : looks.value.get(id));
