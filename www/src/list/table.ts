// CSV in and out, by papaparse, which is loaded when it is first needed.

import { strings } from "../strings";
import type { Grouped } from "./grouping";

/** A table that was opened: its rows, without the first where that holds names. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The whole file was read. */
  readonly whole: boolean;
}

const papa = async () => (await import("papaparse")).default;

/** As much of a file as is read: fifty times what this page groups, if texts are as long as a review. */
export const maxBytes = 10e6;

/** Reads a file: the rows of a CSV file, or the lines of a plain text. */
export async function openTable(file: File): Promise<Table> {
  const [text, whole] = [await file.slice(0, maxBytes).text(), file.size <= maxBytes];
  const rows = /\.(csv|tsv)$/i.test(file.name)
    ? (await papa()).parse<string[]>(text, { skipEmptyLines: "greedy" }).data
    : text.split(/\r?\n/).map((line) => [line]);
  if (!whole) rows.pop(); // only its beginning was read
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  // A single column is a list of texts, without a name.
  if (width < 2) return { columns: [""], rows, whole };
  const [names = [], ...rest] = rows;
  return { columns: Array.from({ length: width }, (_, i) => names[i]?.trim() || `${i + 1}`), rows: rest, whole };
}

/** The column with the longest texts. */
export function wordiest({ columns, rows }: Table): number {
  const letters = columns.map((_, i) => rows.reduce((sum, row) => sum + (row[i]?.length ?? 0), 0));
  return letters.indexOf(Math.max(...letters));
}

/** A column's texts, each on one line. */
export const columnTexts = ({ rows }: Table, column: number): string[] =>
  rows.map((row) => (row[column] ?? "").replace(/\s+/g, " ").trim()).filter((cell) => cell !== "");

/** The groups as CSV, a row a text in the order of the list. */
export async function toCsv({ lines, groups, labels, points, condition }: Grouped): Promise<string> {
  const { unparse } = await papa();
  const similarity = new Map(groups.flatMap(({ members }) => members.map((member) => [member.index, member.similarity] as const)));
  // Numbers, not their digits as text: a text that begins with a minus is taken for a formula and escaped.
  const rounded = (value = NaN): number => Number(value.toFixed(4));
  return unparse(
    lines.map((line, i) => {
      const label = labels[i] ?? 0;
      return {
        text: line,
        group: label + 1,
        group_name: groups[label]?.unmentioned ? strings.list.exportUnmentioned(condition) : lines[groups[label]?.center ?? 0],
        similarity_to_centre: rounded(similarity.get(i)),
        x: rounded(points[2 * i]),
        y: rounded(points[2 * i + 1]),
      };
    }),
    { escapeFormulae: true },
  );
}

/** By this mark Excel knows that a file is UTF-8. */
const byteOrderMark = "\uFEFF";

/** Saves CSV as a file. */
export function download(name: string, csv: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([byteOrderMark, csv], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
