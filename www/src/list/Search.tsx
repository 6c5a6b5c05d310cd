// Finding in the list what is most like a text, as far as the condition goes.

import { similarity } from "../format";
import { theme } from "../state/theme";
import { strings } from "../strings";
import { colourOf } from "./colours";
import { query } from "./fields";
import { grouped, hits } from "./grouping";

const words = strings.list.search;

export function Search() {
  const now = grouped.value;
  if (!now) return null;
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
        maxLength={500}
        onInput={(event) => (query.value = event.currentTarget.value)}
      />
      {hits.value && (
        <section aria-labelledby="found-title">
          <h2 id="found-title">{words.found(now.condition)}</h2>
          <ol class="hits">
            {hits.value.map((hit) => {
              const group = now.labels[hit.index] ?? 0;
              return (
                <li key={hit.index}>
                  <span class="badge" style={{ background: colourOf(group, theme.value) }} aria-hidden="true">
                    {group + 1}
                  </span>
                  <span>{hit.text}</span>
                  <span class="quiet">{similarity(hit.similarity)}</span>
                </li>
              );
            })}
          </ol>
        </section>
      )}
    </search>
  );
}
