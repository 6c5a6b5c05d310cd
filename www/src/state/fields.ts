// What the person has typed: two sentences and a list of conditions.
//
// The list always ends in one blank condition, the place to type the next one.

import { batch, computed, signal } from "@preact/signals";
import { examples, type Example } from "./examples";

export interface Condition {
  readonly id: number;
  readonly text: string;
}

/** The fields without their identities: what an example, a link or the model sees. */
export interface Fields {
  readonly sentences: readonly [string, string];
  readonly conditions: readonly string[];
}

export const maxConditions = 20;

let lastId = 0;
const withId = (text: string): Condition => ({ id: (lastId += 1), text });

export const isBlank = (text: string): boolean => text.trim() === "";

function endInBlank(list: readonly Condition[]): readonly Condition[] {
  const kept = list.slice(0, maxConditions);
  const last = kept.at(-1);
  if (kept.length === maxConditions || (last && isBlank(last.text))) return kept;
  return [...kept, withId("")];
}

const start = examples[0];

export const sentences = [signal(start.sentences[0]), signal(start.sentences[1])] as const;
export const conditions = signal<readonly Condition[]>(endInBlank(start.conditions.map(withId)));

/** What is the same for two conditions that say the same. */
const keyOf = (text: string): string => text.trim().replace(/\s+/g, " ").toLowerCase();

/** Conditions that say what an earlier one says, each with that one's place in the list, from 1. */
export const repeated = computed((): ReadonlyMap<number, number> => {
  const places = new Map<string, number>();
  const found = new Map<number, number>();
  conditions.value.forEach(({ id, text }, index) => {
    const place = places.get(keyOf(text));
    if (isBlank(text)) return;
    if (place === undefined) places.set(keyOf(text), index + 1);
    else found.set(id, place);
  });
  return found;
});

/** The conditions that can be compared, each once. */
export const filledConditions = computed(() => conditions.value.filter(({ id, text }) => !isBlank(text) && !repeated.value.has(id)));

export const fields = computed<Fields>(() => ({
  sentences: [sentences[0].value, sentences[1].value],
  conditions: filledConditions.value.map(({ text }) => text),
}));

/** What the page shows when no link says otherwise. */
export const startFields: Fields = { sentences: start.sentences, conditions: start.conditions };

export function setFields(next: Fields): void {
  batch(() => {
    sentences[0].value = next.sentences[0];
    sentences[1].value = next.sentences[1];
    conditions.value = endInBlank(next.conditions.map(withId));
  });
}

/** Puts each sentence in the other's place. */
export function swapSentences(): void {
  const [first, second] = sentences;
  batch(() => ([first.value, second.value] = [second.value, first.value]));
}

export function editCondition(id: number, text: string): void {
  conditions.value = endInBlank(
    conditions.value.map((condition) => (condition.id === id ? { id, text } : condition)),
  );
}

/** Adds a condition after those there are, unless the list is full. */
export function addCondition(text: string): void {
  conditions.value = endInBlank([...filledConditions.value, withId(text)]);
}

export function removeCondition(id: number): void {
  conditions.value = endInBlank(conditions.value.filter((condition) => condition.id !== id));
}

const lastPaste = signal<{ readonly list: readonly Condition[]; readonly lines: number; readonly kept: number } | undefined>(undefined);
/** How many lines were pasted, and how many of them became conditions: where that is not all of them, and until the list changes. */
export const pasted = computed(() => (lastPaste.value?.list === conditions.value ? lastPaste.value : undefined));

/**
 * Puts several lines in the place of one condition, each once and as many as there is room for: those that were there stay.
 * Answers the condition that follows the last of them.
 */
export function spreadCondition(id: number, lines: readonly string[]): Condition | undefined {
  const list = conditions.value;
  const at = list.findIndex((condition) => condition.id === id);
  if (at < 0) return undefined;
  const [before, after] = [list.slice(0, at), list.slice(at + 1)];
  const others = [...before, ...after].filter(({ text }) => !isBlank(text));
  const there = new Set(others.map(({ text }) => keyOf(text)));
  const fresh = lines.filter((line) => !there.has(keyOf(line)) && there.add(keyOf(line)));
  const kept = fresh.slice(0, maxConditions - others.length);
  const [first = "", ...rest] = kept;
  batch(() => {
    conditions.value = endInBlank([...before, { id, text: first }, ...rest.map(withId), ...after]);
    lastPaste.value = kept.length < lines.length ? { list: conditions.value, lines: lines.length, kept: kept.length } : undefined;
  });
  return conditions.value[Math.min(at + kept.length, conditions.value.length - 1)];
}

export const isExample = (example: Example, now: Fields): boolean =>
  JSON.stringify([example.sentences, example.conditions]) === JSON.stringify([now.sentences, now.conditions]);
