// Whose work the view explains: the papers, each with what is from it.

import { strings } from "../strings";

const words = strings.how.sources;

export const Sources = () => (
  <section class="sources" aria-labelledby="sources-title">
    <h2 id="sources-title">{words.title}</h2>
    <ul class="papers">
      {words.papers.map(({ what, text, url }) => (
        <li key={url}>
          {what}{" "}
          <a href={url} lang="en">
            {text}
          </a>
        </li>
      ))}
    </ul>
  </section>
);
