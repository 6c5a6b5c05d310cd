// What can be taken along of a comparison: HTML for a page of one's own, and a table. What makes them is fetched when it is asked for.

import { useSignal } from "@preact/signals";
import { answers } from "../state/answers";
import { strings } from "../strings";

const words = strings.takeAlong;

type Feedback = "idle" | "copied" | "blocked" | "missing";

export function TakeAlong() {
  const feedback = useSignal<Feedback>("idle");
  const attempt = async (work: (one: typeof import("../pairs/one")) => Promise<Feedback>): Promise<void> => {
    try {
      feedback.value = await work(await import("../pairs/one"));
    } catch {
      feedback.value = "missing";
    }
  };
  const copy = (): Promise<void> =>
    attempt(async ({ snippet }) => navigator.clipboard.writeText(snippet()).then(() => "copied" as const, () => "blocked" as const));
  const save = (): Promise<void> => attempt(async ({ saveCsv }) => saveCsv().then(() => "idle" as const));
  return (
    <div class="take-along">
      <button type="button" class="button" onClick={() => void copy()}>
        {words.snippet}
      </button>
      <button type="button" class="button" disabled={answers.value.size === 0} onClick={() => void save()}>
        {words.csv}
      </button>
      <span class="quiet" role="status">
        {feedback.value === "copied" && words.copied}
        {feedback.value === "blocked" && strings.list.selection.blocked}
        {feedback.value === "missing" && strings.list.missing(strings.list.texts.writer)}
      </span>
    </div>
  );
}
