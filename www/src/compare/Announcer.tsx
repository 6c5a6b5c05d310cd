// Reads finished results to screen readers, once things have been quiet for a moment.

import { useSignal, useSignalEffect } from "@preact/signals";
import { answers, pending } from "../state/answers";
import { engine } from "../state/engine";
import { filledConditions } from "../state/fields";
import { strings } from "../strings";
import { spokenOf } from "../ui/spoken";

const quietMs = 1000;

function summary(): string {
  if (engine.value.phase !== "ready" || pending.value) return "";
  const results = filledConditions.value.flatMap(({ id }) => {
    const answer = answers.value.get(id);
    return !answer || "problem" in answer ? [] : [spokenOf(answer.comparison)];
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
