// By what the map is coloured: the groups, or a column of the table that was opened.

/** Values of a column, a text each: names of which there are few, or numbers. */
export type Colouring =
  | { readonly kind: "category"; readonly values: readonly string[]; /** −1 where there is none. */ readonly of: Int16Array }
  | { readonly kind: "number"; readonly least: number; readonly most: number; /** NaN where there is none. */ readonly of: Float64Array };

/** Names that are told apart by colour. */
export const mostCategories = 12;
/** Share of the cells that are numbers, in a column of numbers. */
const nearlyAll = 0.9;
/** Steps of the scale of numbers. */
export const scaleSteps = 9;

/** A cell as a number, with a comma or a point before its decimals, and a currency or percent sign around it; NaN for another text. */
export function numberIn(cell: string): number {
  const bare = cell.replace(/[\s$€£¥%\u00a0']/g, "").replace("−", "-");
  if (!/^[-+]?[\d.,]+(e[-+]?\d+)?$/i.test(bare) || !/\d/.test(bare)) return NaN;
  const [point, comma] = [bare.lastIndexOf("."), bare.lastIndexOf(",")];
  // What stands last parts the decimals; three digits after a lone comma are thousands.
  const plain =
    comma > point && !(point < 0 && /^[-+]?\d{1,3}(,\d{3})+$/.test(bare)) ? bare.replaceAll(".", "").replace(",", ".") : bare.replaceAll(",", "");
  return Number(plain);
}

/** How a column can be shown in colours; undefined where it cannot. */
export function colouringOf(cells: readonly string[]): Colouring | undefined {
  const counts = new Map<string, number>();
  for (const cell of cells) if (cell !== "") counts.set(cell, (counts.get(cell) ?? 0) + 1);
  if (counts.size < 2) return undefined;
  const numbers = Float64Array.from(cells, numberIn);
  const filled = cells.reduce((sum, cell) => sum + Number(cell !== ""), 0);
  let [least, most, numeric] = [Infinity, -Infinity, 0];
  for (const value of numbers) {
    if (Number.isNaN(value)) continue;
    numeric++;
    [least, most] = [Math.min(least, value), Math.max(most, value)];
  }
  // Two numbers are names of two things.
  if (counts.size > 2 && numeric >= nearlyAll * filled && most > least) return { kind: "number", least, most, of: numbers };
  if (counts.size > mostCategories) return undefined;
  const values = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([value]) => value);
  const places = new Map(values.map((value, i) => [value, i]));
  return { kind: "category", values, of: Int16Array.from(cells, (cell) => places.get(cell) ?? -1) };
}

/** The step of the scale, from 0, of a number; −1 of none. */
export const stepOf = (value: number, least: number, most: number): number =>
  Number.isNaN(value) ? -1 : Math.min(scaleSteps - 1, Math.floor(((value - least) / (most - least)) * scaleSteps));
