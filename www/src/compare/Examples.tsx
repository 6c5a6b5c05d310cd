// A dozen pairs to start from, and an empty page for one's own.

import { examples } from "../state/examples";
import { fields, isExample, setFields } from "../state/fields";
import { change } from "../state/undo";
import { strings } from "../strings";
import { open } from "./open";

const words = strings.examples;

function clear(): void {
  change({ kind: "cleared" }, () => setFields({ sentences: ["", ""], conditions: [] }));
  document.getElementById("sentence-1")?.focus();
}

export function Examples() {
  const now = fields.value;
  return (
    <section class="examples" aria-labelledby="examples-title">
      <div class="examples-head">
        <h2 id="examples-title">{words.title}</h2>
        <button type="button" class="plain" onClick={clear}>
          {words.own}
        </button>
      </div>
      <ul class="examples-list">
        {examples.map((example, place) => (
          <li key={place}>
            <button type="button" class="example" aria-pressed={isExample(example, now)} onClick={() => open(example)}>
              <span class="example-field">{words.names[place]?.[0]}</span>
              <span class="example-title">{words.names[place]?.[1]}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
