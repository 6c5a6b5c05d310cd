// Takes the README's picture: the built demo with its first example, through its first condition.
//
//     node screenshot.mjs [FILE]        FILE is www/screenshot.png by default

import path from "node:path";
import { launch, ROOT, serve } from "./helpers.mjs";

const file = process.argv[2] ?? path.join(ROOT, "www/screenshot.png");
const server = await serve({ mounts: { "/site/": path.join(ROOT, "www/dist") } });
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, reducedMotion: "reduce" });
  await page.goto(`${server.origin}/site/#device=wasm`);
  await page.waitForFunction(() => /\d/.test(document.querySelector(".rows:not(.stored) > li:nth-child(2) .cell-value")?.textContent), undefined, {
    timeout: 120_000,
  });
  await page.locator(".rows > li:nth-child(2)").hover();
  await page.waitForTimeout(500); // the font and the bars come to rest
  await page.screenshot({ path: file });
  console.log(`wrote ${file}`);
} finally {
  await browser.close();
  await server.close();
}
