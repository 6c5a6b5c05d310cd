// The map on its canvas, by Chart.js: points glide from where they were to where they are now, or jump where people ask
// for less motion.

import { Chart, LinearScale, type Plugin, PointElement, type PointOptions, ScatterController, Tooltip } from "chart.js";
import type { Theme } from "../state/theme";
import { rem, unseen } from "../ui/charts";
import { colourOf, shapeOf } from "./colours";
import type { Grouped } from "./grouping";

Chart.register(LinearScale, PointElement, ScatterController, Tooltip);

export interface Drawing {
  show(grouped: Grouped, theme: Theme): void;
  /** Makes one group stand out; undefined for none. */
  point(group: number | undefined): void;
  end(): void;
}

const glideMs = 700;
const still = matchMedia("(prefers-reduced-motion: reduce)");
/** Points that glide: moving more of them takes longer than a frame. */
const maxGliding = 2000;
/** Points' sizes, in rem: of up to so many texts. */
const radii = [[300, 0.375], [2000, 0.22], [Infinity, 0.12]] as const;
const faded = "33";
const plain = { borderWidth: 0, borderColor: "transparent", hitRadius: 2, hoverBorderWidth: 0, hoverRadius: 0, rotation: 0, drawActiveElementsOnTop: true };

export function draw(canvas: HTMLCanvasElement): Drawing {
  let now: Grouped | undefined;
  let theme: Theme = "light";
  let pointed: number | undefined;

  /**
   * Dresses the points group by group: options worked out point by point would take more than a frame for a thousand of
   * them. Anew for each frame, because Chart.js writes into the options of what it moves.
   */
  const dress: Plugin<"scatter"> = {
    id: "dress",
    beforeDatasetsDraw(drawn) {
      const count = now?.lines.length ?? 0;
      const radius = (radii.find(([most]) => count <= most) ?? radii[2])[1] * rem();
      const styles = (now?.groups ?? []).map(({ unmentioned }, group): PointOptions => {
        const backgroundColor = colourOf(group, theme, unmentioned) + (pointed === undefined || pointed === group ? "" : faded);
        return { ...plain, radius, backgroundColor, pointStyle: shapeOf(group) };
      });
      drawn.getDatasetMeta(0).data.forEach((point, i) => {
        const style = styles[now?.labels[i] ?? 0];
        if (style) point.options = style;
      });
    },
  };

  /** A numbered plate on each group's most central text. */
  const numbers: Plugin<"scatter"> = {
    id: "numbers",
    afterDatasetsDraw(drawn) {
      const { ctx } = drawn;
      const { data } = drawn.getDatasetMeta(0);
      ctx.save();
      ctx.font = `700 ${0.8125 * rem()}px ${getComputedStyle(canvas).fontFamily}`;
      ctx.textAlign = "center";
      ctx.textBaseline = "middle";
      for (const [group, { center, unmentioned }] of now?.groups.entries() ?? []) {
        const at = data[center];
        if (!at || unmentioned || (pointed !== undefined && pointed !== group)) continue;
        ctx.fillStyle = colourOf(group, theme);
        ctx.beginPath();
        ctx.arc(at.x, at.y, 0.6875 * rem(), 0, 2 * Math.PI);
        ctx.fill();
        ctx.fillStyle = theme === "dark" ? "#0d1416" : "#ffffff";
        ctx.fillText(String(group + 1), at.x, at.y + 1);
      }
      ctx.restore();
    },
  };

  const chart = new Chart(canvas, {
    type: "scatter",
    data: { datasets: [{ data: [] as { x: number; y: number }[] }] },
    plugins: [dress, numbers],
    options: {
      maintainAspectRatio: false,
      normalized: true,
      animation: still.matches ? false : { duration: glideMs, easing: "easeInOutCubic" },
      // Points are dressed anew for each frame; what moves is where they are.
      animations: { colors: false },
      scales: { x: unseen, y: unseen },
      layout: { padding: 14 },
      plugins: {
        tooltip: {
          displayColors: false,
          callbacks: { label: ({ dataIndex }) => wrapped(now?.lines[dataIndex] ?? "") },
        },
      },
    },
  });

  return {
    show(grouped, colours) {
      const sameTexts = now?.lines === grouped.lines;
      [now, theme] = [grouped, colours];
      const { points } = grouped;
      const [x, y] = [extent(points, 0), extent(points, 1)];
      // One scale for both axes: a distance is a distance in every direction.
      const reach = 1.04 * Math.max(x.reach, y.reach, 1e-6);
      chart.options.scales = {
        x: { ...unseen, min: x.middle - reach, max: x.middle + reach },
        y: { ...unseen, min: y.middle - reach, max: y.middle + reach },
      };
      const [dataset] = chart.data.datasets;
      if (dataset) dataset.data = grouped.lines.map((_, i) => ({ x: points[2 * i] ?? 0, y: points[2 * i + 1] ?? 0 }));
      chart.update(sameTexts && !still.matches && grouped.lines.length <= maxGliding ? undefined : "none");
    },
    point(group) {
      pointed = group;
      chart.draw();
    },
    end: () => chart.destroy(),
  };
}

/** The middle of the points along an axis, and how far they reach from it. */
function extent(points: Float32Array, axis: 0 | 1): { middle: number; reach: number } {
  const along = points.filter((_, i) => i % 2 === axis);
  const [least, most] = [along.reduce((a, b) => Math.min(a, b), Infinity), along.reduce((a, b) => Math.max(a, b), -Infinity)];
  return { middle: (least + most) / 2, reach: (most - least) / 2 };
}

/** A text in lines short enough for a tooltip on a phone. */
function wrapped(text: string): string[] {
  const lines = [""];
  for (const word of text.slice(0, 300).split(" ")) {
    const last = lines.length - 1;
    if ((lines[last] as string).length + word.length > 40) lines.push(word);
    else lines[last] = `${lines[last]} ${word}`.trim();
  }
  return lines;
}
