// The numbers of the encoder that ships beside those of CASE, for the same pair and condition: loaded when they are asked for, let go of
// when nobody looks at them any more.

import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { CaseLens, type Explanation, type Progress } from "caselens";
import { filesOf, lookForKept } from "../state/encoders";
import { encoder, lens, movedToCpu, chosenDevice } from "../state/engine";
import { asProblem, isAbort, type Problem } from "../state/problem";
import { view } from "../state/route";
import { explained } from "./state";

/** Whether the answering encoder is one that the other can stand beside. */
export const canStandBeside = computed(() => view.value === "how" && encoder.value === "case" && lens.value !== undefined);

/** Whether it was asked for. */
export const wanted = signal(false);
export const progress = signal<Progress | undefined>(undefined);
export const problem = signal<Problem | undefined>(undefined);
const other = signal<CaseLens | undefined>(undefined);

/** What the one that ships says of what CASE has explained. */
interface Beside {
  readonly of: Explanation;
  readonly explanation: Explanation;
}
const found = signal<Beside | undefined>(undefined);
/** Undefined until it is there for what is shown. */
export const beside = computed(() => (found.value?.of === explained.value?.own ? found.value?.explanation : undefined));

async function load(own: AbortController): Promise<void> {
  try {
    const loaded = await CaseLens.load({
      ...filesOf("small"),
      device: movedToCpu.peek() ? "wasm" : chosenDevice.peek(),
      signal: own.signal,
      onProgress: (each) => void (own.signal.aborted || (progress.value = each)),
      onWarning: () => {},
    });
    if (own.signal.aborted) loaded.dispose();
    else other.value = loaded;
  } catch (error) {
    if (own.signal.aborted || isAbort(error)) return;
    batch(() => {
      problem.value = asProblem(error);
      wanted.value = false;
    });
  }
}

function letGo(own: AbortController): void {
  own.abort();
  other.peek()?.dispose();
  batch(() => {
    other.value = undefined;
    found.value = undefined;
    progress.value = undefined;
  });
  void lookForKept();
}

async function ask(by: CaseLens, of: Explanation, sentences: readonly [string, string], { signal }: AbortController): Promise<void> {
  try {
    const explanation = await by.explain(...sentences, of.condition ?? undefined, { signal });
    if (!signal.aborted) found.value = { of, explanation };
  } catch (error) {
    if (signal.aborted || isAbort(error)) return;
    batch(() => {
      problem.value = asProblem(error);
      wanted.value = false;
    });
  }
}

export function startBeside(): void {
  effect(() => {
    if (!canStandBeside.value) wanted.value = false;
  });
  effect(() => {
    if (!wanted.value) return undefined;
    return untracked(() => {
      const own = new AbortController();
      problem.value = undefined;
      void load(own);
      return () => untracked(() => letGo(own));
    });
  });
  effect(() => {
    const [by, shown] = [other.value, explained.value];
    if (!by || !shown) return undefined;
    const own = new AbortController();
    untracked(() => void ask(by, shown.own, shown.sentences, own));
    return () => own.abort();
  });
}
