// The file that is open: which of its columns is grouped, whether its first row is one of names, and what of it is not grouped.

import { computed, signal } from "@preact/signals";
import { step } from "../state/history";
import { strings } from "../strings";
import { maxLines, readable, reading, setText, text, trouble, unseen } from "./fields";
import { Refusal } from "./files/refusal";
import { sampleOf } from "./sample";
import { type Column, columnOf, isHeaded, type Table, textColumn } from "./table";

const words = strings.list;

interface Opened {
  readonly table: Table;
  readonly headed: boolean;
  readonly column: number;
  readonly holds: Column;
  /** What it gave: `holds.texts`, or a sample of them, one a line. */
  readonly text: string;
}

/** Files' choices that Back may lead to, the latest first. */
const choices = signal<readonly Opened[]>([]);
const maxChoices = 8;
/** While the field holds what a file gave: what was edited or put in its place is not to be lost with a choice. */
export const opened = computed(() => choices.value.find(({ text: given }) => given === text.value));

/** What was given, and is not all grouped. */
export const given = computed(() => ({
  /** Texts, of which a sample may be grouped. */
  texts: Math.max(readable.value.length, opened.value?.holds.texts.length ?? 0),
  /** Rows without a text. */
  empty: opened.value?.holds.empty ?? 0,
  /** Rows and lines of which no character can be seen. */
  invisible: unseen.value + (opened.value?.holds.invisible ?? 0),
  /** How a file was read, in words. */
  notices: opened.value?.table.notices ?? [],
}));

/** Takes a column of a table, by itself the one that holds the texts. */
export function take(table: Table, headed = table.named ?? isHeaded(table.rows), column = textColumn(table, headed)): void {
  const holds = columnOf(table, headed, column);
  const text = sampleOf(holds.texts, maxLines).join("\n");
  choices.value = [{ table, headed, column, holds, text }, ...choices.value].slice(0, maxChoices);
  step(() => setText(text));
}

/** Opens a file and takes its texts, unless others are asked for meanwhile. */
export async function open(file: File): Promise<void> {
  const wanted = reading();
  try {
    const { readTable } = await import("./files/read");
    const table = await readTable(file);
    if (wanted()) take(table);
  } catch (error) {
    if (wanted()) trouble.value = reason(error, file.name);
  }
}

function reason(error: unknown, name: string): string {
  if (error instanceof Refusal) return error.message;
  // What goes wrong with a file is a DOMException; what else can is the part of the page that is loaded for it.
  return error instanceof DOMException ? words.texts.unreadable(name) : words.missing(words.texts.reader);
}
