// A worksheet for paper: pairs with room for guesses, and the model's answers on sheets of their own.

import { computed } from "@preact/signals";
import type { Comparison } from "caselens";
import { similarity } from "../format";
import { answers, comparisonOf, failure, pending, unconditional } from "../state/answers";
import { encoder } from "../state/engine";
import { examples } from "../state/examples";
import { filledConditions, sentences } from "../state/fields";
import { strings } from "../strings";
import { saidOf } from "../ui/spoken";
import { answered, picked } from "./sheet";

const words = strings.how.worksheet;

/** A pair on the sheet; what the model says is undefined where it has not answered. */
interface Pair {
  readonly sentences: readonly string[];
  readonly plain: number | undefined;
  readonly conditions: readonly { readonly text: string; readonly answer: Comparison | undefined }[];
}

/** Whether the answers there are belong to what is typed: paper cannot be corrected when new ones come. */
const current = computed(() => !pending.value && !failure.value && unconditional.value !== undefined);

/** The page's own pair, then those that were picked. */
const pairs = computed((): readonly Pair[] => [
  {
    sentences: sentences.map(({ value }) => value),
    plain: current.value ? unconditional.value : undefined,
    conditions: filledConditions.value.map(({ id, text }) => ({ text, answer: current.value ? comparisonOf(answers.value.get(id)) : undefined })),
  },
  ...[...picked.value].sort((a, b) => a - b).flatMap((place) => {
    const [example, found] = [examples[place], answered.value.get(place)];
    if (!example) return [];
    return [{ sentences: example.sentences, plain: found?.plain, conditions: example.conditions.map((text, at) => ({ text, answer: found?.under[at] })) }];
  }),
]);

const Sentences = ({ pair }: { pair: Pair }) => (
  <ol class="worksheet-sentences">
    {pair.sentences.map((sentence, index) => (
      <li key={index} dir="auto" lang="en">
        {sentence}
      </li>
    ))}
  </ol>
);

const Guess = ({ text }: { text: string }) => (
  <tr>
    <th scope="row">{text}</th>
    <td />
    <td />
  </tr>
);

const Question = ({ pair }: { pair: Pair }) => (
  <div class="worksheet-pair">
    <Sentences pair={pair} />
    <table>
      <thead>
        <tr>
          {words.columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <Guess text={words.none} />
        {pair.conditions.map(({ text }) => (
          <Guess key={text} text={text} />
        ))}
      </tbody>
    </table>
  </div>
);

/** A similarity, with why it is uncertain, or why there is none. */
const Value = ({ text, value, why }: { text: string; value: number | undefined; why?: string | undefined }) => (
  <tr>
    <th scope="row">{text}</th>
    <td>
      {[value === undefined ? "" : similarity(value), why].filter(Boolean).join(", ") || strings.results.none}
    </td>
  </tr>
);

const Answer = ({ pair }: { pair: Pair }) => (
  <div class="worksheet-pair">
    <Sentences pair={pair} />
    <table>
      <thead>
        <tr>
          <th scope="col">{words.columns[0]}</th>
          <th scope="col">{words.similarity}</th>
        </tr>
      </thead>
      <tbody>
        <Value text={words.none} value={pair.plain} />
        {pair.conditions.map(({ text, answer }) => (
          <Value key={text} text={text} value={saidOf(answer)?.value} why={saidOf(answer)?.why} />
        ))}
      </tbody>
    </table>
  </div>
);

export const Worksheet = () => (
  <div class="worksheet">
    <section>
      <p class="worksheet-name">{words.name}</p>
      <h2>{words.title}</h2>
      <p>{words.task}</p>
      {pairs.value.map((pair, index) => (
        <Question key={index} pair={pair} />
      ))}
      <p>{words.ownRows}</p>
      <table>
        <tbody>
          <Guess text=" " />
          <Guess text=" " />
        </tbody>
      </table>
    </section>
    <section>
      <h2>{words.answers}</h2>
      {encoder.value !== "small" && <p>{words.of(strings.encoders.names[encoder.value])}</p>}
      {pairs.value.map((pair, index) => (
        <Answer key={index} pair={pair} />
      ))}
      <p>{pairs.value.every(({ plain }) => plain !== undefined) ? words.think : words.unanswered}</p>
    </section>
  </div>
);
