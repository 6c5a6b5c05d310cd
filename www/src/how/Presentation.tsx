// One step a screen, moved by the keys that clickers send.

import { useLayoutEffect } from "preact/hooks";
import { strings } from "../strings";
import { go, presenting, step, steps } from "./state";
import { SwitchPanel } from "./SwitchPanel";

const words = strings.how;

const moves: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };

function onKeyDown(event: KeyboardEvent): void {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  // The layer's slider and the choices need the arrows for themselves; a clicker's keys still move on.
  const field = event.target instanceof Element && event.target.matches("input, select") && event.key.startsWith("Arrow");
  const by = field ? undefined : moves[event.key];
  if (by !== undefined) {
    event.preventDefault();
    go(by);
  } else if (event.key === "Escape") {
    event.preventDefault();
    presenting.value = false;
  }
}

export function Presentation() {
  // Before the first step is painted, in another size of type.
  useLayoutEffect(() => {
    document.documentElement.dataset["presenting"] = "";
    addEventListener("keydown", onKeyDown);
    return () => {
      delete document.documentElement.dataset["presenting"];
      removeEventListener("keydown", onKeyDown);
    };
  }, []);
  const at = steps.indexOf(step.value);
  return (
    <div class="presenter">
      <details class="presenter-switches">
        <summary class="button">{words.switches.title}</summary>
        <SwitchPanel />
      </details>
      <button type="button" class="button" onClick={() => (presenting.value = false)}>
        {words.leave}
      </button>
      <span class="presenter-place">{words.place(at + 1, steps.length)}</span>
      <button type="button" class="button" disabled={at === 0} aria-label={words.previous} onClick={() => go(-1)}>
        ←
      </button>
      <button type="button" class="button button-strong" disabled={at === steps.length - 1} aria-label={words.next} onClick={() => go(1)}>
        →
      </button>
    </div>
  );
}
