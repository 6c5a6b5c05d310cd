// The groups as a CSV file, by papaparse, which is loaded when it is first needed.

import { strings } from "../strings";
import type { Grouped } from "./grouping";

export const exportColumns = ["text", "group", "group_name", "similarity_to_centre", "x", "y"] as const;

/** A text as it was before it was saved: a spreadsheet takes one that begins with such a sign for a formula, so a `'` is put before it. */
export const withoutEscape = (saved: string): string => saved.replace(/^'(?=[=+\-@\t\r])/, "");

/** The groups as CSV, a row a text in the order of the list. */
export async function toCsv({ lines, groups, labels, points, condition }: Grouped): Promise<string> {
  const { unparse } = (await import("papaparse")).default;
  const similarity = new Map(groups.flatMap(({ members }) => members.map((member) => [member.index, member.similarity] as const)));
  // Numbers, not their digits as text: a text that begins with a minus is taken for a formula and escaped.
  const rounded = (value = NaN): number => Number(value.toFixed(4));
  const rows = lines.map((line, i) => {
    const label = labels[i] ?? 0;
    const name = groups[label]?.unmentioned ? strings.list.exportUnmentioned(condition) : lines[groups[label]?.center ?? 0];
    return [line, label + 1, name, rounded(similarity.get(i)), rounded(points[2 * i]), rounded(points[2 * i + 1])];
  });
  return unparse({ fields: [...exportColumns], data: rows }, { escapeFormulae: true });
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
