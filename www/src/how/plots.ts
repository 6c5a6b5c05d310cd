// The view's charts, by Chart.js. Loaded when there is first something to draw.

import { BarController, BarElement, CategoryScale, Chart, type ChartOptions, LinearScale, type Plugin } from "chart.js";
import { fixed } from "../format";
import { rem, unseen } from "../ui/charts";

Chart.register(BarController, BarElement, CategoryScale, LinearScale);

/** A drawn chart: it follows the size of its place until it is destroyed. */
export interface Drawn {
  destroy(): void;
}

const still: ChartOptions<"bar"> = { animation: false, events: [], maintainAspectRatio: false };

/** A colour of the page's theme as it is now; `kept` where the system chooses the colours and would give all of them one. */
function colour(name: string, canvas: HTMLCanvasElement, kept = false): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  if (kept) probe.style.setProperty("forced-color-adjust", "none");
  canvas.parentElement?.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** A vector as a strip of cells, blue below zero and yellow above; `largest` has the full colour. */
export function strip(canvas: HTMLCanvasElement, vector: Float32Array, largest: number): Drawn {
  const [below, zero, above] = ["--first", "--track", "--second"].map((name) => colour(name, canvas, true));
  const cells = Array.from(vector, (value) => {
    const share = largest > 0 ? Math.min(100, (100 * Math.abs(value)) / largest) : 0;
    return `color-mix(in srgb, ${value < 0 ? below : above} ${share.toFixed(1)}%, ${zero})`;
  });
  /** Colours the cells: as options of the data set the library would work each out by itself, in ten times the time. */
  const dress: Plugin<"bar"> = {
    id: "dress",
    beforeDatasetsDraw(chart) {
      const cell = { ...BarElement.defaults, inflateAmount: 0.33 };
      chart.getDatasetMeta(0).data.forEach((bar, i) => (bar.options = { ...cell, backgroundColor: cells[i] }));
    },
  };
  return new Chart(canvas, {
    type: "bar",
    data: { labels: cells, datasets: [{ data: cells.map(() => 1), barPercentage: 1, categoryPercentage: 1 }] },
    plugins: [dress],
    options: { ...still, scales: { x: unseen, y: { ...unseen, min: 0, max: 1 } } },
  });
}

/** A number beside an axis. */
const axis = (value: string | number): string => fixed(Number(value), 1);

/** The cosine after each step as a bar. */
export function cosines(canvas: HTMLCanvasElement, bars: readonly { name: string; cosine: number; written: string }[]): Drawn {
  const [fill, ink, quiet, line] = ["--shared", "--ink", "--quiet", "--line"].map((name) => colour(name, canvas)) as [string, string, string, string];
  const font = { family: getComputedStyle(canvas).fontFamily, size: 0.875 * rem() };
  const lowest = Math.min(0, ...bars.map(({ cosine }) => cosine));
  const numbers: Plugin<"bar"> = {
    id: "numbers",
    afterDatasetsDraw(chart) {
      const { ctx, scales } = chart;
      ctx.save();
      ctx.font = `700 ${font.size}px ${font.family}`;
      ctx.fillStyle = ink;
      ctx.textBaseline = "middle";
      const zero = scales["x"]?.getPixelForValue(0) ?? 0;
      chart.getDatasetMeta(0).data.forEach(({ x, y }, i) => ctx.fillText(bars[i]?.written ?? "", Math.max(zero, x) + 0.4 * rem(), y));
      ctx.restore();
    },
  };
  return new Chart(canvas, {
    type: "bar",
    data: { labels: bars.map(({ name }) => name), datasets: [{ data: bars.map(({ cosine }) => cosine), backgroundColor: fill, barPercentage: 0.85, categoryPercentage: 1 }] },
    plugins: [numbers],
    options: {
      ...still,
      indexAxis: "y",
      // Room for the number of a bar that reaches the end.
      layout: { padding: { right: 2.75 * rem() } },
      scales: {
        x: {
          // On halves below zero, so that zero is a tick.
          min: Math.floor(2 * lowest) / 2,
          max: 1,
          ticks: { color: quiet, font, stepSize: lowest < 0 ? 0.5 : 0.2, callback: axis },
          grid: { color: ({ tick }) => (tick.value === 0 ? ink : line), lineWidth: ({ tick }) => (tick.value === 0 ? 2 : 1) },
          border: { display: false },
        },
        y: { ticks: { color: ink, font }, grid: { display: false }, border: { display: false } },
      },
    },
  });
}
