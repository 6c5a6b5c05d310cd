// What charts of different views have in common.

/** Pixels of a rem now: what is drawn on a canvas grows with the page's letters. */
export const rem = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize);

/** An axis of a chart that nobody sees. Its ticks are said apart: hidden with their axis they are made and measured all the same. */
export const unseen = { display: false, ticks: { display: false, callback: () => "" } };
