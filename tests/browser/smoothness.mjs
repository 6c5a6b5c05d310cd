// How smooth the built page is while it works: tasks of the main thread over 50 ms, and the longest time between two frames.
//
//     node smoothness.mjs [--lines 1000]
//
// For a machine with nothing else to do: with both cores taken, every page waits.

import path from "node:path";
import { parseArgs } from "node:util";
import { launch, ROOT, serve } from "./helpers.mjs";

const { values } = parseArgs({ options: { lines: { type: "string", default: "1000" } } });
const lines = Array.from({ length: Number(values.lines) }, (_, i) => `${["A child", "Two dogs", "A band", "The chef"][i % 4]} ${["plays", "waits", "sings", "runs"][(i >> 2) % 4]} near house ${i}.`);

const server = await serve({ mounts: { "/site/": path.join(ROOT, "www/dist") } });
const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
await context.addInitScript(() => {
  window.tasks = [];
  window.frames = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask", buffered: true });
  let last = performance.now();
  requestAnimationFrame(function frame(now) {
    window.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  });
});
const page = await context.newPage();
page.setDefaultTimeout(60_000);

/** Does something and prints what it did to the main thread. */
async function during(name, work) {
  await page.evaluate(() => { window.tasks.length = window.frames.length = 0; }).catch(() => {});
  await work();
  await page.waitForTimeout(1200);
  const { tasks, frames } = await page.evaluate(() => ({ tasks: window.tasks, frames: window.frames }));
  const late = frames.filter((gap) => gap > 25).length;
  const longest = Math.max(0, ...frames);
  console.log(`${name.padEnd(40)} long tasks ${tasks.length ? tasks.map((ms) => ms.toFixed(0)).join(", ") + " ms" : "none"}; ` +
    `${frames.length} frames, ${late} over 25 ms, the longest ${longest.toFixed(0)} ms`);
}

const answered = () => page.waitForFunction(() => {
  const row = document.querySelector(".rows > li:nth-child(2) .cell-value");
  return row && /\d/.test(row.textContent) && !document.querySelector(".rows.stale");
});
const grouped = (condition) => page.waitForFunction((condition) =>
  !document.querySelector("[role=progressbar]") && document.querySelector(".work-line p")?.textContent.includes(condition), condition);
const explained = () => page.waitForFunction(() => document.querySelector(".step-figure > *") && !document.querySelector(".step-figure.stale") && document.querySelector(".chart > *"));

try {
  await during("open, first answer", async () => {
    await page.goto(`${server.origin}/site/#device=wasm`);
    await answered();
  });
  await during("typing 40 letters", async () => {
    await page.getByLabel("Second sentence").fill("");
    await page.getByLabel("Second sentence").pressSequentially("A dog sleeps on the sofa in a warm room.", { delay: 60 });
    await answered();
  });
  await during("open the list, 48 texts", async () => {
    await page.getByRole("link", { name: "List" }).click();
    await grouped("the number of people");
  });
  await during("another condition, the map glides", async () => {
    await page.getByRole("button", { name: "the place", exact: true }).click();
    await grouped("the place");
  });
  await during(`a list of ${lines.length} lines, grouped`, async () => {
    await page.evaluate((text) => {
      const field = document.querySelector("textarea");
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }, lines.join("\n"));
    await page.waitForSelector("[role=progressbar]");
    await grouped("");
  });
  await during(`another condition for ${lines.length} lines`, async () => {
    await page.locator("#group-by").fill("the person");
    await grouped("the person");
  });
  await during("open how it works", async () => {
    await page.getByRole("link", { name: "How it works" }).click();
    await explained();
  });
  await during("a step switched off", async () => {
    await page.getByRole("switch", { name: "Subtraction" }).click();
    await explained();
  });
} finally {
  await browser.close();
  await server.close();
}
