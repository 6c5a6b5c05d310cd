// What the encoder that ships says of the examples, computed beforehand: the page shows it while the encoder itself is on its way.
//
// `node tests/browser/answers.mjs` makes stored.json with that encoder, and a test compares each of its numbers with what it says now.

import type { Comparison } from "caselens";
import { encoderOf } from "./encoders";
import { examples } from "./examples";
import { isExample, type Fields } from "./fields";
import table from "./stored.json";
import { type Attended, weighed } from "./words";

/** The words of both sentences, each with its share. */
export type Look = readonly [Attended, Attended];

export interface StoredAnswer {
  readonly comparison: Comparison;
  readonly look: Look;
}

/** As the table has it, in whole numbers: ten thousandths of similarities, hundredths of the rest. */
interface Row {
  readonly similarity: number;
  readonly rating: number;
  readonly mentioned: readonly [number, number];
  /** Of each sentence's words in their order. */
  readonly shares: readonly [readonly number[], readonly number[]];
}

/** Where a sentence's words are, as the encoders' tokenizers cut it first: each sign is one. */
const wordsIn = (sentence: string) => [...sentence.matchAll(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)].map(({ 0: { length }, index }) => ({ start: index, end: index + length }));

const lookAt = (sentence: string, shares: readonly number[]): Attended =>
  weighed(sentence, wordsIn(sentence).map((word, at) => ({ ...word, weight: shares[at] ?? 0 })));

/** Sites may have an encoder of their own in the place of what ships: of it nothing is known beforehand. */
const isOfThis = (): boolean => {
  const { integrity, headIntegrity } = encoderOf("small");
  return integrity?.slice(0, table.encoder.length) === table.encoder && headIntegrity?.slice(0, table.head.length) === table.head;
};

/** From which probability on a sentence counts as saying something about a condition. */
export const storedInfo = { mentioned: { threshold: table.threshold / 100 } };

/** The answers to an example, in the order of its conditions; undefined where what is typed is none. */
export function storedFor(fields: Fields): readonly StoredAnswer[] | undefined {
  const place = examples.findIndex((example) => isExample(example, fields));
  const found = table.examples[place];
  if (!found || !isOfThis()) return undefined;
  const [first, second] = fields.sentences;
  return (found.answers as unknown as readonly Row[]).map(({ similarity, rating, mentioned, shares }, at) => ({
    comparison: {
      condition: fields.conditions[at] ?? "",
      similarity: similarity / 10_000,
      rating: rating / 100,
      unconditional: found.unconditional / 10_000,
      mentioned: [mentioned[0] / 100, mentioned[1] / 100],
    },
    look: [lookAt(first, shares[0]), lookAt(second, shares[1])],
  }));
}
