// A table that a file holds: which of its rows are texts, what its columns are called, and which of them holds the texts.

import { strings } from "../strings";
import { isReadable } from "./readable";

export type Rows = readonly (readonly string[])[];

/** What a file was read as. */
export interface Table {
  /** All rows; the first may name the columns. None is blank, nor is a column. */
  readonly rows: Rows;
  /** Whether the first row names the columns, where that is known and no guess. */
  readonly named?: boolean;
  /** What a person should know of how the file was read, in words. */
  readonly notices: readonly string[];
}

/** Names that tables give to a column of texts. */
const textName = /^(text|sentence|review|comment|message|caption|feedback|tweet|post|headline|question|answer)s?$/i;
/** Names that tables give to columns, as texts would hardly read. */
const someName = /^(id|nr|no|#|index|key|name|title|date|time|label|class|category|group|rating|score|stars?|value|url|user|author|body|content|description|summary|abstract|condition|tags?|language|source|(text|sentence|review|comment|message|caption|question|answer)[ _-]?\w+)$/i;
const number = /^(?=.*\d)[\d\s.,:;/+\-%$€£]+$/;
/** Rows that are looked at to guess. */
const sample = 200;
/** Words of a name, at most, and of a usual text, at least, where nothing else tells them apart. */
const mostOfName = 3;
const leastOfText = 4;

/** Words of a cell. */
export const wordCount = (cell: string): number => cell.match(/\S+/g)?.length ?? 0;

/** Rows that hold anything, without columns that hold nothing. */
export function tidy(rows: Rows): Rows {
  const filled = rows.filter((row) => row.some((cell) => cell.trim() !== ""));
  const used: boolean[] = [];
  for (const row of filled) row.forEach((cell, i) => (used[i] ||= cell.trim() !== ""));
  return used.every(Boolean) && filled.every(({ length }) => length <= used.length)
    ? filled
    : filled.map((row) => row.filter((_, i) => used[i]));
}

/** Guesses whether the first row names the columns. */
export function isHeaded([first = [], ...rest]: Rows): boolean {
  const body = rest.slice(0, sample);
  const names = first.map((cell) => cell.trim());
  if (body.length === 0 || names.some((name) => number.test(name))) return false;
  if (names.some((name) => textName.test(name) || (first.length > 1 && someName.test(name)))) return true;
  // One column is a list, and a short text in its first line no name.
  if (first.length < 2) return false;
  const cells = (i: number): string[] => body.map((row) => row[i]?.trim() ?? "").filter((cell) => cell !== "");
  if (names.some((name, i) => name !== "" && cells(i).includes(name))) return false;
  if (names.some((name, i) => name !== "" && cells(i).length > 0 && cells(i).every((cell) => number.test(cell)))) return true;
  const place = wordiest(body);
  const lengths = cells(place).map(wordCount).sort((a, b) => a - b);
  const name = names[place] ?? "";
  return !/[.!?…]$/.test(name) && wordCount(name) <= mostOfName && (lengths[lengths.length >> 1] ?? 0) >= Math.max(leastOfText, 3 * wordCount(name));
}

/** The rows that are no names. */
export const bodyOf = ({ rows }: Table, headed: boolean): Rows => (headed ? rows.slice(1) : rows);

/** What the columns are called, each in its own way. */
export function columnNames({ rows }: Table, headed: boolean): string[] {
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
  const taken = new Set<string>();
  return Array.from({ length: width }, (_, i) => {
    const name = (headed && rows[0]?.[i]?.replace(/\s+/g, " ").trim()) || strings.list.texts.columnName(i + 1);
    let own = name;
    for (let n = 2; taken.has(own); n++) own = `${name} (${n})`;
    taken.add(own);
    return own;
  });
}

/** The column of the texts: one that is called so, or the one of most words. */
export function textColumn(table: Table, headed: boolean): number {
  const body = bodyOf(table, headed).slice(0, 50 * sample);
  const called = headed ? (table.rows[0] ?? []).map((name) => textName.test(name.trim())) : [];
  const among = called.some(Boolean) ? body.map((row) => row.map((cell, i) => (called[i] ? cell : ""))) : body;
  return wordiest(among.some((row) => row.some((cell) => wordCount(cell) > 0)) ? among : body);
}

function wordiest(rows: Rows): number {
  const words: number[] = [];
  for (const row of rows) row.forEach((cell, i) => (words[i] = (words[i] ?? 0) + wordCount(cell)));
  return Math.max(0, words.indexOf(Math.max(...words)));
}

/** What a column holds. */
export interface Column {
  /** Each on one line. */
  readonly texts: readonly string[];
  /** For each of them, its row, the header not counted. */
  readonly places: readonly number[];
  /** Rows without a text. */
  readonly empty: number;
  /** Rows of which no character can be seen. */
  readonly invisible: number;
}

/** A cell on one line. */
export const textIn = (cell = ""): string => cell.replace(/\s+/g, " ").trim();

export function columnOf(table: Table, headed: boolean, column: number): Column {
  const cells = bodyOf(table, headed).map((row) => textIn(row[column]));
  const filled = cells.filter((cell) => cell !== "");
  const places = cells.flatMap((cell, i) => (isReadable(cell) ? [i] : []));
  return { texts: places.map((i) => cells[i] as string), places, empty: cells.length - filled.length, invisible: filled.length - places.length };
}
