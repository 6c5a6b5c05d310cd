// A worksheet for paper: what is on the page with room for guesses, and the model's answers on a second sheet.

import { computed } from "@preact/signals";
import { similarity } from "../format";
import { answers, comparisonOf, failure, pending, unconditional } from "../state/answers";
import { filledConditions, sentences } from "../state/fields";
import { strings } from "../strings";

const words = strings.how.worksheet;

const Sentences = () => (
  <ol class="worksheet-sentences">
    {sentences.map((sentence, index) => (
      <li key={index} dir="auto">
        {sentence.value}
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

/** Whether the answers there are belong to what is typed: paper cannot be corrected when new ones come. */
const answered = computed(() => !pending.value && !failure.value && unconditional.value !== undefined);

/** The similarity without a condition, or with the one of this identity. */
function similarityOf(id?: number): number | undefined {
  if (!answered.value) return undefined;
  if (id === undefined) return unconditional.value;
  return comparisonOf(answers.value.get(id))?.similarity;
}

function Answer({ text, value }: { text: string; value: number | undefined }) {
  return (
    <tr>
      <th scope="row">{text}</th>
      <td>{value === undefined ? strings.results.none : similarity(value)}</td>
    </tr>
  );
}

export const Worksheet = () => (
  <div class="worksheet">
    <section>
      <p class="worksheet-name">{words.name}</p>
      <h2>{words.title}</h2>
      <p>{words.task}</p>
      <Sentences />
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
          {filledConditions.value.map(({ id, text }) => (
            <Guess key={id} text={text} />
          ))}
        </tbody>
      </table>
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
      <Sentences />
      <table>
        <thead>
          <tr>
            <th scope="col">{words.columns[0]}</th>
            <th scope="col">{words.similarity}</th>
          </tr>
        </thead>
        <tbody>
          <Answer text={words.none} value={similarityOf()} />
          {filledConditions.value.map(({ id, text }) => (
            <Answer key={id} text={text} value={similarityOf(id)} />
          ))}
        </tbody>
      </table>
      <p>{answered.value ? words.think : words.unanswered}</p>
    </section>
  </div>
);
