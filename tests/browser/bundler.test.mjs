// The package as its users install it: packed, unpacked into node_modules, and used from a Vite app with Vite's own defaults,
// while developing and built. The model comes from another origin.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { build, createServer } from "vite";
import { launch, MODEL_FILE, ROOT, serve } from "./helpers.mjs";

const MODEL = `/models/${MODEL_FILE}`;
const options = { timeout: 180_000 };
let app;
let models;
let browser;

before(async () => {
  models = await serve();
  models.rule(MODEL, { headers: { "Access-Control-Allow-Origin": "*" } });
  browser = await launch();
  app = await mkdtemp(path.join(tmpdir(), "caselens-vite-"));
  const installed = path.join(app, "node_modules/caselens");
  await mkdir(installed, { recursive: true });
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", app, path.join(ROOT, "pkg")], { encoding: "utf8" });
  execFileSync("tar", ["-xzf", path.join(app, packed.trim().split("\n").at(-1)), "-C", installed, "--strip-components=1"]);
  await writeFile(path.join(app, "package.json"), JSON.stringify({ name: "app", type: "module", dependencies: { caselens: "*" } }));
  await writeFile(path.join(app, "index.html"), '<!doctype html><link rel="icon" href="data:,"><title>app</title><script type="module" src="/main.js"></script>');
  await writeFile(
    path.join(app, "main.js"),
    `import { Encoder } from "caselens";
     const encoder = await Encoder.load({ model: ${JSON.stringify(models.origin + MODEL)}, device: "wasm" });
     const [row] = await encoder.embed(["A cat sleeps."]);
     document.title = "length " + row.length;`,
  );
}, options);
after(async () => {
  await browser?.close();
  await models?.close();
  if (app) await rm(app, { recursive: true, force: true });
});

const vite = () => ({ root: app, configFile: false, logLevel: "error", cacheDir: path.join(app, "node_modules/.vite") });

async function assertRuns(url) {
  const page = await (await browser.newContext()).newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(url);
  await page
    .waitForFunction(() => document.title.startsWith("length"), undefined, { timeout: 60_000 })
    .catch((error) => assert.fail(`${error.message}\n${problems.join("\n")}`));
  assert.equal(await page.title(), "length 384");
  assert.deepEqual(problems, []);
  await page.context().close();
}

test("the packed package holds what it needs and no more", async () => {
  const installed = path.join(app, "node_modules/caselens");
  const names = (await readdir(installed)).filter((name) => !name.startsWith("LICENSE")).sort();
  assert.deepEqual(names, ["README.md", "dist", "package.json"]);
  for (const file of ["index.js", "index.d.ts", "worker.js", "wasm/caselens.js", "wasm/caselens_bg.wasm", "wasm/relaxed/caselens.js", "wasm/relaxed/caselens_bg.wasm"]) {
    const folder = path.join(installed, "dist", path.dirname(file));
    assert.ok((await readdir(folder)).includes(path.basename(file)), file);
  }
});

test("Vite's development server", options, async () => {
  const server = await createServer({ ...vite(), server: { host: "127.0.0.1", port: 0, hmr: false } });
  await server.listen();
  try {
    await assertRuns(`http://127.0.0.1:${server.httpServer.address().port}/`);
  } finally {
    await server.close();
  }
});

test("a Vite build", options, async () => {
  const outDir = path.join(app, "out");
  await build({ ...vite(), base: "./", build: { outDir } });
  const assets = await readdir(path.join(outDir, "assets"));
  assert.equal(assets.filter((name) => name.endsWith(".wasm")).length, 2, assets.join(" "));
  const server = await serve({ mounts: { "/app/": outDir } });
  try {
    await assertRuns(`${server.origin}/app/`);
  } finally {
    await server.close();
  }
});
