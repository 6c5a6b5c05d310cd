// A sentence cut into its words, each with the share of the condition's attention that it gets.

import type { Reading } from "caselens";

/** A word, or what lies between words; end to end they are the sentence. */
export interface WordPiece {
  readonly text: string;
  /** The word's part, 0 to 1, of what the condition's tokens give to the sentence; undefined between words. */
  readonly share: number | undefined;
}

export interface Attended {
  readonly pieces: readonly WordPiece[];
  /** The part of all attention that goes to the sentence, 0 to 1: the rest stays with the condition and the special tokens. */
  readonly toSentence: number;
  readonly largest: number;
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);

/** A word by its place in the sentence, and what it is given. */
interface Weighed {
  readonly start: number;
  readonly end: number;
  readonly weight: number;
}

/** The sentence cut into these words and what lies between them. */
export function weighed(sentence: string, words: readonly Weighed[]): Attended {
  const toSentence = words.reduce((sum, { weight }) => sum + weight, 0);
  const pieces: WordPiece[] = [];
  let at = 0;
  for (const { start, end, weight } of [...words].sort((a, b) => a.start - b.start)) {
    if (start > at) pieces.push({ text: sentence.slice(at, start), share: undefined });
    pieces.push({ text: sentence.slice(Math.max(at, start), end), share: toSentence > 0 ? weight / toSentence : 0 });
    at = Math.max(at, end);
  }
  if (at < sentence.length) pieces.push({ text: sentence.slice(at), share: undefined });
  return { pieces, toSentence, largest: Math.max(0, ...pieces.map(({ share }) => share ?? 0)) };
}

/** Averaged over the condition's tokens and, where the model reads the two in both orders, over these. */
export function attended(sentence: string, readings: readonly Reading[], layer: number): Attended {
  const words = new Map<number, { start: number; end: number; weights: number[] }>();
  for (const { tokens, attention } of readings) {
    const rows = attention[layer] ?? [];
    tokens.forEach(({ part, word, start, end }, at) => {
      if (part !== "sentence" || word === undefined) return;
      const weight = mean(rows.map((row) => row[at] ?? 0)) / readings.length;
      const known = words.get(word);
      words.set(word, {
        start: Math.min(start, known?.start ?? start),
        end: Math.max(end, known?.end ?? end),
        weights: [...(known?.weights ?? []), weight],
      });
    });
  }
  return weighed(
    sentence,
    [...words.values()].map(({ start, end, weights }) => ({ start, end, weight: weights.reduce((sum, weight) => sum + weight, 0) })),
  );
}
