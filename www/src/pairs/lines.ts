// Texts that are drawn, in lines: where they end, and from which side they are read.

import { language } from "../language";

/** Lines of one text at most: the rest of a longer one is left out. */
const maxLines = 24;

/** Where lines may end: words in the page's language, which Japanese has no spaces between; letters where a word alone is too wide. */
const words = new Intl.Segmenter(language, { granularity: "word" });
const letters = new Intl.Segmenter(language);

/** A text in lines no wider than `most`, by what measures a line's width. */
export function linesOf(text: string, most: number, widthOf: (line: string) => number): readonly string[] {
  const fits = (line: string): boolean => widthOf(line.trimEnd()) <= most;
  const lines: string[] = [];
  for (const paragraph of text.trim().split(/\s*\n\s*/)) {
    let line = "";
    for (const { segment } of words.segment(paragraph)) {
      if (lines.length > maxLines) break;
      for (const part of fits(segment) ? [segment] : Array.from(letters.segment(segment), (letter) => letter.segment)) {
        if (line === "" || fits(line + part)) line += part;
        else {
          lines.push(line.trimEnd());
          line = part.trimStart();
        }
      }
    }
    lines.push(line.trimEnd());
  }
  return lines.length > maxLines ? [...lines.slice(0, maxLines - 1), `${lines[maxLines - 1]} …`] : lines;
}

const fromTheRight = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Whether a text is read from right to left, by its first letter, as `dir="auto"` has it. */
export const isRightToLeft = (text: string): boolean => fromTheRight.test(text);
