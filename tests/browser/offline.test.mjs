// The built site without a network, under any path, and through an update of its server.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { launch, ROOT, serve, until, violations } from "./helpers.mjs";

const SITE = path.join(ROOT, "www/dist");
const PATIENT = 60_000;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Waits until the first condition has its number. */
const answered = (page) =>
  page.waitForFunction(() => /\d/.test(document.querySelector(".rows:not(.stored) > li:nth-child(2) .cell-value")?.textContent ?? ""), undefined, { timeout: PATIENT });
/** Waits until the page's files are kept, and the model's. */
async function kept(page) {
  await until(page, async () => (await (await caches.open("caselens-v1")).keys()).length >= 2, undefined, PATIENT);
  return page.evaluate(() => navigator.serviceWorker.ready.then(({ active }) => active.state !== "redundant"));
}
/** The paths of the files that are kept. */
const keptFiles = (page) =>
  page.evaluate(async () => {
    const names = await caches.keys();
    return (await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)))).flat();
  });
const number = (page) => page.locator(".rows > li:nth-child(2) .cell-value").innerText();

for (const prefix of ["/", "/some/sub/path/"]) {
  describe(`served under ${prefix}`, { concurrency: false }, () => {
    test("loaded once, it works with the server gone", async () => {
      const server = await serve({ mounts: { [prefix]: SITE } });
      const context = await browser.newContext();
      const page = await context.newPage();
      const problems = [];
      page.on("pageerror", (error) => problems.push(String(error)));
      await page.goto(`${server.origin}${prefix}#device=wasm`);
      await answered(page);
      const before = await number(page);
      assert.ok(await kept(page));
      await server.close();
      await context.setOffline(true);

      await page.reload();
      await answered(page);
      assert.equal(await number(page), before);
      await page.getByLabel("Second sentence").fill("A dog sleeps on the sofa");
      await page.waitForFunction((old) => !document.querySelector(".rows.stale") && (document.querySelector(".rows > li:nth-child(2) .cell-value")?.textContent ?? old) !== old, before);
      await page.getByRole("link", { name: "How it works" }).click();
      await page.locator(".chart canvas").first().waitFor();
      await page.goto(`${server.origin}${prefix}speed.html`);
      await page.getByRole("button", { name: "Measure" }).waitFor();
      assert.deepEqual(problems, []);
      await context.close();
    });
  });
}

test("a visitor who comes back gets the model of today, and keeps no other", async () => {
  const server = await serve({ mounts: { "/site/": SITE } });
  const context = await browser.newContext();
  const page = await context.newPage();
  const models = () =>
    page.evaluate(async () => (await (await caches.open("caselens-v1")).keys()).map(({ url }) => url.slice(url.lastIndexOf("/models/") + 8)).sort());
  await page.goto(`${server.origin}/site/favicon.svg`);
  const files = ["caselens-csts-q4_0.gguf", "caselens-csts.head.safetensors"];
  const others = ["/site/models/mine.gguf", "/elsewhere/models/caselens-csts-q4_0.gguf"];
  await page.evaluate(
    async (paths) => {
      const cache = await caches.open("caselens-v1");
      for (const path of paths) await cache.put(path, new Response("an earlier one"));
    },
    [...files.flatMap((file) => [`/site/models/${file}`, `/site/models/${file}?v=0`]), ...others],
  );
  await page.goto(`${server.origin}/site/#device=wasm`);
  await answered(page);
  const digest = async (file) => createHash("sha256").update(await readFile(path.join(SITE, "models", file))).digest("hex").slice(0, 8);
  const now = await Promise.all(files.map(async (file) => `${file}?v=${await digest(file)}`));
  const expected = ["caselens-csts-q4_0.gguf", "mine.gguf", ...now].sort();
  // Neither what is kept nor what is let go holds up an answer.
  for (let i = 0; i < 100 && String(await models()) !== String(expected); i++) await page.waitForTimeout(100);
  assert.deepEqual(await models(), expected);
  assert.equal(server.count(`/site/models/${files[0]}`), 1, "it is asked for once");
  await context.close();
  await server.close();
});

test("the package's API reference is part of the site, and not of what is kept", async () => {
  const server = await serve({ mounts: { "/site/": SITE } });
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => request.url().startsWith(server.origin) || problems.push(request.url()));
  await page.goto(`${server.origin}/site/#device=wasm`);
  assert.ok(await kept(page));
  await page.getByRole("contentinfo").getByRole("link", { name: "API reference" }).click();
  await page.getByRole("heading", { name: "API reference of caselens" }).waitFor();
  await page.getByRole("link", { name: "caselens/element" }).click();
  await page.getByRole("heading", { name: "Module caselens/element" }).waitFor();
  const files = await keptFiles(page);
  assert.ok(files.includes("/site/speed.html"), `${files}`);
  assert.deepEqual(files.filter((file) => file.startsWith("/site/api/")), []);
  assert.deepEqual(problems, []);
  await page.close();
  await server.close();
});

test("without a network, what is not kept is told as that on a page that leads back", async () => {
  const server = await serve({ mounts: { "/some/sub/path/": SITE } });
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  const home = `${server.origin}/some/sub/path/`;
  await page.goto(`${home}#device=wasm`);
  await answered(page);
  assert.ok(await kept(page));
  await context.setOffline(true);
  const told = page.getByRole("heading", { name: "This page needs a network" });

  await page.getByRole("contentinfo").getByRole("link", { name: "API reference" }).click();
  await told.waitFor();
  assert.equal(page.url(), `${home}unkept.html#api/index.html`);
  assert.deepEqual(await violations(page), []);
  await page.getByRole("link", { name: "Back to caselens" }).click();
  await answered(page);
  await page.goto(`${home}THIRD-PARTY-NOTICES.txt`);
  await told.waitFor();
  // Only pages of this site are led to.
  for (const elsewhere of ["//example.org/", "https://example.org/", "javascript:alert(1)", "../../", "//["]) {
    await page.goto("about:blank");
    await page.goto(`${home}unkept.html#${elsewhere}`);
    assert.equal(await page.getByRole("link", { name: "Try again" }).evaluate(({ href }) => href), home, elsewhere);
  }

  await page.goto(`${home}api/modules/caselens_element.html`);
  await told.waitFor();
  await context.setOffline(false);
  await page.getByRole("link", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Module caselens/element" }).waitFor();
  assert.deepEqual(problems, []);
  await context.close();
  await server.close();
});

for (const [what, at, before] of [
  ["that this browser runs", 0, ""],
  ["that runs anywhere, where there is no relaxed SIMD,", 1, "let asked = 0; WebAssembly.validate = () => asked++ > 0;"],
]) {
  test(`of the wasm module the build ${what} is kept alone`, async () => {
    const server = await serve({ mounts: { "/site/": SITE } });
    const worker = await readFile(path.join(SITE, "sw.js"), "utf8");
    const builds = JSON.parse(worker.match(/^const BUILDS = (.*);$/m)[1]);
    assert.equal(new Set(builds).size, 2);
    server.rule("/site/sw.js", { headers: { "Content-Type": "text/javascript" }, body: `${before}${worker}` });
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${server.origin}/site/#device=wasm`);
    assert.ok(await kept(page));
    assert.deepEqual((await keptFiles(page)).filter((file) => file.endsWith(".wasm")), [`/site/${builds[at]}`]);
    await page.context().close();
    await server.close();
  });
}

test("it can be installed", async () => {
  const server = await serve({ mounts: { "/site/": SITE } });
  const page = await browser.newPage();
  await page.goto(`${server.origin}/site/#device=wasm`);
  const session = await page.context().newCDPSession(page);
  const { url, errors, data } = await session.send("Page.getAppManifest");
  assert.equal(url, `${server.origin}/site/manifest.webmanifest`);
  assert.deepEqual(errors, []);
  const { icons, start_url: start, scope } = JSON.parse(data);
  assert.deepEqual([start, scope], ["./", "./"], "under any path");
  for (const { src, sizes } of icons.filter(({ type }) => type === "image/png")) {
    const bytes = await readFile(path.join(SITE, src));
    assert.equal(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`, sizes, src);
  }
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  // A browser without a profile of its own installs nothing; that is all it may complain of.
  assert.deepEqual(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== "in-incognito"), []);
  await page.close();
  await server.close();
});

describe("an update of the server", { concurrency: false }, () => {
  test("is taken whole, when it is asked for, and never in parts", async () => {
    const site = await mkdtemp(path.join(tmpdir(), "caselens-site-"));
    await cp(SITE, site, { recursive: true });
    const server = await serve({ mounts: { "/site/": site } });
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const version = () => page.evaluate(() => document.querySelector("meta[name=test-version]")?.content ?? "first");
      await page.goto(`${server.origin}/site/#device=wasm`);
      await answered(page);
      await kept(page);
      await page.reload();
      await answered(page);

      // Half an update: the list of files is the new one, the page still the old one.
      const html = (await readFile(path.join(site, "index.html"), "utf8")).replace("<head>", '<head><meta name="test-version" content="second">');
      const worker = await readFile(path.join(site, "sw.js"), "utf8");
      const hash = createHash("sha256").update(html).digest("base64");
      await writeFile(path.join(site, "sw.js"), worker.replace(/"index\.html":"[^"]*"/, `"index.html":"${hash}"`).replace(/VERSION = "/, 'VERSION = "2'));
      const update = () => page.evaluate(() => navigator.serviceWorker.getRegistration().then((registration) => registration.update().then(() => "", String)));
      await update();
      await page.waitForFunction(() => navigator.serviceWorker.getRegistration().then((r) => !r.installing));
      assert.equal(await page.evaluate(() => navigator.serviceWorker.getRegistration().then((r) => r.waiting === null)), true);
      await page.reload();
      await answered(page);
      assert.equal(await version(), "first");

      // The whole of it: it waits until it is asked for.
      await writeFile(path.join(site, "index.html"), html);
      await update();
      await page.getByText("A new version of this page is ready.").waitFor();
      assert.deepEqual(await violations(page), []);
      assert.equal(await version(), "first");
      await page.getByRole("button", { name: "Reload with it" }).click();
      await page.waitForFunction(() => document.querySelector("meta[name=test-version]")?.content === "second");
      await answered(page);
      assert.equal(await page.evaluate(() => caches.keys().then((keys) => keys.filter((key) => key.startsWith("caselens-page")).length)), 1);
    } finally {
      await context.close();
      await server.close();
      await rm(site, { recursive: true, force: true });
    }
  });
});
