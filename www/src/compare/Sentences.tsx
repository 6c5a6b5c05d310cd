// The two sentences, and between them the lens through which they are seen.

import { swapSentences } from "../state/fields";
import { change } from "../state/undo";
import { strings } from "../strings";
import { InEnglish } from "../ui/InEnglish";
import { Sentence } from "../ui/Sentence";
import { BigLens } from "./BigLens";

const Swap = () => (
  <button type="button" class="swap" aria-label={strings.sentences.swap} title={strings.sentences.swap} onClick={() => change({ kind: "swapped" }, swapSentences)}>
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M3 7h13l-3.5-3.5M17 13H4l3.5 3.5" />
    </svg>
  </button>
);

export const Sentences = () => (
  <section class="bench" aria-labelledby="sentences-title">
    <h2 id="sentences-title" class="hidden">
      {strings.sentences.title}
    </h2>
    <Sentence index={0} tinted />
    <div class="seam">
      <BigLens />
      <Swap />
    </div>
    <Sentence index={1} tinted />
    <InEnglish />
  </section>
);
