// A chart in a place of fixed height, drawn anew when its data or the page's colours change.

import { useEffect, useRef } from "preact/hooks";
import { theme } from "../state/theme";
import { nextTask } from "../turn";
import type { Drawn } from "./plots";

interface Props {
  readonly label: string;
  /** In the page's units, 16 to a rem. */
  readonly height: number;
  /** Draws; the library is loaded by then. */
  readonly draw: (plots: typeof import("./plots"), canvas: HTMLCanvasElement) => Drawn;
  /** What the drawing depends on. */
  readonly data: unknown;
}

let last = Promise.resolve();
/** Draws one chart after the other. */
function inTurn(work: () => Promise<void>): void {
  last = last.then(work).catch(() => {}); // offline before the library came: the numbers are there all the same
}

export function Chart({ label, height, draw, data }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<Drawn | undefined>(undefined);
  useEffect(() => {
    let gone = false;
    inTurn(async () => {
      const plots = await import("./plots");
      // A task of its own: keys and clicks come between two charts.
      await nextTask();
      if (gone || !place.current) return;
      drawn.current?.destroy();
      // The place says what it shows.
      const canvas = document.createElement("canvas");
      canvas.setAttribute("aria-hidden", "true");
      place.current.replaceChildren(canvas);
      drawn.current = draw(plots, canvas);
    });
    return () => {
      gone = true;
    };
  }, [data, theme.value]);
  useEffect(() => () => drawn.current?.destroy(), []);
  return <div class="chart" ref={place} role="img" aria-label={label} style={{ height: `${height / 16}rem` }} />;
}
