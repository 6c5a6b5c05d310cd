// Excel's workbooks, by read-excel-file, which is loaded when there is first one to read.

import { strings } from "../strings";
import type { Table } from "./table";
import { Refusal } from "./refusal";
import { unpackedBytes } from "./zip";

const words = strings.list.texts.files;

/** As much as a workbook may unpack to: its text in XML, and what else is in it. */
const mostUnpacked = 300e6;

/**
 * The first sheet of a workbook that holds anything.
 *
 * @throws Refusal it is another kind of zip file, damaged, or unpacks to more than a page can hold.
 */
export async function workbookTable(file: Blob, name: string): Promise<Table> {
  if ((await unpackedBytes(file)) > mostUnpacked) throw new Refusal(words.largeWorkbook(name, mostUnpacked));
  const { default: readSheets } = await import("read-excel-file/universal");
  const sheets = await readSheets(file).catch(() => {
    throw new Refusal(words.noWorkbook(name));
  });
  const filled = sheets.filter(({ data }) => data.some((row) => row.some((cell) => cell !== null)));
  const [first] = filled;
  return {
    rows: first?.data.map((row) => row.map(cellText)) ?? [],
    notices: first && filled.length > 1 ? [words.sheet(first.sheet, filled.length)] : [],
  };
}

const cellText = (value: unknown): string =>
  value === null || value === undefined ? "" : value instanceof Date ? value.toISOString().replace(/T00:00.*/, "") : String(value);
