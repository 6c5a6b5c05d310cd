// How it works, and what happens to what one types.

import { strings } from "../strings";

const { how, privacy } = strings.about;

export const About = () => (
  <div class="about">
    <section aria-labelledby="how-title">
      <h2 id="how-title">{how.title}</h2>
      {how.text.map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
    </section>
    <section aria-labelledby="privacy-title">
      <h2 id="privacy-title">{privacy.title}</h2>
      <p>{privacy.text}</p>
    </section>
  </div>
);
