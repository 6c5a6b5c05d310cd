// The groups as a file: CSV, by papaparse, which is loaded when it is first needed, or JSON; and what such a file says when it is read
// again.

import { download as downloadAs, exportColumns, type Kind } from "../tables/saved";
import { type Rows, textIn } from "../tables/table";
import { cut, maxGroups } from "./fields";
import type { Doubted, Grouped } from "./grouping";
import { cleanName, type Name } from "./names";

/** Beside them, since groups have names of their own. */
const conditionColumn = "condition";

/** The name of the group of texts that say nothing about the condition: in files the same, whatever language the page speaks. */
const unmentioned = (condition: string): string => `says nothing about ${condition}`;

type Row = readonly (string | number)[];
/** What makes a text uncertain: empty where nothing does. */
export const doubtColumns = ["language", "unknown_pieces", "cut"] as const;
const fields = [...exportColumns, conditionColumn, ...doubtColumns];

/** A row a text, in the order of the list, with what is uncertain of it; of some texts alone where `only` has their places. */
function rowsOf(
  { lines, groups, labels, points, condition }: Grouped,
  names: readonly string[],
  doubted: readonly Doubted[],
  only?: ReadonlySet<number>,
): Row[] {
  const similarity = new Map(groups.flatMap(({ members }) => members.map((member) => [member.index, member.similarity] as const)));
  // Numbers, not their digits as text: a text that begins with a minus is taken for a formula and escaped.
  const rounded = (value = NaN): number => Number(value.toFixed(4));
  return lines.flatMap((line, i) => {
    if (only && !only.has(i)) return [];
    const label = labels[i] ?? 0;
    const name = groups[label]?.unmentioned ? unmentioned(condition) : (names[label] ?? "");
    const { language, unknown, truncated } = doubted[i] ?? {};
    const why = [language ?? "", unknown || "", truncated ? "yes" : ""];
    return [[line, label + 1, name, rounded(similarity.get(i)), rounded(points[2 * i]), rounded(points[2 * i + 1]), condition, ...why]];
  });
}

export async function toCsv(grouped: Grouped, names: readonly string[], doubted: readonly Doubted[] = [], only?: ReadonlySet<number>): Promise<string> {
  const { unparse } = (await import("papaparse")).default;
  return unparse({ fields, data: rowsOf(grouped, names, doubted, only) as (string | number)[][] }, { escapeFormulae: true });
}

/** An array of objects, one a text. */
export const toJson = (grouped: Grouped, names: readonly string[], doubted: readonly Doubted[] = []): string =>
  `[\n${rowsOf(grouped, names, doubted)
    .map((row) => JSON.stringify(Object.fromEntries(fields.map((name, i) => [name, row[i]]))))
    .join(",\n")}\n]\n`;

/** What a file that this page saved says of its groups. */
export interface Saved {
  /** Undefined in files of before it was saved. */
  readonly condition: string | undefined;
  readonly groupCount: number | undefined;
  readonly names: readonly Name[];
}

/** What a table says of groups, if this page saved it. `condition`: that of the view, for a file that names none. */
export function savedIn(rows: Rows, condition: string): Saved | undefined {
  const [header, ...body] = rows;
  if (!header || !exportColumns.every((name, i) => header[i] === name)) return undefined;
  const own = header[exportColumns.length] === conditionColumn ? (body[0]?.[exportColumns.length] ?? "").trim() : undefined;
  const under = own ?? condition;
  const groups = new Map<string, { readonly name: string; readonly place: number; readonly texts: Set<string> }>();
  body.forEach(([text = "", label = "", name = ""], place) => {
    if (cleanName(name) === cleanName(unmentioned(under))) return;
    if (!groups.has(label)) groups.set(label, { name: cleanName(name), place, texts: new Set() });
    groups.get(label)?.texts.add(cut(textIn(text)));
  });
  // Files of before were named by their most central texts, and groups without words still are.
  const names = [...groups.values()].flatMap(({ texts, ...rest }): Name[] =>
    rest.name === "" || [...texts].some((text) => cleanName(text) === rest.name) ? [] : [{ ...rest, condition: under, texts }],
  );
  return { condition: own, groupCount: groups.size >= 2 && groups.size <= maxGroups ? groups.size : undefined, names };
}

/** Saves groups as a file. */
export const download = (kind: Kind, text: string): void => downloadAs(`caselens-groups.${kind}`, kind, text);
