// How long many texts take under one condition and then under the next, by the number of workers, and whether the page is told and stays
// free meanwhile.
//
//     node throughput.mjs [--texts 1000] [--threads 1,2,4] [--model FILE]
//
// More workers than the machine has cores show what they cost, and nothing of what they give.

import { parseArgs } from "node:util";
import { launch, MODEL_FILE, openPage, serve } from "./helpers.mjs";

const { values } = parseArgs({
  options: { texts: { type: "string", default: "1000" }, threads: { type: "string", default: "1,2,4" }, model: { type: "string", default: MODEL_FILE } },
});

const server = await serve();
try {
  console.log("| workers | first condition | the next | longest silence of progress | longest task of the page |\n|---|---|---|---|---|");
  for (const threads of values.threads.split(",").map(Number)) {
    const browser = await launch();
    try {
      const page = await openPage(browser, server);
      const { times, silence, task } = await page.evaluate(
        async ({ model, count, threads }) => {
          const lens = await caselens.CaseLens.load({ model, device: "wasm", threads });
          const who = ["A child", "Two dogs", "A band of old men", "The chef of a small place"];
          const what = ["plays", "waits for somebody", "sings a song", "runs as fast as the wind", "sleeps"];
          const texts = Array.from({ length: count }, (_, i) => `${who[i % 4]} ${what[i % 5]} near house ${i}.`);
          await lens.embed(texts.slice(0, 64), { condition: "the number" });
          let task = 0;
          const watch = new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => (task = Math.max(task, duration))));
          watch.observe({ type: "longtask" });
          let silence = 0;
          const times = [];
          for (const condition of ["the place", "the activity"]) {
            const start = performance.now();
            let heard = start;
            const hear = () => {
              silence = Math.max(silence, performance.now() - heard);
              heard = performance.now();
            };
            await lens.embed(texts, { condition, onProgress: hear });
            hear();
            times.push(performance.now() - start);
          }
          await new Promise((resolve) => setTimeout(resolve, 200));
          lens.dispose();
          return { times, silence, task };
        },
        { model: `/models/${values.model}`, count: Number(values.texts), threads },
      );
      const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
      console.log(`| ${threads} | ${times.map(seconds).join(" | ")} | ${silence.toFixed(0)} ms | ${task === 0 ? "under 50 ms" : `${task.toFixed(0)} ms`} |`);
    } finally {
      await browser.close();
    }
  }
} finally {
  await server.close();
}
