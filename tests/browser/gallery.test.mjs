// Answers of a model that no browser runs: a folder that the companion exported, read by the package and shown by the demo.
// The similarities are those that the companion prints; every folder that is not whole is a typed error.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { build } from "vite";
import { COMPANION, HEAD_FILE, launch, mentioning, MODEL_FILE, MODELS, openPage, ROOT, serve, violations, visit } from "./helpers.mjs";
import { assertLooks, incomparable } from "./screens.mjs";

const ENCODER = path.join(ROOT, "tests/fixtures/bert-tiny");
/** The demo as it was built. */
const PLAIN = path.join(ROOT, "www/dist");
const RIVER = ["a small dog near the river", "a cat, near the river"];
const ITEMS = [
  [...RIVER, "the place", 5],
  ["the old fisherman waits", "two birds in the garden", "the number", undefined],
  [...RIVER, "the animal", 1],
];
const LICENCE = "encoder and head: made by this test";

let folder;
let head;
let server;
let browser;

const companion = (...args) => execFileSync(COMPANION, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const table = (rows) => ["sentence1,sentence2,condition,label", ...rows.map((row) => row.map((cell) => `"${cell ?? ""}"`).join(","))].join("\n");

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "caselens-gallery-"));
  const inside = (name) => path.join(folder, name);
  head = inside("tiny.head.safetensors");
  await writeFile(inside("train.csv"), table(ITEMS.filter(([, , , label]) => label !== undefined)));
  await writeFile(inside("pairs.csv"), table(ITEMS));
  const training = ["--data", inside("train.csv"), "--validation", inside("train.csv"), "--cache", inside("cache")];
  companion("train-head", "--model", ENCODER, ...training, "--hidden", "32", "--dims", "16", "--epochs", "2", "--output", head);
  companion("export", "--model", ENCODER, "--head", head, "--gallery", inside("pairs.csv"), "--licence", LICENCE, "--output", inside("public/bundle"));
  const mounts = { "/bundle/": inside("public/bundle"), "/site/": inside("site"), "/site/models/": MODELS, "/plain/": PLAIN };
  server = await serve({ mounts });
  browser = await launch();
}, { timeout: 60_000 });
after(async () => {
  await browser?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => server.reset());

/** What the companion prints for an item. */
function scored([sentence1, sentence2, condition]) {
  return JSON.parse(companion("score", sentence1, sentence2, "-c", condition, "--json", "--model", ENCODER, "--head", head));
}

describe("the package", { concurrency: false }, () => {
  let page;
  before(async () => {
    page = await openPage(browser, server);
  });
  after(() => page?.close());

  const failure = (url = "bundle/", signal) =>
    page.evaluate(([url, abort]) => window.failure(window.caselens.Gallery.load(url, { signal: abort ? AbortSignal.abort() : undefined })), [url, signal]);
  /** Nothing is left running; the browser says so a little later. */
  async function noWorkers() {
    const end = Date.now() + 5000;
    while (page.workers().length > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(page.workers().length, 0);
  }
  const bundled = (name) => readFile(path.join(folder, "public/bundle", name));

  for (const url of ["bundle/", "bundle", "bundle/manifest.json"]) {
    test(`${url} answers as the companion does`, async () => {
      const gallery = await page.evaluate(async (url) => {
        const { encoder, dims, licenses, items, ...rest } = await window.caselens.Gallery.load(url);
        const gallery = await window.caselens.Gallery.load(new URL(url, document.baseURI));
        return { encoder, dims, licenses, items, rest, answers: items.map((_, i) => gallery.compare(i)), none: await window.failure((async () => gallery.compare(99))()) };
      }, url);
      assert.deepEqual([gallery.encoder, gallery.dims, gallery.licenses], ["bert-tiny", 16, [LICENCE]]);
      assert.equal(gallery.items.length, ITEMS.length);
      for (const [i, item] of ITEMS.entries()) {
        const { sentence1, sentence2, condition, label, similarity, rating } = gallery.items[i];
        assert.deepEqual([sentence1, sentence2, condition, label], item);
        assert.deepEqual(gallery.answers[i], { similarity, rating });
        const expected = scored(item);
        assert.ok(Math.abs(similarity - expected.similarity) < 1e-3, `${similarity} ${expected.similarity}`);
        assert.ok(Math.abs(rating - expected.rating) < 4e-3, `${rating} ${expected.rating}`);
      }
      assert.equal(new Set(gallery.items.map(({ similarity }) => similarity)).size, ITEMS.length);
      assert.equal(gallery.none.code, "invalid-argument");
      assert.deepEqual(page.problems, []);
      await noWorkers();
    });
  }

  test("what is not whole is a typed error, and leaves no worker", async () => {
    const manifest = (await bundled("manifest.json")).toString();
    const stored = await bundled("bert-tiny.gallery.safetensors");
    const other = Buffer.from(stored);
    other[other.length - 1] ^= 1;
    const HEAD = "/bundle/bert-tiny.head.safetensors";
    const STORED = "/bundle/bert-tiny.gallery.safetensors";
    const cases = [
      ["/bundle/manifest.json", { body: manifest.replace('"schema": 2', '"schema": 99') }, "bundle-schema"],
      ["/bundle/manifest.json", { body: manifest.replace('"gallery"', '"other"') }, "bundle-format"],
      ["/bundle/manifest.json", { body: "{" }, "bundle-format"],
      ["/bundle/manifest.json", { status: 404 }, "http"],
      [STORED, { body: other }, "bundle-mismatch"],
      [STORED, { body: stored.subarray(0, -1) }, "bundle-mismatch"],
      [STORED, { cut: 100 }, "download-incomplete"],
      [STORED, { status: 404 }, "http"],
      [HEAD, { body: stored }, "bundle-mismatch"],
      [HEAD, { drop: true }, "network"],
    ];
    for (const [file, rule, code] of cases) {
      server.rule(file, { ...rule, headers: { "Cache-Control": "no-store" } });
      const error = await failure();
      assert.deepEqual([error.code, error.typed], [code, true], `${file}: ${error.message}`);
      assert.match(error.message, /\S\.$/, "a sentence");
      server.reset();
    }
    assert.equal((await failure("bundle/", true)).name, "AbortError");
    assert.equal((await failure("http://[")).code, "invalid-argument");
    await noWorkers();
  });
});

describe("the demo", { concurrency: false }, () => {
  async function open(site, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    return visit(context, `${server.origin}${site}#/larger`);
  }
  /** Waits until the page's own model has answered, be it that a sentence says nothing. */
  const answered = (page) =>
    page.waitForFunction(() => {
      const own = [...document.querySelectorAll(".larger-pair td:nth-of-type(2)")];
      return own.length >= 3 && own.every((cell) => cell.textContent.trim() !== "…");
    }, undefined, { timeout: 60_000 });

  before(async () => {
    const www = path.join(ROOT, "www");
    // The models are served from where they are.
    const filter = (from) => !["models", "bundle"].includes(path.basename(from));
    const publicDir = path.join(folder, "public");
    await cp(path.join(www, "public"), publicDir, { recursive: true, filter });
    // Of the models' card the page takes its figures.
    await cp(path.join(www, "public/models/README.md"), path.join(publicDir, "models/README.md"));
    await build({ root: www, publicDir, build: { outDir: path.join(folder, "site"), emptyOutDir: true }, logLevel: "error" });
  }, { timeout: 120_000 });

  test("a page with a gallery shows its answers beside its own", async () => {
    const page = await open("/site/");
    await answered(page);
    const own = await page.evaluate(
      async ([entry, model, items]) => {
        const { CaseLens, unsaid } = await import(entry);
        const lens = await CaseLens.load({ model, device: "wasm" });
        const answers = [];
        for (const [sentence1, sentence2, condition] of items) {
          const [answer] = await lens.compare(sentence1, sentence2, [condition]);
          answers.push(unsaid(answer, lens.info) ? undefined : answer.similarity);
        }
        lens.dispose();
        return answers;
      },
      [`${server.origin}/pkg/dist/index.js`, `${server.origin}/models/${MODEL_FILE}`, ITEMS],
    );
    // A pair is shown once, with all of its conditions.
    assert.equal(await page.locator(".larger-pair").count(), 2);
    for (const [i, [sentence1, sentence2, condition, label]] of ITEMS.entries()) {
      const pair = page.locator(".larger-pair", { hasText: sentence1 });
      assert.equal(await pair.locator(".larger-sentence").last().innerText(), sentence2);
      const cells = pair.locator("tr", { has: page.getByRole("rowheader", { name: condition }) }).locator("td");
      const shown = (await cells.evaluateAll((all) => all.map((cell) => cell.querySelector("strong")?.textContent))).map((text) => text && Number(text.replace("−", "-")));
      assert.ok(Math.abs(shown[0] - scored(ITEMS[i]).similarity) < 0.0061, `${shown[0]}`);
      if (own[i] === undefined) assert.match(await cells.nth(1).innerText(), /says/);
      else assert.ok(Math.abs(shown[1] - own[i]) < 0.0051, `${shown[1]} ${own[i]}`);
      if (label !== undefined) assert.equal(shown[2], label);
    }
    const said = await page.locator("main").innerText();
    for (const text of ["bert-tiny", LICENCE, "too large for a browser"]) assert.ok(said.includes(text), text);
    assert.equal(await page.locator(".nav a[aria-current]").innerText(), "Larger model");
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("where a sentence says nothing, the page's own model gives no number", async () => {
    const silent = mentioning(await readFile(path.join(MODELS, HEAD_FILE)), 384, -4);
    server.rule(`/site/models/${HEAD_FILE}`, { body: silent, headers: { "Cache-Control": "no-store" } });
    const page = await open("/site/", { serviceWorkers: "block" });
    await page.locator(".larger-pair td", { hasText: "neither sentence says" }).nth(2).waitFor();
    assert.equal(await page.locator(".larger-pair td:nth-of-type(2) strong").count(), 0);
    await page.context().close();
  });

  for (const [colorScheme, width] of [["light", 1280], ["dark", 390]]) {
    test(`it has no accessibility violations, ${colorScheme}, ${width} pixels wide`, async (t) => {
      const page = await open("/site/", { colorScheme, reducedMotion: "reduce", viewport: { width, height: 900 } });
      await answered(page);
      assert.deepEqual(await violations(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the page");
      const why = await incomparable(browser);
      if (why) t.diagnostic(`looks are not compared: ${why}`);
      else await assertLooks(page, `larger-${width}-${colorScheme}`, [".engine dd"]);
      await page.setViewportSize({ width: 320, height: 640 });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out at 320 pixels");
      await page.context().close();
    });
  }

  test("a damaged gallery says why, and can be tried again", async () => {
    const STORED = "/site/bundle/bert-tiny.gallery.safetensors";
    server.rule(STORED, { body: "something else", headers: { "Cache-Control": "no-store" } });
    const page = await open("/site/", { serviceWorkers: "block" });
    const alert = page.getByRole("alert");
    assert.match(await alert.innerText(), /do not belong together/);
    assert.match(await alert.locator("[lang=en]").textContent(), /bert-tiny\.gallery\.safetensors/);
    server.rule(STORED, undefined);
    await alert.getByRole("button").click();
    await answered(page);
    await page.context().close();
  });

  const skip = existsSync(path.join(PLAIN, "bundle/manifest.json")) && "the demo was built with a gallery";
  test("a page without a gallery offers none and asks for none", { skip }, async () => {
    const page = await open("/plain/");
    await page.locator(".rows").waitFor();
    assert.ok(!(await page.locator(".nav").innerText()).includes("Larger"));
    assert.equal(server.requests.filter((request) => request.path.includes("bundle")).length, 0);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });
});
