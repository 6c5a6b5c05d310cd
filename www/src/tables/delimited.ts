// Text as a table: which character parts its cells, if any does, and what is odd about its quotes and rows. papaparse parts the cells;
// it is loaded when there is first a text to read.

import { strings } from "../strings";
import { exportColumns, withoutEscape } from "./saved";
import { isHeaded, type Rows, type Table, tidy } from "./table";

const words = strings.list.texts.files;

/** In the order in which they are believed: a comma is the most likely to be one of a text's own. */
const delimiters = ["\t", ";", "|", ","];
/** Characters that are looked at to find the delimiter. */
const sample = 100_000;
/** Share of the rows that have as many cells as the first one, in a table. */
const mostAreAlike = 0.8;

/** A text in cells, and in which of its rows, from 0, something is wrong with the quotes. */
interface Parted {
  readonly rows: string[][];
  /** A quote opens and never closes. */
  readonly unclosed: number | undefined;
  /** One closes within a cell. */
  readonly odd: readonly number[];
}
type Part = (text: string, delimiter: string) => Parted;

/**
 * @param isTable the file is called a table, so that commas are believed to part cells.
 * @param whole the text is no mere beginning, whose end may lie within a cell.
 */
export async function delimitedTable(given: string, isTable: boolean, whole = true): Promise<Table> {
  const part = await partition(whole);
  const all = given.replace(/\r\n?/g, "\n");
  // Excel's own way to say what parts the cells.
  const said = /^sep=(.)\n/i.exec(all);
  const text = said ? all.slice(said[0].length) : all;
  const delimiter = said?.[1] ?? delimiterOf(text, isTable, part);
  const first = said ? 2 : 1;
  if (delimiter !== undefined) return tableOf(part(text, delimiter), delimiter, first);
  // A list, a text a line. Only a CSV file's quotes are not the texts' own.
  const lines = text.split("\n").map((line) => [line]);
  if (!isTable) return { rows: tidy(lines), notices: [] };
  const quoted = part(text, ",");
  if (quoted.unclosed === undefined && quoted.odd.length === 0) return tableOf(quoted, ",", first, 1);
  const notices = quoted.unclosed === undefined ? [] : [words.unclosed(quoted.unclosed + first)];
  return { rows: tidy(lines.map(([line = ""]) => [unquoted(line)])), notices };
}

/** Parts a text, with `"` around cells that hold the delimiter or a line's end. */
async function partition(whole: boolean): Promise<Part> {
  const { parse } = (await import("papaparse")).default;
  return (text, delimiter) => {
    const { data, errors } = parse<string[]>(text, { delimiter, newline: "\n" });
    const odd = [...new Set(errors.flatMap(({ code, row = 0 }) => (code === "InvalidQuotes" ? [row] : [])))];
    const unclosed = errors.find(({ code }) => code === "MissingQuotes");
    if (!unclosed) return { rows: data, unclosed: undefined, odd };
    const { row = 0, index = 0 } = unclosed;
    // It would have, beyond the end of what was read.
    if (!whole && text.length - index < sample) return { rows: data.slice(0, row), unclosed: undefined, odd };
    // No quote closes after it, so from there on none opens a cell either: the rows are as if there were none.
    const from = text.lastIndexOf("\n", Math.max(0, index - 2)) + 1;
    const rest = text.slice(from).split("\n").map((line) => line.split(delimiter));
    return { rows: [...data.slice(0, row), ...rest], unclosed: row, odd };
  };
}

/** What parts a text's cells; undefined where it is no table but a list. */
function delimiterOf(text: string, isTable: boolean, part: Part): string | undefined {
  const start = text.length > sample ? text.slice(0, text.lastIndexOf("\n", sample) + 1 || sample) : text;
  const candidates = delimiters.flatMap((delimiter) => {
    const rows = tidy(part(start, delimiter).rows);
    const width = rows[0]?.length ?? 0;
    const alike = rows.filter(({ length }) => length === width).length / rows.length;
    const tight = (row: readonly string[] = []): boolean => row.slice(1).every((cell) => !cell.startsWith(" "));
    // In prose a space follows; in a table's first row none does, and in other files there have to be several rows, all alike.
    const believed =
      delimiter === "\t"
        ? alike > 0.5
        : isTable
          ? alike >= mostAreAlike || tight(rows[0])
          : alike === 1 && rows.length > 2 && rows.every(tight);
    return width > 1 && believed ? [{ delimiter, alike }] : [];
  });
  return (candidates.find(({ alike }) => alike >= mostAreAlike) ?? candidates[0])?.delimiter;
}

/** @param first the row, as people count them, that the first one is. */
function tableOf({ rows, unclosed, odd }: Parted, delimiter: string, first: number, columns?: number): Table {
  const headed = isHeaded(tidy(rows));
  const width = columns ?? widthOf(rows, headed);
  const beyond = (row: readonly string[]): boolean => row.slice(width).some((cell) => cell.trim() !== "");
  const wide = rows.flatMap((row, i) => (beyond(row) ? [i + first] : []));
  // A text that stands last may hold the delimiter without quotes; only what is left blank at the end is dropped.
  const fitted = rows.map((row) => (beyond(row) ? [...row.slice(0, width - 1), row.slice(width - 1).join(delimiter)] : row.slice(0, width)));
  return {
    rows: unescaped(tidy(fitted)),
    notices: [
      ...(unclosed === undefined ? [] : [words.unclosed(unclosed + first)]),
      // Up to a quote that never closes every other one seems odd.
      ...(unclosed === undefined && odd.length > 0 ? [words.oddQuotes((odd[0] as number) + first, odd.length)] : []),
      ...(wide.length > 0 && width > 1 ? [words.wide(wide[0] as number, wide.length)] : []),
    ],
  };
}

/** As many columns as there are names; without names, as many as most rows have. */
function widthOf(rows: Rows, headed: boolean): number {
  const filled = rows.filter((row) => row.some((cell) => cell.trim() !== ""));
  if (headed) return filled[0]?.length ?? 1;
  const counts = new Map<number, number>();
  for (const { length } of filled) counts.set(length, (counts.get(length) ?? 0) + 1);
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), [1, 0])[0];
}

/** A whole line in quotes, as CSV has it; anything else as it is. */
const unquoted = (line: string): string => (/^"([^"]|"")*"$/.test(line) ? line.slice(1, -1).replaceAll('""', '"') : line);

/** A table that this page saved: what was done to its texts so that no program takes one for a formula is undone. */
const unescaped = (rows: Rows): Rows =>
  exportColumns.every((name, i) => rows[0]?.[i] === name) ? rows.map(([text = "", ...rest]) => [withoutEscape(text), ...rest]) : rows;
