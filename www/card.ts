// The figures of the model card, public/models/README.md: what the page says of its encoders is what the card says.

import type { Figures } from "./src/state/encoders";

/** The cells of the card's first table row that begins so, without their emphasis. */
function row(card: string, name: string): readonly string[] {
  const line = card.split("\n").find((each) => each.startsWith(`| ${name} |`));
  if (line === undefined) throw new Error(`The model card has no row "${name}", which the page takes figures from: see www/card.ts.`);
  return line.split("|").slice(1, -1).map((cell) => cell.replaceAll("*", "").trim());
}

/** The number that a cell begins with. */
function number(cells: readonly string[], column: number): number {
  const found = Number(/^[\d,.]+/.exec(cells[column] ?? "")?.[0].replaceAll(",", ""));
  if (!Number.isFinite(found)) throw new Error(`The model card's row "${cells[0]}" has no number in column ${column + 1}: see www/card.ts.`);
  return found;
}

/** Of the card's table of what the page offers: the row of this encoder. */
export function figuresOf(card: string, encoder: string): Figures {
  const cells = row(card, `\`${encoder}\``);
  const [megabytes, spearman, accuracy, unseen, rows] = [2, 3, 4, 5, 6].map((column) => number(cells, column)) as [number, number, number, number, number];
  return { megabytes, spearman, accuracy, unseen, rows };
}
