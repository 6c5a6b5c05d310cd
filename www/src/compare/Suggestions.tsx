// Conditions that judge the two sentences most differently, one click away.

import type { Suggestion } from "caselens";
import { similarity } from "../format";
import { stored } from "../state/answers";
import { addCondition, conditions, filledConditions, maxConditions } from "../state/fields";
import { step } from "../state/history";
import { plainDoubt } from "../state/said";
import { leftOut, looking, worthAdding } from "../state/suggestions";
import { strings } from "../strings";
import { useHeir } from "../ui/heir";
import { LoadingWords } from "../ui/Loading";

const words = strings.suggestions;

/** Goes once its condition is there; the focus passes to the next, so that several can be added in a row. */
function Chip({ suggestion }: { suggestion: Suggestion }) {
  const { condition, similarity: value } = suggestion;
  const place = useHeir<HTMLLIElement>((own) => (own.nextElementSibling ?? own.previousElementSibling)?.querySelector("button"));
  return (
    <li ref={place}>
      <button type="button" class="chip" onClick={() => step(() => addCondition(condition))}>
        <span class="hidden">{words.add} </span>
        <span lang="en" dir="auto">{condition}</span> <span class={plainDoubt.value ? "quiet doubtful-value" : "quiet"}>{similarity(value)}</span>
      </button>
    </li>
  );
}

function Chips({ list }: { list: readonly Suggestion[] }) {
  const place = useHeir(() => document.getElementById("results-title"));
  return (
    <section class="suggestions" aria-labelledby="suggestions-title" ref={place}>
      <h2 id="suggestions-title">{words.title}</h2>
      <ul class="chips">
        {list.map((suggestion) => (
          <Chip key={suggestion.condition} suggestion={suggestion} />
        ))}
      </ul>
    </section>
  );
}

/** Keeps its place while there is nothing to suggest, so that nothing moves. */
export function Suggestions() {
  const list = worthAdding.value;
  const full = conditions.value.length >= maxConditions && filledConditions.value.length >= maxConditions;
  return (
    <div class="suggestions-place">
      {stored.value && (
        <p class="quiet">
          <LoadingWords />
        </p>
      )}
      {leftOut.value && <p class="quiet">{words.slow}</p>}
      {looking.value && <p class="quiet">{words.looking}</p>}
      {list.length > 0 && !full && <Chips list={list} />}
    </div>
  );
}
