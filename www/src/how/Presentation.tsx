// One step a screen, moved by the keys that clickers send.

import { useLayoutEffect } from "preact/hooks";
import { strings } from "../strings";
import { canFill, emptyScreen, fillScreen, onFullScreen } from "./fullScreen";
import { QrCode } from "./QrCode";
import { go, presented, presenting, step } from "./state";
import { SwitchPanel } from "./SwitchPanel";

const words = strings.how;

const moves: Record<string, number> = {
  ArrowRight: 1,
  ArrowDown: 1,
  PageDown: 1,
  " ": 1,
  ArrowLeft: -1,
  ArrowUp: -1,
  PageUp: -1,
  Home: -Infinity,
  End: Infinity,
};

/** Whether what has the focus needs a key for itself; a clicker's keys still move on. */
function isTaken(key: string, target: EventTarget | null): boolean {
  if (!(target instanceof Element) || key.startsWith("Page")) return false;
  return target.matches("input, select") || (key === " " && target.matches("button, summary"));
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  const by = isTaken(event.key, event.target) ? undefined : moves[event.key];
  if (by !== undefined) {
    event.preventDefault();
    go(event.key === " " && event.shiftKey ? -by : by);
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
    document.addEventListener("fullscreenchange", onFullScreen);
    return () => {
      delete document.documentElement.dataset["presenting"];
      removeEventListener("keydown", onKeyDown);
      document.removeEventListener("fullscreenchange", onFullScreen);
      emptyScreen();
    };
  }, []);
  const at = presented.value.indexOf(step.value);
  const last = presented.value.length - 1;
  return (
    <div class="presenter">
      <details class="presenter-switches">
        <summary class="button">{words.switches.title}</summary>
        <SwitchPanel />
      </details>
      <QrCode key={step.value} />
      {canFill() && (
        <button type="button" class="button presenter-fill" aria-label={words.fill} title={words.fill} onClick={fillScreen}>
          <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
            <path d="M3 8V3h5M12 3h5v5M17 12v5h-5M8 17H3v-5" />
          </svg>
        </button>
      )}
      <button type="button" class="button" onClick={() => (presenting.value = false)}>
        {words.leave}
      </button>
      <span class="presenter-place">{words.place(at + 1, last + 1)}</span>
      <button type="button" class="button" disabled={at === 0} aria-label={words.previous} onClick={() => go(-1)}>
        ←
      </button>
      <button type="button" class="button button-strong" disabled={at === last} aria-label={words.next} onClick={() => go(1)}>
        →
      </button>
    </div>
  );
}
