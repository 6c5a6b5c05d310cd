// Twelve sentences and the reader's two as points of a plane, under a condition that can be changed: the same sentences lie elsewhere.

import { computed, effect, signal, untracked } from "@preact/signals";
import type { CaseLens, Clustering } from "caselens";
import { bothTyped } from "../state/answers";
import { lens, noteDevice, overcome } from "../state/engine";
import { fields } from "../state/fields";
import { isAbort, type Problem } from "../state/problem";
import { placesOf } from "../ui/places";
import { condition as explainedUnder, explained } from "./state";
import { watch } from "./watch";

const people = ["girl", "old man"] as const;
const activities = ["chess", "book"] as const;
const settings = ["park", "train", "kitchen"] as const;
const told = {
  girl: "A girl",
  "old man": "An old man",
  chess: "plays chess",
  book: "reads a book",
  park: "in the park",
  train: "on a train",
  kitchen: "in a kitchen",
} as const;

/** A sentence of the plane; the reader's own two have no parts. */
export interface Point {
  readonly text: string;
  /** Who, what and where, in a word each. */
  readonly parts?: readonly [(typeof people)[number], (typeof activities)[number], (typeof settings)[number]];
}

const given: readonly Point[] = people.flatMap((person) =>
  activities.flatMap((activity) =>
    settings.map((setting): Point => ({ text: `${told[person]} ${told[activity]} ${told[setting]}.`, parts: [person, activity, setting] })),
  ),
);

/** What each word looks like: what it leaves open is the first of its kind. */
export const legend = [
  ...settings.map((setting) => ({ text: told[setting], parts: ["girl", "chess", setting] as const })),
  ...activities.map((activity) => ({ text: told[activity], parts: ["girl", activity, "park"] as const })),
  ...people.map((person) => ({ text: told[person].toLowerCase(), parts: [person, "chess", "park"] as const })),
];

/** Conditions to try: each gathers the twelve in its own way. */
export const tried = ["the place", "the activity", "the person"] as const;
/** The condition of the plane; undefined for none. */
export const under = signal<string | undefined>(tried[0]);

/** The sentences, and where they lie. */
interface Shown {
  readonly by: CaseLens;
  readonly condition: string | undefined;
  readonly points: readonly Point[];
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly clustering: Clustering;
}
export const shown = signal<Shown | undefined>(undefined);
export const problem = signal<Problem | undefined>(undefined);

/** The reader's first sentence is the thirteenth; which of the twelve is the most like it, and how much. */
export const nearest = computed(() => {
  const now = shown.value;
  if (!now || now.points.length === given.length) return undefined;
  const likeness = now.clustering.embeddings.similarities(given.length).subarray(0, given.length);
  const best = likeness.reduce((best, value, i) => (value > (likeness[best] as number) ? i : best), 0);
  return { text: given[best]?.text ?? "", similarity: likeness[best] as number };
});

async function update(by: CaseLens, condition: string | undefined, points: readonly Point[], signal: AbortSignal): Promise<void> {
  try {
    const before = shown.peek();
    const same = before?.by === by && before.points.length === points.length && before.points.every(({ text }, i) => text === points[i]?.text);
    const texts = points.map(({ text }) => text);
    const previous = same ? before.clustering.points : undefined;
    const clustering = await by.cluster(texts, { condition, groups: 3, previous, signal });
    noteDevice();
    shown.value = { by, condition, points, ...placesOf(clustering.points), clustering };
    problem.value = undefined;
  } catch (error) {
    if (signal.aborted || isAbort(error)) return;
    problem.value = overcome(error, by);
  }
}

const attempt = signal(0);
/** Tries once more what has failed. */
export const placeAgain = (): void => void (attempt.value += 1);

let followed: string | undefined;
/** The view's condition is the plane's as soon as it is explained; until the next one, others can be tried. */
const follow = (): (() => void) =>
  effect(() => {
    const now = explained.value && explainedUnder.peek();
    if (now !== undefined && now !== followed) under.value = followed = now;
  });

/** Keeps the plane up to date while it is looked at. */
export function startSpace(): () => void {
  const leave = follow();
  const end = watch((signal) => {
    const by = lens.value;
    const condition = under.value;
    attempt.value;
    const own = bothTyped.value ? fields.value.sentences.map((text): Point => ({ text: text.trim() })) : [];
    if (!by) return;
    untracked(() => void update(by, condition, [...given, ...own], signal));
  });
  return () => {
    leave();
    end();
  };
}
