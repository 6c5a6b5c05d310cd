// A dozen pairs to start from.

import { examples } from "../state/examples";
import { fields, isExample, setFields } from "../state/fields";
import { step } from "../state/history";
import { strings } from "../strings";

export function Examples() {
  const now = fields.value;
  return (
    <section class="examples" aria-labelledby="examples-title">
      <h2 id="examples-title">
        {strings.examples.title}
      </h2>
      <ul class="examples-list">
        {examples.map((example) => (
          <li key={example.title}>
            <button
              type="button"
              class="example"
              aria-pressed={isExample(example, now)}
              onClick={() => step(() => setFields(example))}
            >
              <span class="example-field">{example.field}</span>
              <span class="example-title">{example.title}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
