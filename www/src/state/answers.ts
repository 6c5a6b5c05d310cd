// The model's answers to what is typed, kept up to date while one types.
//
// Work that has gone stale is aborted, an answer is shown only if nothing newer was asked, and the last
// answers stay in place until new ones arrive. Only conditions without an answer are computed.

import { computed, effect, signal, untracked } from "@preact/signals";
import type { CaseLens, CompareOptions, Comparison } from "caselens";
import { encoder, lens, noteDevice, overcome } from "./engine";
import { fields, filledConditions, isBlank, sentences } from "./fields";
import { asProblem, isAboutInput, isAbort, type Problem } from "./problem";
import { type StoredAnswer, storedFor } from "./stored";

export type Answer = { readonly comparison: Comparison } | StoredAnswer | { readonly problem: Problem };

/** Two sentences. */
type Pair = readonly [string, string];

const pauseMs = 150;
/** Where a condition takes longer than this, in milliseconds, a device is slow: suggesting takes some thirty. */
const slowMs = 500;
/** How many of the last answers tell how fast a device is. */
const recent = 5;

/** Answers by the condition's identity; those of edited conditions stay until they are replaced. */
export const answers = signal<ReadonlyMap<number, Answer>>(new Map());
export const pending = signal(false);
/** Whether the answers are an example's that were computed beforehand: until the lens has its own, or something else is typed. */
export const stored = signal(false);
/** Whether the answers are not those to what is typed. */
export const stale = computed(() => pending.value && !stored.value);
export const failure = signal<Problem | undefined>(undefined);
/** How long the last answer took, in milliseconds, and for how many conditions. */
export const lastTime = signal<{ readonly ms: number; readonly conditions: number } | undefined>(undefined);
/** Milliseconds a condition that the lens's last answers took, oldest first. */
export const paces = signal<readonly number[]>([]);
/**
 * Whether the device takes too long to compute what nobody has asked for, by the best of its last answers: what else it was busy with
 * meanwhile makes an answer slow, and nothing makes one fast. Undefined before the first answer.
 */
export const slow = computed(() => (paces.value.length === 0 ? undefined : Math.min(...paces.value) > slowMs));

/** Takes note of how long an answer under so many conditions took. */
function time(ms: number, conditions: number): void {
  lastTime.value = { ms, conditions };
  paces.value = [...paces.value, ms / conditions].slice(-recent);
}

/** Asks the lens once more what it has answered, to see how long that takes now. */
export async function timeAgain(by: CaseLens, pair: Pair, condition: string, signal: AbortSignal): Promise<void> {
  const started = performance.now();
  await by.compare(...pair, [condition], { signal });
  if (!signal.aborted && lens.peek() === by) paces.value = [...paces.value, performance.now() - started].slice(-recent);
}
/** The similarity of the two sentences without a condition. */
export const unconditional = signal<number | undefined>(undefined);

export const bothTyped = computed(() => sentences.every((sentence) => !isBlank(sentence.value)));

/** What is known about the current lens and sentences, by the condition's text. */
interface Known {
  readonly lens: CaseLens;
  readonly pair: string;
  readonly answers: Map<string, Answer>;
}

let known: Known | undefined;
let running: AbortController | undefined;

/** What an answer says, where it says something. */
export const comparisonOf = (answer: Answer | undefined): Comparison | undefined =>
  answer && "comparison" in answer ? answer.comparison : undefined;

/** An answer for each condition. Where a text is to blame they are asked for one by one, so that the others get theirs. */
export async function ask(by: CaseLens, pair: Pair, conditions: readonly string[], options: CompareOptions): Promise<Answer[]> {
  try {
    const comparisons = await by.compare(...pair, conditions, options);
    return comparisons.map((comparison) => ({ comparison }));
  } catch (error) {
    const problem = asProblem(error);
    if (!isAboutInput(problem)) throw error;
    if (conditions.length === 1) return [{ problem }];
    const each: Answer[] = [];
    for (const condition of conditions) each.push(...(await ask(by, pair, [condition], options)));
    return each;
  }
}

/** What is wrong with the sentences where none of several conditions works: one that is to blame fails without them too. */
async function blame(by: CaseLens, pair: Pair, found: readonly Answer[], signal: AbortSignal): Promise<Problem | undefined> {
  if (found.length < 2 || found.some(comparisonOf)) return undefined;
  try {
    await by.embed(pair, { signal });
    return undefined;
  } catch (error) {
    const problem = asProblem(error);
    if (!isAboutInput(problem)) throw error;
    return problem;
  }
}

async function update(by: CaseLens, own: AbortController): Promise<void> {
  const pair = [sentences[0].peek(), sentences[1].peek()] as const;
  const wanted = filledConditions.peek();
  const key = JSON.stringify(pair);
  const usable = known?.lens === by && known.pair === key ? known.answers : new Map<string, Answer>();
  const missing = [...new Set(wanted.map(({ text }) => text))].filter((text) => !usable.has(text));
  try {
    const started = performance.now();
    const fresh = missing.length > 0 ? await ask(by, pair, missing, { attention: true, signal: own.signal }) : [];
    const blamed = await blame(by, pair, fresh, own.signal);
    if (running !== own) return;
    if (blamed) {
      forget();
      failure.value = blamed;
      return;
    }
    if (missing.length > 0) time(performance.now() - started, missing.length);
    noteDevice();
    missing.forEach((text, index) => {
      const answer = fresh[index];
      if (answer) usable.set(text, answer);
    });
    known = { lens: by, pair: key, answers: usable };
    stored.value = false;
    answers.value = new Map(
      wanted.flatMap(({ id, text }) => {
        const answer = usable.get(text);
        return answer ? [[id, answer] as const] : [];
      }),
    );
    unconditional.value = [...usable.values()].map(comparisonOf).find((found) => found)?.unconditional;
    failure.value = undefined;
    pending.value = false;
  } catch (error) {
    if (running !== own || isAbort(error)) return;
    pending.value = false;
    const problem = overcome(error, by);
    if (problem && isAboutInput(problem)) forget();
    if (problem) failure.value = problem;
  }
}

/** Nothing can be compared: takes back what stands there. */
function forget(): void {
  answers.value = new Map();
  stored.value = false;
  unconditional.value = undefined;
  failure.value = undefined;
  pending.value = false;
}

/** Shows what was computed beforehand, where that is of what is typed and nothing newer is there; takes it back where it is not. */
function showStored(): boolean {
  const now = fields.peek();
  const own = encoder.peek() === "small" && known?.pair !== JSON.stringify(now.sentences) ? storedFor(now) : undefined;
  if (own) {
    answers.value = new Map(filledConditions.peek().flatMap(({ id }, at) => (own[at] ? [[id, own[at]] as const] : [])));
    unconditional.value = own[0]?.comparison.unconditional;
    failure.value = undefined;
    pending.value = false;
    stored.value = true;
  } else if (stored.peek()) forget();
  return own !== undefined;
}

/** Asks again for what is typed, after `delay` milliseconds without another change. */
function schedule(delay: number): (() => void) | undefined {
  running?.abort();
  running = undefined;
  const by = lens.peek();
  if (!bothTyped.peek() || filledConditions.peek().length === 0) {
    forget();
    return undefined;
  }
  if (!by) {
    if (!showStored()) pending.value = answers.peek().size > 0;
    return undefined;
  }
  const own = new AbortController();
  running = own;
  pending.value = true;
  const timer = setTimeout(() => void update(by, own), delay);
  return () => clearTimeout(timer);
}

export const askAgain = (): void => void schedule(0);

export function startAnswers(): void {
  let asked: CaseLens | undefined;
  effect(() => {
    const by = lens.value;
    encoder.value;
    sentences.forEach((sentence) => sentence.value);
    filledConditions.value;
    const delay = by === asked ? pauseMs : 0;
    if (by !== asked) [lastTime.value, paces.value] = [undefined, []]; // they were another device's
    asked = by;
    return untracked(() => schedule(delay));
  });
}
