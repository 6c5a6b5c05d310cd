// Measures an encoder on every shape.

import { Encoder, type Device } from "caselens";
import { filesOf } from "../state/encoders";
import { operations, SHAPES, textOf } from "./shapes";

/** Where a shape was measured. */
export interface Contestant {
  readonly device: Device;
  readonly threads: number;
}

/** What it took: the median of a batch's times, in milliseconds, and what follows from it. */
export interface Figure {
  readonly shape: string;
  readonly milliseconds: number;
  readonly textsPerSecond: number;
  /** Billions of operations a second. */
  readonly gops: number;
  /** The share of what this processor reaches in a loop of the same instruction, 0 to 1; undefined on a GPU. */
  readonly share: number | undefined;
}

interface Measured {
  readonly contestant: Contestant;
  readonly hardware: string | null;
  /** From the start of loading to the first embedding, in milliseconds; files may come from the browser's cache. */
  readonly start: number;
  readonly figures: readonly Figure[];
}

/** Each shape is repeated for about this long, in milliseconds, and at least so many times. */
const [LONG_ENOUGH, LEAST] = [1500, 5];

/** Measures one contestant; `report` hears of each figure. */
export async function measure(
  contestant: Contestant,
  signal: AbortSignal,
  report: (figure: Figure) => void,
): Promise<Measured> {
  const began = performance.now();
  const { model, integrity } = filesOf("small");
  const encoder = await Encoder.load({ model, integrity, ...contestant, signal, onWarning: () => {} });
  try {
    await encoder.embed([textOf(25, 0)], { signal });
    const start = performance.now() - began;
    const peak = await encoder.measurePeak();
    const figures: Figure[] = [];
    for (const { name, lengths } of SHAPES) {
      const texts = lengths.map(textOf);
      // Workers and kernels that are only now needed start before the clock does.
      for (let i = 0; i < 2; i++) await encoder.embed(texts, { signal });
      const times: number[] = [];
      const first = performance.now();
      while (times.length < LEAST || performance.now() - first < LONG_ENOUGH) {
        const before = performance.now();
        await encoder.embed(texts, { signal });
        times.push(performance.now() - before);
      }
      const milliseconds = median(times);
      const perSecond = 1000 / milliseconds;
      const speed = operations(lengths) * perSecond;
      const figure: Figure = {
        shape: name,
        milliseconds,
        textsPerSecond: lengths.length * perSecond,
        gops: speed / 1e9,
        share: peak === null ? undefined : speed / (peak * encoder.info.threads),
      };
      figures.push(figure);
      report(figure);
    }
    return { contestant, hardware: encoder.info.adapter || encoder.info.instructions, start, figures };
  } finally {
    encoder.dispose();
  }
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}
