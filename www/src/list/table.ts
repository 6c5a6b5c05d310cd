// CSV in and out, by papaparse, which is loaded when it is first needed.

import type { Grouped } from "./grouping";
import { maxLines } from "./fields";

/** A table that was opened: its rows, of which the first may hold names. */
export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const papa = async () => (await import("papaparse")).default;

/** As much of a plain text as this page could take. */
const maxBytes = 4e6;

/** Reads a file: the first rows of a CSV file, as far as this page takes them, or the lines of a plain text. */
export async function openTable(file: File): Promise<Table> {
  if (!/\.(csv|tsv)$/i.test(file.name)) {
    const text = await file.slice(0, maxBytes).text();
    return { name: file.name, columns: [""], rows: text.split(/\r?\n/).map((line) => [line]) };
  }
  const { parse } = await papa();
  const rows = await new Promise<string[][]>((resolve, reject) => {
    parse<string[], File>(file, {
      preview: maxLines + 1,
      skipEmptyLines: "greedy",
      complete: ({ data }) => resolve(data),
      error: reject,
    });
  });
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  // A single column is a list of texts, without a name.
  if (width < 2) return { name: file.name, columns: [""], rows };
  const [names = [], ...rest] = rows;
  return { name: file.name, columns: Array.from({ length: width }, (_, i) => names[i]?.trim() || `${i + 1}`), rows: rest };
}

/** The column with the longest texts. */
export function wordiest({ columns, rows }: Table): number {
  const letters = columns.map((_, i) => rows.reduce((sum, row) => sum + (row[i]?.length ?? 0), 0));
  return letters.indexOf(Math.max(...letters));
}

/** A column's texts, one a line. */
export const columnText = ({ rows }: Table, column: number): string =>
  rows.map((row) => (row[column] ?? "").replace(/\s+/g, " ").trim()).filter((cell) => cell !== "").join("\n");

/** The groups as CSV, a row a text in the order of the list. */
export async function toCsv({ lines, groups, labels, points }: Grouped): Promise<string> {
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
        group_name: lines[groups[label]?.centre ?? 0],
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
