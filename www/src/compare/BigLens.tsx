// The big picture: the two sentences as discs, overlapping as much as they are alike under the condition in the lens. And a small one,
// for where the big one is scrolled away.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { similarity as written } from "../format";
import { answers, comparisonOf, stale, unconditional } from "../state/answers";
import { conditions } from "../state/fields";
import { inLens } from "../state/focus";
import { type Doubt, plainDoubt } from "../state/said";
import { strings } from "../strings";
import { Figure, Glyph } from "../ui/Discs";
import { saidOf } from "../ui/spoken";
import { useGliding } from "./gliding";

const words = strings.results;

/** As it stands within a sentence. */
const lowered = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** What is seen through the lens. */
interface Seen {
  /** Undefined where there is no number. */
  readonly value: number | undefined;
  readonly doubt: Doubt | undefined;
  readonly caption: string;
  /** All of a caption that may be cut. */
  readonly whole: string | undefined;
}

function seen(): Seen {
  const id = inLens.value;
  const through = id === undefined ? undefined : comparisonOf(answers.value.get(id));
  const said = saidOf(through);
  if (through && said) return { value: said.value, doubt: said.doubt, caption: said.why || words.under(through.condition), whole: said.why || through.condition };
  // Before the first answers there is nothing else to see; later the naked eye's number stands in for one that is on its way.
  const value = unconditional.value;
  const waiting = value === undefined ? conditions.value.find((condition) => condition.id === id) : undefined;
  const doubt = value === undefined ? undefined : plainDoubt.value;
  return { value, doubt, caption: waiting ? words.under(waiting.text) : doubt ? words.doubt[doubt] : lowered(words.unaided), whole: undefined };
}

export function BigLens() {
  const { value, doubt, caption, whole } = seen();
  const shown = useGliding(value ?? 0);
  return (
    <div class={value === undefined ? "figure unknown" : doubt ? "figure doubtful" : "figure"} aria-hidden="true">
      <Figure similarity={shown} />
      <div class={stale.value ? "readout stale" : "readout"}>
        <p class="readout-value">{value === undefined ? words.none : written(value)}</p>
        <p class="readout-caption" title={whole}>
          {caption}
        </p>
      </div>
    </div>
  );
}

/** Stays at the top of a small screen while the big picture is above it. */
export function SmallLens() {
  const away = useSignal(false);
  useEffect(() => {
    const figure = document.querySelector(".figure");
    if (!figure) return undefined;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry) away.value = !entry.isIntersecting && entry.boundingClientRect.top < 0;
    });
    observer.observe(figure);
    return () => observer.disconnect();
  }, []);
  const { value, doubt, caption } = seen();
  return (
    <div class="small-lens" aria-hidden="true">
      {away.value && (
        <p class={doubt && "doubtful"}>
          <Glyph similarity={value ?? 0} />
          <b class={doubt && value !== undefined ? "doubtful-value" : undefined}>{value === undefined ? words.none : written(value)}</b>
          <span class="readout-caption">{caption}</span>
        </p>
      )}
    </div>
  );
}
