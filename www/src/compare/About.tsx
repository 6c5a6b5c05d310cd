// What the numbers mean, how right they are, and what happens to what one types.

import { encoderOf } from "../state/encoders";
import { encoder } from "../state/engine";
import { strings } from "../strings";
import { Fetched } from "../ui/Fetched";

const { how, right, privacy } = strings.about;

const fetchFailures = async () => (await import("./Failures")).Failures;

/** With the figures of the encoder that answers. */
function Right() {
  const { figures } = encoderOf(encoder.value);
  return (
    <section class="right" aria-labelledby="right-title">
      <h2 id="right-title">{right.title}</h2>
      <dl>
        <div>
          <dt>{right.strong.title}</dt>
          <dd>
            {right.strong.text(figures)} {right.of[encoder.value]}
          </dd>
        </div>
        <div>
          <dt>{right.weak.title}</dt>
          <dd>{right.weak.text(figures)}</dd>
        </div>
        <div>
          <dt>{right.reads.title}</dt>
          <dd>{right.reads.text[encoder.value]}</dd>
        </div>
        <div>
          <dt>{right.from.title}</dt>
          <dd>
            {right.from.text}
            <ul class="papers">
              {right.from.papers.map(({ text, url }) => (
                <li key={url}>
                  <a href={url}>{text}</a>
                </li>
              ))}
            </ul>
          </dd>
        </div>
      </dl>
      <Fetched class="failures" title={right.failures.title} fetch={fetchFailures} />
    </section>
  );
}

export const About = () => (
  <div class="about">
    <Right />
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
