// The two sentences, and between them the lens through which they are seen.

import { cutSentences } from "../state/cut";
import { sentences } from "../state/fields";
import { strings } from "../strings";
import { BigLens } from "./BigLens";

function Sentence({ index }: { index: 0 | 1 }) {
  const sentence = sentences[index];
  const id = `sentence-${index + 1}`;
  const cut = cutSentences.value[index];
  return (
    <div class={index === 0 ? "sentence sentence-first" : "sentence sentence-second"}>
      <label for={id}>{index === 0 ? strings.sentences.first : strings.sentences.second}</label>
      {/* The copy behind the field gives it the height of its text. */}
      <div class="grow" data-text={sentence.value}>
        <textarea
          id={id}
          rows={1}
          value={sentence.value}
          placeholder={strings.sentences.placeholder}
          spellcheck={false}
          aria-describedby={`${id}-note`}
          onInput={(event) => (sentence.value = event.currentTarget.value)}
        />
      </div>
      <p class="note" id={`${id}-note`}>
        {cut ? strings.sentences.cut : ""}
      </p>
    </div>
  );
}

export const Sentences = () => (
  <section class="bench" aria-labelledby="sentences-title">
    <h2 id="sentences-title" class="hidden">
      {strings.sentences.title}
    </h2>
    <Sentence index={0} />
    <BigLens />
    <Sentence index={1} />
  </section>
);
