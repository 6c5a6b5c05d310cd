// One lens for all elements of a page that want the same: loaded by the first of them, disposed of after the last.

import { CaseLens, type LoadOptions } from "../index.js";
import type { Progress } from "../types.js";

/** What elements agree on when they share a lens. */
export type Wanted = Pick<LoadOptions, "model" | "head" | "device">;

/** One element's part in a shared lens. */
export interface Share {
  readonly lens: Promise<CaseLens>;
  /** Ends this element's part; the last one ends the lens. Who asks for a `broken` one later gets a new one. */
  release(broken?: boolean): void;
}

interface Entry {
  readonly lens: Promise<CaseLens>;
  readonly leaving: AbortController;
  readonly listeners: Set<(progress: Progress) => void>;
  last: Progress | undefined;
}

const entries = new Map<string, Entry>();

/** Takes part in the lens that `wanted` names. `listener` hears how its loading goes, from where it stands. */
export function share(wanted: Wanted, listener: (progress: Progress) => void): Share {
  const key = JSON.stringify([wanted.model, wanted.head, wanted.device]);
  const entry = entries.get(key) ?? start(key, wanted);
  entry.listeners.add(listener);
  if (entry.last) listener(entry.last);
  return {
    lens: entry.lens,
    release: (broken = false) => {
      entry.listeners.delete(listener);
      if (broken) forget(key, entry);
      // Not at once: an element that is moved leaves and comes back.
      setTimeout(() => {
        if (entry.listeners.size > 0) return;
        forget(key, entry);
        entry.leaving.abort();
        entry.lens.then(
          (lens) => lens.dispose(),
          () => {},
        );
      });
    },
  };
}

function start(key: string, wanted: Wanted): Entry {
  const leaving = new AbortController();
  const entry: Entry = {
    leaving,
    listeners: new Set(),
    last: undefined,
    lens: CaseLens.load({
      ...wanted,
      signal: leaving.signal,
      onProgress: (progress) => {
        entry.last = progress;
        for (const listener of entry.listeners) listener(progress);
      },
    }),
  };
  entries.set(key, entry);
  // A failure is not shared with whoever asks later: they load again.
  entry.lens.catch(() => forget(key, entry));
  return entry;
}

function forget(key: string, entry: Entry): void {
  if (entries.get(key) === entry) entries.delete(key);
}
