// Where the condition in the lens looks: the model's last layer, told for the words of both sentences.
//
// Asked for once the answers are there, so that it never delays one; stale work is aborted, and what was
// explained before is kept as long as the sentences stay.

import { computed, effect, signal } from "@preact/signals";
import type { CaseLens } from "caselens";
import { attended, type Attended } from "../how/words";
import { answers, pending } from "./answers";
import { lens } from "./engine";
import { conditions, sentences } from "./fields";
import { inLens } from "./focus";
import { view } from "./route";

export interface Look {
  readonly condition: string;
  readonly sentences: readonly [string, string];
  readonly attended: readonly [Attended, Attended];
}

const pauseMs = 60;

/** What is known about the current lens and sentences, by the condition's text. */
const known = signal<{ readonly lens: CaseLens; readonly pair: string; readonly looks: ReadonlyMap<string, Look> } | undefined>(
  undefined,
);

/** The condition in the lens, once it has an answer that fits what is typed. */
const wanted = computed(() => {
  const id = inLens.value;
  const answer = id === undefined ? undefined : answers.value.get(id);
  const text = conditions.value.find((one) => one.id === id)?.text;
  const fits = answer !== undefined && "comparison" in answer && answer.comparison.condition === text;
  return fits && !pending.value && view.value === "compare" ? text : undefined;
});

const pair = computed(() => JSON.stringify(sentences.map((sentence) => sentence.value)));

/** Where the condition in the lens looks, as soon as it is known. */
export const look = computed(() => {
  const text = wanted.value;
  const now = known.value;
  return text !== undefined && now?.lens === lens.value && now?.pair === pair.value ? now?.looks.get(text) : undefined;
});

async function ask(by: CaseLens, text: string, signal: AbortSignal): Promise<void> {
  const both = [sentences[0].peek(), sentences[1].peek()] as const;
  const key = pair.peek();
  try {
    const { readings } = await by.explain(...both, text, { signal });
    const layer = (readings[0][0]?.attention.length ?? 1) - 1;
    const found: Look = {
      condition: text,
      sentences: both,
      attended: [attended(both[0], readings[0], layer), attended(both[1], readings[1], layer)],
    };
    const old = known.peek();
    const kept = old?.lens === by && old.pair === key ? old.looks : [];
    known.value = { lens: by, pair: key, looks: new Map([...kept, [text, found]]) };
  } catch {
    // The answer stands without it; whatever is wrong with the lens, the next answer says.
  }
}

export function startAttention(): void {
  effect(() => {
    const [by, text] = [lens.value, wanted.value];
    if (!by || text === undefined || look.value) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => void ask(by, text, abort.signal), pauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  });
}
