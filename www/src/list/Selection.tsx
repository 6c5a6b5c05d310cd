// What is selected, and what can be done with it.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { step } from "../state/history";
import { strings } from "../strings";
import { query } from "./fields";
import { age, doubtedNow, grouped, names } from "./grouping";
import { PassingButton } from "./PassingButton";
import { download, toCsv } from "./save";
import { clearSelection, revealed, selected, selectedLines } from "./selection";

const words = strings.list.selection;

/** Brings the text that was picked into view in the list of groups. */
export function showInList(index: number): void {
  const smooth = matchMedia("(prefers-reduced-motion: no-preference)").matches;
  document.getElementById(`text-${index}`)?.scrollIntoView({ block: "center", behavior: smooth ? "smooth" : "auto" });
}

/** What came of a button, told for as long as what it was pressed for is selected. */
interface Feedback {
  readonly text: string;
  readonly about: typeof selected.value;
}

export function Selection({ onUnsaved }: { onUnsaved: (isUnsaved: boolean) => void }) {
  const feedback = useSignal<Feedback | undefined>(undefined);
  const title = useRef<HTMLParagraphElement>(null);
  const now = grouped.value;
  const count = selected.value.size;
  const only = revealed.value;
  const say = (text: string): void => {
    feedback.value = { text, about: selected.value };
  };

  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(selectedLines.value.join("\n"));
      say(words.copied);
    } catch {
      say(words.blocked);
    }
  };
  const save = async (): Promise<void> => {
    if (!now) return;
    try {
      download("csv", await toCsv(now, names.value, await doubtedNow(now), selected.value));
      onUnsaved(false);
    } catch {
      onUnsaved(true);
    }
  };

  return (
    <section class="selection" aria-label={words.title}>
      <p ref={title} tabIndex={-1} role="status">
        {count > 0 && <strong>{words.count(count)}</strong>} <span class="quiet">{feedback.value?.about === selected.value && feedback.value.text}</span>
      </p>
      {only !== undefined && <p class="selection-text" dir="auto">{now?.lines[only]}</p>}
      {count > 0 && (
        <div class="selection-tools">
          {only !== undefined && (
            <>
              <PassingButton key="show" onClick={() => showInList(only)} neighbour={title}>
                {words.show}
              </PassingButton>
              <PassingButton key="find" onClick={() => step(() => (query.value = (now?.lines[only] ?? "").slice(0, 500)))} neighbour={title}>
                {words.find}
              </PassingButton>
            </>
          )}
          <PassingButton key="copy" onClick={() => void copy()} neighbour={title}>
            {words.copy}
          </PassingButton>
          <PassingButton key="save" disabled={age.value !== ""} onClick={() => void save()} neighbour={title}>
            {words.save}
          </PassingButton>
          <PassingButton key="clear" onClick={clearSelection} neighbour={title}>
            {words.clear}
          </PassingButton>
        </div>
      )}
    </section>
  );
}
