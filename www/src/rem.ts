/** Pixels of a rem now: what is drawn on a canvas grows with the page's letters. */
export const rem = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize);
