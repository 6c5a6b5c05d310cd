// Where the conditions look: the model's last layer, told for the words of both sentences.
//
// Asked for once the answers are there, so that it never delays one: first for the condition in the lens, then, unless
// the device is slow, for the others, so that a screen reader finds each field described. Stale work is aborted, and
// what was explained before is kept as long as the sentences stay.

import { computed, effect, signal } from "@preact/signals";
import type { CaseLens } from "caselens";
import { answers, comparisonOf, pending, slow } from "./answers";
import { lens } from "./engine";
import { conditions, sentences } from "./fields";
import { inLens } from "./focus";
import { view } from "./route";
import { attended, type Attended } from "./words";

/** The words of both sentences, each with its share. */
type Look = readonly [Attended, Attended];

/** Whether a piece is more than a punctuation mark. */
export const isWord = (text: string): boolean => !/^\p{P}+$/u.test(text);

const pauseMs = 60;

/** By the condition's text; undefined where it could not be told. */
type Looks = ReadonlyMap<string, Look | undefined>;
const none: Looks = new Map();

/** What is known about a lens and two sentences. */
const known = signal<{ readonly lens: CaseLens; readonly pair: string; readonly looks: Looks } | undefined>(undefined);

const pair = computed(() => JSON.stringify(sentences.map((sentence) => sentence.value)));

/** What is known about those there are now. */
const looks = computed(() => (known.value?.lens === lens.value && known.value?.pair === pair.value ? known.value.looks : none));

/** The conditions that have an answer that fits what is typed, the one in the lens first. */
const answered = computed(() => {
  if (pending.value || view.value !== "compare") return [];
  const fits = conditions.value.filter(({ id, text }) => comparisonOf(answers.value.get(id))?.condition === text);
  return fits.sort((a, b) => Number(b.id === inLens.value) - Number(a.id === inLens.value));
});

/** Where a condition looks, as soon as it is known. */
export const lookOf = (id: number | undefined): Look | undefined => {
  const text = answered.value.find((one) => one.id === id)?.text;
  return text === undefined ? undefined : looks.value.get(text);
};

async function explain(by: CaseLens, text: string, signal: AbortSignal): Promise<Look | undefined> {
  const both = [sentences[0].peek(), sentences[1].peek()] as const;
  try {
    const { readings } = await by.explain(...both, text, { signal });
    const layer = (readings[0][0]?.attention.length ?? 1) - 1;
    return [attended(both[0], readings[0], layer), attended(both[1], readings[1], layer)];
  } catch {
    return undefined; // the answer stands without it; whatever is wrong with the lens, the next answer says
  }
}

async function learn(by: CaseLens, text: string, signal: AbortSignal): Promise<void> {
  const look = await explain(by, text, signal);
  if (!signal.aborted) known.value = { lens: by, pair: pair.peek(), looks: new Map([...looks.peek(), [text, look]]) };
}

export function startAttention(): void {
  effect(() => {
    const by = lens.value;
    const next = answered.value.find(({ id, text }) => !looks.value.has(text) && (id === inLens.value || !slow.value))?.text;
    if (!by || next === undefined) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => void learn(by, next, abort.signal), pauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  });
}
