// The views' components. The comparison comes with the page; the others are files of their own, which are fetched once the page
// stands, or when one of them is asked for.

import { computed, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { Compare } from "../compare/Compare";
import { type View, view, views } from "../state/route";

const files: Record<Exclude<View, "compare">, () => Promise<ComponentType>> = {
  list: async () => (await import("../list/List")).List,
  how: async () => (await import("../how/How")).How,
  larger: async () => (await import("../larger/Larger")).Larger,
};

type Arrived = ComponentType | "missing";

const arrived = signal<Readonly<Partial<Record<View, Arrived>>>>({ compare: Compare });

/** What the address names: its component, "missing" where that could not be fetched, undefined while it is on its way. */
export const shown = computed(() => arrived.value[view.value]);

/** Fetches a view's file, unless it is here. It does not fail: `shown` says what came of it. */
export async function fetchView(name: View): Promise<void> {
  const here = arrived.peek()[name];
  if (name === "compare" || (here && here !== "missing")) return;
  let came: Arrived;
  try {
    came = await files[name]();
  } catch {
    came = "missing";
  }
  arrived.value = { ...arrived.peek(), [name]: came };
}

/** Fetches all views' files. */
export const fetchViews = (): void => void Promise.all(views.map(fetchView));
