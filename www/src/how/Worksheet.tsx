// A worksheet for paper: what is on the page with room for guesses, and the model's answers on a second sheet.

import { similarity } from "../format";
import { answers, unconditional } from "../state/answers";
import { filledConditions, sentences } from "../state/fields";
import { strings } from "../strings";

const words = strings.how.worksheet;

const Sentences = () => (
  <ol class="worksheet-sentences">
    {sentences.map((sentence, index) => (
      <li key={index}>{sentence.value}</li>
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
          <tr>
            <th scope="row">{words.none}</th>
            <td>{unconditional.value === undefined ? strings.results.none : similarity(unconditional.value)}</td>
          </tr>
          {filledConditions.value.map(({ id, text }) => {
            const answer = answers.value.get(id);
            return (
              <tr key={id}>
                <th scope="row">{text}</th>
                <td>{answer && "comparison" in answer ? similarity(answer.comparison.similarity) : strings.results.none}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p>{words.think}</p>
    </section>
  </div>
);
