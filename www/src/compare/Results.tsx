// The conditions, and what each of them shows: one line a condition, the naked eye first.

import { useRef } from "preact/hooks";
import { fixed, similarity as written } from "../format";
import { bothTyped, failure, stale, stored, unconditional } from "../state/answers";
import { conditions, fields, filledConditions, maxConditions, pasted } from "../state/fields";
import { holdNakedEye, inLens, pointing } from "../state/focus";
import { plainDoubt } from "../state/said";
import { strings } from "../strings";
import { Bar } from "../ui/Bar";
import { Glyph } from "../ui/Discs";
import { LoadingWords } from "../ui/Loading";
import { SmallLens } from "./BigLens";
import { ConditionRow } from "./ConditionRow";
import { Undo } from "./Undo";

const words = strings.results;

const Headings = () => (
  <div class="row headings" aria-hidden="true">
    <span class="cell-name">{strings.conditions.heading}</span>
    <span class="cell-bar scale">
      {["0", "", fixed(0.5, 1), "", "1"].map((tick, index) => (
        <span key={index}>{tick}</span>
      ))}
    </span>
    <span class="cell-value">{words.similarity}</span>
    <span class="cell-difference">{words.against}</span>
  </div>
);

function Unaided() {
  const value = unconditional.value;
  const doubt = plainDoubt.value;
  return (
    <li class={`row unaided${inLens.value === undefined ? " in-lens" : ""}${doubt ? " doubtful" : ""}`} {...pointing(holdNakedEye)}>
      <span class="cell-glyph">{value !== undefined && <Glyph similarity={value} />}</span>
      <span class="cell-name" aria-hidden="true">
        {words.unaided} <span class="quiet">{words.unaidedNote}</span>
      </span>
      <Bar value={value} unconditional={value} />
      <span class="cell-value" aria-hidden="true">
        {value === undefined ? words.none : written(value)}
      </span>
      <span class="hidden">
        {value === undefined ? words.unaidedNote : doubt ? words.spokenDoubt(words.unaidedNote, value, words.doubt[doubt]) : words.spokenUnaided(value)}
      </span>
    </li>
  );
}

/** Says that the answers were computed beforehand. Its place stays once they are the model's own, until something else is typed: nothing moves. */
function Beforehand() {
  const of = useRef<unknown>(undefined);
  if (stored.value) of.current = fields.value;
  if (of.current !== fields.value) return null;
  return <span style={{ visibility: stored.value ? "visible" : "hidden" }}>{words.beforehand}</span>;
}

/** What was done last, and what is missing before numbers can appear, if anything. */
function Missing() {
  return (
    <p class="missing">
      <Undo />{" "}
      {!bothTyped.value ? (
        words.needSentences
      ) : filledConditions.value.length === 0 ? (
        words.needCondition
      ) : (
        <>
          <Beforehand />
          {!stored.value && <LoadingWords />}
        </>
      )}
    </p>
  );
}

export function Results() {
  const list = useRef<HTMLUListElement>(null);
  const focusCondition = (id: number | undefined): void => {
    list.current?.querySelector<HTMLInputElement>(`[data-condition="${id}"]`)?.focus();
  };
  return (
    <section class="results" aria-labelledby="results-title">
      <SmallLens />
      <div class="results-head">
        <h2 id="results-title">{strings.conditions.title}</h2>
        <Missing />
      </div>
      <Headings />
      <ul class={`rows${stale.value || failure.value ? " stale" : ""}${stored.value ? " stored" : ""}`} ref={list}>
        <Unaided />
        {conditions.value.map((condition, index) => (
          <ConditionRow key={condition.id} condition={condition} index={index} focusCondition={focusCondition} />
        ))}
      </ul>
      <p class="note" role="status">
        {pasted.value && strings.conditions.pasted(pasted.value.lines, pasted.value.kept, maxConditions)}
      </p>
      <p class="keys" id="condition-keys">
        {strings.conditions.keys}
      </p>
    </section>
  );
}
