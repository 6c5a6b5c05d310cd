// The figures of the model card, public/models/README.md: what the page says of its model is what the card says.

import type { Figures } from "./src/state/shipped";

/** The cells of the card's first table row that begins so, without their emphasis. */
function row(card: string, name: string): readonly string[] {
  const line = card.split("\n").find((each) => each.startsWith(`| ${name} |`));
  if (line === undefined) throw new Error(`The model card has no row "${name}", which the page takes a figure from: see www/card.ts.`);
  return line.split("|").slice(1, -1).map((cell) => cell.replaceAll("*", "").trim());
}

/** The number that a cell begins with. */
function number(cells: readonly string[], column: number): number {
  const found = Number(/^[\d,.]+/.exec(cells[column] ?? "")?.[0].replaceAll(",", ""));
  if (!Number.isFinite(found)) throw new Error(`The model card's row "${cells[0]}" has no number in column ${column + 1}: see www/card.ts.`);
  return found;
}

export function figuresOf(card: string): Figures {
  const file = row(card, "`caselens-csts-q4_0.gguf`");
  const all = row(card, "C-STS, all");
  const unseen = row(card, "condition never in the C-STS training file");
  return { megabytes: number(file, 1), spearman: number(all, 1), accuracy: number(all, 2), rows: number(all, 3), unseen: number(unseen, 1) };
}
