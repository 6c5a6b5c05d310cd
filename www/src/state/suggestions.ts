// Conditions worth adding, found when nothing else is to be done: the comparison itself always goes first.

import { batch, computed, effect, signal } from "@preact/signals";
import type { CaseLens, Embeddings, Suggestion } from "caselens";
import { bothTyped, failure, paces, pending, slow, timeAgain } from "./answers";
import { encoder, lens } from "./engine";
import { filledConditions, sentences } from "./fields";
import { cosine } from "../vectors";
import { view } from "./route";

const pauseMs = 1000;
/** After how many milliseconds a device that was slow at first is timed once more, and with how many answers it has had its chance. */
const [againMs, chances] = [4000, 3];
/** How many suggestions are shown, and how many are asked for: some may be there in other words. */
const [shown, limit] = [8, 16];
/**
 * Two conditions ask the same where both sentences read nearly the same under either: the mean cosine of a sentence's two embeddings
 * is at least this. Measured on the twelve examples with what ships: of conditions in other words (“the place” and “the location”, “the
 * price” and “the cost”, “the gender of the people” and “of the person”) it is 0.93 and more, of a person and their age or gender, a sport and
 * an activity, an animal and its colour at most 0.90.
 */
const same = 0.92;

type Pair = readonly [string, string];

interface Suggested {
  /** The pair, and the encoder that was asked. */
  readonly key: string;
  readonly pair: Pair;
  readonly list: readonly Suggestion[];
  /** The two sentences under each suggestion, one pair of rows after the other. */
  readonly rows: Embeddings;
}

const suggested = signal<Suggested | undefined>(undefined);
/** By a condition that is there: the suggestions that ask the same in other words. */
const twins = signal<ReadonlyMap<string, ReadonlySet<string>>>(new Map());
const there = computed(() => filledConditions.value.map(({ text }) => text.trim()));

/** What is worth adding to the conditions that are there. */
export const worthAdding = computed((): readonly Suggestion[] => {
  const asked = there.value;
  const isAsked = (condition: string): boolean => asked.includes(condition) || asked.some((text) => twins.value.get(text)?.has(condition));
  return suggested.value?.list.filter(({ condition }) => !isAsked(condition)).slice(0, shown) ?? [];
});

/** Whether there are none because looking for them would take this device too long. */
export const leftOut = computed(() => slow.value === true && bothTyped.value && !suggested.value);

/** Whether there are none yet. */
export const looking = computed(() => lens.value !== undefined && bothTyped.value && !failure.value && !suggested.value && slow.value === false);

/** How often it failed for a pair. */
const failed = signal({ key: "", times: 0 });

const pairNow = (): Pair => [sentences[0].value, sentences[1].value];

const embedded = (by: CaseLens, pair: Pair, conditions: readonly string[], signal: AbortSignal): Promise<Embeddings> =>
  by.embed(
    conditions.flatMap((condition) => pair.map((sentence) => ({ sentence, condition }))),
    { signal },
  );

/** Which suggestions ask what these conditions ask. */
async function twinsAmong(by: CaseLens, { pair, list, rows }: Omit<Suggested, "key">, texts: readonly string[], signal: AbortSignal) {
  const own = await embedded(by, pair, texts, signal);
  const alike = (text: number, suggestion: number): number =>
    [0, 1].reduce((sum, place) => sum + cosine(own.row(2 * text + place), rows.row(2 * suggestion + place)), 0) / 2;
  return texts.map((text, t) => [text, new Set(list.flatMap(({ condition }, s) => (alike(t, s) >= same ? [condition] : [])))] as const);
}

async function look(by: CaseLens, pair: Pair, texts: readonly string[], signal: AbortSignal) {
  const list = await by.suggest(...pair, { limit, signal });
  const rows = await embedded(by, pair, list.map(({ condition }) => condition), signal);
  return { list, rows, found: await twinsAmong(by, { pair, list, rows }, texts, signal).catch(() => []) };
}

export function startSuggestions(): void {
  effect(() => {
    const [by, pair] = [lens.value, pairNow()];
    const key = JSON.stringify([...pair, encoder.value]);
    if (suggested.peek()?.key !== key) suggested.value = undefined;
    const busy = pending.value || failure.value !== undefined || view.value !== "compare";
    if (!by || busy || !bothTyped.value || suggested.peek() || slow.value !== false) return undefined;
    const times = failed.value.key === key ? failed.value.times : 0;
    const own = new AbortController();
    const timer = setTimeout(() => {
      look(by, pair, there.peek(), own.signal).then(
        ({ list, rows, found }) => {
          if (own.signal.aborted) return;
          batch(() => {
            twins.value = new Map(found);
            suggested.value = { key, pair, list, rows };
          });
        },
        () => {
          // A page without suggestions is a whole page: it is tried again, ever less often.
          if (!own.signal.aborted) failed.value = { key, times: times + 1 };
        },
      );
    }, pauseMs * 4 ** times);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  });
  // What was busy when the first answer was awaited need not be busy now.
  effect(() => {
    const [by, pair, condition] = [lens.value, pairNow(), there.value[0]];
    const idle = !pending.value && !failure.value && bothTyped.value && view.value === "compare";
    if (!by || !idle || condition === undefined || slow.value !== true || paces.value.length >= chances) return undefined;
    const own = new AbortController();
    const timer = setTimeout(() => void timeAgain(by, pair, condition, own.signal).catch(() => {}), againMs);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  });
  // Conditions that come later.
  effect(() => {
    const [by, now] = [lens.value, suggested.value];
    const texts = there.value.filter((text) => !twins.peek().has(text));
    if (!by || !now || pending.value || texts.length === 0) return undefined;
    const own = new AbortController();
    twinsAmong(by, now, texts, own.signal).then(
      (found) => {
        if (!own.signal.aborted) twins.value = new Map([...twins.peek(), ...found]);
      },
      () => {}, // they are offered all the same
    );
    return () => own.abort();
  });
}
