// The measurement: what is done, what is under way, what could not be measured.

import { signal } from "@preact/signals";
import { asProblem, isAbort, type Problem } from "../state/problem";
import { type Contestant, type Figure, measure } from "./measure";

/** A row of the table. */
export interface Row {
  readonly contestant: Contestant;
  readonly hardware: string | null;
  readonly start: number | undefined;
  readonly figures: readonly Figure[];
  /** Why it could not be measured. */
  readonly failure: Problem | undefined;
}

export const rows = signal<readonly Row[]>([]);
/** What is being measured. */
export const underWay = signal<Contestant | undefined>(undefined);

/** The CPU with one worker, with as many as there are processors, and WebGPU where the browser knows of it. */
function contestants(): Contestant[] {
  const processors = Math.min(navigator.hardwareConcurrency ?? 1, 8);
  return [
    { device: "wasm", threads: 1 },
    ...(processors > 1 ? [{ device: "wasm", threads: processors } as const] : []),
    ...("gpu" in navigator ? [{ device: "webgpu", threads: 1 } as const] : []),
  ];
}

let running: AbortController | undefined;

/** Measures every contestant, one after the other. */
export async function start(): Promise<void> {
  running?.abort();
  const own = new AbortController();
  running = own;
  rows.value = [];
  for (const contestant of contestants()) {
    underWay.value = contestant;
    const row: Row = { contestant, hardware: null, start: undefined, figures: [], failure: undefined };
    const finished = rows.value;
    const show = (change: Partial<Row>): void => {
      if (running === own) rows.value = [...finished, { ...(rows.value[finished.length] ?? row), ...change }];
    };
    const seen: Figure[] = [];
    try {
      const { hardware, start, figures } = await measure(contestant, own.signal, (figure) => {
        seen.push(figure);
        show({ figures: [...seen] });
      });
      show({ hardware, start, figures });
    } catch (error) {
      if (isAbort(error)) break;
      show({ failure: asProblem(error) });
    }
    if (running !== own) return;
  }
  if (running === own) {
    underWay.value = undefined;
    running = undefined;
  }
}

/** Stops; what was measured stays. */
export function stop(): void {
  running?.abort();
}
