// What the view “How it works” shows: which condition, which switches, which step; and the model's explanation.
//
// Work that has gone stale is aborted. The last explanation stays in place until a new one arrives, or the reason why none can.

import { batch, computed, effect, signal, untracked } from "@preact/signals";
import type { CaseLens, Explanation, TokenPooling } from "caselens";
import { bothTyped } from "../state/answers";
import { lens, noteDevice, overcome } from "../state/engine";
import { fields } from "../state/fields";
import { isAbort, type Problem } from "../state/problem";
import { view } from "../state/route";

/** Steps done otherwise than the model does them; what is absent stays as the model has it. */
export interface Switches {
  /** False leaves the condition out, and with it all that follows from it. */
  readonly condition: boolean;
  readonly subtract?: boolean;
  readonly pooling?: TokenPooling;
  readonly head?: boolean;
}

export const steps = ["question", "tokens", "attention", "embedding", "subtraction", "head", "cosine"] as const;
export type StepId = (typeof steps)[number];

export const noSwitches: Switches = { condition: true };
export const switches = signal<Switches>(noSwitches);
/** The place of the explained condition among those that are filled in. */
export const chosen = signal(0);
/** The layer whose attention is shown, from 0; undefined for the last. */
export const layer = signal<number | undefined>(undefined);
/** The open lesson's place among the lessons. */
export const lesson = signal<number | undefined>(undefined);
export const step = signal<StepId>("question");
export const presenting = signal(false);

export const condition = computed(() => {
  const { conditions } = fields.value;
  return conditions[Math.min(chosen.value, conditions.length - 1)];
});

export const touched = computed(() => {
  const { condition, ...others } = switches.value;
  return !condition || Object.keys(others).length > 0;
});

export interface Explained {
  readonly by: CaseLens;
  readonly sentences: readonly [string, string];
  /** As switched. */
  readonly now: Explanation;
  /** As the model does it. */
  readonly own: Explanation;
  /** Of either sentence, a language that the model was not trained on. */
  readonly languages: readonly [string | null, string | null];
}

export const explained = signal<Explained | undefined>(undefined);
/** How many layers the encoder has, and the one whose attention is shown, from 0. */
export const layers = computed(() => explained.value?.own.readings[0][0]?.attention.length ?? 0);
export const shownLayer = computed(() => Math.min(layer.value ?? layers.value - 1, layers.value - 1));
export const waiting = signal(false);
export const problem = signal<Problem | undefined>(undefined);

const pauseMs = 150;

function show(found: Explained | undefined, reason?: Problem): void {
  batch(() => {
    explained.value = found;
    problem.value = reason;
    waiting.value = false;
  });
}

const attempt = signal(0);
/** Tries once more what has failed. */
export const explainAgain = (): void => void (attempt.value += 1);

async function update(by: CaseLens, abort: AbortController): Promise<void> {
  const { sentences } = fields.peek();
  const text = condition.peek();
  const { condition: on, ...options } = switches.peek();
  try {
    const own = await by.explain(...sentences, text, { signal: abort.signal });
    const now = touched.peek()
      ? await by.explain(...sentences, on ? text : undefined, { ...options, signal: abort.signal })
      : own;
    const [first = null, second = null] = await by.languages(sentences);
    if (abort.signal.aborted) return;
    noteDevice();
    show({ by, sentences, now, own, languages: [first, second] });
  } catch (error) {
    if (abort.signal.aborted || isAbort(error)) return;
    const found = overcome(error, by);
    if (found) show(undefined, found);
  }
}

function schedule(by: CaseLens | undefined, delay: number): (() => void) | undefined {
  if (!bothTyped.peek() || condition.peek() === undefined) {
    show(undefined);
    return undefined;
  }
  waiting.value = true;
  if (!by) return undefined;
  const abort = new AbortController();
  const timer = setTimeout(() => void update(by, abort), delay);
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}

export function startHow(): void {
  let asked: CaseLens | undefined;
  effect(() => {
    if (view.value !== "how") return undefined;
    const by = lens.value;
    fields.value.sentences.forEach(String);
    condition.value;
    switches.value;
    attempt.value;
    const delay = by === asked ? pauseMs : 0;
    asked = by;
    return untracked(() => schedule(by, delay));
  });
}

/** The steps that are presented: those that are taken, by the model or as switched, and the one that is shown. */
export const presented = computed((): readonly StepId[] => {
  const { own, now } = explained.value ?? {};
  const taken = { subtraction: own?.usual.subtract || now?.recipe?.subtract, head: own?.usual.head };
  return steps.filter((id) => id === step.value || !(id === "subtraction" || id === "head") || taken[id]);
});

/** Goes so many steps on, or back; stays at either end. */
export function go(by: number): void {
  const at = presented.value.indexOf(step.value) + by;
  step.value = presented.value[Math.min(presented.value.length - 1, Math.max(0, at))] ?? "question";
}
