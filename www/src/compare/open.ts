// Opens a pair that the page has.

import { examples, type Example } from "../state/examples";
import { fields, isExample, setFields } from "../state/fields";
import { step } from "../state/history";
import { change } from "../state/undo";

/** What a person has typed is not thrown away for it without a way back. `others`: pairs beside the examples that nobody has typed. */
export function open(example: Example, others: readonly Example[] = []): void {
  const typed = ![...examples, ...others].some((each) => isExample(each, fields.peek()));
  if (typed) change({ kind: "replaced" }, () => setFields(example));
  else step(() => setFields(example));
}
