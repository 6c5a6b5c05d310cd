// Reads a file, whatever it is called, as a table.

import { strings } from "../strings";
import { type Table, tidy } from "./table";
import { decode } from "./decode";
import { delimitedTable } from "./delimited";
import { jsonTable, mayBeJson } from "./json";
import { kindOf, withoutControls } from "./kind";
import { Refusal } from "./refusal";
import { spreadOver } from "./spread";
import { workbookTable } from "./workbook";

const words = strings.list.texts.files;

/** As much of a text file as is read, so that a page does not stand still for long, or run out of memory. */
export const maxBytes = 50e6;

/**
 * @throws Refusal the file holds no texts that are read here; DOMException it cannot be read at all; TypeError a reader cannot be loaded.
 */
export async function readTable(file: File): Promise<Table> {
  const { name } = file;
  const start = new Uint8Array(await file.slice(0, 8).arrayBuffer());
  const kind = kindOf(start);
  if (kind === "office") throw new Refusal(words.oldOffice(name));
  if (kind === "other") throw new Refusal(words.noText(name));
  const table = kind === "zip" ? await workbookTable(file, name) : await textTable(file);
  const rows = tidy(table.rows);
  if (rows.length === 0) throw new Refusal(words.empty(name));
  return { ...table, rows };
}

async function textTable(file: File): Promise<Table> {
  const { name } = file;
  const spread = file.size > maxBytes ? await spreadOver(file, maxBytes) : undefined;
  const whole = file.size <= maxBytes || spread !== undefined;
  const decoded = decode(spread ?? new Uint8Array(await file.slice(0, maxBytes).arrayBuffer()), whole);
  const text = withoutControls(decoded.text, decoded.encoding);
  if (text === undefined) throw new Refusal(words.noText(name));
  // The last line of a beginning is not all there.
  const read = whole ? text : text.slice(0, Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r"), 0));
  const notices = [
    ...(decoded.encoding === "windows-1252" ? [words.windows1252] : []),
    ...(decoded.damaged > 0 ? [words.damaged(decoded.damaged)] : []),
    ...(spread ? [words.spread(spread.length, file.size)] : whole ? [] : [words.unread(maxBytes)]),
  ];
  const isJson = /\.(json|jsonl|ndjson)$/i.test(name);
  const json = isJson || mayBeJson(read) ? jsonTable(name, read) : undefined;
  if (!json && isJson && read.trim() !== "") throw new Refusal(words.noJson(name));
  const table = json ?? (await delimitedTable(read, /\.(csv|tsv|tab)$/i.test(name) || file.type === "text/csv", whole));
  return { ...table, notices: [...notices, ...table.notices] };
}
