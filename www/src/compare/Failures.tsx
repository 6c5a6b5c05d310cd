// Pairs that the encoder that ships judges otherwise than people would: each can be opened and looked into.

import { similarity } from "../format";
import { failures } from "../state/failures";
import table from "../state/stored.json";
import { strings } from "../strings";
import { open } from "./open";

const words = strings.about.right.failures;

const pairs = failures.map(({ sentences, condition }) => ({ sentences, conditions: [condition] }));

function show(place: number): void {
  const pair = pairs[place];
  if (pair) open(pair, pairs);
  document.getElementById("sentence-1")?.focus();
}

export const Failures = () => (
  <>
    <p>{words.lead}</p>
    <ul class="failures-list">
      {failures.map(({ kind, sentences, condition, people }, place) => (
        <li class="failure" key={place}>
          <p class="quiet">{words.kinds[kind]}</p>
          <blockquote id={`failure-${place}`} lang="en">
            {sentences.map((sentence, i) => (
              <p key={i} dir="auto">
                {sentence}
              </p>
            ))}
          </blockquote>
          <p>
            {strings.results.under(condition)}: <b>{words.model(similarity((table.failures[place] ?? 0) / 10_000))}</b> {words.people[people]}
          </p>
          <button type="button" class="button" aria-describedby={`failure-${place}`} onClick={() => show(place)}>
            {words.open}
          </button>
        </li>
      ))}
    </ul>
  </>
);
