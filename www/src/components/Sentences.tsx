// The two sentences, and between them the lens through which they are seen.

import { cutSentences } from "../state/cut";
import { look } from "../state/attention";
import { sentences } from "../state/fields";
import { strings } from "../strings";
import { BigLens } from "./BigLens";

/** The sentence's words behind the field, each tinted by how much the condition in the lens looks at it. */
function Tint({ index }: { index: 0 | 1 }) {
  const seen = look.value;
  if (!seen) return null;
  const { pieces, largest } = seen.attended[index];
  return (
    <div class="tint" aria-hidden="true">
      {pieces.map(({ text, share }, at) =>
        share === undefined ? (
          text
        ) : (
          <span key={at} data-share={strings.attention.share(text, share)} style={{ "--strength": largest > 0 ? share / largest : 0 }}>
            {text}
          </span>
        ),
      )}
    </div>
  );
}

/** The words that get most of it, in words. Keeps its line when there is nothing to say. */
function Looks({ index }: { index: 0 | 1 }) {
  const seen = look.value;
  const most = (seen?.attended[index].pieces ?? [])
    .flatMap(({ text, share }) => (share === undefined ? [] : [{ text, share }]))
    .sort((a, b) => b.share - a.share)
    .slice(0, 3);
  return (
    <p class="looks">
      {seen && strings.attention.looks(seen.condition, most.map(({ text, share }) => strings.attention.share(text, share)))}
    </p>
  );
}

/** The word under the pointer, which lies behind the field, gives the field its tooltip. */
function onPointerMove(event: PointerEvent): void {
  const word = document.elementsFromPoint(event.clientX, event.clientY).find((element) => element.matches(".tint span"));
  const field = (event.currentTarget as HTMLElement).querySelector("textarea");
  const share = word instanceof HTMLElement ? word.dataset["share"] : undefined;
  if (field && field.title !== (share ?? "")) field.title = share ?? "";
}

/** A field for one of the two sentences. */
export function Sentence({ index }: { index: 0 | 1 }) {
  const sentence = sentences[index];
  const id = `sentence-${index + 1}`;
  const cut = cutSentences.value[index];
  return (
    <div class={index === 0 ? "sentence sentence-first" : "sentence sentence-second"}>
      <label for={id}>{index === 0 ? strings.sentences.first : strings.sentences.second}</label>
      {/* The copy behind the field gives it the height of its text. */}
      <div class="grow" data-text={sentence.value} onPointerMove={onPointerMove}>
        <Tint index={index} />
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
      <Looks index={index} />
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
