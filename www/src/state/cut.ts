// Which sentence was too long for the model.
//
// An answer says that a text was cut, not which one; the longer sentence is, and the other one too when
// it is nearly as long.

import { computed } from "@preact/signals";
import { answers, comparisonOf } from "./answers";
import { sentences } from "./fields";

const nearly = 0.9;

export const cutSentences = computed((): readonly [boolean, boolean] => {
  const some = [...answers.value.values()].some((answer) => comparisonOf(answer)?.truncated);
  const [first, second] = [sentences[0].value.length, sentences[1].value.length];
  return [some && first >= nearly * second, some && second >= nearly * first];
});
