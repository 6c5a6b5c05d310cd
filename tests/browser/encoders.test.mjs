// The choice of the encoder: what is offered, loading it on demand, going back, cancelling, failing, without a network, on metered
// connections; CASE as published, and beside what ships.
//
// A tiny encoder with a head stands in for the large one and for CASE.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { COMPANION, HEAD_FILE, launch, MODEL_FILE, MODELS, ROOT, serve, violations, visit } from "./helpers.mjs";

const SITE = path.join(ROOT, "www/dist");
const FILES = {
  small: [MODEL_FILE, HEAD_FILE],
  large: ["caselens-csts-large-q4_0.gguf", "caselens-csts-large.head.safetensors"],
  case: ["case-minilm-q4_0.gguf", "case-minilm.head.safetensors"],
};
const NAMES = { small: "Small", large: "Large", case: "CASE, as published" };
const PAIR = ["She plays chess in the park", "He plays football in the park"];
const PATIENT = { timeout: 120_000 };
/** Whether the site was built with the published encoder of CASE. */
const without = existsSync(path.join(SITE, "models", FILES.case[0])) ? false : "the site was built without the published encoder of CASE: ./build.sh setup makes it";

let server;
let browser;
/** Holds the small encoder and, under the others' names, a tiny one. */
let models;

before(async () => {
  models = await mkdtemp(path.join(tmpdir(), "caselens-encoders-"));
  const companion = (...args) => execFileSync(COMPANION, args, { stdio: "pipe" });
  const [tiny, data] = [path.join(ROOT, "tests/fixtures/bert-tiny"), path.join(models, "toy.csv")];
  const row = (_, i) => `a dog by river ${i},a cat by river ${i % 3},${i % 2 ? "the place" : "the animal"},${1 + (i % 5)}`;
  await writeFile(data, ["sentence1,sentence2,condition,label", ...Array.from({ length: 40 }, row), ""].join("\n"));
  for (const [id, [model, head]] of Object.entries(FILES)) {
    if (id === "small") for (const file of [model, head]) await symlink(path.join(MODELS, file), path.join(models, file));
    else {
      companion("quantize", "--model", tiny, "--output", path.join(models, model), "--id", `a tiny one in place of ${id}`);
      const shape = ["--order", "cs", "--hidden", "32", "--dims", "16", "--epochs", "2", "--cache", path.join(models, "cache")];
      companion("train-head", "--model", path.join(models, model), "--data", data, "--output", path.join(models, head), ...shape);
    }
  }
  server = await serve({ mounts: { "/real/": SITE } });
  const others = Object.entries(FILES).flatMap(([id, files]) => (id === "small" ? [] : files));
  await server.siteWith("/site/", Object.fromEntries(await Promise.all(others.map(async (file) => [file, await readFile(path.join(models, file))]))));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
  if (models) await rm(models, { recursive: true, force: true });
});
afterEach(() => server.reset());

const modelPath = (id) => `/site/models/${FILES[id][0]}`;
const query = (extra = {}) => new URLSearchParams([["s1", PAIR[0]], ["s2", PAIR[1]], ["c", "the place"], ["c", "the game"], ...Object.entries({ device: "wasm", ...extra })]);

/** Opens the view in a context of its own; `connection` is what the browser says of it. */
async function open({ site = "site", view = "how", state = {}, connection, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, serviceWorkers: "block", ...options });
  if (connection) await context.addInitScript((connection) => Object.defineProperty(navigator, "connection", { value: connection }), connection);
  return visit(context, `${server.origin}/${site}/#${view === "how" ? "/how?" : ""}${query(state)}`);
}
const leave = (page) => page.context().close();

const radio = (page, id) => page.locator(`.encoder input[value=${id}]`);
/** Waits until an encoder answers, and its numbers are there. */
async function answering(page, id) {
  await page.waitForFunction((name) => document.querySelector(".encoders-state [role=status]")?.textContent === `“${name}” answers.`, NAMES[id]);
  await page.waitForFunction(() => document.querySelector(".step-figure > *") && !document.querySelector(".step-figure.stale"));
}
const cost = (page, id) => page.locator(`#encoder-${id} .quiet`).innerText();
const digits = (text) => text.replaceAll("−", "-").match(/-?\d\.\d\d/g).map(Number);
const cosines = async (page) => digits(await page.locator(".step-cosine .chart").getAttribute("aria-label"));
/** What the package says of the pair, by this encoder: its steps' cosines. */
const explained = (page, id, site = "site") =>
  page.evaluate(
    async ([entry, folder, [model, head], pair]) => {
      const { CaseLens } = await import(entry);
      const lens = await CaseLens.load({ model: folder + model, head: folder + head, device: "wasm", cache: false });
      const { steps, rating } = await lens.explain(...pair, "the place");
      lens.dispose();
      return { names: steps.map(({ name }) => name), cosines: steps.map(({ cosine }) => cosine), rating };
    },
    [`${server.origin}/pkg/dist/index.js`, `${server.origin}/${site}/models/`, FILES[id], PAIR],
  );
function near(found, expected) {
  assert.equal(found.length, expected.length, `${found} and ${expected}`);
  found.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) <= 0.0051, `${found} and ${expected}`));
}
/** Waits until so many workers run in the page: an encoder's is gone when the encoder is. */
async function workers(page, count) {
  for (let i = 0; i < 100 && page.workers().length !== count; i++) await page.waitForTimeout(50);
  assert.equal(page.workers().length, count);
}
/** Waits until an encoder's files are kept. */
async function isKept(page, id) {
  const files = () =>
    page.evaluate(async () => (await (await caches.open("caselens-v1")).keys()).map(({ url }) => new URL(url).pathname.split("/").at(-1)));
  let there = await files();
  for (let i = 0; i < 200 && !FILES[id].every((file) => there.includes(file)); i++) {
    await page.waitForTimeout(50);
    there = await files();
  }
  for (const file of FILES[id]) assert.ok(there.includes(file), `${there}`);
}
/** The card's row of an encoder: megabytes, Spearman, accuracy, unseen conditions, rows. */
async function cardOf(id) {
  const card = await readFile(path.join(MODELS, "README.md"), "utf8");
  return card.match(new RegExp(`^\\| \`${id}\` \\|.*$`, "m"))[0].split("|").slice(3, -1).map((cell) => Number(cell.replaceAll(/[*,]/g, "")));
}

describe("what is offered", () => {
  /** The part of the build that tells the page of the encoders. */
  async function plugin() {
    const { build } = createRequire(path.join(ROOT, "www/package.json"))("esbuild");
    const { outputFiles } = await build({ entryPoints: [path.join(ROOT, "www/encoders.ts")], bundle: true, write: false, platform: "node", format: "esm", packages: "external" });
    const file = path.join(models, "plugin.mjs");
    await writeFile(file, outputFiles[0].contents);
    return (await import(pathToFileURL(file))).encoders();
  }
  /** What the build tells the page of a folder of public files. */
  const told = async (publicDir) => JSON.parse((await plugin()).config({ root: ROOT, publicDir }).define.__ENCODERS__);

  test("are the encoders whose files are there, by URLs of their contents and with their card's figures", async () => {
    const folder = path.join(models, "public/models");
    await mkdir(folder, { recursive: true });
    await cp(path.join(MODELS, "README.md"), path.join(folder, "README.md"));
    const all = Object.values(FILES).flat();
    for (const file of all) await writeFile(path.join(folder, file), file);
    const whole = await told(path.join(models, "public"));
    assert.deepEqual(Object.keys(whole), ["small", "large", "case"]);
    for (const [id, { model, integrity, head, headIntegrity, figures }] of Object.entries(whole)) {
      // What the files hold is their names here.
      assert.deepEqual([integrity, headIntegrity], FILES[id].map((file) => createHash("sha256").update(file).digest("hex")));
      assert.match(model, new RegExp(`^models/${FILES[id][0]}\\?v=[0-9a-f]{8}$`));
      assert.match(head, new RegExp(`^models/${FILES[id][1]}\\?v=[0-9a-f]{8}$`));
      const { megabytes, spearman, accuracy, unseen, rows } = figures;
      assert.deepEqual([megabytes, spearman, accuracy, unseen, rows], await cardOf(id));
    }
    // Each of the two files is needed.
    for (const missing of FILES.case) {
      await rm(path.join(folder, missing));
      assert.deepEqual(Object.keys(await told(path.join(models, "public"))), ["small", "large"]);
      await writeFile(path.join(folder, missing), missing);
    }
    await rm(path.join(folder, FILES.large[0]));
    await rm(path.join(folder, FILES.small[0]));
    assert.deepEqual(Object.keys(await told(path.join(models, "public"))), ["small", "case"]);
  });

  test("an encoder of one's own takes the place of the one that ships, in the built site alone", async () => {
    const [own, dist] = ["own", "dist"].map((name) => path.join(models, name));
    await mkdir(path.join(own, "models"), { recursive: true });
    for (const file of FILES.small) await writeFile(path.join(own, "models", file), "another");
    process.env.OWN_ENCODER = own;
    try {
      const { small, large } = await told(path.join(ROOT, "www/public"));
      const sum = createHash("sha256").update("another").digest("hex");
      assert.deepEqual([small.integrity, small.headIntegrity], [sum, sum]);
      assert.equal(small.model, `models/${MODEL_FILE}?v=${sum.slice(0, 8)}`);
      assert.notEqual(large.integrity, sum);
      (await plugin()).writeBundle({ dir: dist });
      assert.equal(await readFile(path.join(dist, "models", MODEL_FILE), "utf8"), "another");
    } finally {
      delete process.env.OWN_ENCODER;
    }
  });

  test("have the sizes that their card says", async () => {
    for (const [id, files] of Object.entries(FILES)) {
      const there = files.map((file) => path.join(SITE, "models", file));
      if (!there.every(existsSync)) continue;
      const bytes = there.reduce((sum, file) => sum + statSync(file).size, 0);
      assert.ok(Math.abs(bytes / 1e6 - (await cardOf(id))[0]) <= 0.1, `${id}: ${bytes}`);
    }
  });

  test("lie in the site, and are not among what the service worker keeps", async () => {
    const there = await readdir(path.join(SITE, "models"));
    for (const file of [...FILES.small, ...FILES.large]) assert.ok(there.includes(file), file);
    assert.deepEqual(there.filter((file) => /q8_0|\.from$/.test(file)), []);
    assert.doesNotMatch(await readFile(path.join(SITE, "sw.js"), "utf8"), /models\//);
  });

  test("a link that names none of them gets the one that ships", async () => {
    const page = await open({ state: { encoder: "huge" } });
    await answering(page, "small");
    await leave(page);
  });
});

describe("choosing", { concurrency: false, skip: without }, () => {
  test("says sizes first, loads on demand, frees the one before, and comes back at once", PATIENT, async () => {
    const page = await open();
    await answering(page, "small");
    for (const [id, cost_] of [["small", /^\d+\.\d MB, in use$/], ["large", /^\d+\.\d MB to download$/], ["case", /^\d+\.\d MB to download$/]]) assert.match(await cost(page, id), cost_);
    assert.equal(server.count(modelPath("large")), 0, "nothing is loaded that nobody asked for");
    await isKept(page, "small");
    await workers(page, 1);
    const small = await cosines(page);

    await radio(page, "large").check();
    await answering(page, "large");
    near(await cosines(page), (await explained(page, "large")).cosines);
    assert.match(page.url(), /encoder=large/);
    await workers(page, 1);
    assert.match(await cost(page, "small"), /on this device/);

    // The way back downloads nothing.
    const asked = server.count(modelPath("small"));
    await page.goBack();
    await answering(page, "small");
    assert.deepEqual(await cosines(page), small);
    assert.equal(server.count(modelPath("small")), asked);
    await workers(page, 1);

    // The other views carry the choice.
    await radio(page, "large").check();
    await answering(page, "large");
    await page.getByRole("link", { name: "Compare" }).click();
    await page.waitForFunction(() => location.hash.includes("encoder=large") && !location.hash.includes("how"));
    const [mb, spearman] = await cardOf("large");
    const right = await page.getByRole("region", { name: "How right is it?" }).innerText();
    assert.ok(right.includes(`correlation of ${spearman} of 100`) && /encoder that answers now, “Large”/.test(right), right);
    await page.locator(".engine summary").click();
    assert.ok(await radio(page, "large").isChecked());
    assert.equal(await cost(page, "large"), `${mb.toFixed(1)} MB, in use`);
    await radio(page, "small").check();
    await page.getByText(`correlation of ${(await cardOf("small"))[1]} of 100`).waitFor();
    await page.waitForFunction(() => !location.hash.includes("encoder"));
    assert.deepEqual(page.problems, []);
    await leave(page);
  });

  test("a link opens its encoder, says how much of how much is there, and offers the small one meanwhile", PATIENT, async () => {
    const size = statSync(path.join(models, FILES.large[0])).size;
    server.rule(modelPath("large"), { rate: size / 4 });
    const page = await open({ state: { encoder: "large" } });
    await page.getByRole("progressbar", { name: "Loading the model" }).waitFor();
    await page.getByText(/Loading the model: \d+\.\d MB of \d+\.\d MB, \d+ %/).waitFor();
    assert.equal(server.count(modelPath("small")), 0);
    await answering(page, "large");
    await page.reload();
    await answering(page, "large");
    await leave(page);

    server.rule(modelPath("large"), { rate: size / 60 });
    const other = await open({ state: { encoder: "large" } });
    await other.getByRole("button", { name: "Take “Small” instead" }).click();
    await answering(other, "small");
    await other.waitForFunction(() => !location.hash.includes("encoder"));
    await leave(other);
  });

  test("a list's link opens its encoder, and keeps it through a reload and other views", PATIENT, async () => {
    const page = await open();
    await answering(page, "small");
    await radio(page, "large").check();
    await answering(page, "large");
    await page.getByRole("link", { name: "List" }).click();
    await page.locator(".group").first().waitFor();
    await page.waitForFunction(() => /^#\/list\?.*encoder=large/.test(location.hash));
    const opened = await visit(await browser.newContext({ serviceWorkers: "block" }), page.url());
    await leave(page);
    for (const again of [false, true]) {
      if (again) await opened.reload();
      await opened.locator(".group").first().waitFor();
      await opened.locator(".engine summary").click();
      await opened.locator(".facts", { hasText: "a tiny one in place of large" }).waitFor();
      assert.match(opened.url(), /encoder=large/);
    }
    assert.equal(server.count(modelPath("small")), 1, "the first page's");
    // One that names none is of the encoder that ships.
    await opened.goto(opened.url().replace("&encoder=large", ""));
    await opened.locator(".facts", { hasText: "tuned by caselens" }).waitFor();
    await leave(opened);
  });

  test("the former answers while the next is on its way, which can be cancelled; nothing moves", PATIENT, async () => {
    server.rule(modelPath("large"), { rate: statSync(path.join(models, FILES.large[0])).size / 60, chunked: true });
    const page = await open();
    await answering(page, "small");
    await page.waitForFunction(() => [...document.querySelectorAll(".chart")].every((chart) => chart.firstChild));
    await page.evaluate(() => {
      window.shifts = [];
      new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(({ value, sources }) => [value, sources[0]?.node?.className]))).observe({ type: "layout-shift" });
    });
    await radio(page, "large").check();
    // Of a server that does not say how much there is: by the card.
    await page.locator(".encoders-state").getByText(`MB of ${(await cardOf("large"))[0].toFixed(1)} MB`).waitFor();
    assert.equal(await page.getByRole("progressbar").count(), 1);
    const before = await cosines(page);
    await page.getByLabel("Other conditions").selectOption("the game");
    await page.waitForFunction(() => document.querySelector(".asked")?.textContent.includes("the game") && !document.querySelector(".step-figure.stale"));
    assert.notDeepEqual(await cosines(page), before);
    await page.waitForTimeout(600);
    await page.locator(".encoders").getByRole("button", { name: "Cancel" }).click();
    await answering(page, "small");
    assert.ok(await radio(page, "small").isChecked());
    await page.waitForFunction(() => !location.hash.includes("encoder"));
    for (let i = 0; i < 100 && !server.requests.some(({ path, left }) => path === modelPath("large") && left); i++) await page.waitForTimeout(50);
    assert.ok(server.requests.some(({ path, left }) => path === modelPath("large") && left), "the download is broken off");
    await workers(page, 1);
    assert.deepEqual(await page.evaluate(() => window.shifts), []);
    assert.equal(await page.getByRole("alert").count(), 0);
    await leave(page);
  });

  test("what goes wrong is said, and the former stays", PATIENT, async () => {
    server.rule(modelPath("large"), { status: 404 });
    const page = await open();
    await answering(page, "small");
    await radio(page, "large").check();
    const alert = page.getByRole("alert");
    await alert.waitFor();
    assert.match(await alert.innerText(), /“Large” could not be loaded[^]*not on this page’s server[^]*“Small” goes on answering/);
    assert.ok(await radio(page, "small").isChecked());
    await page.waitForFunction(() => !location.hash.includes("encoder"));
    await answering(page, "small");
    server.rule(modelPath("large"), undefined);
    await alert.getByRole("button", { name: "Try again" }).click();
    await answering(page, "large");
    assert.equal(await alert.count(), 0);
    await leave(page);

    // Where nothing answers yet, the one that ships is a way out.
    server.rule(modelPath("case"), { status: 404 });
    const linked = await open({ state: { encoder: "case" } });
    await linked.getByRole("alert").getByRole("button", { name: "Take “Small” instead" }).click();
    await answering(linked, "small");
    await leave(linked);
  });

  test("without a network, what is kept works and what is not says so", PATIENT, async () => {
    const page = await open();
    await answering(page, "small");
    await radio(page, "large").check();
    await answering(page, "large");
    for (const id of ["small", "large"]) await isKept(page, id);
    await radio(page, "small").check();
    await answering(page, "small");
    await page.context().setOffline(true);
    await page.waitForFunction(() => /needs a network/.test(document.querySelector("#encoder-case .quiet").textContent));
    assert.match(await cost(page, "large"), /on this device/);
    await radio(page, "large").check();
    await answering(page, "large");
    await radio(page, "case").check();
    const alert = page.getByRole("alert");
    await alert.waitFor();
    assert.match(await alert.innerText(), /“CASE, as published” could not be loaded[^]*Check your connection[^]*“Large” goes on answering/);
    await answering(page, "large");
    await page.context().setOffline(false);
    await alert.getByRole("button", { name: "Try again" }).click();
    await answering(page, "case");
    await leave(page);
  });
});

describe("on a connection that is slow or saves data", { concurrency: false, skip: without }, () => {
  for (const connection of [{ saveData: true, effectiveType: "4g" }, { saveData: false, effectiveType: "2g" }]) {
    test(`the first model is asked for, once: ${JSON.stringify(connection)}`, PATIENT, async () => {
      const page = await open({ connection, view: "compare" });
      const asked = page.getByText(`is ${(await cardOf("small"))[0].toFixed(1)} MB to download`);
      await asked.waitFor();
      await page.waitForTimeout(500);
      assert.equal(server.count(modelPath("small")), 0);
      assert.deepEqual(await violations(page), []);
      await page.getByRole("button", { name: /^Download \d+\.\d MB$/ }).click();
      await page.waitForFunction(() => /\d/.test(document.querySelector(".rows:not(.stored) > li:nth-child(2) .cell-value")?.textContent ?? ""));
      assert.equal(server.count(modelPath("small")), 1);
      await isKept(page, "small");
      await page.reload();
      await page.waitForFunction(() => /\d/.test(document.querySelector(".rows:not(.stored) > li:nth-child(2) .cell-value")?.textContent ?? ""));
      assert.equal(await asked.count(), 0);
      await leave(page);
    });
  }

  test("so is each other encoder, with a way to stay", PATIENT, async () => {
    const page = await open({ connection: { saveData: true } });
    await page.getByRole("button", { name: /^Download/ }).click();
    await answering(page, "small");
    await radio(page, "large").check();
    await page.getByText(/“Large” is \d+\.\d MB to download/).waitFor();
    await answering(page, "small");
    assert.equal(server.count(modelPath("large")), 0);
    await page.getByRole("button", { name: "Stay with “Small”" }).click();
    assert.ok(await radio(page, "small").isChecked());
    assert.equal(await page.getByText(/“Large” is/).count(), 0);
    await radio(page, "large").check();
    await page.getByRole("button", { name: /^Download/ }).click();
    await answering(page, "large");
    // What is kept is not asked for.
    await radio(page, "small").check();
    await answering(page, "small");
    await leave(page);
  });

  test("elsewhere nothing is asked", PATIENT, async () => {
    const page = await open({ connection: { saveData: false, effectiveType: "4g" } });
    await answering(page, "small");
    await leave(page);
  });
});

describe("CASE as published", { concurrency: false, skip: without }, () => {
  test("takes every step, with its own numbers, and has a link", PATIENT, async () => {
    const page = await open({ site: "real", state: { encoder: "case" } });
    await answering(page, "case");
    assert.equal(server.count(`/real/models/${FILES.small[0]}`), 0);
    const expected = await explained(page, "case", "real");
    assert.deepEqual(expected.names, ["plain", "joint", "offset", "projected"]);
    near(await cosines(page), expected.cosines);
    assert.equal(await page.locator(".absent").count(), 0);
    for (const name of ["Subtraction", "Head"]) assert.ok(await page.getByRole("switch", { name, exact: true }).isChecked(), name);
    // What the words say of them.
    const [, joint, offset] = expected.cosines;
    assert.ok(joint > offset + 0.1, "the condition’s own words make them look alike");
    assert.doesNotMatch(await page.locator(".steps").innerText(), /that ships (here )?(is not|has learnt)/);
    await page.getByRole("button", { name: "Present" }).click();
    await page.locator(".presenter-place", { hasText: "/ 7" }).waitFor();
    assert.deepEqual(page.problems, []);
    await leave(page);
  });

  test("stands beside what ships in a table, loaded when it is asked for and let go of after", PATIENT, async () => {
    const page = await open({ state: { encoder: "case" } });
    await answering(page, "case");
    const section = page.getByRole("region", { name: "Beside the encoder that ships" });
    const button = section.getByRole("button");
    assert.match(await button.innerText(), new RegExp(`${(await cardOf("small"))[0].toFixed(1)} MB to download`));
    assert.equal(server.count(modelPath("small")), 0);
    await workers(page, 1);
    await button.click();
    await page.waitForFunction(() => [...document.querySelectorAll(".beside td")].length === 10 && [...document.querySelectorAll(".beside td")].every(({ textContent }) => textContent !== "…"));
    await workers(page, 2);
    const columns = await section.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
    const [own, other] = [await explained(page, "case"), await explained(page, "small")];
    near(digits(columns.slice(0, 4).map(([first]) => first).join(" ")), own.cosines);
    assert.deepEqual(other.names, ["plain", "joint"]);
    near(digits(columns.slice(0, 2).map(([, second]) => second).join(" ")), other.cosines);
    assert.deepEqual(columns.slice(2, 4).map(([, second]) => second), ["left out", "left out"]);
    assert.deepEqual(columns[4], [own.rating, other.rating].map((rating) => rating.toFixed(1)));
    assert.deepEqual(await violations(page), []);

    // Another condition: both tell about it.
    await page.getByLabel("Other conditions").selectOption("the game");
    await section.getByText("Both encoders, under “the game”").waitFor();
    await page.waitForFunction((old) => {
      const cell = document.querySelector(".beside tbody tr:nth-child(2) td:last-child").textContent;
      return cell !== "…" && cell !== old;
    }, columns[1][1]);

    await section.getByRole("button", { name: "Show CASE alone" }).click();
    await workers(page, 1);
    assert.equal(await section.locator("table").count(), 0);
    // It is kept by now.
    await section.getByRole("button", { name: "Show both", exact: true }).click();
    await section.locator("table").waitFor();
    await page.getByRole("link", { name: "Compare" }).click();
    await workers(page, 1);
    assert.deepEqual(page.problems, []);
    await leave(page);
  });

  test("what goes wrong beside it is said, and leaves CASE alone", PATIENT, async () => {
    const page = await open({ state: { encoder: "case" } });
    await answering(page, "case");
    server.rule(modelPath("small"), { status: 404 });
    await page.getByRole("button", { name: /^Show both/ }).click();
    const alert = page.locator(".beside").getByRole("alert");
    await alert.waitFor();
    server.rule(modelPath("small"), undefined);
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".beside td").length === 10 && [...document.querySelectorAll(".beside td")].every(({ textContent }) => textContent !== "…"));
    assert.equal(await alert.count(), 0);
    await leave(page);
  });
});

describe("for everyone", { concurrency: false, skip: without }, () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const [name, viewport] of Object.entries({ desktop: { width: 1280, height: 900 }, phone: { width: 320, height: 740 } })) {
      test(`axe finds nothing, nothing sticks out: ${colorScheme}, ${name}`, PATIENT, async () => {
        const page = await open({ state: { encoder: "case" }, colorScheme, viewport, reducedMotion: "reduce" });
        await answering(page, "case");
        await page.getByRole("button", { name: /^Show both/ }).click();
        await page.locator(".beside td").first().waitFor();
        const check = async () => {
          assert.deepEqual(await violations(page), []);
          assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width);
        };
        await check();
        server.rule(modelPath("large"), { rate: 1e3 });
        await radio(page, "large").check();
        await page.locator(".encoders").getByRole("button", { name: "Cancel" }).waitFor();
        await check();
        await page.locator(".encoders").getByRole("button", { name: "Cancel" }).click();
        await page.getByRole("link", { name: "Compare" }).click();
        await page.locator(".engine summary").click();
        await page.locator(".encoder").first().waitFor();
        await check();
        await leave(page);
      });
    }
  }

  test("the keyboard chooses, and the focus stays", PATIENT, async () => {
    const page = await open();
    await answering(page, "small");
    await radio(page, "small").focus();
    await page.keyboard.press("ArrowDown");
    await answering(page, "large");
    assert.equal(await page.evaluate(() => document.activeElement.value), "large");
    await page.keyboard.press("ArrowUp");
    await answering(page, "small");
    await leave(page);
  });
});
