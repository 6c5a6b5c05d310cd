// Reads finished results to screen readers, once things have been quiet for a moment.

import { useSignal, useSignalEffect } from "@preact/signals";
import { answers, pending } from "../state/answers";
import { engine } from "../state/engine";
import { filledConditions } from "../state/fields";
import { unsaidIn } from "../state/said";
import { strings } from "../strings";

const quietMs = 1000;

function summary(): string {
  if (engine.value.phase !== "ready" || pending.value) return "";
  const results = filledConditions.value.flatMap(({ id }) => {
    const answer = answers.value.get(id);
    if (!answer || "problem" in answer) return [];
    const { condition, similarity, unconditional } = answer.comparison;
    const unsaid = unsaidIn(answer.comparison);
    if (unsaid) return [strings.results.spokenUnsaid(condition, strings.results.unsaid[unsaid])];
    return [strings.results.spoken(condition, similarity, unconditional)];
  });
  return results.length > 0 ? results.join(" ") : strings.loading.ready;
}

export function Announcer() {
  const said = useSignal("");
  useSignalEffect(() => {
    const text = summary();
    if (text === "") return undefined;
    const timer = setTimeout(() => (said.value = text), quietMs);
    return () => clearTimeout(timer);
  });
  return (
    <p class="hidden" aria-live="polite">
      {said.value}
    </p>
  );
}
