/** An axis of a chart that nobody sees. Its ticks are said apart: hidden with their axis they are made and measured all the same. */
export const unseen = { display: false, ticks: { display: false, callback: () => "" } };
