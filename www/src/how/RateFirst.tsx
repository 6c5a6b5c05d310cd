// One rates pairs before the model does, and sees both beside what people said.

import { useEffect, useRef } from "preact/hooks";
import { rating } from "../format";
import { lens } from "../state/engine";
import { strings } from "../strings";
import { LoadingWords } from "../ui/Loading";
import { Folded } from "./Folded";
import { distances, guess, guesses, modelsOf, next, place, startAgain, startGuesses } from "./guesses";
import { rated } from "./rated";

const words = strings.how.rate;
const scale = [1, 2, 3, 4, 5] as const;

function Pair() {
  const question = useRef<HTMLParagraphElement>(null);
  const { pair, condition, people } = rated[place.value] as (typeof rated)[number];
  const own = guesses.value[place.value];
  const isLast = place.value === rated.length - 1;
  const move = (to: () => void) => (): void => {
    to();
    question.current?.focus();
  };
  return (
    <>
      <p class="quiet" ref={question} tabIndex={-1}>
        {words.place(place.value + 1, rated.length)}
      </p>
      <p class="rate-pair" lang="en">
        <span class="rate-first-sentence" dir="auto">{pair[0]}</span>
        <span class="rate-second-sentence" dir="auto">{pair[1]}</span>
      </p>
      <fieldset class="rate-scale">
        <legend>
          {words.question} <strong lang="en">{condition}</strong>
        </legend>
        <span aria-hidden="true">{words.ends[0]}</span>
        {scale.map((value) => (
          <label key={`${place.value}-${value}`}>
            <input type="radio" name="guess" value={value} checked={own === value} disabled={own !== undefined} onChange={() => guess(value)} />
            <span>{value}</span>
          </label>
        ))}
        <span aria-hidden="true">{words.ends[1]}</span>
      </fieldset>
      <p role="status" class="rate-answer">
        {own !== undefined && (modelsOf(place.value) === undefined ? lens.value ? words.waiting : <LoadingWords /> : words.answer(own, modelsOf(place.value) as number, people))}
      </p>
      {own !== undefined && (
        <button type="button" class="button" onClick={move(isLast ? startAgain : next)}>
          {isLast ? words.again : words.next}
        </button>
      )}
    </>
  );
}

const Table = () => (
  <table class="rate-table">
    <caption class="hidden">{words.title}</caption>
    <thead>
      <tr>
        <th scope="col">{words.pair}</th>
        <th scope="col">{words.you}</th>
        <th scope="col">{words.model}</th>
        <th scope="col">{words.people}</th>
      </tr>
    </thead>
    <tbody>
      {guesses.value.map((own, i) => (
        <tr key={i}>
          <th scope="row">
            {i + 1}. <span lang="en">{rated[i]?.condition}</span>
          </th>
          <td>{own}</td>
          <td>{modelsOf(i) === undefined ? "…" : rating(modelsOf(i) as number)}</td>
          <td>{rated[i]?.people}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

function Inside() {
  useEffect(startGuesses, []);
  const away = distances.value;
  return (
    <div class="teachers-inside rate-inside">
      <p>{words.lead}</p>
      <Pair />
      {guesses.value.length > 0 && <Table />}
      {away && <p role="status">{words.away(away.own, away.model)}</p>}
      <p class="quiet">{words.source}</p>
    </div>
  );
}

export const RateFirst = () => <Folded class="rate" title={words.title} Inside={Inside} />;
