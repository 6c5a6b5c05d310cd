// Keeps the address bar and the fields in step.
//
// Typing rewrites the current history entry; a deliberate step (an example, another device) makes a
// new one, so that Back undoes it.

import { effect } from "@preact/signals";
import { fields, setFields, startFields } from "./fields";
import { decodeLink, encodeLink, type LinkState } from "./link";
import { chosenDevice } from "./engine";

const pauseMs = 300;
let timer: ReturnType<typeof setTimeout> | undefined;

const current = (): LinkState => ({ ...fields.value, device: chosenDevice.value });

function write(method: "pushState" | "replaceState"): boolean {
  clearTimeout(timer);
  const hash = encodeLink(current());
  if (hash === undefined) return false;
  try {
    if (hash !== location.hash) history[method](null, "", hash);
  } catch {
    // Browsers limit how often the address may change; the next change writes it.
  }
  return true;
}

function read(): void {
  const linked = decodeLink(location.hash);
  if (linked && encodeLink(linked) === encodeLink(current())) return;
  setFields(linked ?? startFields);
  chosenDevice.value = linked?.device ?? "auto";
  clearTimeout(timer);
}

/** Runs a deliberate step and gives it a history entry of its own. */
export function step(change: () => void): void {
  write("replaceState");
  change();
  write("pushState");
}

/** Brings the address up to date and answers it, or undefined when the state is too long to share. */
export const shareableAddress = (): string | undefined => (write("replaceState") ? location.href : undefined);

export function startHistory(): void {
  read();
  addEventListener("popstate", read);
  let first = true;
  effect(() => {
    current();
    if (!first) {
      clearTimeout(timer);
      timer = setTimeout(() => write("replaceState"), pauseMs);
    }
    first = false;
  });
}
