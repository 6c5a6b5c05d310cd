// Numbers as people read them in the page's language; their units are in strings/.

import { language } from "./language";

const minus = (text: string): string => text.replace("-", "−");

/** A number with this many decimals, its thousands not parted. */
export const fixed = (value: number, decimals: number): string =>
  minus(new Intl.NumberFormat(language, { minimumFractionDigits: decimals, maximumFractionDigits: decimals, useGrouping: false }).format(value));

/** How many there are; also a value as a table has it. */
export const count = (value: number): string => value.toLocaleString(language);

/** A share from 0 to 1 as a whole percentage. */
export const percent = (share: number): string => new Intl.NumberFormat(language, { style: "percent" }).format(share);

const and = new Intl.ListFormat(language);
/** “a, b and c”. */
export const listed = (items: readonly string[]): string => and.format(items);

/** A cosine, or another number from −1 to 1, with two decimals; −0.00 is 0.00. */
export const cosine = (value: number): string => fixed(Math.round(value * 100) / 100 + 0, 2);

/** What is shown of a similarity: less than nothing in common is nothing in common, as in the discs and bars. */
const shown = (value: number): number => Math.max(0, value);

/** A similarity from 0 to 1 with two decimals. */
export const similarity = (value: number): string => cosine(shown(value));

/** A rating from 1 to 5 with one decimal. */
export const rating = (value: number): string => fixed(value, 1);

interface Difference {
  readonly kind: "more" | "less" | "same";
  /** The size of the difference, two decimals, without its sign. */
  readonly size: string;
}

/** How a similarity compares with the unconditional one, counted in the two decimals that are shown. */
export function difference(value: number, unconditional: number): Difference {
  const hundredths = Math.round(shown(value) * 100) - Math.round(shown(unconditional) * 100);
  const size = fixed(Math.abs(hundredths) / 100, 2);
  return { kind: hundredths > 0 ? "more" : hundredths < 0 ? "less" : "same", size };
}
