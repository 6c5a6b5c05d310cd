// A part of a view that is folded away, and whose file is fetched when it is opened.

import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { strings } from "../strings";

interface Props {
  readonly class: string;
  readonly title: string;
  readonly fetch: () => Promise<ComponentType>;
}

export function Fetched({ class: name, title, fetch }: Props) {
  const inside = useSignal<{ readonly Inside: ComponentType } | undefined>(undefined);
  const missing = useSignal(false);
  const load = async (): Promise<void> => {
    try {
      inside.value = { Inside: await fetch() };
      missing.value = false;
    } catch {
      missing.value = true;
    }
  };
  return (
    <details class={`fetched ${name}`} onToggle={({ currentTarget }) => void (currentTarget.open && !inside.value && load())}>
      <summary>{title}</summary>
      <div class="fetched-inside">
        {inside.value && <inside.value.Inside />}
        {missing.value && (
          <div class="notice notice-bad" role="alert">
            <p>{strings.list.missing(title)}</p>
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
