// The two sentences, and between them the lens through which they are seen.

import { strings } from "../strings";
import { Sentence } from "../ui/Sentence";
import { BigLens } from "./BigLens";

export const Sentences = () => (
  <section class="bench" aria-labelledby="sentences-title">
    <h2 id="sentences-title" class="hidden">
      {strings.sentences.title}
    </h2>
    <Sentence index={0} tinted />
    <BigLens />
    <Sentence index={1} tinted />
  </section>
);
