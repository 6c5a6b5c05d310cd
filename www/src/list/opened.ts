// The file that is open: which of its columns is grouped, and whether its first row is one of names.

import { computed, signal } from "@preact/signals";
import { step } from "../state/history";
import { strings } from "../strings";
import { maxLines, reading, setText, text, trouble } from "./fields";
import { Refusal } from "./files/refusal";
import { sampleOf } from "./sample";
import { columnOf, isHeaded, type Table, textColumn } from "./table";

const words = strings.list;

interface Opened {
  readonly table: Table;
  readonly headed: boolean;
  readonly column: number;
  /** What it gave. */
  readonly text: string;
}

const last = signal<Opened | undefined>(undefined);
/** While the field holds what the file gave: what was edited or put in its place is not to be lost with a choice. */
export const opened = computed(() => (last.value?.text === text.value ? last.value : undefined));

/** Takes a column of a table, by itself the one that holds the texts. */
export function take(table: Table, headed = table.named ?? isHeaded(table.rows), column = textColumn(table, headed)): void {
  const { texts, empty, invisible } = columnOf(table, headed, column);
  const given = sampleOf(texts, maxLines);
  const joined = given.join("\n");
  last.value = { table, headed, column, text: joined };
  step(() => setText(joined, { of: texts.length, empty, invisible, notices: table.notices }));
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
