// Numbers as people read them; their units are in strings.ts.

const minus = (text: string): string => text.replace("-", "−");

/** A cosine, or another number from −1 to 1, with two decimals; −0.00 is 0.00. */
export const cosine = (value: number): string => minus((Math.round(value * 100) / 100 + 0).toFixed(2));

/** What is shown of a similarity: less than nothing in common is nothing in common, as in the discs and bars. */
const shown = (value: number): number => Math.max(0, value);

/** A similarity from 0 to 1 with two decimals. */
export const similarity = (value: number): string => cosine(shown(value));

/** A rating from 1 to 5 with one decimal. */
export const rating = (value: number): string => value.toFixed(1);

interface Difference {
  readonly kind: "more" | "less" | "same";
  /** The size of the difference, two decimals, without its sign. */
  readonly size: string;
}

/** How a similarity compares with the unconditional one, counted in the two decimals that are shown. */
export function difference(value: number, unconditional: number): Difference {
  const hundredths = Math.round(shown(value) * 100) - Math.round(shown(unconditional) * 100);
  const size = (Math.abs(hundredths) / 100).toFixed(2);
  return { kind: hundredths > 0 ? "more" : hundredths < 0 ? "less" : "same", size };
}
