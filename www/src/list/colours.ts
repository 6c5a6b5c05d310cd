// Twelve colours for groups, told apart on either page colour; shapes and numbers say the same without colour.

import type { Theme } from "../state/theme";

const colours: Record<Theme, readonly string[]> = {
  light: ["#0b6e4f", "#c2410c", "#1d5fd0", "#8a5a00", "#8e2fa8", "#00707f", "#b0235f", "#4d6600", "#5b4fd0", "#7a3e2b", "#3a6680", "#5f6763"],
  dark: ["#7ce0b3", "#ff9d7a", "#8fc2ff", "#f0c14b", "#dfa0f2", "#5fd4e6", "#ff9dc0", "#bfd95a", "#b9b4ff", "#dcab96", "#9cc5d9", "#bdc7c3"],
};
const shapes = ["circle", "triangle", "rect", "rectRot"] as const;

/** What says nothing about the condition is of no group's colour. */
const none: Record<Theme, string> = { light: "#7b8783", dark: "#6c7b76" };

export const colourOf = (group: number, theme: Theme, unmentioned?: boolean): string =>
  unmentioned ? none[theme] : (colours[theme][group % colours[theme].length] as string);
export const shapeOf = (group: number): (typeof shapes)[number] => shapes[group % shapes.length] as (typeof shapes)[number];
