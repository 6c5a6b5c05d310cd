// One step: its place, plain words about it, and what the model has there.

import { useEffect, useRef } from "preact/hooks";
import type { EncoderId } from "../state/encoders";
import { encoder } from "../state/engine";
import { strings } from "../strings";
import { figures } from "./figures";
import { explained, presenting, waiting, type StepId } from "./state";

const words = strings.how;

/** Of a step; `others`: where the text does not fit another encoder than what ships. */
interface StepWords {
  readonly title: string;
  readonly text: string;
  readonly others?: Partial<Record<EncoderId, string>>;
  /** What else belongs there; it is not presented. `moreOf`: where it does not fit another encoder than what ships. */
  readonly more?: string;
  readonly moreOf?: Partial<Record<EncoderId, string>>;
}

export function Step({ id, index }: { id: StepId; index: number }) {
  const section = useRef<HTMLElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  const result = explained.value;
  const Figure = figures[id];
  const shown = presenting.value;
  const presented = useRef(shown);
  useEffect(() => {
    // A presentation moves on, and ends at one of the steps: so does whoever listens to it.
    const left = presented.current && !shown;
    presented.current = shown;
    if (left) section.current?.scrollIntoView();
    if (shown || left) title.current?.focus({ preventScroll: left });
  }, [shown]);
  const Title = shown ? "h1" : "h2";
  const { title: name, text, others, more, moreOf }: StepWords = words.steps[id];
  return (
    <section class={`step step-${id}`} id={`step-${id}`} aria-labelledby={`step-${id}-title`} ref={section}>
      <div class="step-words">
        <p class="step-number">{words.step(index + 1)}</p>
        <Title class="step-title" id={`step-${id}-title`} tabIndex={-1} ref={title}>
          {name}
        </Title>
        <p class="step-text">{others?.[encoder.value] ?? text}</p>
        {more !== undefined && !shown && <p class="step-more">{moreOf?.[encoder.value] ?? more}</p>}
      </div>
      <div class={waiting.value ? "step-figure stale" : "step-figure"}>{result && <Figure result={result} />}</div>
    </section>
  );
}
