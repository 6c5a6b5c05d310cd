// The view's charts. Loaded when there is first something to draw.

import * as Plot from "@observablehq/plot";

/** A colour of the page's theme as it is now, in the form that scales can mix. */
function colour(name: string, place: Element): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** A vector as a strip of cells, blue below zero and yellow above; `largest` has the full colour. */
export function strip(vector: Float32Array, largest: number, width: number, height: number, place: Element): SVGElement {
  return Plot.plot({
    width,
    height,
    margin: 0,
    axis: null,
    color: {
      type: "linear",
      domain: [-largest, 0, largest],
      range: ["--first", "--track", "--second"].map((name) => colour(name, place)),
      clamp: true,
    },
    marks: [Plot.raster(Array.from(vector), { width: vector.length, height: 1, imageRendering: "pixelated" })],
  }) as SVGElement;
}

/** The cosine after each step as a bar. */
export function cosines(bars: readonly { name: string; cosine: number; written: string }[], width: number, height: number): SVGElement {
  const least = Math.min(0, ...bars.map(({ cosine }) => cosine));
  return Plot.plot({
    width,
    height,
    marginLeft: Math.min(150, 0.4 * width),
    marginRight: Math.min(48, 0.2 * width),
    marginTop: 4,
    marginBottom: 28,
    style: { fontSize: "14px", fontFamily: "inherit", background: "none" },
    x: { domain: [least, 1], ticks: 5, label: null },
    y: { domain: bars.map(({ name }) => name), label: null, tickSize: 0 },
    marks: [
      Plot.barX(bars, { x: "cosine", y: "name", fill: "var(--shared)", insetTop: 3, insetBottom: 3 }),
      Plot.text(bars, { x: (bar: { cosine: number }) => Math.max(0, bar.cosine), y: "name", text: "written", textAnchor: "start", dx: 6, fontWeight: 700 }),
      Plot.ruleX([0]),
    ],
  }) as SVGElement;
}
