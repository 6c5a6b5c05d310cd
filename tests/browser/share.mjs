// Takes the picture that stands beside shared links: the built demo with its first example, in the size that such cards have.
//
//     node share.mjs

import path from "node:path";
import { launch, ROOT, serve } from "./helpers.mjs";

const file = path.join(ROOT, "www/public/share.png");
const server = await serve({ mounts: { "/site/": path.join(ROOT, "www/dist") } });
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 630 }, reducedMotion: "reduce" });
  await page.goto(`${server.origin}/site/#device=wasm`);
  await page.waitForFunction(() => /\d/.test(document.querySelector(".rows > li:nth-child(2) .cell-value")?.textContent), undefined, {
    timeout: 120_000,
  });
  // A card is small: the headline, the discs and the first bars are what can be seen of it.
  await page.addStyleTag({ content: ".head-tools, .nav, .examples, .keys, .missing { display: none !important }" });
  await page.waitForTimeout(500); // the font and the bars come to rest
  await page.screenshot({ path: file });
  console.log(`wrote ${file}`);
} finally {
  await browser.close();
  await server.close();
}
