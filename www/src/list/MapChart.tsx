// The map: the plotting library is loaded when there is first something to draw.

import { useEffect, useRef } from "preact/hooks";
import { theme } from "../state/theme";
import { strings } from "../strings";
import { grouped, pointedAt, progress } from "./grouping";
import type { Drawing } from "./drawing";

const words = strings.list.map;

export function MapChart() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<Promise<Drawing> | undefined>(undefined);
  const now = grouped.value;
  const [colours, pointed] = [theme.value, pointedAt.value];

  useEffect(() => {
    if (!now || !canvas.current) return;
    const on = canvas.current;
    drawing.current ??= import("./drawing").then(({ draw }) => draw(on));
    void drawing.current.then((map) => map.show(now, colours));
  }, [now, colours]);
  useEffect(() => void drawing.current?.then((map) => map.point(pointed)), [pointed]);
  useEffect(() => () => void drawing.current?.then((map) => map.end()), []);

  return (
    <section class={progress.value === undefined ? "map" : "map waiting"} aria-labelledby="map-title" hidden={!now}>
      <h2 id="map-title">{words.title}</h2>
      <div class="map-plate">
        <canvas ref={canvas} role="img" aria-label={now && words.label(now.lines.length, now.groups.length)} />
      </div>
      <p class="note">{words.note}</p>
    </section>
  );
}
