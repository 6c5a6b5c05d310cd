// What the model says of the texts themselves: which sentences say nothing about a condition, which are in a language that it
// was not trained on, and what else makes an answer an uncertain one.

import { computed } from "@preact/signals";
import { type Comparison, type Unsaid, unsaid } from "caselens";
import { answers, comparisonOf, failure } from "./answers";
import { lens } from "./engine";
import { storedInfo } from "./stored";

/** Which of the sentences say nothing about the condition of an answer. */
export const unsaidIn = (comparison: Comparison | undefined): Unsaid | undefined =>
  comparison && unsaid(comparison, lens.value?.info ?? storedInfo);

/** Why an answer is uncertain: a text is in another language, holds characters that the encoder does not know, or was not read to its end. */
export type Doubt = "foreign" | "unknown" | "cut";

/** The heaviest doubt about an answer. */
export function doubtOf({ language, unknown, truncated }: Pick<Comparison, "language" | "unknown" | "truncated">): Doubt | undefined {
  if (language?.some((one) => one !== null)) return "foreign";
  return unknown ? "unknown" : truncated ? "cut" : undefined;
}

/** A doubt that all answers have is about the sentences, whatever they are compared under, and so about the naked eye's. */
export const plainDoubt = computed((): Doubt | undefined => {
  const doubts = [...answers.value.values()].flatMap((answer) => {
    const comparison = comparisonOf(answer);
    return comparison ? [doubtOf(comparison)] : [];
  });
  return doubts.every((doubt) => doubt === doubts[0]) ? doubts[0] : undefined;
});

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
