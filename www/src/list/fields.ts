// What the list view is asked: the texts, the condition, how many groups, and what to find.

import { batch, computed, signal } from "@preact/signals";
import { listConditions, listNames, type ListName, readList } from "./lists";

export const maxLines = 1000;
export const maxGroups = 12;
const maxCharacters = 2000;

/** The texts as they were typed, one a line. */
export const text = signal("");
/** The ready list that `text` is, if it is one. */
export const source = signal<ListName | undefined>(undefined);
export const condition = signal<string>(listConditions[listNames[0]][0]);
/** How many groups to make; undefined leaves it to the silhouette. */
export const groupCount = signal<number | undefined>(undefined);
export const query = signal("");

/** A text without halves of surrogate pairs, which a cut may leave. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "\uFFFD");

const filled = computed(() =>
  text.value
    .split(/\r?\n/)
    .map((line) => wellFormed(line.trim().slice(0, maxCharacters)))
    .filter((line) => line !== ""),
);

/** The texts that are grouped. The same array as long as they are the same. */
export const lines = computed<readonly string[]>(() => filled.value.slice(0, maxLines));
/** Lines beyond the most that this page takes. */
export const leftOut = computed(() => filled.value.length - lines.value.length);

export function setText(next: string): void {
  batch(() => {
    source.value = undefined;
    text.value = next;
  });
}

let reading: ListName | undefined;

/** Takes a ready list, and its first condition unless one is given. */
export async function openList(name: ListName, by: string = listConditions[name][0]): Promise<void> {
  reading = name;
  const read = await readList(name);
  if (reading !== name) return;
  batch(() => {
    source.value = name;
    text.value = read;
    condition.value = by;
    groupCount.value = undefined;
    query.value = "";
  });
}

/** The list that opens when no link says otherwise. */
export const startList = (): void => {
  if (text.peek() === "" && source.peek() === undefined) void openList(listNames[0]);
};
