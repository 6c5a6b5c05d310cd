// What the list view is asked: the texts, the condition, how many groups, and what to find.

import { batch, computed, signal } from "@preact/signals";
import { strings } from "../strings";
import { isReadable } from "../tables/readable";
import { listConditions, listNames, type ListName, readList } from "./lists";
import { givenNames, type Name } from "./names";
import { sampleOf } from "./sample";

/** As many texts as a laptop groups in some minutes. */
export const maxLines = 10_000;
export const maxGroups = 12;
export const maxCharacters = 2000;

/** The texts as they were typed, one a line. */
export const text = signal("");
/** The ready list that `text` is, if it is one. */
export const source = signal<ListName | undefined>(undefined);
export const condition = signal<string>(listConditions[listNames[0]][0]);
/** How many groups to make; undefined leaves it to the page. */
export const groupCount = signal<number | undefined>(undefined);
export const query = signal("");

/** A text without halves of surrogate pairs, which a cut may leave. */
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "\uFFFD");

/** What is typed, cleaned; empty where the model would see nothing of it. */
const clean = (typed: string): string => {
  const text = wellFormed(typed).trim();
  return isReadable(text) ? text : "";
};
/** The condition, cleaned; empty for the texts as they are. */
export const through = computed(() => clean(condition.value));
/** What to find, cleaned; empty for nothing. */
export const sought = computed(() => clean(query.value));

const filled = computed(() =>
  text.value
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== ""),
);
/** What is read of a line. */
export const cut = (line: string): string => wellFormed(line.slice(0, maxCharacters));
/** Lines of which the model sees something, in what is read of them. */
export const readable = computed(() => filled.value.filter((line) => isReadable(cut(line))));
/** How many lines hold nothing that can be seen. */
export const unseen = computed(() => filled.value.length - readable.value.length);
const taken = computed(() => sampleOf(readable.value, maxLines));

/** The texts that are grouped. The same array as long as they are the same. */
export const lines = computed<readonly string[]>(() => taken.value.map(cut));
/** How many of them are longer than this page takes. */
export const cutShort = computed(() => taken.value.filter((line) => line.length > maxCharacters).length);

/** Why texts could not be read, in words. */
export const trouble = signal("");
/** A link came without the texts that it was of: they were too long for it. */
export const lost = signal(false);
let latest = {};

/** Begins to read texts from elsewhere; what it answers tells whether nothing newer has been asked for since. */
export function reading(): () => boolean {
  const own = {};
  latest = own;
  trouble.value = "";
  return () => own === latest;
}

/** Takes texts of one's own. */
export function setText(next: string): void {
  batch(() => {
    reading(); // whatever was being read comes too late
    source.value = undefined;
    lost.value = false;
    text.value = next;
  });
}

/** How a list is asked about. */
export interface Question {
  /** Stays as it is where it is not given. */
  readonly condition?: string;
  readonly groupCount: number | undefined;
  readonly query: string;
  /** Names of its groups, in place of those that groups of its condition have. */
  readonly names: readonly Name[];
}

export function ask(question: Question): void {
  batch(() => {
    condition.value = question.condition ?? condition.value;
    groupCount.value = question.groupCount;
    query.value = question.query;
    givenNames.value = [...givenNames.value.filter((name) => name.condition !== through.value), ...question.names];
  });
}

const justOpened: Question = { groupCount: undefined, query: "", names: [] };

/** Takes a ready list once it is there, by its first condition unless the question has one; `change` makes the change. */
export async function openList(name: ListName, asked = justOpened, change: (make: () => void) => void = batch): Promise<void> {
  const wanted = reading();
  let read: string;
  try {
    read = await readList(name);
  } catch {
    if (wanted()) trouble.value = strings.list.missing(strings.list.texts.thisList);
    return;
  }
  if (!wanted()) return;
  change(() =>
    batch(() => {
      setText(read);
      source.value = name;
      ask({ condition: listConditions[name][0], ...asked });
    }),
  );
}
