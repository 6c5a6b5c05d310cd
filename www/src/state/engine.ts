// The loaded lens: which device it runs on, how far its download is, what went wrong.

import { computed, signal } from "@preact/signals";
import { CaseLens, type Device, type Progress } from "caselens";
import { asProblem, isAbort, type Problem } from "./problem";
import type { DeviceChoice } from "./link";
import { forgetEarlier, shipped } from "./shipped";

export type Engine =
  | { readonly phase: "loading"; readonly progress: Progress | undefined }
  | { readonly phase: "ready"; readonly lens: CaseLens; readonly startedOn: Device }
  | { readonly phase: "failed"; readonly problem: Problem };

export const chosenDevice = signal<DeviceChoice>("auto");
export const engine = signal<Engine>({ phase: "loading", progress: undefined });

/** True after the GPU was lost and the work moved to the CPU by itself. */
export const movedToCpu = signal(false);
export const warnings = signal<readonly string[]>([]);

export const lens = computed(() => (engine.value.phase === "ready" ? engine.value.lens : undefined));

let loading: AbortController | undefined;

/** Lets go of the lens there is and loads one for `device`. */
export async function loadLens(device: DeviceChoice): Promise<void> {
  loading?.abort();
  const own = new AbortController();
  loading = own;
  lens.peek()?.dispose();
  warnings.value = [];
  engine.value = { phase: "loading", progress: undefined };
  try {
    const loaded = await CaseLens.load({
      ...shipped,
      device,
      signal: own.signal,
      onProgress: (progress) => {
        if (loading === own) engine.value = { phase: "loading", progress };
      },
      // Once the lens is there, warnings are about texts; the answers say the same of each condition.
      onWarning: (warning) => {
        if (loading === own && engine.value.phase === "loading") warnings.value = [...warnings.value, warning];
      },
    });
    if (loading === own) engine.value = { phase: "ready", lens: loaded, startedOn: loaded.info.device };
    else loaded.dispose();
    await forgetEarlier();
  } catch (error) {
    if (loading === own && !isAbort(error)) engine.value = { phase: "failed", problem: asProblem(error) };
  }
}

/** What a lens threw, to be shown; undefined where it lost the GPU: then the page carries on without, and remembers to say so. */
export function overcome(error: unknown, by: CaseLens): Problem | undefined {
  const problem = asProblem(error);
  if (problem.code !== "gpu-lost" || by.info.device !== "webgpu") return problem;
  movedToCpu.value = true;
  void loadLens("wasm");
  return undefined;
}

/** Takes note when the lens has moved to the CPU by itself, as it may when it chose the GPU by itself. */
export function noteDevice(): void {
  const state = engine.peek();
  if (state.phase === "ready" && state.startedOn === "webgpu" && state.lens.info.device === "wasm") movedToCpu.value = true;
}

/** Loads the lens for the chosen device, now and whenever the choice changes. */
export function startEngine(): void {
  chosenDevice.subscribe((device) => {
    movedToCpu.value = false;
    void loadLens(device);
  });
}
