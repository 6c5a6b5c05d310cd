// The big picture: the two sentences as discs, overlapping as much as they are alike through the lens in hand.

import { similarity as written } from "../format";
import { answers, comparisonOf, pending, unconditional } from "../state/answers";
import { inLens } from "../state/focus";
import { unsaidIn } from "../state/said";
import { strings } from "../strings";
import { Figure } from "../ui/Discs";
import { useGliding } from "./gliding";

export function BigLens() {
  const id = inLens.value;
  const through = id === undefined ? undefined : comparisonOf(answers.value.get(id));
  const unsaid = unsaidIn(through);
  const value = unsaid ? undefined : through ? through.similarity : unconditional.value;
  const shown = useGliding(value ?? 0);
  return (
    <div class={value === undefined ? "figure unknown" : "figure"} aria-hidden="true">
      <Figure similarity={shown} />
      <div class={pending.value ? "readout stale" : "readout"}>
        <p class="readout-value">{value === undefined ? strings.results.none : written(value)}</p>
        <p class="readout-caption">
          {unsaid && strings.results.unsaid[unsaid]}
          {!unsaid && (through ? strings.results.through(through.condition) : strings.results.unaided.toLowerCase())}
        </p>
      </div>
    </div>
  );
}
