// The words of <case-lens>: English, where the page has none of its own.

import type { CaseLensError } from "../errors.js";
import type { Unsaid } from "../index.js";

/** Why a result is uncertain: a sentence in another language, characters that the encoder does not know, a text not read to its end. */
export type Uncertain = "foreign" | "unknown" | "cut";

/**
 * What `<case-lens>` says. A page in another language gives it its own words: {@link CaseLensElement.labels}.
 *
 * @example
 * ```ts
 * const number = new Intl.NumberFormat("de", { maximumFractionDigits: 1 });
 * lens.labels = { rating: (rating) => `${number.format(rating)} von 5`, retry: "Noch einmal versuchen" };
 * ```
 */
export interface Labels {
  /** The field of the first sentence. */
  readonly sentence1: string;
  /** The field of the second sentence. */
  readonly sentence2: string;
  /** The list of conditions, for those who do not see it. */
  readonly conditions: string;
  /** The field of a condition, counted from 1. */
  readonly condition: (number: number) => string;
  /** The button for one more condition. */
  readonly add: string;
  /** The button that removes a condition, counted from 1. */
  readonly remove: (number: number) => string;
  /** A rating, 1 to 5. */
  readonly rating: (rating: number) => string;
  /** The cosine similarity under a condition, −1 to 1, beside the rating. */
  readonly similarity: (cosine: number) => string;
  /** The cosine similarity without a condition, −1 to 1. */
  readonly unconditional: (cosine: number) => string;
  /**
   * In place of a rating where sentences say nothing about the condition: which do not. Only with a head that tells
   * (`info.mentioned`).
   */
  readonly unsaid: (which: Unsaid) => string;
  /** Beside a rating that means little: why. */
  readonly uncertain: (why: Uncertain) => string;
  /** Below the sentences, where one (1 or 2) is in a language that the model was not trained on; languages by their ISO 639-1 codes. */
  readonly foreign: (sentence: number, language: string, trained: readonly string[]) => string;
  /** In place of numbers that are not there yet, for those who do not see the meter. */
  readonly pending: string;
  /** The progress bar. */
  readonly loading: string;
  /** What went wrong. An error's `message` is English; its `code` can be told in other words. */
  readonly error: (error: CaseLensError) => string;
  /** The button that loads once more. */
  readonly retry: string;
}

export const ENGLISH: Labels = {
  sentence1: "First sentence",
  sentence2: "Second sentence",
  conditions: "Similarity under each condition",
  condition: (number) => `Condition ${number}`,
  add: "Add a condition",
  remove: (number) => `Remove condition ${number}`,
  rating: (rating) => `${rating.toFixed(1)} of 5`,
  similarity: (cosine) => `similarity ${signed(cosine)}`,
  unconditional: (cosine) => `Similarity without a condition: ${signed(cosine)}`,
  unsaid: (which) => ({ both: "neither sentence says", first: "only the second says", second: "only the first says" })[which],
  uncertain: (why) => `uncertain: ${{ foreign: "another language", unknown: "unknown characters", cut: "not read to its end" }[why]}`,
  foreign: (sentence, language, trained) =>
    `The ${sentence === 1 ? "first" : "second"} sentence looks like ${named(language)}; the model was trained on ${trained.map(named).join(", ")}.`,
  pending: "no result yet",
  loading: "Loading the model",
  error: ({ message }) => message,
  retry: "Try again",
};

/** A language's name in English. */
function named(code: string): string {
  return new Intl.DisplayNames("en", { type: "language" }).of(code) ?? code;
}

/** With a minus sign, which is not a hyphen. */
function signed(value: number): string {
  return value.toFixed(2).replace(/^-0\.00$/, "0.00").replace("-", "−");
}
