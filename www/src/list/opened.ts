// The file that is open: which of its columns is grouped, whether its first row is one of names, what of it is not grouped, and by which
// other columns its texts can be coloured.

import { batch, computed, signal } from "@preact/signals";
import { step } from "../state/history";
import { strings } from "../strings";
import { isReadable } from "../tables/readable";
import { whyNot } from "../tables/refusal";
import { bodyOf, type Column, columnNames, columnOf, isHeaded, type Table, textColumn, textIn } from "../tables/table";
import { type Colouring, colouringOf } from "./colouring";
import { ask, cut, lines, maxLines, query, readable, reading, setText, text, through, trouble, unseen } from "./fields";
import { sampleOf } from "./sample";
import { doubtColumns, savedIn } from "./save";

const words = strings.list;

interface Opened {
  readonly table: Table;
  readonly headed: boolean;
  readonly column: number;
  readonly holds: Column;
  /** What it gave: `holds.texts`, or a sample of them, one a line. */
  readonly text: string;
  /** Rows of the table, without its header, that these texts are in. */
  readonly rows: readonly number[];
  /** It is a file that this page saved: its condition, groups and their names were taken up. */
  readonly saved: boolean;
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
  notices: [...(opened.value?.table.notices ?? []), ...(opened.value?.saved ? [words.texts.files.saved] : [])],
}));

/** A column by which texts can be coloured. */
export interface ColourColumn {
  /** Its place in the table. */
  readonly column: number;
  readonly name: string;
  readonly colouring: Colouring;
}

/** The columns beside the texts' own by which those can be coloured. */
export const colourColumns = computed((): readonly ColourColumn[] => {
  const own = opened.value;
  if (!own) return [];
  const { table, headed, column, rows } = own;
  const body = bodyOf(table, headed);
  const grouped = rows.filter((row) => isReadable(cut(textIn(body[row]?.[column]))));
  if (grouped.length !== lines.value.length) return [];
  return columnNames(table, headed).flatMap((name, i): ColourColumn[] => {
    if (i === column || (own.saved && savedNames.has(name))) return [];
    const colouring = colouringOf(grouped.map((row) => textIn(body[row]?.[i])));
    return colouring ? [{ column: i, name, colouring }] : [];
  });
});
/** Of a file that this page saved: what it is drawn by anyway. */
const savedNames = new Set<string>(["x", "y", "group", "condition", ...doubtColumns]);

/** Takes a column of a table, by itself the one that holds the texts. */
export function take(table: Table, headed = table.named ?? isHeaded(table.rows), column = textColumn(table, headed)): void {
  const holds = columnOf(table, headed, column);
  const text = sampleOf(holds.texts, maxLines).join("\n");
  const rows = sampleOf(holds.places, maxLines);
  const saved = headed && column === 0 ? savedIn(table.rows, through.peek()) : undefined;
  choices.value = [{ table, headed, column, holds, text, rows, saved: saved !== undefined }, ...choices.value].slice(0, maxChoices);
  step(() =>
    batch(() => {
      setText(text);
      if (!saved) return;
      const { condition, groupCount, names } = saved;
      ask({ ...(condition === undefined ? {} : { condition }), groupCount, names, query: query.peek() });
    }),
  );
}

/** Opens a file and takes its texts, unless others are asked for meanwhile. */
export async function open(file: File): Promise<void> {
  const wanted = reading();
  try {
    const { readTable } = await import("../tables/read");
    const table = await readTable(file);
    if (wanted()) take(table);
  } catch (error) {
    if (wanted()) trouble.value = whyNot(error, file.name);
  }
}
