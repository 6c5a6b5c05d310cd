// What the model says of the texts themselves: which sentences say nothing about a condition, and which are in a language that it
// was not trained on.

import { computed } from "@preact/signals";
import { type Comparison, type Unsaid, unsaid } from "caselens";
import { answers, comparisonOf, failure } from "./answers";
import { lens } from "./engine";
import { storedInfo } from "./stored";

/** Which of the sentences say nothing about the condition of an answer. */
export const unsaidIn = (comparison: Comparison | undefined): Unsaid | undefined =>
  comparison && unsaid(comparison, lens.value?.info ?? storedInfo);

interface Foreign {
  /** Its ISO 639-1 code. */
  readonly language: string;
  /** Those that the model was trained on. */
  readonly trained: readonly string[];
}

/** Of either sentence, a language that the model was not trained on. */
export const foreign = computed((): readonly [Foreign | undefined, Foreign | undefined] => {
  const found = failure.value ? undefined : [...answers.value.values()].map(comparisonOf).find((comparison) => comparison?.language);
  const trained = lens.value?.info.languages ?? [];
  const [first = null, second = null] = found?.language ?? [];
  const of = (language: string | null): Foreign | undefined => (language === null ? undefined : { language, trained });
  return [of(first), of(second)];
});
