// Makes the picture that stands beside shared links, www/public/share.png, in the size that such cards have. It is drawn like the
// page, and shows no numbers: those are the model's to say.
//
//     node share.mjs

import { readFile } from "node:fs/promises";
import path from "node:path";
import { launch, ROOT } from "./helpers.mjs";

const FACE = "www/node_modules/@fontsource-variable/atkinson-hyperlegible-next/files/atkinson-hyperlegible-next-latin-wght-normal.woff2";
const face = (await readFile(path.join(ROOT, FACE))).toString("base64");

const card = `<!doctype html><html lang="en"><meta charset="utf-8"><style>
  @font-face { font-family: Face; src: url(data:font/woff2;base64,${face}); font-weight: 200 800 }
  body { margin: 0; width: 1200px; height: 630px; display: grid; grid-template-rows: auto 1fr auto; background: #fbfcfb; color: #11201d; font: 560 34px/1.25 Face }
  h1 { margin: 0; padding: 48px 60px 44px; font-size: 76px; font-weight: 760; white-space: nowrap; line-height: 1; letter-spacing: -0.035em }
  h1 span { color: #086044 }
  main { position: relative; display: grid; grid-template-columns: 1fr 1fr }
  p { margin: 0; padding: 34px 60px }
  .first { background: #cfe7fd; padding-right: 240px }
  .second { background: #ffeca6; padding-left: 240px; text-align: end }
  svg { position: absolute; left: 380px; top: 70px }
  footer { padding: 28px 60px 36px; font-size: 32px; font-weight: 700 }
  footer span { color: #50605c; font-weight: 400 }
</style><body>
  <h1>Alike? <span>Depends how you look.</span></h1>
  <main>
    <p class="first">She plays chess in the park</p>
    <p class="second">He plays football in the park</p>
    <svg width="440" height="230"><circle cx="162" cy="115" r="108" fill="#45a0f0"/><circle cx="278" cy="115" r="108" fill="#ffc61f"/><path fill="#0b6e4f" d="M220 23.9A108 108 0 0 1 220 206.1A108 108 0 0 1 220 23.9Z"/></svg>
  </main>
  <footer>caselens <span>compares two sentences under a condition, in your browser</span></footer>
</body></html>`;

const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 630 } });
  await page.setContent(card);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: path.join(ROOT, "www/public/share.png") });
} finally {
  await browser.close();
}
