// The big picture: the two sentences as discs, overlapping as much as they are alike under the condition in the lens.

import { similarity as written } from "../format";
import { answers, comparisonOf, pending, unconditional } from "../state/answers";
import { conditions } from "../state/fields";
import { inLens } from "../state/focus";
import { plainDoubt } from "../state/said";
import { strings } from "../strings";
import { Figure } from "../ui/Discs";
import { saidOf } from "../ui/spoken";
import { useGliding } from "./gliding";

const words = strings.results;

/** As it stands within a sentence. */
const lowered = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** What is looked through, in words. */
function caption(): string {
  const id = inLens.value;
  const through = id === undefined ? undefined : comparisonOf(answers.value.get(id));
  if (through) return words.under(through.condition);
  // Before the first answers there is nothing else to see; later the naked eye's number stands in for one that is on its way.
  const waiting = unconditional.value === undefined ? conditions.value.find((condition) => condition.id === id) : undefined;
  return waiting ? words.under(waiting.text) : lowered(words.unaided);
}

export function BigLens() {
  const id = inLens.value;
  const through = id === undefined ? undefined : comparisonOf(answers.value.get(id));
  const said = saidOf(through);
  const value = said ? said.value : unconditional.value;
  const doubt = said ? said.doubt : plainDoubt.value;
  const why = said ? said.why : doubt && words.doubt[doubt];
  const shown = useGliding(value ?? 0);
  return (
    <div class={value === undefined ? "figure unknown" : doubt ? "figure doubtful" : "figure"} aria-hidden="true">
      <Figure similarity={shown} />
      <div class={pending.value ? "readout stale" : "readout"}>
        <p class="readout-value">{value === undefined ? words.none : written(value)}</p>
        <p class="readout-caption" title={why || through?.condition}>
          {why || caption()}
        </p>
      </div>
    </div>
  );
}
