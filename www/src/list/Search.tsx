// Finding in the list what is most like a text, as far as the condition goes.

import { similarity } from "../format";
import { theme } from "../state/theme";
import { strings } from "../strings";
import { colourOf } from "./colours";
import { query, sought } from "./fields";
import { age, doubtedAt, found, grouped } from "./grouping";
import { atHand, select, selected } from "./selection";

const words = strings.list.search;

export function Search() {
  if (!grouped.value) return null;
  const now = found.value;
  const answers = now?.among === grouped.value && now.query === sought.value;
  return (
    <search class="search">
      <label for="find">{words.label}</label>
      <input
        id="find"
        type="search"
        class="condition"
        value={query.value}
        placeholder={words.placeholder}
        autocomplete="off"
        dir="auto"
        lang={query.value ? "en" : undefined}
        maxLength={500}
        onInput={(event) => (query.value = event.currentTarget.value)}
      />
      {now && (
        <section aria-labelledby="found-title" class={answers ? age.value : "waiting"}>
          <h2 id="found-title">{words.found(now.among.condition)}</h2>
          <p class="note">{words.marked}</p>
          <ol class="hits">
            {now.hits.map((hit) => {
              const group = now.among.labels[hit.index] ?? 0;
              const { unmentioned } = hit;
              const { doubt } = doubtedAt(hit.index);
              return (
                <li
                  key={hit.index}
                  class={unmentioned && "unmentioned"}
                  onPointerEnter={() => (atHand.value = { index: hit.index, by: "list" })}
                  onPointerLeave={() => (atHand.value = undefined)}
                >
                  <span class="badge" style={{ background: colourOf(group, theme.value, unmentioned) }} aria-hidden="true">
                    {unmentioned ? strings.results.none : group + 1}
                  </span>
                  <span dir="auto">
                    <button
                      type="button"
                      class="hit"
                      lang="en"
                      aria-pressed={selected.value.has(hit.index)}
                      onClick={() => select([hit.index])}
                      onFocus={() => (atHand.value = { index: hit.index, by: "list" })}
                      onBlur={() => (atHand.value = undefined)}
                    >
                      {hit.text}
                    </button>
                    {doubt && <em class="quiet why"> {strings.results.doubt[doubt]}</em>}
                  </span>
                  <span class={doubt && !unmentioned ? "quiet doubtful-value" : "quiet"}>{unmentioned ? words.unmentioned : similarity(hit.similarity)}</span>
                </li>
              );
            })}
          </ol>
        </section>
      )}
    </search>
  );
}
