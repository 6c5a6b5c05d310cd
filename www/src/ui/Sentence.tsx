// A field for one of the two sentences, and behind it what the condition in the lens looks at.

import { lookOf, numbersBelow } from "../state/attention";
import { cutSentences } from "../state/cut";
import { sentences } from "../state/fields";
import { inLens } from "../state/focus";
import { enterToNext } from "../state/next";
import { foreign } from "../state/said";
import { strings } from "../strings";
import { Pencil } from "./Pencil";

/**
 * The sentence's words behind the field, each tinted by how much the condition in the lens looks at it, with the number
 * below. The condition's field says the same to screen readers.
 */
function Tint({ index }: { index: 0 | 1 }) {
  const look = lookOf(inLens.value);
  if (!look) return null;
  const { pieces, largest } = look[index];
  const numbers = numbersBelow(look[index]);
  return (
    <div class="tint" dir="auto" aria-hidden="true">
      {pieces.map(({ text, share }, at) =>
        share === undefined ? (
          text
        ) : (
          <span key={at} data-share={numbers[at]} style={{ "--strength": largest > 0 ? share / largest : 0 }}>
            {text}
          </span>
        ),
      )}
    </div>
  );
}

interface Props {
  readonly index: 0 | 1;
  /** Whether its words are tinted by the condition in the lens. */
  readonly tinted?: boolean;
}

export function Sentence({ index, tinted = false }: Props) {
  const sentence = sentences[index];
  const id = `sentence-${index + 1}`;
  const cut = cutSentences.value[index];
  const other = foreign.value[index];
  return (
    <div class={index === 0 ? "sentence sentence-first" : "sentence sentence-second"}>
      <div class="sentence-head">
        <label for={id}>{index === 0 ? strings.sentences.first : strings.sentences.second}</label>
        <span class="hint" id={`${id}-hint`}>
          <Pencil />
          {strings.sentences.own}
        </span>
        {tinted && lookOf(inLens.value) && (
          <span class="quiet attention-unit" aria-hidden="true">
            {strings.attention.unit}
          </span>
        )}
      </div>
      {/* The copy behind the field gives it the height of its text. */}
      <div class="grow" data-text={sentence.value}>
        {tinted && <Tint index={index} />}
        <textarea
          id={id}
          rows={1}
          value={sentence.value}
          placeholder={strings.sentences.placeholder}
          spellcheck={false}
          dir="auto"
          lang={sentence.value ? "en" : undefined}
          enterkeyhint="next"
          onKeyDown={enterToNext}
          aria-describedby={`${id}-hint ${id}-note`}
          onInput={(event) => (sentence.value = event.currentTarget.value)}
        />
      </div>
      <p class="note" id={`${id}-note`}>
        {other ? strings.sentences.foreign(other.language, other.trained) : ""}
        {other && cut ? " " : ""}
        {cut ? strings.sentences.cut : ""}
      </p>
    </div>
  );
}
