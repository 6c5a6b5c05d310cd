// Makes the icons of the installed page from its drawn one, www/public/favicon.svg.
//
//     node icons.mjs

import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { launch, ROOT } from "./helpers.mjs";

const folder = path.join(ROOT, "www/public/icons");
const svg = await readFile(path.join(ROOT, "www/public/favicon.svg"), "utf8");
/** Name, size in pixels, and the drawing's part of the width: systems may cut a fifth off a maskable icon's edges. */
const icons = [
  ["icon-192.png", 192, 0.84],
  ["icon-512.png", 512, 0.84],
  ["maskable-512.png", 512, 0.62],
  ["apple-touch-icon.png", 180, 0.76],
];

await mkdir(folder, { recursive: true });
const browser = await launch();
try {
  for (const [name, size, share] of icons) {
    const page = await browser.newPage({ viewport: { width: size, height: size } });
    const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
    await page.setContent(
      `<body style="margin:0;height:100vh;display:grid;place-items:center;background:#fbfcfb"><img src="${source}" style="width:${100 * share}%;height:${100 * share}%"></body>`,
    );
    await page.locator("img").evaluate((image) => image.decode());
    await page.screenshot({ path: path.join(folder, name) });
    await page.close();
  }
} finally {
  await browser.close();
}
