// JSON as a table: an array of texts, of objects or of rows; or a line each, as JSON lines have it.

import { strings } from "../strings";
import type { Table } from "./table";
import { Refusal } from "./refusal";

const words = strings.list.texts.files;

/** Whether a text sets out to be JSON. */
export const mayBeJson = (text: string): boolean => /^\s*[[{]/.test(text);

/**
 * The table that JSON holds; undefined where the text is none.
 *
 * @throws Refusal it is JSON, but holds no list.
 */
export function jsonTable(name: string, text: string): Table | undefined {
  const whole = parsed(text);
  if (whole !== undefined) {
    const items = listIn(whole);
    if (!items) throw new Refusal(words.noList(name));
    return tableOf(items, []);
  }
  const lines = text.split("\n").map((line) => line.trim());
  const items = lines.map((line) => (line === "" ? undefined : parsed(line)));
  const bad = lines.flatMap((line, i) => (line !== "" && items[i] === undefined ? [i + 1] : []));
  const good = items.filter((item) => item !== undefined);
  // A few broken lines are a fault of the file; where most are, it is something else.
  if (bad.length >= good.length) return undefined;
  return tableOf(good, bad.length > 0 ? [words.badLines(bad[0] as number, bad.length)] : []);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A list, or the only list that lies in an object. */
function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== "object" || value === null) return undefined;
  const [list, ...more] = Object.values(value).filter(Array.isArray);
  return more.length === 0 ? list : undefined;
}

function tableOf(items: readonly unknown[], notices: readonly string[]): Table {
  const named = items.some((item) => isObject(item));
  const keys = [...new Set(items.flatMap((item) => (isObject(item) ? Object.keys(item) : [])))];
  const rows = items.map((item) =>
    isObject(item) ? keys.map((key) => cell(item[key])) : Array.isArray(item) ? item.map(cell) : [cell(item)],
  );
  // An array of arrays is a table like any other: its first row may be names.
  return { rows: named ? [keys, ...rows] : rows, notices, ...(items.some(Array.isArray) ? {} : { named }) };
}

const isObject = (item: unknown): item is Record<string, unknown> => typeof item === "object" && item !== null && !Array.isArray(item);

const cell = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
