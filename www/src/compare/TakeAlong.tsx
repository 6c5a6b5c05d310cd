// What can be taken along of a comparison: HTML for a page of one's own, a table, and a picture. What makes them is fetched when it is
// asked for.

import { useSignal } from "@preact/signals";
import { answers } from "../state/answers";
import { strings } from "../strings";

const words = strings.takeAlong;

type Feedback = "idle" | "copied" | "blocked" | "missing" | "undrawn";

export function TakeAlong() {
  const feedback = useSignal<Feedback>("idle");
  const attempt = async (failed: Feedback, work: () => Promise<Feedback>): Promise<void> => {
    try {
      feedback.value = await work();
    } catch {
      feedback.value = failed;
    }
  };
  const copy = (): Promise<void> =>
    attempt("missing", async () => {
      const { snippet } = await import("../pairs/one");
      return navigator.clipboard.writeText(snippet()).then(() => "copied" as const, () => "blocked" as const);
    });
  const save = (): Promise<void> =>
    attempt("missing", async () => {
      await (await import("../pairs/one")).saveCsv();
      return "idle";
    });
  const draw = (): Promise<void> =>
    attempt("undrawn", async () => {
      await (await import("../pairs/picture")).savePng();
      return "idle";
    });
  const nothing = answers.value.size === 0;
  return (
    <div class="take-along">
      <button type="button" class="button" onClick={() => void copy()}>
        {words.snippet}
      </button>
      <button type="button" class="button" disabled={nothing} onClick={() => void save()}>
        {words.csv}
      </button>
      <button type="button" class="button" disabled={nothing} onClick={() => void draw()}>
        {words.picture}
      </button>
      <span class="quiet" role="status">
        {feedback.value === "copied" && words.copied}
        {feedback.value === "blocked" && strings.list.selection.blocked}
        {feedback.value === "missing" && strings.list.missing(strings.list.texts.writer)}
        {feedback.value === "undrawn" && strings.list.missing(words.artist)}
      </span>
    </div>
  );
}
