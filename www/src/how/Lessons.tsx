// Ready lessons: each fills the page, asks a question and keeps its answer until it is asked for.

import { batch } from "@preact/signals";
import { useRef } from "preact/hooks";
import { encoder } from "../state/engine";
import { setFields } from "../state/fields";
import { step as deliberate } from "../state/history";
import { lessons, strings } from "../strings";
import { chosen, layer, lesson, noSwitches, step, switches } from "./state";

const words = strings.how;

function open(index: number): void {
  const picked = lessons[index];
  if (!picked) return;
  deliberate(() =>
    batch(() => {
      setFields(picked);
      chosen.value = picked.chosen;
      switches.value = noSwitches;
      layer.value = undefined;
      step.value = "question";
      lesson.value = index;
    }),
  );
}

function close(): void {
  deliberate(() =>
    batch(() => {
      lesson.value = undefined;
      switches.value = noSwitches;
    }),
  );
}

/** The open lesson's question, and its answer on request. */
export function Question() {
  const picked = lesson.value === undefined ? undefined : lessons[lesson.value];
  if (!picked) return null;
  return (
    <div class="question">
      <p class="question-text">
        <span class="question-label">{words.question}</span> {picked.question}
      </p>
      <details key={picked.title}>
        <summary>{words.reveal}</summary>
        <p>{picked.answer}</p>
        {encoder.value !== "small" && <p class="note">{words.answersOf}</p>}
      </details>
    </div>
  );
}

export function Lessons() {
  const entries = useRef<HTMLOListElement>(null);
  const leave = (): void => {
    // The button that is clicked goes with the lesson.
    entries.current?.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
    close();
  };
  return (
    <section class="lessons" aria-labelledby="lessons-title">
      <h2 id="lessons-title">{words.lessons}</h2>
      <ol ref={entries}>
        {lessons.map(({ title }, index) => (
          <li key={title}>
            <button type="button" class="example" aria-pressed={lesson.value === index} onClick={() => open(index)}>
              <span class="example-field">{index + 1}</span>
              <span class="example-title">{title}</span>
            </button>
          </li>
        ))}
      </ol>
      {lesson.value !== undefined && (
        <div class="lesson">
          <Question />
          <button type="button" class="button" onClick={leave}>
            {words.close}
          </button>
        </div>
      )}
    </section>
  );
}
