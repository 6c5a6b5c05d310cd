// Where every token looks, by each attention head of the layer that is shown: which sentence, head and token are looked at, and
// what the model has there.
//
// It is read while that part of the view is open, of what the steps show. Work that has gone stale is aborted.

import { batch, computed, signal } from "@preact/signals";
import type { AttentionHeads } from "caselens";
import { lens, noteDevice, overcome } from "../state/engine";
import { isAbort, type Problem } from "../state/problem";
import { type Explained, explained, shownLayer } from "./state";
import { watch } from "./watch";

/** Whose tokens are looked at. */
export const which = signal<0 | 1>(0);
/** The head that is looked at closely, from 0. */
export const head = signal<number | undefined>(undefined);
/** The token whose looks are told, from 0; undefined for all. */
export const looking = signal<number | undefined>(undefined);

export const seen = signal<AttentionHeads | undefined>(undefined);
export const waiting = signal(false);
export const problem = signal<Problem | undefined>(undefined);

/** The tokens by name: those that are written alike are numbered. */
export const names = computed((): readonly string[] => {
  const texts = seen.value?.tokens.map(({ text }) => text) ?? [];
  const alike = (text: string, among: readonly string[]): number => among.filter((other) => other === text).length;
  return texts.map((text, at) => (alike(text, texts) > 1 ? `${text} (${alike(text, texts.slice(0, at + 1))})` : text));
});

/** What one token gives to another, 0 to 1. */
export interface Look {
  readonly from: number;
  readonly to: number;
  readonly share: number;
}

/** A head's shares, `[tokens, tokens]`: a row a token that looks. */
export function sharesOf({ tokens: { length }, shares }: AttentionHeads, head: number): Float32Array {
  return shares.subarray(head * length * length, (head + 1) * length * length);
}

/** Where a token looks by a head. */
export function looks(seen: AttentionHeads, head: number, from: number): Look[] {
  const { length } = seen.tokens;
  return Array.from(sharesOf(seen, head).subarray(from * length, (from + 1) * length), (share, to) => ({ from, to, share }));
}

/** Of some looks the one that takes the largest share. */
export const largest = (looks: readonly Look[]): Look => looks.reduce((largest, look) => (look.share > largest.share ? look : largest));

/** Where each token looks most by a head. */
export const most = (seen: AttentionHeads, head: number): Look[] => seen.tokens.map((_, from) => largest(looks(seen, head, from)));

function show(found: AttentionHeads | undefined, reason?: Problem): void {
  const before = seen.peek()?.tokens;
  const same = found?.tokens.length === before?.length && found?.tokens.every(({ text }, at) => text === before?.[at]?.text);
  batch(() => {
    if (!same) looking.value = undefined;
    if (found && (head.peek() ?? 0) >= found.heads) head.value = undefined;
    seen.value = found;
    problem.value = reason;
    waiting.value = false;
  });
}

async function update({ by, sentences, now }: Explained, which: 0 | 1, layer: number, signal: AbortSignal): Promise<void> {
  try {
    const found = await by.attention(sentences[which], now.condition ?? undefined, { layer, signal });
    noteDevice();
    show(found);
  } catch (error) {
    if (signal.aborted || isAbort(error)) return;
    show(undefined, overcome(error, by));
  }
}

const attempt = signal(0);
/** Tries once more what has failed. */
export const readAgain = (): void => void (attempt.value += 1);

/** Keeps the heads up to date while they are looked at. */
export const startHeads = (): (() => void) =>
  watch((signal) => {
    const result = explained.value;
    attempt.value;
    // Another encoder may have other layers: its own explanation is on its way.
    if (!result || result.by !== lens.value) return;
    waiting.value = true;
    void update(result, which.value, shownLayer.value, signal);
  });
