// Twelve colours for groups, told apart on either page colour; shapes and numbers say the same without colour. And a scale of colours
// for numbers, from light to dark or dark to light, that stands out from the page throughout.

import type { Theme } from "../state/theme";

const colours: Record<Theme, readonly string[]> = {
  light: ["#0b6e4f", "#c2410c", "#1d5fd0", "#8a5a00", "#8e2fa8", "#00707f", "#b0235f", "#4d6600", "#5b4fd0", "#7a3e2b", "#3a6680", "#5f6763"],
  dark: ["#7ce0b3", "#ff9d7a", "#8fc2ff", "#f0c14b", "#dfa0f2", "#5fd4e6", "#ff9dc0", "#bfd95a", "#b9b4ff", "#dcab96", "#9cc5d9", "#bdc7c3"],
};
const shapes = ["circle", "triangle", "rect", "diamond"] as const;
export type Shape = (typeof shapes)[number];

/** What says nothing about the condition is of no group's colour. */
const none: Record<Theme, string> = { light: "#7b8783", dark: "#6c7b76" };
/** The least, the middle and the most of a scale. */
const scale: Record<Theme, readonly [string, string, string]> = {
  light: ["#b3860b", "#1b8a73", "#1a2f7a"],
  dark: ["#4a6fb5", "#35b79a", "#ffe58a"],
};

export const colourOf = (group: number, theme: Theme, unmentioned?: boolean): string =>
  unmentioned ? none[theme] : (colours[theme][group % colours[theme].length] as string);
export const shapeOf = (group: number): Shape => shapes[group % shapes.length] as Shape;

/** A colour of the scale, at a share from 0 to 1. */
export function scaleColour(share: number, theme: Theme): string {
  const [least, middle, most] = scale[theme];
  const [from, to, part] = share < 0.5 ? [least, middle, 2 * share] : [middle, most, 2 * share - 1];
  const channel = (at: number): string => {
    const [a, b] = [from, to].map((colour) => parseInt(colour.slice(at, at + 2), 16)) as [number, number];
    return Math.round(a + part * (b - a)).toString(16).padStart(2, "0");
  };
  return `#${channel(1)}${channel(3)}${channel(5)}`;
}
