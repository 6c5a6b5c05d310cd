// The main paths in Firefox, as Debian has it: the package's numbers, and the demo's views. Driven by WebDriver BiDi, which Playwright
// speaks to its own build of Firefox alone. Skipped where there is none; `FIREFOX_PATH` names another than /usr/bin/firefox-esr.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import puppeteer from "puppeteer-core";
import { CaseLens } from "../../pkg/dist/node.js";
import { MODEL_FILE, MODELS, ROOT, serve } from "./helpers.mjs";

const FIREFOX = process.env.FIREFOX_PATH ?? "/usr/bin/firefox-esr";
const options = { timeout: 180_000, skip: existsSync(FIREFOX) ? false : `there is no Firefox at ${FIREFOX}: apt-get install firefox-esr` };
const PAIR = ["She plays chess in the park", "He plays football in the park"];
const CONDITIONS = ["the place", "the game"];

let server;
let browser;
let expected;
before(async () => {
  if (options.skip) return;
  server = await serve({ mounts: { "/site/": path.join(ROOT, "www/dist") } });
  browser = await puppeteer.launch({ browser: "firefox", executablePath: FIREFOX, headless: true });
  const lens = await CaseLens.load({ model: path.join(MODELS, MODEL_FILE) });
  expected = (await lens.compare(...PAIR, CONDITIONS)).map(({ similarity }) => similarity);
  lens.dispose();
}, options);
after(async () => {
  await browser?.close();
  await server?.close();
});

/** Opens an address of the server; what fails there is kept in `page.failures`. */
async function open(address) {
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  page.failures = [];
  page.on("pageerror", (error) => page.failures.push(String(error)));
  await page.goto(`${server.origin}${address}`);
  return page;
}
const near = (found, wanted) => found.forEach((value, i) => assert.ok(Math.abs(value - wanted[i]) <= 0.011, `${found} and ${wanted}`));
const state = new URLSearchParams([["s1", PAIR[0]], ["s2", PAIR[1]], ...CONDITIONS.map((c) => ["c", c])]);

test("the package gives the numbers that it gives elsewhere, and keeps the model", options, async () => {
  const page = await open("/blank.html");
  const found = await page.evaluate(
    async (origin, model, pair, conditions) => {
      const { CaseLens } = await import(`${origin}/pkg/dist/index.js`);
      const lens = await CaseLens.load({ model });
      const results = await lens.compare(...pair, conditions);
      const texts = Array.from({ length: 40 }, (_, i) => `${["A dog", "A cat"][i % 2]} rests near house ${i}.`);
      const { groups } = await lens.cluster(texts, { condition: "the animal", groups: 2 });
      const { device, instructions } = lens.info;
      // The model is kept beside the work.
      const end = performance.now() + 20_000;
      let kept = false;
      while (!kept && performance.now() < end) kept = await CaseLens.isCached({ model });
      lens.dispose();
      return { similarities: results.map(({ similarity }) => similarity), groups: groups.map(({ members }) => members.length), device, instructions, kept };
    },
    server.origin,
    `/models/${MODEL_FILE}`,
    PAIR,
    CONDITIONS,
  );
  near(found.similarities, expected);
  assert.deepEqual([found.groups, found.kept], [[20, 20], true]);
  assert.ok(["wasm", "webgpu"].includes(found.device), found.device);
  await page.close();
});

test("the page compares, and follows what is typed", options, async () => {
  const page = await open(`/site/#${state}`);
  const numbers = () => page.$$eval(".rows > li:not(.unaided) .cell-value", (cells) => cells.map((cell) => Number(cell.textContent)));
  await page.waitForFunction((count) => [...document.querySelectorAll(".rows > li:not(.unaided) .cell-value")].filter(({ textContent }) => /\d/.test(textContent)).length === count, {}, CONDITIONS.length);
  near(await numbers(), expected);
  const before = await numbers();
  await page.click("textarea");
  await page.keyboard.press("End");
  await page.keyboard.type(" with her dog");
  await page.waitForFunction((first) => !document.querySelector(".rows.stale") && document.querySelector(".rows > li:nth-child(2) .cell-value")?.textContent !== first, {}, before[0].toFixed(2));
  await page.waitForFunction(() => location.hash.includes("her+dog"));
  assert.deepEqual(page.failures, []);
  await page.close();
});

test("the list is grouped, and how it works is explained", options, async () => {
  const page = await open("/site/#/list?list=tickets&c=the+product");
  await page.waitForFunction(() => !document.querySelector("[role=progressbar]") && document.querySelector(".work-line p")?.textContent.includes("the product"));
  assert.ok((await page.$$(".group")).length >= 2);
  await page.waitForSelector(".map canvas");
  await page.goto(`${server.origin}/site/#/how?${state}`);
  await page.waitForFunction(() => document.querySelector(".step-figure > *") && !document.querySelector(".step-figure.stale"));
  assert.deepEqual(page.failures, []);
  await page.close();
});
