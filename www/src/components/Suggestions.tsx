// Conditions that judge the two sentences most differently, one click away.

import { addCondition, conditions, filledConditions, maxConditions } from "../state/fields";
import { step } from "../state/history";
import { suggested } from "../state/suggestions";
import { similarity } from "../format";
import { strings } from "../strings";

const words = strings.suggestions;

/** Keeps its place while there is nothing to suggest, so that nothing moves. */
export function Suggestions() {
  const there = new Set(filledConditions.value.map(({ text }) => text.trim()));
  const list = suggested.value?.list.filter(({ condition }) => !there.has(condition)) ?? [];
  const full = conditions.value.length >= maxConditions && filledConditions.value.length >= maxConditions;
  return (
    <div class="suggestions-place">
      {list.length > 0 && !full && (
        <section class="suggestions" aria-labelledby="suggestions-title">
          <h2 id="suggestions-title">{words.title}</h2>
          <ul class="chips">
            {list.map(({ condition, similarity: value }) => (
              <li key={condition}>
                <button type="button" class="chip" onClick={() => step(() => addCondition(condition))}>
                  <span class="hidden">{words.add} </span>
                  {condition} <span class="quiet">{similarity(value)}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
