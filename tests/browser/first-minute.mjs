// The first minute of the built page on a phone that is slow, on a network that is slow: what is on its screen, second by second.
//
//     node first-minute.mjs FOLDER [--until 90] [--lines 15]
//
// 390 × 844 pixels, 1.6 Mbit/s down, 150 ms until a first byte, half of this machine's speed. At 1, 3, 10, 30, 60 and 90 seconds after the
// address was entered it prints the first lines that are on the screen, and saves a screenshot of it into FOLDER. `--until` ends
// earlier. The server compresses what servers usually compress, so that no more is sent than from a usual host.
//
// For a machine with nothing else to do, as all times are.

import { mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants } from "node:zlib";
import { launch, ROOT, serve } from "./helpers.mjs";

const MOMENTS = [1, 3, 10, 30, 60, 90];
const NETWORK = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 0.75e6 / 8 };
const SLOWER = 2;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { until: { type: "string", default: "90" }, lines: { type: "string", default: "15" } } });
const [folder] = positionals;
if (!folder) {
  console.error("Name a folder for the screenshots: node first-minute.mjs FOLDER [--until 90]");
  process.exit(2);
}
await mkdir(folder, { recursive: true });

const site = path.join(ROOT, "www/dist");
const server = await serve({ mounts: { "/site/": site } });
const TYPES = { ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".wasm": "application/wasm" };
for (const name of await readdir(path.join(site, "assets"))) {
  const type = TYPES[path.extname(name)];
  if (!type) continue;
  const body = brotliCompressSync(await readFile(path.join(site, "assets", name)), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  server.rule(`/site/assets/${name}`, { body, headers: { "Content-Type": type, "Content-Encoding": "br" } });
}

const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, locale: "en-US", reducedMotion: "reduce" });
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", NETWORK);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });

  const begun = performance.now();
  page.goto(`${server.origin}/site/`, { waitUntil: "commit" }).catch((error) => console.error(String(error)));
  for (const seconds of MOMENTS.filter((moment) => moment <= Number(values.until))) {
    await page.waitForTimeout(Math.max(0, seconds * 1000 - (performance.now() - begun)));
    const lines = await page.evaluate(onScreen).catch(() => []);
    const took = (performance.now() - begun) / 1000;
    await page.screenshot({ path: path.join(folder, `${seconds}s.png`), animations: "disabled" });
    const late = took > seconds + 0.5 ? ` (the page answered at ${took.toFixed(1)} s)` : "";
    console.log(`\n${seconds} s${late}`);
    console.log(lines.length > 0 ? lines.slice(0, Number(values.lines)).map((line) => `  ${line}`).join("\n") : "  (nothing)");
  }
} finally {
  await browser.close();
  await server.close();
}

/** In the page: the lines of text on its screen, and what is typed in its fields, in their order. */
function onScreen() {
  const lines = [];
  const isSeen = ({ top, bottom, left, right }) => right > left && bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  const walker = document.createTreeWalker(document.body ?? document.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  let last;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node instanceof Element ? node : node.parentElement;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement) {
      // A sentence also stands below its field, where its words are tinted.
      if (node.value && lines.at(-1) !== node.value && isSeen(node.getBoundingClientRect())) lines.push(`[${node.value}]`);
      last = undefined;
      continue;
    }
    const text = node.nodeType === Node.TEXT_NODE ? node.data.replace(/\s+/g, " ").trim() : "";
    if (!text || element.closest("textarea, select, script, style, noscript")) continue;
    const range = document.createRange();
    range.selectNode(node);
    const box = range.getBoundingClientRect();
    // What only screen readers get is a pixel large.
    if (!isSeen(box) || element.getBoundingClientRect().width <= 2) continue;
    // Pieces that stand beside one another are a line.
    if (last !== undefined && Math.abs(last - box.top) < 8) lines.push(`${lines.pop()} ${text}`);
    else lines.push(text);
    last = box.top;
  }
  return lines;
}
