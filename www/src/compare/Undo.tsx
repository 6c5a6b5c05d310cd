// Says what the last change was, with a button and a key that take it back.

import { useEffect } from "preact/hooks";
import { lastChange, undo } from "../state/undo";
import { strings } from "../strings";

const words = strings.undo;

/** Takes the last change back and goes to what is there again. */
function takeBack(): boolean {
  const taken = undo();
  if (!taken) return false;
  const { before, after, done } = taken;
  const place = done.kind === "removed" ? before.conditions.findIndex((text, index) => text !== after.conditions[index]) : -1;
  requestAnimationFrame(() => {
    const field = place < 0 ? document.getElementById("sentence-1") : document.querySelectorAll<HTMLElement>("[data-condition]")[place];
    field?.focus();
  });
  return true;
}

function onKeyDown(event: KeyboardEvent): void {
  const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z";
  if (isUndo && takeBack()) event.preventDefault();
}

export function Undo() {
  useEffect(() => {
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  const done = lastChange.value?.done;
  if (!done) return null;
  return (
    <>
      {done.kind === "removed" ? words.removed(done.condition) : words[done.kind]}{" "}
      <button type="button" class="plain" title={words.key} onClick={takeBack}>
        {words.undo}
      </button>
    </>
  );
}
