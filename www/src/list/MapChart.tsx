// The map: the plotting library is loaded when there is first something to draw.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { theme } from "../state/theme";
import { strings } from "../strings";
import type { Drawing } from "./drawing";
import { age, grouped, pointedAt } from "./grouping";
import { PassingButton } from "./PassingButton";

const words = strings.list.map;

export function MapChart() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  /** Undefined within it: the library could not be loaded. */
  const drawing = useRef<Promise<Drawing | undefined> | undefined>(undefined);
  const missing = useSignal(false);
  const now = grouped.value;
  const [colours, pointed] = [theme.value, pointedAt.value];

  const show = (): void => {
    if (!now || !canvas.current) return;
    const on = canvas.current;
    drawing.current ??= import("./drawing").then(
      ({ draw }) => draw(on),
      () => undefined,
    );
    void drawing.current.then((map) => {
      if (map) map.show(now, colours);
      else drawing.current = undefined; // to be loaded anew
      missing.value = !map;
    });
  };
  useEffect(show, [now, colours]);
  useEffect(() => void drawing.current?.then((map) => map?.point(pointed)), [pointed]);
  useEffect(() => () => void drawing.current?.then((map) => map?.end()), []);

  return (
    <section class={`map ${age.value}`} aria-labelledby="map-title" hidden={!now}>
      <h2 id="map-title" ref={title} tabIndex={-1}>
        {age.value === "earlier" ? words.earlier : words.title}
      </h2>
      {missing.value && (
        <div class="notice notice-bad" role="alert">
          <p>{strings.list.missing(words.what)}</p>
          <div class="notice-tools">
            <PassingButton onClick={show} neighbour={title}>
              {strings.problems.retry}
            </PassingButton>
          </div>
        </div>
      )}
      <div class="map-plate">
        <canvas ref={canvas} role="img" aria-label={now && words.label(now.lines.length, now.groups.length)} />
      </div>
      <p class="note">{words.note}</p>
    </section>
  );
}
