// Numbers as people read them.

const minus = (text: string): string => text.replace("-", "−");

/** A similarity with two decimals; −0.00 is 0.00. */
export const similarity = (value: number): string => minus((Math.round(value * 100) / 100 + 0).toFixed(2));

/** A rating from 1 to 5 with one decimal. */
export const rating = (value: number): string => value.toFixed(1);

export const percent = (share: number): string => `${Math.floor(share * 100)} %`;

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export const milliseconds = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

export interface Difference {
  readonly kind: "more" | "less" | "same";
  /** The size of the difference, two decimals, without its sign. */
  readonly size: string;
  readonly words: string;
}

/** How a similarity compares with the unconditional one, counted in the two decimals that are shown. */
export function difference(value: number, unconditional: number): Difference {
  const hundredths = Math.round(value * 100) - Math.round(unconditional * 100);
  const size = (Math.abs(hundredths) / 100).toFixed(2);
  if (hundredths > 0) return { kind: "more", size, words: `${size} more alike than without it` };
  if (hundredths < 0) return { kind: "less", size, words: `${size} less alike than without it` };
  return { kind: "same", size, words: "as alike as without it" };
}
