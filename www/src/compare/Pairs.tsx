// Where many pairs at once are compared: folded away, and fetched when it is opened.

import { useSignal } from "@preact/signals";
import { strings } from "../strings";

const words = strings.pairs;

type Loaded = typeof import("../pairs/Panel")["Panel"];
let loaded: Loaded | undefined;

export function Pairs() {
  const panel = useSignal(loaded && { Panel: loaded });
  const missing = useSignal(false);
  const load = async (): Promise<void> => {
    try {
      loaded = (await import("../pairs/Panel")).Panel;
      panel.value = { Panel: loaded };
      missing.value = false;
    } catch {
      missing.value = true;
    }
  };
  return (
    <details class="pairs" onToggle={({ currentTarget }) => void (currentTarget.open && !panel.value && load())}>
      <summary>{words.title}</summary>
      <div class="pairs-inside">
        {panel.value && <panel.value.Panel />}
        {missing.value && (
          <div class="notice notice-bad" role="alert">
            <p>{strings.list.missing(words.title)}</p>
            <div class="notice-tools">
              <button type="button" class="button" onClick={() => void load()}>
                {strings.problems.retry}
              </button>
            </div>
          </div>
        )}
      </div>
    </details>
  );
}
