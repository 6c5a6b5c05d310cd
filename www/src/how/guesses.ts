// What somebody guesses of rated pairs, and what the model says of those that were guessed.

import { batch, computed, effect, signal, untracked } from "@preact/signals";
import type { CaseLens } from "caselens";
import { ask, comparisonOf } from "../state/answers";
import { lens } from "../state/engine";
import { rated } from "./rated";

/** Guesses from 1 to 5, in the order of the pairs, as far as one has come. */
export const guesses = signal<readonly number[]>([]);
/** The pair that is looked at. */
export const place = signal(0);
/** The model's ratings, as far as they are here. */
const said = signal<{ readonly by: CaseLens; readonly ratings: ReadonlyMap<number, number> } | undefined>(undefined);
/** What the model says of a pair; undefined while it is asked. */
export const modelsOf = (i: number): number | undefined => (said.value && said.value.by === lens.value ? said.value.ratings.get(i) : undefined);

/** Mean distances from what people said, of the guesses and of the model; undefined before all are here. */
export const distances = computed(() => {
  const models = guesses.value.map((_, i) => modelsOf(i));
  if (guesses.value.length < rated.length || models.includes(undefined)) return undefined;
  const mean = (values: readonly (number | undefined)[]): number =>
    rated.reduce((sum, { people }, i) => sum + Math.abs((values[i] ?? NaN) - people), 0) / rated.length;
  return { own: mean(guesses.value), model: mean(models) };
});

export function guess(rating: number): void {
  guesses.value = [...guesses.value.slice(0, place.value), rating];
}

export const next = (): void => void (place.value = Math.min(place.value + 1, rated.length - 1));

export const startAgain = (): void =>
  batch(() => {
    guesses.value = [];
    place.value = 0;
  });

/** Asks the model for what was guessed; what it says is no hint before. */
export function startGuesses(): () => void {
  const stop = new AbortController();
  const dispose = effect(() => {
    const by = lens.value;
    const count = guesses.value.length;
    if (!by) return;
    untracked(() => {
      for (let i = 0; i < count; i++) if (modelsOf(i) === undefined) void rate(by, i, stop.signal);
    });
  });
  return () => {
    dispose();
    stop.abort();
  };
}

async function rate(by: CaseLens, i: number, signal: AbortSignal): Promise<void> {
  const { pair, condition } = rated[i] as (typeof rated)[number];
  const [answer] = await ask(by, pair, [condition], { signal }).catch(() => []);
  const rating = comparisonOf(answer)?.rating;
  if (rating === undefined || lens.peek() !== by) return;
  const before = said.peek()?.by === by ? (said.peek()?.ratings ?? []) : [];
  said.value = { by, ratings: new Map([...before, [i, rating]]) };
}
