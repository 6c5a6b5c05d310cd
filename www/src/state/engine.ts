// The loaded lens: which encoder it is of, which device it runs on, how far the next one's download is, what went wrong.

import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { CaseLens, type Device, type Progress } from "caselens";
import { isMetered } from "./connection";
import { chosenEncoder, drop, type EncoderId, filesOf, forgetEarlier, isKept, lookForKept } from "./encoders";
import type { DeviceChoice } from "./link";
import { asProblem, isAbort, type Problem } from "./problem";

/** A lens that is on its way, or is not. */
export type Coming = { readonly encoder: EncoderId } & (
  | { readonly phase: "loading"; readonly progress: Progress | undefined }
  /** The connection is metered: it waits for a word. */
  | { readonly phase: "asking" }
  | { readonly phase: "failed"; readonly problem: Problem }
);

export type Engine = Coming | { readonly phase: "ready"; readonly encoder: EncoderId; readonly lens: CaseLens; readonly startedOn: Device };

export const chosenDevice = signal<DeviceChoice>("auto");
export const engine = signal<Engine>({ phase: "loading", encoder: "small", progress: undefined });
/** The next encoder's lens, while the one before it still answers. */
export const switching = signal<Coming | undefined>(undefined);

/** True after the GPU was lost and the work moved to the CPU by itself. */
export const movedToCpu = signal(false);
export const warnings = signal<readonly string[]>([]);

type Ready = Extract<Engine, { phase: "ready" }>;
const ready = computed((): Ready | undefined => (engine.value.phase === "ready" ? engine.value : undefined));
export const lens = computed(() => ready.value?.lens);
/** The encoder that answers, or is the first to. */
export const encoder = computed(() => ready.value?.encoder ?? chosenEncoder.value);

let loading: AbortController | undefined;

interface LoadOptions {
  /** Goes on answering until the next one is there, and stays if that fails. */
  readonly former?: Ready | undefined;
  /** The reader knows what is to be downloaded. */
  readonly agreed?: boolean;
}

/** Loads a lens of the encoder for the device; without a former one that stays, lets go of what there is. */
async function load(encoder: EncoderId, device: DeviceChoice, { former, agreed = false }: LoadOptions = {}): Promise<void> {
  loading?.abort();
  const own = new AbortController();
  loading = own;
  const show = (coming: Coming): void => {
    if (loading === own) (former ? switching : engine).value = coming;
  };
  if (!former) lens.peek()?.dispose();
  batch(() => {
    warnings.value = [];
    switching.value = undefined;
    show({ phase: "loading", encoder, progress: undefined });
  });
  if (!agreed && isMetered() && !(await isKept(encoder))) return show({ phase: "asking", encoder });
  if (own.signal.aborted) return;
  try {
    const loaded = await CaseLens.load({
      ...filesOf(encoder),
      device,
      signal: own.signal,
      onProgress: (progress) => show({ phase: "loading", encoder, progress }),
      // All others are about texts, and the answers say the same of each condition.
      onWarning: (warning) => {
        if (loading === own && warning.includes("cannot be kept")) warnings.value = [...warnings.value, warning];
      },
    });
    if (loading !== own) return loaded.dispose();
    batch(() => {
      engine.value = { phase: "ready", encoder, lens: loaded, startedOn: loaded.info.device };
      switching.value = undefined;
    });
    former?.lens.dispose();
    await forgetEarlier();
    await lookForKept();
  } catch (error) {
    if (loading !== own || isAbort(error)) return;
    batch(() => {
      show({ phase: "failed", encoder, problem: asProblem(error) });
      if (former) chosenEncoder.value = former.encoder;
    });
  }
}

/** Without WebGPU once it was lost: whatever is loaded next would lose it too. */
const deviceNow = (): DeviceChoice => (movedToCpu.peek() ? "wasm" : chosenDevice.peek());

/** Lets go of the lens there is and loads one of the same encoder for `device`. */
export const loadLens = (device: DeviceChoice): Promise<void> => load(chosenEncoder.peek(), device);

/** Downloads what was asked about. */
export function agree({ encoder }: Coming): void {
  void load(encoder, deviceNow(), { former: ready.peek(), agreed: true });
}

/** Tries an encoder once more. */
export function chooseAgain({ encoder }: Coming): void {
  if (chosenEncoder.peek() === encoder) void loadLens(deviceNow());
  else chosenEncoder.value = encoder;
}

/** Leaves the encoder that is on its way where it is: the one before it stays, or the one that ships is loaded. */
export function stay(): void {
  chosenEncoder.value = ready.peek()?.encoder ?? "small";
}

/** What a lens threw, to be shown where it was asked; undefined where the engine itself has to go on another way, and says so. */
export function overcome(error: unknown, by: CaseLens): Problem | undefined {
  const problem = asProblem(error);
  if (problem.code === "model-format") {
    breakOff(problem, by);
    return undefined;
  }
  if (problem.code !== "gpu-lost" || by.info.device !== "webgpu") return problem;
  movedToCpu.value = true;
  void loadLens("wasm");
  return undefined;
}

/** A lens whose numbers are none is of a damaged file: nothing of it stays, so that trying again downloads it afresh. */
function breakOff(problem: Problem, by: CaseLens): void {
  const state = ready.peek();
  if (state?.lens !== by) return;
  void drop(state.encoder);
  by.dispose();
  engine.value = { phase: "failed", encoder: state.encoder, problem };
}

/** Takes note when the lens has moved to the CPU by itself, as it may when it chose the GPU by itself. */
export function noteDevice(): void {
  const state = engine.peek();
  if (state.phase === "ready" && state.startedOn === "webgpu" && state.lens.info.device === "wasm") movedToCpu.value = true;
}

/** Stays with the lens there is: what is on its way is not wanted any more. What went wrong with it is still told. */
function keep(): void {
  if (switching.peek() === undefined || switching.peek()?.phase === "failed") return;
  loading?.abort();
  loading = undefined;
  switching.value = undefined;
}

/** Loads the lens of the chosen encoder for the chosen device, now and whenever the choice changes. */
export function startEngine(): void {
  let device: DeviceChoice | undefined;
  effect(() => {
    const [encoder, chosen] = [chosenEncoder.value, chosenDevice.value];
    untracked(() => {
      const former = ready.peek();
      if (chosen !== device) {
        movedToCpu.value = false;
        device = chosen;
        void load(encoder, chosen);
      } else if (former?.encoder === encoder) keep();
      else void load(encoder, deviceNow(), { former });
    });
  });
}
