// How long a search of 100,000 texts takes in a browser, how long it keeps the page at a time, and how long it takes to store such an
// index in IndexedDB and to open it again.
//
//     node index-speed.mjs [--texts 100000] [--searches 20]

import { parseArgs } from "node:util";
import { launch, MODEL_FILE, openPage, serve } from "./helpers.mjs";

const { values } = parseArgs({ options: { texts: { type: "string", default: "100000" }, searches: { type: "string", default: "20" } } });

const server = await serve();
const browser = await launch();
try {
  const page = await openPage(browser, server);
  page.on("console", (message) => console.log(message.text()));
  await page.evaluate(
    async ({ model, texts, searches }) => {
      const { filled } = await import("/pkg/bench/rows.mjs");
      const lens = await caselens.CaseLens.load({ model, device: "wasm", threads: 1 });
      const long = [];
      new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask" });
      const timed = async (times, work) => {
        const taken = [];
        for (let i = 0; i < times; i++) {
          const start = performance.now();
          await work();
          taken.push(performance.now() - start);
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
        const tasks = long.splice(0).map(Math.round);
        taken.sort((a, b) => a - b);
        return `${taken[times >> 1].toFixed(1)} ms (least ${taken[0].toFixed(1)}), tasks over 50 ms: ${tasks.length > 0 ? tasks.join(", ") : "none"}`;
      };
      console.log(`${texts} texts, ${lens.info.dims} dimensions`);
      for (const dtype of ["float32", "int8", "binary"]) {
        const bytes = await filled(await lens.index({ condition: "the place", dtype }), texts);
        const index = await lens.loadIndex(bytes);
        const query = await lens.embed(["He reads on a bench under trees."], { condition: "the place", dtype });
        await timed(3, () => index.search(query));
        console.log(`${dtype}, ${(bytes.length / 1e6).toFixed(1)} MB`);
        console.log(`  search by embedding  ${await timed(searches, () => index.search(query))}`);
        console.log(`  search by text       ${await timed(searches, () => index.search("He reads on a bench under trees."))}`);
        console.log(`  loaded from bytes    ${await timed(5, () => lens.loadIndex(bytes))}`);
        console.log(`  stored               ${await timed(3, () => index.store(dtype))}`);
        console.log(`  opened again         ${await timed(5, () => lens.openIndex(dtype))}`);
        await caselens.CaseLens.deleteIndex(dtype);
      }
    },
    { model: `/models/${MODEL_FILE}`, texts: Number(values.texts), searches: Number(values.searches) },
  );
} finally {
  await browser.close();
  await server.close();
}
