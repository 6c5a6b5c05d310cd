// A chart in a place of fixed height, drawn anew when its data or its width change.

import { useEffect, useRef } from "preact/hooks";
import { theme } from "../state/theme";

interface Props {
  readonly label: string;
  readonly height: number;
  /** Draws at this width; the library is loaded by then. */
  readonly draw: (plots: typeof import("./plots"), width: number, place: Element) => SVGElement;
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
  useEffect(() => {
    let gone = false;
    let frame = 0;
    let drawn = 0;
    const redraw = (): void => {
      const width = Math.round(place.current?.clientWidth ?? 0);
      if (width === 0 || width === drawn) return;
      drawn = width;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() =>
        inTurn(async () => {
          const plots = await import("./plots");
          // A task of its own: keys and clicks come between two charts.
          await new Promise((resolve) => setTimeout(resolve));
          if (gone || !place.current) return;
          const svg = draw(plots, width, place.current);
          // The place says what it shows; the marks' own labels are for nobody.
          svg.setAttribute("aria-hidden", "true");
          place.current.replaceChildren(svg);
        }),
      );
    };
    const observer = new ResizeObserver(redraw);
    if (place.current) observer.observe(place.current);
    return () => {
      gone = true;
      cancelAnimationFrame(frame);
      observer.disconnect();
    };
  }, [data, theme.value]);
  return <div class="chart" ref={place} role="img" aria-label={label} style={{ height: `${height}px` }} />;
}
