// How a page looks, compared with a picture of how it looked when a person last approved of it.
//
// Pictures are kept at a quarter of their size, where the edges of letters no longer depend on a machine's font renderer.
// `SCREENS=update` writes new ones: look at them before they are committed. Another version of Chromium draws otherwise
// here and there, so pictures are compared by the version that made them alone.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { ROOT } from "./helpers.mjs";

const KEPT = path.join(ROOT, "tests/browser/screens");
const VERSION = path.join(KEPT, "chromium.txt");
const update = process.env.SCREENS === "update";
/** What did not match. Git ignores it. */
const FOUND = path.join(KEPT, "found");
/** Pixels of the page in one of a kept picture, along each side. */
const SCALE = 4;
/** Side of a cell in pixels of a kept picture: a short word. */
const CELL = 8;
/** How far a colour may be off, of 255 in each channel. */
const COLOUR = 20;
/** The share of a cell's pixels that may be off: a digit or the end of a bar may change, not a word or a button. */
const SHARE = 0.15;

/**
 * Why this browser's pages cannot be compared with the kept pictures; undefined where they can.
 * @param {import("playwright-core").Browser} browser
 */
export async function incomparable(browser) {
  const [own] = browser.version().split(".");
  if (update) {
    await mkdir(KEPT, { recursive: true });
    await writeFile(VERSION, own);
    return undefined;
  }
  const kept = await readFile(VERSION, "utf8");
  return kept === own ? undefined : `the pictures are Chromium ${kept}'s, and this is ${own}; SCREENS=update makes new ones`;
}

/**
 * Asserts that the whole page looks as it does in `screens/NAME.webp`.
 * @param {import("playwright-core").Page} page at rest
 * @param {string} name
 * @param {string[]} unlike selectors of what is another each time
 */
export async function assertLooks(page, name, unlike = []) {
  const mask = unlike.map((selector) => page.locator(selector));
  // A name of another length would move what stands beside it.
  await page.evaluate((selectors) => {
    for (const element of document.querySelectorAll(selectors.join(", ") || ":not(*)")) element.textContent = "······";
  }, unlike);
  // What is drawn only near the screen would be there or not, as it happens. A sheet of this kind is none that a policy forbids.
  await page.evaluate(() => {
    const whole = new CSSStyleSheet();
    whole.replaceSync("* { content-visibility: visible !important; }");
    document.adoptedStyleSheets.push(whole);
  });
  const shot = await page.screenshot({ fullPage: true, animations: "disabled", caret: "hide", mask, maskColor: "#808080" });
  const file = path.join(KEPT, `${name}.webp`);
  const kept = !update && existsSync(file) ? (await readFile(file)).toString("base64") : undefined;
  const bench = await page.context().newPage();
  const { picture, wrong } = await bench.evaluate(compare, { shot: shot.toString("base64"), kept, SCALE, CELL, COLOUR, SHARE });
  await bench.close();
  const found = path.join(FOUND, `${name}.webp`);
  if (update) {
    await writeFile(file, Buffer.from(picture, "base64"));
  } else if (wrong) {
    await mkdir(FOUND, { recursive: true });
    await writeFile(found, Buffer.from(picture, "base64"));
    await writeFile(found.replace(/\.webp$/, ".full.png"), shot);
    const remedy = `Compare ${path.relative(ROOT, found)} with ${path.relative(ROOT, file)}; if the new look is meant, run the test with SCREENS=update.`;
    assert.fail(`${name}: ${wrong} ${remedy}`);
  } else {
    await rm(found, { force: true });
    await rm(found.replace(/\.webp$/, ".full.png"), { force: true });
  }
}

/** In the browser: the shot in small as a PNG, and what is wrong with it, if anything is. */
async function compare({ shot, kept, SCALE, CELL, COLOUR, SHARE }) {
  const decode = (base64) => createImageBitmap(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]));
  const pixels = (image, width, height) => {
    const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, width, height).data;
  };

  // The mean of each square of pixels, in steps that keep the files small; at quality 1 WebP loses nothing.
  const image = await decode(shot);
  const large = pixels(image, image.width, image.height);
  const [width, height] = [Math.floor(image.width / SCALE), Math.floor(image.height / SCALE)];
  const small = new ImageData(width, height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let channel = 0; channel < 4; channel++) {
        let sum = 0;
        for (let dy = 0; dy < SCALE; dy++) {
          for (let dx = 0; dx < SCALE; dx++) sum += large[4 * ((y * SCALE + dy) * image.width + x * SCALE + dx) + channel];
        }
        small.data[4 * (y * width + x) + channel] = 8 * Math.round(sum / SCALE ** 2 / 8);
      }
    }
  }
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d").putImageData(small, 0, 0);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 1 })).arrayBuffer());
  const picture = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  if (!kept) return { picture, wrong: "there is no picture of it yet." };

  const before = await decode(kept);
  if (before.width !== width || before.height !== height) {
    const size = (w, h) => `${w * SCALE} × ${h * SCALE}`;
    return { picture, wrong: `it is ${size(width, height)} pixels large, where it was ${size(before.width, before.height)}.` };
  }
  const old = pixels(before, width, height);
  const off = (x, y) => [0, 1, 2].some((channel) => Math.abs(small.data[4 * (y * width + x) + channel] - old[4 * (y * width + x) + channel]) > COLOUR);
  const places = [];
  for (let top = 0; top < height; top += CELL) {
    for (let left = 0; left < width; left += CELL) {
      const [right, bottom] = [Math.min(left + CELL, width), Math.min(top + CELL, height)];
      let count = 0;
      for (let y = top; y < bottom; y++) for (let x = left; x < right; x++) count += off(x, y);
      if (count > SHARE * (right - left) * (bottom - top)) places.push(`(${left * SCALE}, ${top * SCALE})`);
    }
  }
  const wrong = places.length > 0 && `it looks different around ${places.slice(0, 5).join(", ")}${places.length > 5 ? ` and ${places.length - 5} places more` : ""}.`;
  return { picture, wrong };
}
