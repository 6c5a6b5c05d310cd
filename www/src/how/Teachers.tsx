// What a teacher wants to know before a class: goals, time, level, a plan, and the words that come up.

import { strings } from "../strings";

const words = strings.how.teachers;

const List = ({ title, items }: { title: string; items: readonly string[] }) => (
  <section>
    <h3>{title}</h3>
    <ul>
      {items.map((item) => (
        <li key={item}>{item}</li>
      ))}
    </ul>
  </section>
);

export const Teachers = () => (
  <details class="teachers">
    <summary>{words.title}</summary>
    <div class="teachers-inside">
      <List {...words.goals} />
      <List {...words.frame} />
      <List {...words.plan} />
      <section>
        <h3>{words.glossary.title}</h3>
        <dl>
          {words.glossary.terms.map(([term, meaning]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </section>
    </div>
  </details>
);
