// The demo page as people use it: the built site in a real browser, by keyboard, by link, on a phone, in the dark.
//
// The site is served under a sub-path, from the folder `www/dist` that `npm run build` in `www` makes.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";
import { parseAst, transformWithEsbuild } from "vite";
import { answers, STORED } from "./answers.mjs";
import { HEAD_FILE, launch, mentioning, MODEL_FILE, MODELS, ROOT, serve, stickingOut, violations, visit, withoutMentions } from "./helpers.mjs";

const SITE = path.join(ROOT, "www/dist");
const MODEL_PATH = `/site/models/${MODEL_FILE}`;
/** Long enough for a first answer on the software GPU. */
const PATIENT = 180_000;

const CHESS = ["She plays chess in the park", "He plays football in the park"];
const BEACH = ["Three children build a sandcastle on the beach.", "A lone surfer waits for a wave on the beach."];
const CONDITIONS = ["the place", "the game", "the person"];

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {import("playwright-core").Browser} */
let browser;
/** @type {import("playwright-core").BrowserContext} */
let context;

before(async () => {
  assert.ok(existsSync(path.join(SITE, "index.html")), "www/dist is missing: run ./build.sh first");
  server = await serve({ mounts: { "/site/": SITE } });
  browser = await launch();
  context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
});

after(async () => {
  await browser?.close();
  await server?.close();
});

afterEach(() => server.reset());

/** Opens the page. */
const open = (hash = "#device=wasm", { within = context, site = "site" } = {}) => visit(within, `${server.origin}/${site}/${hash}`);

/**
 * For pages whose worker is to be slow or to fail: calls of the method that `window.held` names wait for `letGo()`, those of
 * `window.broken` fail, and `skip` puts the clock forward.
 */
function meddled() {
  const { postMessage } = Worker.prototype;
  const now = performance.now.bind(performance);
  let [ahead, waiting] = [0, []];
  Object.assign(window, { held: "", broken: "", failed: 0 });
  window.skip = (ms) => (ahead += ms);
  window.letGo = () => {
    window.held = "";
    for (const send of waiting) send();
    waiting = [];
  };
  performance.now = () => now() + ahead;
  Worker.prototype.postMessage = function (message, ...rest) {
    const { id, call } = message;
    const send = () => postMessage.call(this, message, ...rest);
    if (call && call.method === window.held) waiting.push(send);
    else if (call && call.method === window.broken) {
      window.failed += 1;
      const error = { code: "internal", message: "broken by the test" };
      setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data: { type: "failed", id, error } })));
    } else send();
  };
  window.isWaiting = () => waiting.length > 0;
}
async function openMeddled(hash, before = () => {}) {
  const own = await browser.newContext();
  await own.addInitScript(meddled);
  await own.addInitScript(before);
  return open(hash, { within: own });
}
/** Lets a held call go once it is there, after a time by the page's clock. */
async function answerAfter(page, ms) {
  await page.waitForFunction(() => window.isWaiting());
  await page.evaluate((ms) => (window.skip(ms), window.letGo()), ms);
}

/** What unfolds the facts about the engine. */
const ENGINE = "Where and how the model runs";
const openEngine = (page) => page.locator(".engine summary").click();

/** The suggested conditions. */
const chips = (page) => page.locator(".suggestions .chip");

/** A link with this state. */
const link = (sentences, conditions, device = "wasm") =>
  `#${new URLSearchParams([
    ["s1", sentences[0]],
    ["s2", sentences[1]],
    ...conditions.map((condition) => ["c", condition]),
    ["device", device],
  ])}`;

/** A module of the page that needs no browser. */
async function moduleOf(file) {
  const { outputFiles } = await build({ entryPoints: [path.join(ROOT, file)], bundle: true, write: false, format: "esm", platform: "node" });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

/** Waits until every condition has its number, by the model that is here, and nothing is pending; fails as soon as the page shows an error. */
async function settled(page, timeout = PATIENT) {
  const outcome = await page.waitForFunction(
    () => {
      const alert = document.querySelector("[role=alert]");
      if (alert) return alert.innerText;
      const rows = [...document.querySelectorAll(".rows > li:not(.unaided)")];
      const filled = rows.filter((row) => row.querySelector("input").value.trim() !== "");
      const done =
        !document.querySelector(".rows:is(.stale, .stored)") &&
        filled.length > 0 &&
        filled.every((row) => /\d/.test(row.querySelector(".cell-value").textContent) || row.matches(".unsaid"));
      return done && "settled";
    },
    undefined,
    { timeout },
  );
  assert.equal(await outcome.jsonValue(), "settled");
}

/** The shown results: what each line says to the eye, as numbers, and to a screen reader. */
const shown = (page) =>
  page.evaluate(() => {
    const number = (element) => Number(element.textContent.replace("−", "-").match(/-?[\d.]+/)[0]);
    return {
      unconditional: number(document.querySelector(".unaided .cell-value")),
      rows: [...document.querySelectorAll(".rows > li:not(.unaided)")]
        .filter((row) => row.querySelector(".cell-value"))
        .map((row) => ({
          condition: row.querySelector("input").value,
          similarity: number(row.querySelector(".cell-value")),
          spoken: row.querySelector(".hidden").textContent,
        })),
    };
  });

const conditionsOf = (page) =>
  page.$$eval("input[data-condition]", (inputs) => inputs.map((input) => input.value).filter(Boolean));
const first = (page) => page.getByLabel("First sentence");
const second = (page) => page.getByLabel("Second sentence");
const adder = (page) => page.getByLabel("Add a condition");

describe("the first minute", () => {
  test("the page opens with the first condition in the lens: its number in the discs, its words tinted", async () => {
    const page = await open();
    await settled(page);
    await page.locator(".tint span").first().waitFor();
    assert.equal(await page.locator(".figure .readout-caption").innerText(), "under “the place”");
    assert.equal(await page.locator(".readout-value").innerText(), await page.locator(".rows > li:nth-child(2) .cell-value").innerText());
    const most = await page.$$eval(".tint span", (words) => words.sort((a, b) => b.dataset.share - a.dataset.share)[0].textContent);
    assert.equal(most, "park");
    // Another example begins with its own first condition, whatever was looked through before.
    await page.locator(".unaided").hover();
    assert.equal(await page.locator(".figure .readout-caption").innerText(), "naked eye");
    await page.locator(".example").nth(1).click();
    await settled(page);
    assert.equal(await page.locator(".figure .readout-caption").innerText(), "under “the location”");
    await page.close();
  });

  test("sentences and conditions look like fields and say that one's own go there", async () => {
    const page = await open();
    await page.locator(".row .condition").first().waitFor();
    for (const field of [".sentence .grow", ".row .condition"]) {
      const widths = await page.locator(field).evaluateAll((all) =>
        all.map((each) => ["Top", "Right", "Bottom", "Left"].map((side) => parseFloat(getComputedStyle(each)[`border${side}Width`]))));
      assert.ok(widths.length >= 2 && widths.flat().every((width) => width >= 1), `${field}: ${JSON.stringify(widths)}`);
    }
    assert.deepEqual(await page.locator(".sentence .hint").allInnerTexts(), ["Type your own", "Type your own"]);
    assert.equal(await adder(page).getAttribute("placeholder"), "Type your own condition");
    assert.equal(await first(page).getAttribute("placeholder"), "Type a sentence of your own");
    // No empty panel below a field.
    const below = await page.$$eval(".sentence", (all) => all.map((each) => each.getBoundingClientRect().bottom - each.querySelector(".grow").getBoundingClientRect().bottom));
    assert.ok(below.every((space) => space < 48), `${below}`);
    await page.close();
  });

  test("a phone's first screen has a condition with its answer, and half an example that says there are more", async () => {
    const own = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    const page = await open("#device=wasm", { within: own });
    await settled(page);
    for (const part of [".figure .readout", ".condition", ".row:not(.unaided) .bar", ".row:not(.unaided) .cell-value"]) {
      const { bottom, top } = await page.locator(part).first().evaluate((each) => each.getBoundingClientRect().toJSON());
      assert.ok(top >= 0 && bottom <= 844, `${part} ends at ${bottom}`);
    }
    const shares = await page.$$eval(".example", (all) => all.map((each) => {
      const { left, width } = each.getBoundingClientRect();
      return Math.min(1, Math.max(0, (innerWidth - left) / width));
    }));
    const cut = shares.filter((share) => share > 0 && share < 1);
    assert.ok(cut.length === 1 && cut[0] > 0.2 && cut[0] < 0.85, `of the example at the edge ${cut} is seen`);
    await own.close();
  });

  test("on a phone numbers and bars have their headings, as they have at a desk", async () => {
    for (const [locale, width] of [["en-US", 390], ["de-DE", 320], ["fr-FR", 360], ["ja-JP", 320]]) {
      const own = await browser.newContext({ locale, viewport: { width, height: 844 }, isMobile: true, hasTouch: true });
      const page = await open(link(CHESS, CONDITIONS), { within: own });
      await settled(page);
      const box = (part) => page.locator(part).first().boundingBox();
      const [value, scale, bar, number] = await Promise.all([".headings .cell-value", ".headings .scale", ".row:not(.headings, .unaided) .bar", ".row:not(.headings, .unaided) .cell-value"].map(box));
      assert.ok(value && scale, `${locale}: no headings`);
      assert.deepEqual([Math.round(scale.x), Math.round(scale.width)], [Math.round(bar.x), Math.round(bar.width)], "the scale lies over the bars");
      assert.equal(Math.round(value.x), Math.round(number.x));
      const edges = await page.locator(".headings").evaluate((row) => {
        const range = document.createRange();
        const place = (element) => (range.selectNodeContents(element), range.getBoundingClientRect());
        return [place(row.querySelector(".cell-value")).right, place(row.querySelector(".scale span span, .scale span")).left];
      });
      assert.ok(edges[0] <= edges[1], `${locale}: the word ends at ${edges[0]}, the scale begins at ${edges[1]}`);
      await own.close();
    }
  });

  test("on a phone what is looked through stays in sight where the discs are scrolled away", async () => {
    const own = await browser.newContext({ viewport: { width: 390, height: 664 }, isMobile: true, hasTouch: true });
    const page = await open(link(CHESS, [...CONDITIONS, "the weather", "the activity"]), { within: own });
    await settled(page);
    const small = page.locator(".small-lens p");
    assert.equal(await small.count(), 0);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.locator(".rows > li:nth-child(3)").evaluate((row) => window.scrollTo(0, row.getBoundingClientRect().top + scrollY - 80));
    await small.waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollHeight), height, "it takes no room");
    assert.ok((await page.locator(".figure").boundingBox()).y < -100);
    for (const n of [3, 4]) {
      await page.locator(`.rows > li:nth-child(${n}) .bar`).tap();
      const condition = await page.locator(`.rows > li:nth-child(${n}) input`).inputValue();
      await small.getByText(`under “${condition}”`).waitFor();
      assert.equal(await small.locator("b").innerText(), await page.locator(`.rows > li:nth-child(${n}) .cell-value`).innerText());
      const { y, height, x, width } = await small.boundingBox();
      assert.ok(y >= -1 && y < 2 && height < 64 && x <= 0 && width >= 390, JSON.stringify({ x, y, width, height }));
    }
    // A field that has the focus is not below it.
    await page.locator(".rows > li:nth-child(6) input").focus();
    await page.locator(".rows > li:nth-child(2) input").focus();
    const field = await page.locator(".rows > li:nth-child(2) input").boundingBox();
    const over = await small.boundingBox().catch(() => undefined);
    assert.ok(!over || field.y >= over.y + over.height, `${field.y}`);
    assert.deepEqual(await page.evaluate(stickingOut), []);
    assert.deepEqual(await violations(page), []);
    await page.evaluate(() => window.scrollTo(0, 0));
    await small.waitFor({ state: "detached" });
    await own.close();
  });

  test("a similarity is one number from 0 to 1; its zero is not struck through, and what concerns the engine comes last, folded", async () => {
    const { similarity, difference, cosine } = await moduleOf("www/src/format.ts");
    assert.deepEqual([-0.06, -0.004, 0, 0.125, 1].map(similarity), ["0.00", "0.00", "0.00", "0.13", "1.00"]);
    assert.deepEqual(difference(-0.06, 0.02), { kind: "less", size: "0.02" });
    assert.deepEqual(difference(-0.06, -0.2), { kind: "same", size: "0.00" });
    assert.equal(cosine(-0.06), "−0.06");

    const page = await open();
    await settled(page);
    assert.doesNotMatch(await page.locator(".rows").innerText(), /\/ 5/);
    for (const figure of [".readout-value", ".row .cell-value"]) {
      assert.doesNotMatch(await page.locator(figure).first().evaluate((each) => getComputedStyle(each).fontFamily), /Atkinson/, figure);
    }
    const engine = page.locator("main > .engine:last-of-type");
    assert.equal(await engine.evaluate((each) => each.open), false);
    assert.ok(await engine.evaluate((each) => document.querySelector(".about").compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING));
    await page.close();
  });
});

describe("before the model is there", () => {
  const BEFOREHAND = "Answers computed beforehand by the same model.";
  const note = (page) => page.getByText(BEFOREHAND);
  /** The page whose model does not come before `letGo()`, and what moves on it. */
  async function openWaiting(hash, options = {}) {
    let letGo;
    server.rule(MODEL_PATH, { until: new Promise((resolve) => (letGo = resolve)) });
    const own = await browser.newContext({ serviceWorkers: "block", reducedMotion: "reduce", ...options });
    await own.addInitScript(() => {
      window.shifts = [];
      new PerformanceObserver((list) => {
        for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifts.push(value);
      }).observe({ type: "layout-shift", buffered: true });
    });
    return { page: await open(hash, { within: own }), letGo };
  }

  test("what is stored of the examples is what the model that ships says", { timeout: PATIENT }, async () => {
    const remedy = "the model has changed: make the table anew with node tests/browser/answers.mjs";
    const [there, made] = [JSON.parse(await readFile(STORED, "utf8")), await answers()];
    for (const name of ["encoder", "head", "threshold"]) assert.equal(there[name], made[name], `${name}: ${remedy}`);
    const steps = { unconditional: 1e-4, similarity: 1e-4, rating: 1e-2, mentioned: 1e-2, shares: 1e-2 };
    /** Every number of a part, beside what it should be. */
    const compare = (one, other, at, step) => {
      if (typeof other === "number") assert.ok(Math.abs(one - other) * step <= 0.01, `${at}: ${one} is stored, the model says ${other}; ${remedy}`);
      else {
        assert.deepEqual(Object.keys(one), Object.keys(other), `${at}: ${remedy}`);
        for (const key of Object.keys(other)) compare(one[key], other[key], `${at}.${key}`, steps[key] ?? step);
      }
    };
    compare(there.examples, made.examples, "examples");
    compare(there.failures, made.failures, "failures", steps.similarity);
    assert.equal(there.examples.length, 12);
  });

  for (const [size, viewport] of Object.entries({ "a phone": { width: 390, height: 844 }, "a narrow one": { width: 320, height: 640 }, "a desk": { width: 1280, height: 800 } })) {
    test(`an example has its answers at once, marked as computed beforehand; the model's own take their place and nothing moves: ${size}`, { timeout: PATIENT }, async () => {
      const { page, letGo } = await openWaiting("", { viewport });
      await note(page).waitFor();
      const before = await shown(page);
      assert.deepEqual(before.rows.map(({ condition }) => condition), CONDITIONS);
      assert.match(before.rows[0].spoken, /^the place: similarity/);
      assert.equal(await page.locator(".figure .readout-caption").innerText(), "under “the place”");
      const words = await page.locator(".tint span").allInnerTexts();
      assert.equal(words.join(" "), CHESS.join(" "));
      await page.locator(".suggestions-place").getByText(/Loading the model/).waitFor();
      assert.deepEqual(await violations(page), []);
      await page.evaluate(() => (window.shifts.length = 0));
      letGo();
      await settled(page);
      assert.equal(await note(page).isVisible(), false);
      const after = await shown(page);
      before.rows.forEach(({ similarity }, i) => assert.ok(Math.abs(similarity - after.rows[i].similarity) <= 0.0101, `${CONDITIONS[i]}: ${similarity}, then ${after.rows[i].similarity}`));
      await page.waitForTimeout(300);
      assert.deepEqual(await page.evaluate(() => window.shifts), []);
      await page.context().close();
    });
  }

  test("every example has its answers; they go as soon as something else is typed", async () => {
    const { page, letGo } = await openWaiting("");
    for (let i = 0; i < 12; i += 1) {
      await page.locator(".example").nth(i).click();
      await note(page).waitFor();
      const { rows, unconditional } = await shown(page);
      assert.ok([unconditional, ...rows.map(({ similarity }) => similarity)].every(Number.isFinite), JSON.stringify(rows));
      assert.deepEqual(rows.map(({ condition }) => condition), await conditionsOf(page));
    }
    for (const type of [() => first(page).pressSequentially("s"), () => adder(page).pressSequentially("t")]) {
      await page.locator(".example").first().click();
      await note(page).waitFor();
      await type();
      await page.waitForFunction(() => [...document.querySelectorAll(".rows .cell-value")].every(({ textContent }) => textContent === "–"));
      assert.equal(await note(page).count(), 0);
      assert.equal(await page.locator(".tint").count(), 0);
      await page.locator(".missing").getByText(/Loading the model/).waitFor();
    }
    letGo();
    await settled(page);
    assert.equal((await shown(page)).rows.length, CONDITIONS.length + 1);
    await page.context().close();
  });

  test("nothing is told beforehand of another encoder", async () => {
    const head = mentioning(await readFile(path.join(MODELS, HEAD_FILE)), 384, -4);
    await server.siteWith("/another/", { [HEAD_FILE]: head });
    server.rule(`/another/models/${MODEL_FILE}`, { delay: 3000 });
    const page = await open("", { within: await browser.newContext({ serviceWorkers: "block" }), site: "another" });
    await page.locator(".missing").getByText(/Loading the model/).waitFor();
    assert.equal(await note(page).count(), 0);
    assert.equal(await page.locator(".unaided .cell-value").innerText(), "–");
    await page.context().close();
  });
});

describe("what a first visit loads", () => {
  test("is at most 60 kB of JavaScript, compressed: all that the page draws itself with, and English", async (t) => {
    const html = await readFile(path.join(SITE, "index.html"), "utf8");
    const [, languages] = /data-languages="([^"]*)"/.exec(html);
    const begun = [...html.matchAll(/<(?:script|link rel="modulepreload")[^>]* (?:src|href)="([^"]+\.js)"/g)].map(([, file]) => file);
    const wanted = [...begun, JSON.parse(languages.replaceAll("&quot;", '"')).en].map((file) => path.join(SITE, file));
    /** By file; a module imports what it cannot begin without. */
    const sizes = new Map();
    for (const file of wanted) {
      if (sizes.has(file)) continue;
      const code = await readFile(file, "utf8");
      sizes.set(file, brotliCompressSync(code).byteLength);
      for (const [, from] of code.matchAll(/(?:\bfrom|\bimport)\s*"(\.[^"]+\.js)"/g)) wanted.push(path.resolve(path.dirname(file), from));
    }
    for (const [file, size] of sizes) t.diagnostic(`${size} ${path.relative(SITE, file)}`);
    assert.ok(sizes.size >= 5, "the page's own modules are among them");
    assert.ok(![...sizes.keys()].some((file) => /\/(List|How|Larger|plots|worker)-/.test(file)), "what other views need comes later");
    const sum = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    t.diagnostic(`${sum} of 60000 bytes`);
    assert.ok(sum <= 60_000, `${sum} bytes`);
    // And it is what the browser asks for before the page is drawn.
    const page = await open("#device=wasm", { within: await browser.newContext({ serviceWorkers: "block" }) });
    await page.locator(".rows").waitFor();
    const missing = [...sizes.keys()].filter((file) => server.count(`/site/${path.relative(SITE, file)}`) === 0);
    assert.deepEqual(missing, []);
    await page.context().close();
  });
});

describe("how right it is", () => {
  test("is said where the answers are, with the model card's figures and links to the papers", async () => {
    const card = await readFile(path.join(ROOT, "www/public/models/README.md"), "utf8");
    const figure = (row) => Number(card.match(new RegExp(`^\\| ${row} \\| \\**([\\d.]+)`, "m"))[1]);
    const page = await open();
    const panel = page.getByRole("region", { name: "How right is it?" });
    const text = await panel.innerText();
    for (const said of [`correlation of ${figure("C-STS, all")} of 100`, `Spearman ${figure("condition never in the C-STS training file")} where`]) assert.ok(text.includes(said), text);
    for (const said of [/English/, /irony/, /Conditional Semantic Textual Similarity/, /Condition-Aware Sentence Embeddings/]) assert.match(text, said);
    const links = await panel.getByRole("link").evaluateAll((all) => all.map((each) => each.href));
    assert.deepEqual(links, ["https://arxiv.org/abs/2305.15093", "https://arxiv.org/abs/2503.17279"]);
    await page.close();
  });
});

describe("what it gets wrong", () => {
  test("is in the gallery as long as the model that ships gets it wrong", { timeout: PATIENT }, async () => {
    const { failures } = await moduleOf("www/src/state/failures.ts");
    const { CaseLens, unsaid } = await import("../../pkg/dist/node.js");
    const lens = await CaseLens.load({ model: path.join(MODELS, MODEL_FILE), device: "wasm" });
    try {
      assert.ok(failures.length >= 5);
      const right = [];
      for (const { sentences, condition, people } of failures) {
        const [answer] = await lens.compare(...sentences, [condition]);
        const wrong = people === "alike" ? answer.similarity < 0.4 : answer.similarity > 0.6;
        if (!wrong || unsaid(answer, lens.info)) right.push(`${sentences.join(" / ")}, ${condition}: ${answer.similarity.toFixed(2)}`);
      }
      assert.deepEqual(right, [], "no failures any more: take them out of www/src/state/failures.ts");
    } finally {
      lens.dispose();
    }
  });

  test("is shown with what people would say, and each opens in the comparison with the answer that was told", { timeout: PATIENT }, async () => {
    const page = await open();
    await settled(page);
    await page.getByText("See where it goes wrong").click();
    const failures = page.locator(".failure");
    await failures.first().waitFor();
    const count = await failures.count();
    for (let i = 0; i < count; i += 1) {
      const failure = failures.nth(i);
      const pair = await failure.locator("blockquote p").allInnerTexts();
      const [, condition, told, people] = /under “(.*)”: the model says ([\d.]+); people would say: (the same|not the same)\./.exec(await failure.innerText());
      await failure.getByRole("button", { name: "Open this pair" }).click();
      await settled(page);
      assert.deepEqual([await first(page).inputValue(), await second(page).inputValue(), ...(await conditionsOf(page))], [...pair, condition]);
      const [{ similarity }] = (await shown(page)).rows;
      assert.ok(Math.abs(similarity - Number(told)) <= 0.0151, `${condition}: ${told} is told, ${similarity} is shown`);
      assert.ok(people === "the same" ? similarity < 0.5 : similarity > 0.5, `${similarity}: ${people}`);
    }
    assert.equal(await page.evaluate(() => document.activeElement.id), "sentence-1");
    assert.equal(await page.getByText("what you had typed").count(), 0);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(page.problems, []);
    await page.close();
  });
});

describe("a damaged model", () => {
  /** Whether the package keeps the model, and in the page: damages what it keeps, which still looks as it was checked. */
  const isKept = (page) => page.evaluate(async (path) => (await (await caches.open("caselens-v1")).keys()).some(({ url }) => new URL(url).pathname === path), MODEL_PATH);
  const alert = (page) => page.getByRole("alert").filter({ hasText: "could not be loaded" });

  test("on its way is told, not kept, and fetched anew", { timeout: PATIENT }, async () => {
    const bytes = await readFile(path.join(MODELS, MODEL_FILE));
    server.rule(MODEL_PATH, { body: bytes.with(bytes.length >> 1, bytes[bytes.length >> 1] ^ 1) });
    const page = await open(undefined, { within: await browser.newContext({ serviceWorkers: "block" }) });
    await alert(page).getByText("is not the one that belongs to this page").waitFor({ timeout: PATIENT });
    assert.equal(await isKept(page), false);
    server.reset();
    await alert(page).getByRole("button", { name: "Try again" }).click();
    await settled(page);
    assert.equal(server.count(MODEL_PATH), 1);
    await page.context().close();
  });

  test("whose numbers are none is dropped, and fetched anew", { timeout: PATIENT }, async () => {
    const page = await open(undefined, { within: await browser.newContext({ serviceWorkers: "block" }) });
    await settled(page);
    for (let i = 0; i < 200 && !(await isKept(page)); i++) await page.waitForTimeout(50);
    // Scales that are no numbers, in what was checked when it came.
    await page.evaluate(async () => {
      const cache = await caches.open("caselens-v1");
      for (const request of await cache.keys()) {
        const kept = await cache.match(request);
        if (!request.url.includes(".gguf")) continue;
        const bytes = new Uint8Array(await kept.arrayBuffer()).fill(0xff, 12e6, 13e6);
        await cache.put(request, new Response(bytes, { headers: kept.headers }));
      }
    });
    server.reset();
    await page.reload();
    await alert(page).getByText("The stored copy of the model is damaged").waitFor({ timeout: PATIENT });
    assert.equal(server.count(MODEL_PATH), 0, "what is kept is taken");
    await alert(page).getByRole("button", { name: "Try again" }).click();
    await settled(page);
    assert.equal(server.count(MODEL_PATH), 1);
    await page.context().close();
  });
});

describe("what the model cannot tell", () => {
  /** The page with a head that finds nothing mentioned anywhere. */
  async function openSilent(hash) {
    const head = mentioning(await readFile(path.join(MODELS, HEAD_FILE)), 384, -4);
    await server.siteWith("/silent/", { [HEAD_FILE]: head });
    return open(hash, { within: await browser.newContext({ serviceWorkers: "block" }), site: "silent" });
  }

  test("where neither sentence says anything about a condition, words take the place of numbers", { timeout: PATIENT }, async () => {
    const page = await openSilent(link(CHESS, ["the price"]));
    await settled(page);
    const row = page.locator(".row.unsaid");
    assert.equal(await row.locator(".cell-difference").innerText(), "neither sentence says");
    assert.equal(await row.locator(".cell-value").innerText(), "–");
    assert.equal(await row.locator(".bar-common").evaluate((bar) => bar.getBoundingClientRect().width), 0);
    assert.match(await row.locator("[aria-busy]").innerText(), /^the price: neither sentence says\.$/);
    assert.deepEqual(await violations(page), []);
    // The sentences by themselves are compared as ever.
    assert.match(await page.locator(".unaided .cell-value").innerText(), /\d/);
  });

  test("how long the last answer took is said where comparisons are, and not beside a list", { timeout: PATIENT }, async () => {
    const page = await open(link(CHESS, CONDITIONS));
    await settled(page);
    await openEngine(page);
    await page.locator(".facts").getByText("Last answer").waitFor();
    await page.getByRole("link", { name: "List" }).click();
    await page.locator(".group").first().waitFor({ timeout: PATIENT });
    await openEngine(page);
    await page.locator(".facts").getByText("Weights").waitFor();
    assert.equal(await page.locator(".facts").getByText("Last answer").count(), 0);
    await page.close();
  });

  test("texts that say nothing about the condition are a group of their own", { timeout: PATIENT }, async () => {
    const page = await openSilent(`#/list?${new URLSearchParams({ t: "A red car.\nA blue car.\nTwo cats.", c: "the price", device: "wasm" })}`);
    const group = page.locator(".group.unmentioned");
    await group.waitFor({ timeout: PATIENT });
    assert.equal(await page.locator(".group").count(), 1);
    assert.match(await group.locator("h3").innerText(), /Says nothing about “the price”/);
    assert.match(await page.locator(".work-line [role=status]").innerText(), /3 texts say nothing about it/);
  });

  /** Pairs whose answers are uncertain, each with why. */
  const UNCERTAIN = [
    [[CHESS[0], "Er spielt im Park mit seinen Freunden Fußball"], "the game", "uncertain: not English", ["2: de", "", ""]],
    [["ꙮ is a letter of an alphabet", CHESS[1]], "the letter", "uncertain: unknown characters", ["", "1", ""]],
    [[`${"long ".repeat(700)}story`, "A short story."], "the length", "uncertain: not read to its end", ["", "", "yes"]],
  ];
  for (const [pair, condition, why, columns] of UNCERTAIN) {
    test(`an answer that is “${why}” looks, sounds and is saved unlike any other`, { timeout: PATIENT }, async () => {
      // A head that tells mentions reads long texts part by part, and may put words in the number's place.
      await server.siteWith("/doubtful/", { [HEAD_FILE]: withoutMentions(await readFile(path.join(MODELS, HEAD_FILE))) });
      const page = await open(link(pair, [condition]), { within: await browser.newContext({ serviceWorkers: "block", acceptDownloads: true }), site: "doubtful" });
      await settled(page);
      const row = page.locator(".row.doubtful:not(.unaided)");
      const number = await row.locator(".cell-value").innerText();
      assert.match(number, /^\d\.\d\d$/);
      const drawn = (selector, property, pseudo) => page.locator(selector).first().evaluate((each, [property, pseudo]) => getComputedStyle(each, pseudo)[property], [property, pseudo]);
      assert.equal(await drawn(".row.doubtful .cell-value", "content", "::after"), '" ?"');
      assert.match(await drawn(".row.doubtful .bar-common", "backgroundImage"), /gradient/);
      for (const disc of [".row.doubtful .glyph circle", ".figure.doubtful .figure-discs circle"]) assert.notEqual(await drawn(disc, "strokeDasharray"), "none", disc);
      assert.equal(await row.locator(".cell-difference").innerText(), why, "nothing is made of how far it is from the naked eye's");
      assert.equal(await page.locator(".figure .readout-caption").innerText(), why);
      assert.equal(await row.locator("[aria-busy]").innerText(), `${condition}: similarity ${number}, ${why}.`);
      await page.locator("[aria-live=polite]", { hasText: `${condition}: similarity ${number}, ${why}.` }).waitFor({ state: "attached" });
      // What is uncertain of the sentences is so of the naked eye's number, too.
      assert.equal(await page.locator(".unaided.doubtful").count(), 1);
      assert.deepEqual(await violations(page), []);
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save this comparison" }).click()]);
      const [, saved] = (await readFile(await file.path(), "utf8")).split("\r\n");
      assert.deepEqual(saved.split(",").slice(-4), [...columns, ""]);

      await first(page).fill(CHESS[0]);
      await second(page).fill(CHESS[1]);
      await page.waitForFunction(() => document.querySelectorAll(".doubtful").length === 0);
      await page.context().close();
    });
  }

  test("what is suggested for uncertain sentences is as uncertain", { timeout: PATIENT }, async () => {
    const page = await open(link(["ꙮ plays chess in the park", CHESS[1]], ["the place"]));
    await chips(page).first().waitFor({ timeout: PATIENT });
    const count = await chips(page).count();
    assert.equal(await chips(page).locator(".doubtful-value").count(), count);
    await first(page).fill(CHESS[0]);
    await settled(page);
    await page.waitForFunction(() => document.querySelectorAll(".chip").length > 0 && document.querySelectorAll(".doubtful-value").length === 0);
    await page.close();
  });

  test("where a sentence says nothing, a saved comparison has no number either", { timeout: PATIENT }, async () => {
    const page = await openSilent(link(CHESS, ["the price"]));
    await settled(page);
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save this comparison" }).click()]);
    const [, saved] = (await readFile(await file.path(), "utf8")).split("\r\n");
    assert.match(saved, /,the price,,,\d\.\d+,1 2,,,,$/);
    assert.equal(await page.locator(".figure.unknown .readout-value").innerText(), "–");
    assert.equal(await page.locator(".figure .readout-caption").innerText(), "neither sentence says");
  });

  test("a sentence in another language is told beside its field", { timeout: PATIENT }, async () => {
    const page = await open(link([CHESS[0], "Er spielt im Park mit seinen Freunden Fußball"], ["the game"]));
    await settled(page);
    assert.equal(
      await page.locator("#sentence-2-note").innerText(),
      "This looks like German; the model was trained on English. Its numbers mean little.",
    );
    assert.equal(await page.locator("#sentence-1-note").innerText(), "");
  });
});

describe("numbers", () => {
  for (const device of ["wasm", "webgpu"]) {
    test(`on ${device} the page shows what the package says`, async () => {
      const own = await launch({ webgpu: device === "webgpu" });
      try {
        const page = await open(link(CHESS, CONDITIONS, device), { within: await own.newContext() });
        await settled(page);
        const { rows, unconditional } = await shown(page);
        assert.deepEqual(rows.map((row) => row.condition), CONDITIONS);

        const expected = await page.evaluate(
          async ({ entry, model, device, sentences, conditions }) => {
            const { CaseLens } = await import(entry);
            const lens = await CaseLens.load({ model, device });
            const results = await lens.compare(...sentences, conditions);
            lens.dispose();
            return results;
          },
          {
            entry: `${server.origin}/pkg/dist/index.js`,
            model: `${server.origin}${MODEL_PATH}`,
            device,
            sentences: CHESS,
            conditions: CONDITIONS,
          },
        );
        for (const [index, row] of rows.entries()) {
          // A value on the edge between two hundredths may round either way; less than nothing in common is shown as nothing.
          assert.ok(Math.abs(row.similarity - Math.max(0, expected[index].similarity)) <= 0.0051, `${row.condition}: similarity`);
          assert.match(row.spoken, new RegExp(`^${row.condition}: similarity \\d\\.\\d\\d, `));
        }
        assert.ok(Math.abs(unconditional - expected[0].unconditional) <= 0.0051, "unconditional");

        await openEngine(page);
        const facts = await page.locator(".facts").innerText();
        assert.match(facts, device === "wasm" ? /CPU \(WebAssembly\)/ : /WebGPU/);
        assert.match(facts, /all-MiniLM-L6-v2 tuned by caselens/);
        assert.match(facts, /1[34]\.\d MB/);
        assert.match(facts, /[\d.]+ ms/);
        assert.ok((await page.locator(".why").innerText()).length > 10, "says why this device");
        assert.deepEqual(page.problems, []);
      } finally {
        await own.close();
      }
    });
  }

  test("the examples' answers are on the side that was meant", { timeout: PATIENT }, async () => {
    const { examples, meant } = await moduleOf("www/src/state/examples.ts");
    const { CaseLens } = await import("../../pkg/dist/node.js");
    const lens = await CaseLens.load({ model: path.join(MODELS, MODEL_FILE), device: "wasm" });
    try {
      const wrong = [];
      for (const [i, { sentences, conditions }] of examples.entries()) {
        assert.equal(meant[i].length, conditions.length);
        const answers = await lens.compare(...sentences, conditions);
        answers.forEach(({ similarity, unconditional }, c) => {
          // On its side of the middle, and of what the sentences by themselves are.
          if (meant[i][c] ? similarity < 0.6 || similarity < unconditional : similarity > 0.4 || similarity > unconditional) wrong.push(`${sentences[0]} ${conditions[c]}: ${similarity.toFixed(2)}`);
        });
      }
      assert.deepEqual(wrong, []);
    } finally {
      lens.dispose();
    }
  });

  test("conditions pull a pair apart: one beach, many people against one", async () => {
    const page = await open(link(BEACH, ["the location", "the number of people"]));
    await settled(page);
    const [location, people] = (await shown(page)).rows;
    assert.ok(location.similarity > people.similarity + 0.3, `location ${location.similarity}, people ${people.similarity}`);
    assert.match(location.spoken, /more alike than without it/);
    await page.close();
  });

  test("conditions pull a pair apart: the page opens on one park, two games", async () => {
    const page = await open();
    await settled(page);
    assert.deepEqual([await first(page).inputValue(), await second(page).inputValue()], CHESS);
    const [place, game] = (await shown(page)).rows;
    assert.deepEqual([place.condition, game.condition], CONDITIONS.slice(0, 2));
    assert.ok(place.similarity > game.similarity, `place ${place.similarity}, game ${game.similarity}`);
    await page.close();
  });

  test("typing updates the numbers and the address, without an answer to an older text", async () => {
    const page = await open();
    await settled(page);
    const before = await shown(page);
    await second(page).fill("");
    await second(page).pressSequentially(await first(page).inputValue(), { delay: 15 });
    await settled(page);
    await page.waitForFunction(() => document.querySelector(".unaided .cell-value")?.textContent === "1.00");
    const after = await shown(page);
    assert.ok(after.rows.every((row) => row.similarity === 1), JSON.stringify(after.rows));
    assert.notDeepEqual(after, before);
    await page.waitForFunction(() => location.hash.includes("s2=She+plays+chess"));
    await page.close();
  });

  test("an empty sentence takes the numbers back and says what is missing", async () => {
    const page = await open();
    await settled(page);
    await first(page).fill("  ");
    await page.getByText("Type both sentences to compare them.").waitFor();
    assert.equal(await page.locator(".unaided .cell-value").innerText(), "–");
    assert.deepEqual(page.problems, []);
    await page.close();
  });

  test("a sentence that is too long is marked at its field and at the conditions", async () => {
    // What ships reads long texts part by part; a head that does not tell mentions has them cut.
    const long = link([`${"long ".repeat(700)}story`, "A short story."], ["the length"]);
    await server.siteWith("/cut/", { [HEAD_FILE]: withoutMentions(await readFile(path.join(MODELS, HEAD_FILE))) });
    const cut = await open(long, { within: await browser.newContext({ serviceWorkers: "block" }), site: "cut" });
    await settled(cut);
    await cut.locator("#sentence-1-note:not(:empty)").waitFor();
    assert.equal(await cut.locator("#sentence-2-note").innerText(), "");
    assert.equal(await cut.locator(".row .note:not(:empty)").count(), 1);
    await cut.context().close();
    const whole = await open(long);
    await settled(whole);
    assert.equal(await whole.locator("#sentence-1-note").innerText(), "");
    await whole.close();
  });

  test("what the model does not know of the texts is told beside the condition; an emoji is not among it", async () => {
    const page = await open(link(["ꙮ is a letter", CHESS[1]], ["the letter"]));
    await settled(page);
    assert.match(await page.locator(".row .note:not(:empty)").innerText(), /^\d+ pieces? of the texts (is|are) not known to the model, which reads (it|them) as a blank\.$/);
    await first(page).fill("😀");
    await second(page).fill("😢");
    await page.getByLabel("Condition 1").fill("the emotion");
    await page.waitForFunction(() => /the emotion: /.test(document.querySelector(".row [aria-busy=false]")?.textContent ?? ""));
    assert.equal(await page.locator(".row .note:not(:empty)").count(), 0);
    assert.ok((await shown(page)).rows[0].similarity < 0.9, "they are not the same");
    await page.close();
  });

  test("where every condition is refused each row says so, and no sentence is blamed", async () => {
    const page = await open(link(CHESS, ["the place", "the game"]));
    await settled(page);
    for (const n of [1, 2]) await page.getByLabel(`Condition ${n}`).fill("word ".repeat(1000 * n));
    await page.waitForFunction(() => document.querySelectorAll(".row .note:not(:empty)").length === 2);
    assert.match(await page.locator(".row .note:not(:empty)").last().innerText(), /shorten/);
    assert.equal(await page.getByRole("alert").count(), 0);
    await page.close();
  });

  test("a sentence beyond all bounds is refused in words, and the page goes on", async () => {
    const page = await open();
    await settled(page);
    await first(page).fill("word ".repeat(40_000));
    const alert = page.getByRole("alert");
    await alert.getByText("The first sentence has 200,000 characters").waitFor();
    // No answer stands beside what it is not about.
    assert.equal(await page.locator(".readout-value").innerText(), "–");
    assert.equal(await page.locator(".unaided .cell-value").innerText(), "–");
    // Bars glide to nothing.
    await page.waitForFunction(() => [...document.querySelectorAll(".row .bar-common")].every((bar) => bar.getBoundingClientRect().width === 0));
    await first(page).fill(CHESS[0]);
    await page.getByRole("alert").waitFor({ state: "detached" });
    await settled(page);
    await page.close();
  });
});

describe("conditions", () => {
  test("are added, edited and removed by keyboard alone", async () => {
    const page = await open(link(CHESS, ["the place"]));
    await settled(page);
    await second(page).focus();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.value), "the place");

    await page.keyboard.press("Enter");
    await page.keyboard.type("the game");
    await page.keyboard.press("Enter");
    await page.keyboard.type("the mood");
    await settled(page);
    assert.deepEqual(await conditionsOf(page), ["the place", "the game", "the mood"]);

    await page.keyboard.press("Shift+Tab"); // to the button that removes “the game”
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("End");
    await page.keyboard.type(" they play");
    await settled(page);
    assert.deepEqual(await conditionsOf(page), ["the place", "the game they play", "the mood"]);

    await page.keyboard.press("Tab");
    assert.equal(
      await page.evaluate(() => document.activeElement.getAttribute("aria-label")),
      "Remove the game they play",
    );
    await page.keyboard.press("Enter");
    assert.deepEqual(await conditionsOf(page), ["the place", "the mood"]);
    assert.equal(await page.evaluate(() => document.activeElement.value), "the mood", "the focus is not lost");

    await page.keyboard.press("Control+a");
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Backspace");
    assert.deepEqual(await conditionsOf(page), ["the place"]);
    assert.equal(await page.evaluate(() => document.activeElement.value), "the place");
    await settled(page);
    assert.equal((await shown(page)).rows.length, 1);
    await page.close();
  });

  test("several pasted lines become several conditions", async () => {
    const page = await open(link(CHESS, ["the place"]));
    await settled(page);
    await page.evaluate(() => navigator.clipboard.writeText("the game\n  the activity \r\n\nthe person\n"));
    await adder(page).focus();
    await page.keyboard.press("Control+v");
    await settled(page);
    assert.deepEqual(await conditionsOf(page), ["the place", "the game", "the activity", "the person"]);
    assert.equal((await shown(page)).rows.length, 4);
    await page.close();
  });

  test("of thousands of pasted lines it is told how many were kept; those that were there stay", async () => {
    const page = await open(link(CHESS, ["the place", "the game"]));
    await page.evaluate(() => navigator.clipboard.writeText(Array.from({ length: 5000 }, (_, i) => `the colour of thing ${i}`).join("\n")));
    await adder(page).focus();
    await page.keyboard.press("Control+v");
    await page.getByText("18 of the 5,000 pasted lines were kept: each condition once, and 20 are the most this page takes.").waitFor();
    const kept = await conditionsOf(page);
    assert.deepEqual([kept.length, kept[0], kept[1], kept[19]], [20, "the place", "the game", "the colour of thing 17"]);
    await page.getByRole("button", { name: "Remove the game" }).click();
    assert.equal(await page.getByText("pasted lines were kept").count(), 0);
    await page.close();
  });

  test("a condition that is there already is told so, and is not compared again", async () => {
    const page = await open(link(CHESS, ["the place"]));
    await settled(page);
    await adder(page).fill(" The  Place");
    const row = page.locator(".rows > li").nth(2);
    await row.getByText("The same as condition 1, so it is not compared again.").waitFor();
    assert.equal(await row.locator(".cell-value").count(), 0);
    await page.getByLabel("Condition 2").fill("The Place in the sun");
    await page.waitForFunction(() => /\d/.test(document.querySelector(".rows > li:nth-child(3) .cell-value")?.textContent));
    assert.equal(await row.locator(".note").innerText(), "");
    await page.close();
  });

  test("a condition that says what is so is told how it is put, and compared all the same", async () => {
    const page = await open(link(CHESS, ["the place"]));
    await settled(page);
    const row = page.locator(".rows > li:not(.unaided)").first();
    await row.locator("input").fill("the place is outdoors");
    await row.locator(".note", { hasText: "Name what is to be compared" }).waitFor();
    assert.match(await row.locator(".cell-value").textContent(), /\d/);
    await row.locator("input").fill("the game in the sentence");
    await row.locator(".note", { hasText: "what the sentences tell" }).waitFor();
    await row.locator("input").fill("the game");
    await row.locator(".note:empty").waitFor({ state: "attached" });
    await page.close();
  });
});

describe("changes are taken back", () => {
  test("Ctrl+Z brings a removed condition back to its place, and leaves typing to the field", async () => {
    const page = await open(link(CHESS, CONDITIONS));
    await settled(page);
    await page.getByRole("button", { name: "Remove the place" }).click();
    assert.deepEqual(await conditionsOf(page), CONDITIONS.slice(1));
    await page.getByText("Removed “the place”.").waitFor();
    await page.keyboard.press("Control+z");
    assert.deepEqual(await conditionsOf(page), CONDITIONS);
    await page.waitForFunction(() => document.activeElement.value === "the place");
    await settled(page);
    // What is typed afterwards is the field's to take back.
    await page.getByRole("button", { name: "Remove the game" }).click();
    await page.getByLabel("Condition 1").fill("the town");
    await page.keyboard.press("Control+z");
    assert.ok(!(await conditionsOf(page)).includes("the game"));
    await page.close();
  });

  test("Back brings a removed condition back, and does not leave the view", async () => {
    const page = await open(link(CHESS, CONDITIONS));
    await settled(page);
    await page.getByRole("button", { name: "Remove the game" }).click();
    await page.goBack();
    await page.waitForFunction(() => [...document.querySelectorAll("input[data-condition]")].some((field) => field.value === "the game"));
    assert.deepEqual(await conditionsOf(page), CONDITIONS);
    await page.close();
  });

  test("one's own pair begins with an empty page, and what was there can be had again", async () => {
    const page = await open(link(["A kite over the hill", "A kite in the attic"], ["the place"]));
    await page.getByRole("button", { name: "start with your own pair" }).click();
    assert.deepEqual([await first(page).inputValue(), await second(page).inputValue(), await conditionsOf(page)], ["", "", []]);
    assert.equal(await page.evaluate(() => document.activeElement.id), "sentence-1");
    await page.getByRole("button", { name: "Undo" }).click();
    assert.equal(await first(page).inputValue(), "A kite over the hill");
    // An example does not swallow what was typed either.
    await page.locator(".example").first().click();
    assert.equal(await first(page).inputValue(), CHESS[0]);
    await page.getByRole("button", { name: "Undo" }).click();
    assert.equal(await first(page).inputValue(), "A kite over the hill");
    assert.deepEqual(await conditionsOf(page), ["the place"]);
    await page.close();
  });

  test("the sentences change places", async () => {
    const page = await open(link(CHESS, CONDITIONS));
    await page.getByRole("button", { name: "Swap the sentences" }).click();
    assert.deepEqual([await first(page).inputValue(), await second(page).inputValue()], [...CHESS].reverse());
    await page.keyboard.press("Control+z");
    assert.deepEqual([await first(page).inputValue(), await second(page).inputValue()], CHESS);
    await page.close();
  });
});

describe("texts of every kind", () => {
  test("Enter goes from the first sentence to the second, and on to the conditions", async () => {
    const page = await open(link(CHESS, CONDITIONS));
    await first(page).focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "sentence-2");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.value), CONDITIONS[0]);
    assert.deepEqual([await first(page).inputValue(), await second(page).inputValue()], CHESS);
    await page.close();
  });

  test("what is written from right to left begins at the right", async () => {
    const page = await open(link(["القطة نائمة على الأريكة", CHESS[1]], ["المكان", "the place"]));
    const direction = (selector) => page.locator(selector).first().evaluate((each) => getComputedStyle(each).direction);
    assert.deepEqual([await direction("#sentence-1"), await direction("#sentence-2"), await direction(".condition")], ["rtl", "ltr", "rtl"]);
    await page.close();
  });

  test("a condition that is cut has its whole text as its title", async () => {
    const page = await open(link(CHESS, ["the place", "the colour of the coat of the person who walks beside the dog in the snow"]));
    const title = async (n) => {
      await page.getByLabel(`Condition ${n}`).hover();
      return page.getByLabel(`Condition ${n}`).getAttribute("title");
    };
    assert.match(await title(2), /^the colour of the coat/);
    assert.equal((await title(1)) ?? "", "");
    await page.close();
  });

  test("between a phone and a large screen the headline fills two lines, and the naked eye one", async () => {
    const own = await browser.newContext({ viewport: { width: 1024, height: 768 } });
    const page = await open(link(CHESS, CONDITIONS), { within: own });
    await settled(page);
    const lines = await page.locator(".hero h1 span").evaluateAll((spans) => spans.map((span) => [span.getClientRects().length, span.getBoundingClientRect().top]));
    assert.deepEqual(lines.map(([count]) => count), [1, 1]);
    assert.ok(lines[0][1] < lines[1][1]);
    const label = await page.locator(".unaided .cell-name").evaluate((name) => {
      const range = document.createRange();
      range.selectNodeContents(name);
      return { tops: new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 8))).size, cut: name.scrollWidth > name.clientWidth + 1 };
    });
    assert.deepEqual(label, { tops: 1, cut: false });
    assert.deepEqual(await page.evaluate(stickingOut), []);
    await own.close();
  });

  test("what a finger is to touch is 44 pixels high", async () => {
    const own = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    const page = await open(link(CHESS, CONDITIONS), { within: own });
    await settled(page);
    await chips(page).first().waitFor({ timeout: PATIENT });
    await openEngine(page);
    const small = await page.$$eval("a, button, summary, textarea, input:not([type=radio]), .switch label", (all) =>
      all.filter((each) => each.checkVisibility() && !each.matches(".skip") && each.getBoundingClientRect().height < 43.5)
        .map((each) => `${each.localName}.${each.className}: ${each.getBoundingClientRect().height}`));
    assert.deepEqual(small, []);
    await own.close();
  });

  for (const [view, address, ready] of [
    ["List", `#/list?${new URLSearchParams({ list: "captions", device: "wasm" })}`, ".group"],
    ["How it works", `#/how?${new URLSearchParams([["s1", CHESS[0]], ["s2", CHESS[1]], ["c", "the place"], ["lesson", "1"], ["device", "wasm"]])}`, ".step-figure > *"],
    ["the page that measures", "speed.html", "button"],
  ]) {
    test(`what a finger is to touch is 44 pixels high: ${view}`, { timeout: PATIENT }, async () => {
      const own = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
      const page = await open(address, { within: own });
      await page.locator(ready).first().waitFor({ timeout: PATIENT });
      const small = await page.$$eval("a, button, summary, select, textarea, label:has([type=checkbox]), input:not([type=radio], [type=checkbox], [type=file])", (all) =>
        all.filter((each) => each.checkVisibility() && !each.matches(".skip") && each.getBoundingClientRect().height < 43.5)
          .map((each) => `${each.localName}.${each.className}: ${each.getBoundingClientRect().height}`));
      assert.deepEqual(small, []);
      await own.close();
    });
  }
});

describe("while an answer is awaited", () => {
  test("a screen reader gets the numbers with the condition that they belong to", async () => {
    const page = await openMeddled(link(CHESS, CONDITIONS));
    await settled(page);
    const spoken = page.locator(".rows > li:nth-child(2) .hidden[aria-busy]");
    assert.match(await spoken.textContent(), /^the place: similarity/);
    assert.equal(await spoken.getAttribute("aria-busy"), "false");
    await page.evaluate(() => (window.held = "compare"));
    await page.getByLabel("Condition 1").fill("the activity");
    assert.equal(await spoken.getAttribute("aria-busy"), "true");
    assert.match(await spoken.textContent(), /^the place: similarity/);
    await answerAfter(page, 0);
    await settled(page);
    assert.match(await spoken.textContent(), /^the activity: similarity/);
    assert.equal(await spoken.getAttribute("aria-busy"), "false");
    await page.context().close();
  });
});

describe("suggestions", () => {
  const MANY = Array.from({ length: 19 }, (_, i) => `the colour of thing ${i + 1}`);

  test("come where a condition is quick, however long all take together; a slow device says why it has none", async () => {
    const held = () => (window.held = "compare");
    const many = await openMeddled(link(CHESS, MANY), held);
    await answerAfter(many, 4000);
    await settled(many);
    await chips(many).first().waitFor({ timeout: PATIENT });
    await many.context().close();

    // However often it is asked.
    const one = await openMeddled(link(CHESS, ["the place"]), held);
    const why = one.getByText("no conditions are suggested");
    for (let i = 0; i < 3; i += 1) {
      await answerAfter(one, 4000);
      await settled(one);
      await why.waitFor();
      await one.evaluate(() => (window.held = "compare"));
    }
    await one.waitForTimeout(5000);
    assert.equal(await one.evaluate(() => window.isWaiting()), false, "three slow answers are enough");
    assert.equal(await chips(one).count(), 0);
    await one.evaluate(() => window.letGo());
    await first(one).fill("She plays chess at home");
    await chips(one).first().waitFor({ timeout: PATIENT });
    assert.equal(await why.count(), 0);
    await one.context().close();
  });

  test("a busy moment at the start does not make a device slow for good", async () => {
    const page = await openMeddled(link(CHESS, ["the place"]), () => (window.held = "compare"));
    await answerAfter(page, 4000);
    await settled(page);
    await page.getByText("no conditions are suggested").waitFor();
    await chips(page).first().waitFor({ timeout: PATIENT });
    // Nor does one later on.
    await page.evaluate(() => (window.held = "compare"));
    await first(page).fill("She plays chess at home");
    await answerAfter(page, 4000);
    await settled(page);
    await chips(page).first().waitFor({ timeout: PATIENT });
    await page.context().close();
  });

  test("are looked for again after a failure", async () => {
    const page = await openMeddled(link(CHESS, ["the place"]), () => (window.broken = "embed"));
    await page.waitForFunction(() => window.failed === 1, undefined, { timeout: PATIENT });
    await page.evaluate(() => (window.broken = ""));
    await chips(page).first().waitFor({ timeout: PATIENT });
    await page.context().close();
  });

  test("what asks the same as a condition that is there, in other words, is not suggested", async () => {
    const pair = ["A young woman in a white shirt serves in a tennis match.", "An old man in a white shirt returns the ball in a tennis match."];
    const page = await open(link(pair, ["the weather"]));
    await settled(page);
    await chips(page).first().waitFor({ timeout: PATIENT });
    const offered = await page.locator(".suggestions .chip > [lang]").allInnerTexts();
    const asked = offered.find((each) => /gender/.test(each));
    assert.ok(asked, `${offered}`);
    await adder(page).fill("whether it is a man or a woman");
    await page.waitForFunction((asked) => ![...document.querySelectorAll(".suggestions .chip > [lang]")].some((each) => each.innerText === asked), asked);
    assert.ok((await chips(page).count()) > 2, "others stay");
    await page.close();
  });

  test("pass the focus on when they are taken: to the next, and to the heading when there is none", async () => {
    const page = await open(link(CHESS, MANY.slice(1)));
    await settled(page);
    await chips(page).first().waitFor({ timeout: PATIENT });
    const [, next] = await chips(page).allInnerTexts();
    await chips(page).first().focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelectorAll(".rows > li").length === 21);
    assert.equal(await page.evaluate(() => document.activeElement.innerText), next);
    await page.keyboard.press("Enter"); // the twentieth condition: no more can be added
    await chips(page).first().waitFor({ state: "detached" });
    assert.equal(await page.evaluate(() => document.activeElement.innerText), "Under which condition?");
    await page.close();
  });
});

describe("where a condition looks", () => {
  test("in code, numbers stand below words alone and do not run into each other", async () => {
    const page = await open(link(["x=1+2; y<3; f(a,b) == i.e", "for i in l: i += 1"], ["the variable"]));
    await settled(page);
    await page.locator(".tint span").first().waitFor();
    const told = await page.locator(".tint span[data-share]").evaluateAll((words) =>
      words.map((word) => {
        const { left, top } = word.getBoundingClientRect();
        return { text: word.textContent, left, top, right: left + Number.parseFloat(getComputedStyle(word, "::after").width) };
      }));
    assert.ok(told.length > 6);
    assert.deepEqual(told.filter(({ text }) => !/[\p{L}\p{N}]/u.test(text)), []);
    told.slice(1).forEach((next, i) => assert.ok(next.top !== told[i].top || next.left >= told[i].right, `${told[i].text} and ${next.text}`));
    await page.close();
  });

  test("the words of both sentences are tinted by the attention of the condition in the lens, with numbers", async () => {
    const page = await open(link(CHESS, CONDITIONS));
    await settled(page);
    await page.locator(".unaided").hover();
    assert.equal(await page.locator(".tint").count(), 0, "the naked eye looks at nothing in particular");
    const height = () => page.locator(".bench").evaluate((bench) => bench.clientHeight);
    const before = await height();
    await page.getByLabel("Condition 2").focus();
    await page.locator(".tint span").first().waitFor();
    // Behind the field's words, letter by letter.
    assert.deepEqual(await page.locator(".tint").allTextContents(), CHESS);
    // With its number below each word, whatever brought the condition there: mouse, keyboard or touch. Nothing moves for it.
    const numbers = () =>
      page.$$eval(".tint span", (words) => words.map((word) => [word.textContent, Number(getComputedStyle(word, "::after").content.replaceAll('"', ""))]));
    const most = async () => (await numbers()).sort(([, a], [, b]) => b - a)[0][0];
    assert.deepEqual((await numbers()).map(([word]) => word), CHESS.join(" ").split(" "));
    assert.ok(["chess", "football"].includes(await most()), await most());
    const sum = (await numbers()).reduce((sum, [, number]) => sum + number, 0);
    assert.ok(Math.abs(sum - 200) <= 6, `both sentences' numbers make ${sum} %`);
    assert.equal(await height(), before);
    await page.locator(".unaided").hover();
    assert.equal(await page.locator(".tint").count(), 0);
    await page.locator(".rows > li", { has: page.getByLabel("Condition 1") }).hover();
    await page.waitForFunction(() => document.querySelector(".tint span:last-of-type")?.dataset.share > 20);
    assert.equal(await most(), "park");

    // A row that slides below a resting pointer is not pointed at.
    await page.evaluate(() => {
      const top = (selector) => document.querySelector(selector).getBoundingClientRect().top;
      document.querySelector(".rows").style.transform = `translateY(${top(".rows > .in-lens") - top(".unaided")}px)`;
    });
    await page.waitForFunction(() => document.querySelector(".unaided").matches(":hover"));
    assert.equal(await most(), "park");
    await page.evaluate(() => (document.querySelector(".rows").style.transform = ""));

    // What no longer fits is taken back at once.
    await first(page).fill("She plays chess at home");
    assert.equal(await page.locator(".tint").count(), 0);
    await settled(page);
    await page.locator(".tint").first().waitFor();
    assert.deepEqual((await numbers()).filter(([word]) => word === "home").length, 1);
    assert.deepEqual(page.problems, []);
    await page.close();
  });

  test("every condition's field is described by all words of both sentences, the most looked at first", async () => {
    const page = await open(link([CHESS[0], `${CHESS[1]}, alone.`], CONDITIONS));
    await settled(page);
    const described = (n) =>
      page.getByLabel(`Condition ${n}`).evaluate((field) => {
        const ids = field.getAttribute("aria-describedby").split(" ");
        return ids.map((id) => document.getElementById(id)).at(-1).textContent;
      });
    // Without a visit to them: what is described later is not read.
    await page.waitForFunction((n) => document.querySelectorAll("[id$='-look']:not(:empty)").length === n, CONDITIONS.length);
    for (const [index] of CONDITIONS.entries()) {
      const [, ...lists] = /^Looks in the first sentence at (.*); in the second sentence at (.*)\.$/.exec(await described(index + 1));
      for (const [at, sentence] of CHESS.entries()) {
        const words = lists[at].split(", ").map((each) => /^(\S+) (\d+) %$/.exec(each).slice(1));
        assert.deepEqual(words.map(([word]) => word).sort(), `${sentence}${at ? " alone" : ""}`.split(" ").sort());
        assert.deepEqual(words.map(([, share]) => Number(share)), words.map(([, share]) => Number(share)).sort((a, b) => b - a));
      }
      if (index === 1) assert.match(lists[0], /^chess/);
    }
    assert.equal(await page.locator("[id$='-look']").first().getAttribute("aria-live"), null);
    await page.close();
  });
});

describe("examples and links", () => {
  test("a dozen examples fill the page with one click, and Back undoes it", async () => {
    const page = await open();
    await settled(page);
    const buttons = page.locator(".example");
    assert.equal(await buttons.count(), 12);
    const seen = new Set();
    for (let index = 0; index < 12; index += 1) {
      await buttons.nth(index).click();
      assert.equal(await buttons.nth(index).getAttribute("aria-pressed"), "true");
      assert.ok((await conditionsOf(page)).length >= 3);
      await settled(page);
      const { rows } = await shown(page);
      assert.ok(rows.every((row) => Number.isFinite(row.similarity)));
      seen.add(await first(page).inputValue());
    }
    assert.equal(seen.size, 12);
    const last = await first(page).inputValue();
    await page.goBack();
    await page.waitForFunction((text) => (document.querySelector("#sentence-1")?.value ?? text) !== text, last);
    await page.goForward();
    await page.waitForFunction((text) => document.querySelector("#sentence-1")?.value === text, last);
    await page.close();
  });

  test("a copied link opens the same page", async () => {
    const page = await open();
    const sentences = ["Ein Hund & eine Katze – 100 % “ruhig” 🐕", "<b>#1?</b> A+B=C; \\ %20"];
    await first(page).fill(sentences[0]);
    await second(page).fill(sentences[1]);
    const conditions = [...(await conditionsOf(page)), "la couleur à côté"];
    await adder(page).fill(conditions.at(-1));
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("Link copied").waitFor();
    const address = await page.evaluate(() => navigator.clipboard.readText());
    await page.close();

    const other = await open(new URL(address).hash);
    assert.equal(await first(other).inputValue(), sentences[0]);
    assert.equal(await second(other).inputValue(), sentences[1]);
    assert.deepEqual(await conditionsOf(other), conditions);
    await openEngine(other);
    assert.ok(await other.getByRole("radio", { name: "CPU" }).isChecked());
    await settled(other);
    assert.deepEqual(other.problems, []);
    await other.close();
  });

  const hostile = {
    "HTML and script": "#s1=<img src=x onerror=alert(1)>&s2=<script>alert(1)</script>&c=<svg onload=alert(1)>&device=wasm",
    "broken escapes": "#s1=%E0%A4%A&s2=%&c=%ZZ&device=%00",
    "a huge hash": `#s1=${"a".repeat(200_000)}`,
    "a thousand conditions": `#s1=a&s2=b&${"c=x&".repeat(1000)}device=wasm`,
    "other keys": "#__proto__=1&constructor=2&device=quantum",
    "no query at all": "#bench",
    "a view that there is not": "#/<b>?s1=a",
  };
  for (const [name, hash] of Object.entries(hostile)) {
    test(`a hostile link is harmless: ${name}`, async () => {
      const page = await open(hash);
      page.on("dialog", () => page.problems.push("a dialog opened"));
      await first(page).waitFor();
      assert.ok((await conditionsOf(page)).length <= 20);
      assert.equal(await page.locator("main img, main script").count(), 0);
      assert.deepEqual(page.problems, []);
      await page.close();
    });
  }
});

describe("loading and failing", () => {
  test("the page is there, and can be typed in, before the first byte of the model", async () => {
    server.rule(MODEL_PATH, { delay: 3000, rate: 20e6 });
    const own = await browser.newContext();
    const asked = [];
    own.on("request", (request) => asked.push(request));
    const page = await open("#device=wasm", { within: own });
    const bar = page.getByRole("progressbar");
    await bar.waitFor();
    // Elements are there before they are painted.
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length === 1);
    await first(page).fill("A red kite over the hill");
    assert.equal(await first(page).inputValue(), "A red kite over the hill");
    assert.equal(server.requests.filter((request) => request.path === MODEL_PATH && request.finished).length, 0);
    await settled(page);
    // By the browser's own clock neither the model nor what runs it had been asked for when the page was first painted.
    const painted = await page.evaluate(() => performance.timeOrigin + performance.getEntriesByName("first-contentful-paint")[0].startTime);
    for (const what of [/\/worker-[^/]*\.js$/, /\.wasm$/, new RegExp(`/${MODEL_FILE}\\?v=[0-9a-f]{8}$`)]) {
      const at = asked.filter((request) => what.test(request.url())).map((request) => request.timing().startTime);
      assert.ok(at.length > 0 && Math.min(...at) >= painted, `${what}: asked for at ${at}, painted at ${painted}`);
    }
    assert.equal(await bar.count(), 0);
    assert.deepEqual(page.problems, []);
    await own.close();
  });

  test("the progress bar counts megabytes and never falls", async () => {
    server.rule(MODEL_PATH, { rate: 10e6 });
    const own = await browser.newContext();
    const page = await open("#device=wasm", { within: own });
    const seen = await page.evaluate(async () => {
      const seen = [];
      for (let quiet = 0; quiet < 200; ) {
        const bar = document.querySelector("[role=progressbar]");
        if (bar) seen.push([Number(bar.getAttribute("aria-valuenow")), bar.getAttribute("aria-valuetext")]);
        else if (seen.length > 0) break;
        else quiet += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return seen;
    });
    const values = seen.map(([value]) => value);
    assert.deepEqual(values, [...values].sort((a, b) => a - b));
    assert.ok(new Set(values).size > 5, `the bar moves: ${[...new Set(values)]}`);
    assert.ok(seen.some(([, text]) => /\d+\.\d MB of \d+\.\d MB, \d+ %/.test(text)), "megabytes and per cent in words");
    await own.close();
  });

  test("a missing model says what to do, and trying again works once it is there", async () => {
    server.rule(MODEL_PATH, { status: 404 });
    const own = await browser.newContext();
    const page = await open("#device=wasm", { within: own });
    const alert = page.getByRole("alert");
    await alert.waitFor();
    assert.match(await alert.innerText(), /could not be loaded/);
    assert.match(await alert.innerText(), /Try again later/);
    assert.doesNotMatch(await alert.innerText(), /build\.sh|quantize|Content-Security|https?:/);
    server.rule(MODEL_PATH, undefined);
    await alert.getByRole("button", { name: "Try again" }).focus();
    await page.keyboard.press("Enter");
    await alert.waitFor({ state: "detached" });
    assert.equal(await page.evaluate(() => document.activeElement.innerText), "Under which condition?", "the focus is not lost");
    await settled(page);
    assert.equal(await alert.count(), 0);
    await own.close();
  });

  test("every error that can reach the page is told in its own words; what the program says of it is folded away", async () => {
    const { CODES } = await import("../../pkg/build/errors.js");
    const { strings } = await moduleOf("www/src/strings/en.ts");
    // The page has no indexes and reads no files by path; what it gives the package is checked, and what it disposes it asks no more.
    const elsewhere = /^(index-.*|storage.*|duplicate-id|unknown-id|file|disposed|invalid-argument)$/;
    const wordless = CODES.filter((code) => !elsewhere.test(code) && code !== "text-too-long" && !strings.problems.told[code]);
    assert.deepEqual(wordless, []);

    server.rule(`/site/models/${HEAD_FILE}`, { status: 503 });
    const page = await open("#device=wasm", { within: await browser.newContext({ serviceWorkers: "block" }) });
    const alert = page.getByRole("alert");
    await alert.waitFor();
    const raw = alert.getByText(/HTTP 503/);
    assert.equal(await raw.isVisible(), false);
    await alert.getByText("What the program says").click();
    await raw.waitFor();
    assert.equal(await raw.getAttribute("lang"), "en");
    assert.deepEqual(await violations(page), []);
    await page.context().close();
  });

  for (const [locale, file] of [["en-US", "en"], ["de-DE", "de"], ["fr-FR", "fr"], ["es-ES", "es"], ["ja-JP", "ja"]]) {
    test(`that the model cannot be kept is told in the page's words: ${file}`, { timeout: PATIENT }, async () => {
      const source = await readFile(path.join(ROOT, `www/src/strings/${file}.ts`), "utf8");
      const [, told] = /notKept: "(.*)",/.exec(source);
      // Over plain http a browser has nothing to keep it in.
      const plain = await launch({ args: ["--host-resolver-rules=MAP plain.test 127.0.0.1"] });
      try {
        const page = await visit(await plain.newContext({ locale }), `${server.origin.replace("127.0.0.1", "plain.test")}/site/#device=wasm`);
        await page.locator(".notice p", { hasText: told }).first().waitFor();
        const raw = page.locator(".notice [lang=en]", { hasText: "only over https" });
        assert.equal(await raw.isVisible(), false);
        await page.locator(".notice summary").click();
        await raw.waitFor();
      } finally {
        await plain.close();
      }
    });
  }

  test("storage that is full shows once the model is there, and is told all the same", { timeout: PATIENT }, async () => {
    const own = await browser.newContext({ serviceWorkers: "block" });
    const page = await own.newPage();
    const devtools = await own.newCDPSession(page);
    await devtools.send("Storage.overrideQuotaForOrigin", { origin: server.origin, quotaSize: 5e6 });
    await page.goto(`${server.origin}/site/#device=wasm`);
    await settled(page);
    await page.locator(".notice p", { hasText: "does not let the page keep the model" }).first().waitFor();
    await page.locator(".notice summary").click();
    await page.locator(".notice [lang=en]", { hasText: "storage is full" }).waitFor();
    await own.close();
  });

  test("a server that cannot be reached is told apart from a missing file", async () => {
    server.rule(MODEL_PATH, { drop: true });
    const own = await browser.newContext();
    const page = await open("#device=wasm", { within: own });
    await page.getByRole("alert").getByText("Check your connection").waitFor();
    await own.close();
  });

  test("WebGPU where there is none offers the CPU", async () => {
    const page = await open("#device=webgpu");
    await page.getByRole("alert").getByRole("button", { name: "Use the CPU" }).click();
    await settled(page);
    await openEngine(page);
    assert.ok(await page.getByRole("radio", { name: "CPU" }).isChecked());
    assert.match(await page.evaluate(() => location.hash), /device=wasm/);
    await page.close();
  });

  test("nothing that is typed is sent, and nothing is asked of another server", async () => {
    const own = await browser.newContext();
    const asked = [];
    own.on("request", (request) => asked.push(`${request.url()} ${request.postData() ?? ""}`));
    const page = await open("#device=wasm", { within: own });
    await first(page).fill("The zebra kept my secret");
    await settled(page);
    assert.ok(asked.length > 0);
    for (const request of asked) {
      assert.ok(request.startsWith(server.origin) || /^(data|blob):/.test(request), request);
      assert.ok(!request.split("#")[0].includes("zebra"), request);
    }
    await own.close();
  });
});

describe("in every browser", () => {
  test("where asking for the browser's cache throws, the page works without one", async () => {
    const own = await browser.newContext({ serviceWorkers: "block" });
    await own.addInitScript(() => {
      Object.defineProperty(window, "caches", { get() { throw new DOMException("denied", "SecurityError"); } });
    });
    const page = await open("#device=wasm", { within: own });
    await settled(page);
    assert.equal(await page.getByRole("alert").count(), 0);
    await own.close();
  });

  test("in the system's own colours bars are seen, and what is chosen is told apart", async () => {
    const own = await browser.newContext({ forcedColors: "active" });
    const page = await open(link(CHESS, CONDITIONS), { within: own });
    await settled(page);
    const colour = (selector, property) => page.locator(selector).first().evaluate((each, property) => getComputedStyle(each)[property], property);
    const paper = await colour(".bar-track", "backgroundColor");
    for (const part of [".bar-common", ".row:not(.unaided) .bar-gained"]) assert.notEqual(await colour(part, "backgroundColor"), paper, part);
    assert.notEqual(await colour(".bar-lost", "backgroundImage"), "none");
    assert.equal(await colour(".grow textarea", "forcedColorAdjust"), "none", "no plate behind letters covers the numbers between lines");
    assert.notEqual(await colour(".nav a[aria-current]", "borderBottomColor"), await colour(".nav a:not([aria-current])", "borderBottomColor"));
    await page.locator(".example").nth(2).click();
    assert.notEqual(await colour(".example[aria-pressed=true]", "borderTopColor"), await colour(".example[aria-pressed=false]", "borderTopColor"));
    await own.close();
  });

  test("a comparison prints on one sheet, with its bars and without what is there to be pressed", async () => {
    const page = await open(link(CHESS, CONDITIONS));
    await settled(page);
    await page.emulateMedia({ media: "print" });
    for (const part of [".head", ".examples", ".suggestions-place", ".take-along", ".pairs", ".engine", ".foot", ".remove"]) {
      assert.equal(await page.locator(part).first().isVisible(), false, part);
    }
    assert.ok(await page.locator(".row .bar-common").nth(1).isVisible());
    assert.equal(await page.locator(".bar").first().evaluate((each) => getComputedStyle(each).printColorAdjust), "exact");
    const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
    assert.equal(pdf.match(/\/Type\s*\/Page\b/g).length, 1);
    await page.close();
  });

  test("a list prints its map and groups on clean sheets, and nothing that is there to be pressed", { timeout: PATIENT }, async () => {
    const texts = Array.from({ length: 12 }, (_, i) => `${["A cat sleeps", "A dog runs", "A horse gallops"][i % 3]} at ${i + 1} o'clock.`);
    const page = await open(`#/list?${new URLSearchParams({ t: texts.join("\n"), c: "the animal", q: "a hound", device: "wasm" })}`);
    await page.locator(".hits li").first().waitFor({ timeout: PATIENT });
    await page.emulateMedia({ media: "print" });
    for (const part of [".head", ".examples", ".texts", ".group-by", ".work-tools", ".map-tools", ".search", ".rename", ".engine", ".foot"]) {
      assert.equal(await page.locator(part).first().isVisible(), false, part);
    }
    const printed = [".work-line", ".map-plate canvas", ".legend", ".groups"];
    const boxes = await Promise.all(printed.map(async (part) => page.locator(part).first().boundingBox()));
    boxes.forEach((box, i) => assert.ok(box && box.height > 0, printed[i]));
    for (let i = 1; i < boxes.length; i++) assert.ok(boxes[i].y >= boxes[i - 1].y + boxes[i - 1].height - 1, `${printed[i]} lies on ${printed[i - 1]}`);
    for (const part of [".group-bar > span", ".badge"]) {
      assert.equal(await page.locator(part).first().evaluate((each) => getComputedStyle(each).printColorAdjust), "exact", part);
    }
    const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
    assert.ok(pdf.match(/\/Type\s*\/Page\b/g).length <= 2);
    await page.close();
  });

  test("a comparison is taken along: as HTML for a page of one's own, and as a table", async () => {
    const own = await browser.newContext({ acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"] });
    const page = await open(link(["=She said \"hi\" & left", CHESS[1]], CONDITIONS), { within: own });
    await settled(page);
    await page.getByRole("button", { name: "Put this on your page" }).click();
    await page.getByText("HTML copied").waitFor();
    // What the browser makes of it: the same texts, in the package's element.
    const made = await page.evaluate(async () => {
      const page = new DOMParser().parseFromString(await navigator.clipboard.readText(), "text/html");
      const lens = page.querySelector("case-lens");
      return [page.querySelector("script").getAttribute("src"), lens.getAttribute("sentence1"), lens.getAttribute("sentence2"), [...lens.querySelectorAll("li")].map((each) => each.textContent)];
    });
    assert.deepEqual(made, ["caselens/dist/element.js", "=She said \"hi\" & left", CHESS[1], CONDITIONS]);
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save this comparison" }).click()]);
    const [head, ...rows] = (await readFile(await file.path(), "utf8")).replace("\uFEFF", "").split("\r\n");
    assert.equal(head, "sentence1,sentence2,condition,similarity,rating,similarity_without_condition,sentences_that_say_nothing,sentences_in_other_languages,unknown_pieces,cut,problem");
    assert.deepEqual(rows.map((row) => row.split(",")[2]), CONDITIONS);
    assert.ok(rows.every((row) => row.startsWith("\"'=She said")), rows[0]);
    // Where a sentence says nothing the page has a dash in place of a number.
    const seen = (await page.locator(".rows > li:not(.unaided) .cell-value").allInnerTexts()).map(Number);
    rows.forEach((row, i) => assert.ok(Number.isNaN(seen[i]) || Math.abs(Math.max(0, Number(row.split(",")[3])) - seen[i]) <= 0.0051, row));
    assert.deepEqual(page.problems, []);
    await own.close();
  });

  test("a comparison is taken along as a picture: its texts, bars and numbers, in light colours, with room for long texts", async () => {
    const { linesOf, isRightToLeft } = await moduleOf("www/src/pairs/lines.ts");
    const widthOf = (line) => line.length;
    assert.deepEqual(linesOf("She plays chess\nin the park", 10, widthOf), ["She plays", "chess", "in the", "park"]);
    assert.deepEqual(linesOf("Donaudampfschiff ahoi", 8, widthOf), ["Donaudam", "pfschiff", "ahoi"]);
    assert.deepEqual(linesOf("", 8, widthOf), [""]);
    const many = linesOf("word ".repeat(500), 10, widthOf);
    assert.ok(many.length === 24 && many.at(-1).endsWith("…"), `${many.length} lines`);
    assert.deepEqual(["„1“ שלום", "مرحبا hello", "hello مرحبا", "12"].map(isRightToLeft), [true, true, false, false]);

    const own = await browser.newContext({ acceptDownloads: true, colorScheme: "dark" });
    const page = await open(link(CHESS, CONDITIONS), { within: own });
    await settled(page);
    /** The picture: its size, how many colours it has, and the colours of some places. */
    const picture = async () => {
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as a picture (PNG)" }).click()]);
      assert.equal(file.suggestedFilename(), "caselens-comparison.png");
      const bytes = await readFile(await file.path());
      assert.equal(bytes.subarray(1, 4).toString(), "PNG");
      const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
      return page.evaluate(async ([base64, width, height]) => {
        const image = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))]));
        const context = new OffscreenCanvas(width, height).getContext("2d");
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, width, height);
        const colour = (x, y) => [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3)].join();
        /** The share of the pixels of a part that are darker than its first. */
        const inked = (left, top, wide, high) => {
          let dark = 0;
          const brightness = (at) => data[at] + data[at + 1] + data[at + 2];
          const first = brightness(4 * (top * width + left));
          for (let y = top; y < top + high; y++) for (let x = left; x < left + wide; x++) dark += brightness(4 * (y * width + x)) < first - 200 ? 1 : 0;
          return dark / (wide * high);
        };
        const colours = new Set(Array.from({ length: width * height / 7 | 0 }, (_, i) => data.subarray(28 * i, 28 * i + 3).join()));
        return {
          width, height, colours: colours.size, corner: colour(4, 4), panels: [colour(110, 110), colour(width - 110, 110)],
          // Both halves of the first sentence's place.
          texts: [inked(150, 220, 340, 150), inked(500, 220, 346, 150)], foot: inked(96, height - 90, 900, 60),
        };
      }, [bytes.toString("base64"), width, height]);
    };
    const plain = await picture();
    assert.equal(plain.width, 2400);
    assert.ok(plain.height > 1000 && plain.height < 2400, `${plain.height}`);
    assert.ok(plain.colours > 50, `${plain.colours} colours`);
    assert.deepEqual([plain.corner, ...plain.panels], ["251,252,251", "207,231,253", "255,236,166"], "the page's light colours");
    assert.ok(plain.texts[0] > 0.01 && plain.foot > 0.01, JSON.stringify(plain));
    // Longer texts and more conditions make it higher.
    await first(page).fill("She plays chess in the park, and afterwards goes home. ".repeat(30));
    await adder(page).fill("the weather");
    await settled(page);
    const long = await picture();
    assert.ok(long.height > plain.height + 300, `${plain.height}, ${long.height}`);
    // What is read from right to left begins at the right of its place.
    await first(page).fill("قط");
    await settled(page);
    const { texts } = await picture();
    assert.ok(texts[0] === 0 && texts[1] > 0, JSON.stringify(texts));
    assert.deepEqual(page.problems, []);
    await own.close();
  });

  test("a shared link has a card with a picture; without JavaScript the page says what it is", async () => {
    const own = await browser.newContext({ javaScriptEnabled: false });
    const page = await open("", { within: own });
    const card = await page.locator("meta[property^='og:']").evaluateAll((tags) => Object.fromEntries(tags.map((tag) => [tag.getAttribute("property"), tag.content])));
    for (const name of ["og:title", "og:description", "og:image:alt"]) assert.ok(card[name].length > 10, name);
    const picture = page.locator("noscript img, .noscript img");
    assert.equal(new URL(card["og:image"], page.url()).href, new URL(await picture.getAttribute("src"), page.url()).href);
    const size = await picture.evaluate((image) => [image.naturalWidth, image.naturalHeight]);
    assert.deepEqual(size, [1200, 630]);
    assert.match(await page.locator(".noscript").innerText(), /needs JavaScript/);
    await own.close();
  });

  test("a site that knows its address writes whole ones", async () => {
    const { share } = await moduleOf("www/share.ts");
    const { handler } = share("https://example.org/lens").transformIndexHtml;
    const { html, tags } = handler('<meta property="og:image" content="./share.png" />', { path: "/index.html" });
    assert.match(html, /content="https:\/\/example\.org\/lens\/share\.png"/);
    assert.deepEqual(tags.map(({ attrs }) => attrs.href ?? attrs.content), Array(2).fill("https://example.org/lens/"));
    assert.equal(share(undefined).transformIndexHtml.handler("<p>", { path: "/index.html" }), "<p>");
  });

  test("a model whose size the server does not say is counted by its card", async () => {
    server.rule(MODEL_PATH, { rate: 10e6, chunked: true });
    const own = await browser.newContext({ serviceWorkers: "block" });
    const page = await open("#device=wasm", { within: own });
    // The bar goes as far as the words do: both leave the last tenth for what comes after the download.
    const told = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const said = [];
          const look = () => {
            const bar = document.querySelector(".loading-bar [role=progressbar]");
            if (!bar && said.length > 0) return resolve(said);
            const words = /\d+\.\d MB of 1[34]\.\d MB, (\d+) %/.exec(bar?.ariaValueText ?? "");
            if (words) said.push([Number(words[1]), Number(bar.ariaValueNow)]);
            setTimeout(look, 20);
          };
          look();
        }),
    );
    assert.ok(told.at(-1)[0] > 80, `${told.at(-1)}`);
    for (const [words, bar] of told) assert.ok(Math.abs(bar - 0.9 * words) <= 2, `${words} % in words, ${bar} on the bar`);
    await settled(page);
    await own.close();
  });

  test("the model's bytes count while what runs it is still on its way", async () => {
    const own = await browser.newContext({ serviceWorkers: "block" });
    let letGo;
    const held = new Promise((resolve) => (letGo = resolve));
    for (const file of await readdir(path.join(SITE, "assets"))) if (file.endsWith(".wasm")) server.rule(`/site/assets/${file}`, { until: held });
    const page = await open("#device=wasm", { within: own });
    await page.getByText(/Loading the model: 1[34]\.\d MB of|Preparing/).waitFor();
    letGo();
    await settled(page);
    await own.close();
  });
});

describe("for everyone", () => {
  test("the foot says whose encoder and whose data it is, and under which licences", async () => {
    const page = await open();
    const foot = await page.getByRole("contentinfo").innerText();
    for (const said of [/all-MiniLM-L6-v2 by sentence-transformers \(Apache-2\.0\)/, /C-STS .*\(CC BY 4\.0\)/]) assert.match(foot, said);
    const notices = await page.getByRole("link", { name: "Whose work it holds" }).evaluate(({ href }) => href);
    assert.match(await (await fetch(notices)).text(), /notices of third parties/);
    await page.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const [name, viewport] of Object.entries({
      desktop: { width: 1280, height: 800 },
      phone: { width: 390, height: 844 },
    })) {
      test(`axe finds nothing: ${colorScheme}, ${name}, results and errors`, async () => {
        const own = await browser.newContext({ colorScheme, viewport, reducedMotion: "reduce" });
        const page = await open("#device=wasm", { within: own });
        await settled(page);
        assert.deepEqual(await violations(page), []);
        await openEngine(page);
        await page.getByLabel("Condition 1").focus();
        await page.locator(".tint").first().waitFor();
        assert.deepEqual(await violations(page), []);
        await first(page).fill("word ".repeat(40_000));
        await page.getByRole("alert").waitFor();
        assert.deepEqual(await violations(page), []);

        server.rule(MODEL_PATH, { status: 404 });
        const failing = await browser.newContext({ colorScheme, viewport, reducedMotion: "reduce" });
        const broken = await open("#device=wasm", { within: failing });
        await broken.getByRole("alert").waitFor();
        assert.deepEqual(await violations(broken), []);
        await failing.close();
        await own.close();
      });
    }
  }

  test("light and dark follow the system until one is chosen, which is remembered", async () => {
    const own = await browser.newContext({ colorScheme: "dark" });
    const page = await open("#device=wasm", { within: own });
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await background();
    await page.emulateMedia({ colorScheme: "light" });
    await page.waitForFunction((was) => getComputedStyle(document.body).backgroundColor !== was, dark);
    const light = await background();
    await page.getByRole("button", { name: "Switch to dark colours" }).click();
    assert.equal(await background(), dark);
    await page.reload();
    assert.equal(await background(), dark);
    await page.getByRole("button", { name: "Switch to light colours" }).click();
    assert.equal(await background(), light);
    await own.close();
  });

  test("at 360 pixels nothing sticks out, whatever is typed", async () => {
    const own = await browser.newContext({ viewport: { width: 360, height: 740 } });
    const page = await open(link([`${"w".repeat(300)} x`, CHESS[1]], ["c".repeat(200), "the game"]), { within: own });
    await settled(page);
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(await width(), 360);
    await page.locator(".example").first().click();
    await settled(page);
    await page.getByRole("button", { name: "Copy link" }).click();
    await openEngine(page);
    assert.equal(await width(), 360);
    await own.close();
  });

  const QUERY = link(["w".repeat(300), CHESS[1]], ["c".repeat(200), "the number of people"]).slice(1);
  /** Each view, and what tells that it is all there. */
  const VIEWS = {
    compare: [`#${QUERY}`, ".suggestions .chip"],
    list: [`#/list?${new URLSearchParams({ list: "captions", c: "the place", k: 12, q: "a dog", device: "wasm" })}`, ".hits li"],
    how: [`#/how?${QUERY}`, ".chart canvas"],
    "how, presented": [`#/how?${QUERY}&present=1&step=embedding`, ".chart canvas"],
    speed: ["speed.html", "main button"],
  };
  for (const [name, [hash, there]] of Object.entries(VIEWS)) {
    test(`at 320 pixels nothing sticks out: ${name}`, async () => {
      const own = await browser.newContext({ viewport: { width: 320, height: 640 } });
      const page = await open(hash, { within: own });
      await page.locator(there).first().waitFor({ timeout: PATIENT });
      const { width, swiped } = await page.evaluate(() => {
        const overflow = (element) => getComputedStyle(element).overflowX;
        const all = [...document.body.querySelectorAll("*")].filter((element) => element.checkVisibility());
        const isSwiped = (element) => ["auto", "scroll"].includes(overflow(element)) && element.scrollWidth > element.clientWidth + 1;
        return {
          width: document.documentElement.scrollWidth,
          swiped: all.filter(isSwiped).map((element) => element.classList[0]),
        };
      });
      assert.deepEqual(await page.evaluate(stickingOut), []);
      assert.equal(width, 320);
      // A row of examples is swiped through; each of them fits. Nothing else scrolls sideways.
      assert.deepEqual(swiped.filter((name) => name !== "examples-list"), []);
      await own.close();
    });
  }

  test("finished results are announced once, and Tab passes everything in order", async () => {
    const page = await open(link(CHESS, ["the place"]));
    await settled(page);
    await page.waitForFunction(() =>
      /^the place: similarity/.test(document.querySelector("[aria-live=polite]")?.textContent),
    );
    await chips(page).first().waitFor();
    await page.evaluate(() => document.activeElement.blur());
    const order = [];
    while (order.at(-1) !== ENGINE && order.length < 45) {
      await page.keyboard.press("Tab");
      order.push(
        await page.evaluate(() => {
          const at = document.activeElement;
          if (at.matches(".example")) return "an example";
          if (at.matches(".nav a")) return "a view";
          if (at.closest(".suggestions")) return "a suggestion";
          return at.getAttribute("aria-label") ?? at.labels?.[0]?.innerText ?? at.innerText;
        }),
      );
    }
    assert.deepEqual(order, [
      "Skip to the sentences",
      ...Array(await page.locator(".nav a").count()).fill("a view"),
      "Copy link",
      "Switch to dark colours",
      "start with your own pair",
      ...Array(12).fill("an example"),
      "First sentence",
      "Swap the sentences",
      "Second sentence",
      "Condition 1",
      "Remove the place",
      "Add a condition",
      ...Array(await chips(page).count()).fill("a suggestion"),
      "Put this on your page",
      "Save this comparison (CSV)",
      "Save as a picture (PNG)",
      "Compare many pairs from a table",
      "C-STS (Deshpande et al., EMNLP 2023)",
      "CASE (Zhang et al., EACL 2026)",
      "See where it goes wrong",
      ENGINE,
    ]);
    await page.close();
  });

  test("the skip link moves to the sentences and leaves the address alone", async () => {
    const page = await open(link(CHESS, ["the place"]));
    await first(page).waitFor();
    const hash = await page.evaluate(() => location.hash);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "sentence-1");
    assert.equal(await page.evaluate(() => location.hash), hash);
    await page.close();
  });
});

describe("the page's words", () => {
  const SOURCES = path.join(ROOT, "www/src");
  /** Attributes that are shown or read out. */
  const SAID = ["title", "alt", "label", "placeholder", "aria-label", "aria-description", "aria-roledescription", "aria-valuetext"];
  const isText = (text) => /\p{L}/u.test(text);
  /** Two words, or one after a number: nothing that a program alone reads looks like that in a component. */
  const isPhrase = (text) => /\p{L}\s+\p{L}|^\s+\p{L}/u.test(text);

  /** The texts of a component's own; `isSaid` tells which strings are, where the node stands. */
  function* own(node, isSaid = isPhrase) {
    if (Array.isArray(node)) for (const each of node) yield* own(each, isSaid);
    if (typeof node?.type !== "string") return;
    const { type } = node;
    const inside = (isSaid, ...parts) => own(parts, isSaid);
    if (type === "JSXText") yield* [node.value].filter(isText);
    else if (type === "TemplateElement") yield* [node.value.cooked].filter(isSaid);
    else if (type === "Literal") yield* [node.value].filter((value) => typeof value === "string" && isSaid(value));
    else if (type === "JSXAttribute") yield* SAID.includes(node.name.name) ? inside(isText, node.value) : [];
    else if (type === "JSXElement") yield* [...inside(isSaid, node.openingElement.attributes), ...inside(isText, node.children)];
    else if (type === "JSXFragment") yield* inside(isText, node.children);
    else if (type === "CallExpression") yield* [...inside(isSaid, node.callee), ...inside(isPhrase, node.arguments)];
    else if (type === "BinaryExpression" && node.operator !== "+") return; // compared, not shown
    else if (type !== "ImportDeclaration") for (const part of Object.values(node)) yield* own(part, isSaid);
  }
  test("have one word for a condition", async () => {
    const said = [await readFile(path.join(SOURCES, "strings/en.ts"), "utf8"), await readFile(path.join(ROOT, "www/index.html"), "utf8")];
    for (const text of said) assert.doesNotMatch(text, /\brespects?\b|\blens\b[^.]*\?/i);
  });

  const found = async (source) => {
    const { code } = await transformWithEsbuild(source, "component.tsx", { jsx: "preserve" });
    return [...own(parseAst(code, { jsx: true }).body)];
  };

  test("are in strings/: no component has any of its own", async () => {
    const texts = {
      "<p>Hello</p>": ["Hello"],
      "<p>{b} ms</p>": [" ms"],
      '<a title="go" class="a b" href={`x ${y}`} />': ["go"],
      '<a aria-label={ok ? "Yes" : words.no}>{a === "more" && `${n} of ${m}`}</a>': [" of ", "Yes"],
      "const speed = (x) => `${x} GOP/s`;": [" GOP/s"],
      '<ul class="a b">{list.map((one) => <li data-kind="more">{one.name}: {get("kind")}</li>)}</ul>': [],
    };
    for (const [source, expected] of Object.entries(texts)) assert.deepEqual((await found(source)).sort(), expected, source);
    const components = (await readdir(SOURCES, { recursive: true })).filter((name) => name.endsWith(".tsx") && !/(main|page)\.tsx$/.test(name));
    assert.ok(components.length > 30);
    for (const name of components) assert.deepEqual(await found(await readFile(path.join(SOURCES, name), "utf8")), [], name);
  });
});

describe("the speed page", () => {
  test("measures, stops, and hands the table on; on a phone nothing sticks out", async () => {
    const own = await browser.newContext({ viewport: { width: 360, height: 740 }, permissions: ["clipboard-read", "clipboard-write"] });
    const page = await open("speed.html", { within: own });
    await page.getByRole("button", { name: "Measure", exact: true }).click();
    const figures = () => page.locator("tbody td").allInnerTexts();
    await page.waitForFunction(() => /ms/.test(document.querySelector("tbody td")?.innerText ?? ""), undefined, { timeout: PATIENT });
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Measure again" }).waitFor();
    const [first] = await figures();
    // A processor that others use while its peak is measured reaches all of it.
    const share = String.raw`(?:\d+ % of the peak|the peak that was measured)`;
    const reading = new RegExp(String.raw`([\d.]+) ms\s+([\d.]+) texts/s, ([\d.]+) GOP/s, ${share}`).exec(first);
    assert.ok(reading, first);
    const [milliseconds, texts, gops] = reading.slice(1).map(Number);
    // Two texts of 25 tokens: figures that were rounded agree to a few percent.
    assert.ok(Math.abs((texts * milliseconds) / 2000 - 1) < 0.02, first);
    assert.ok(Math.abs(gops / (0.5366 * texts) - 1) < 0.05, first);

    await page.getByRole("button", { name: "Copy as Markdown" }).click();
    await page.getByText("Copied").waitFor();
    const markdown = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(markdown, /^\|  \| 2 × 25 tokens \|/);
    assert.match(markdown, new RegExp(String.raw`\| CPU, one worker \| [\d.]+ ms, [\d.]+ GOP/s, ${share} \| –`));
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(page.problems, []);
    await own.close();
  });

  test("says how long it takes, leads back, and says in words what could not be measured", { timeout: PATIENT }, async () => {
    const own = await browser.newContext();
    // One processor, so that the first device is done soon; and no GPU.
    await own.addInitScript(() => Object.defineProperty(navigator, "hardwareConcurrency", { value: 1 }));
    await own.addInitScript(() => ("gpu" in navigator ? 0 : Object.defineProperty(navigator, "gpu", { value: { requestAdapter: async () => null } })));
    const page = await open("speed.html", { within: own });
    await page.getByText("It takes about a minute and a half.").waitFor();
    await page.getByRole("button", { name: "Measure", exact: true }).click();
    const failed = page.locator(".speed-failure");
    await failed.waitFor({ timeout: PATIENT });
    assert.equal(await failed.innerText(), "This browser offers no usable WebGPU. The CPU gives the same numbers.");
    await page.getByRole("link", { name: "To the demo" }).click();
    await page.locator(".rows").waitFor();
    await own.close();
  });

  test("a share beyond the peak is the peak that was measured", async () => {
    const { strings } = await moduleOf("www/src/strings/en.ts");
    assert.equal(strings.speed.operations("12.3", 0.42), "12.3 GOP/s, 42 % of the peak");
    assert.equal(strings.speed.operations("12.3", 1.01), "12.3 GOP/s, the peak that was measured");
    assert.equal(strings.speed.operations("12.3", undefined), "12.3 GOP/s");
  });

  test("the texts it measures have the lengths it says", async () => {
    const page = await open("speed.html");
    const { SHAPES, textOf } = await moduleOf("www/src/speed/shapes.ts");
    const lengths = SHAPES.map(({ lengths }) => [...lengths]);
    assert.deepEqual(lengths.map((all) => [all.length, Math.min(...all), Math.max(...all)]), [[2, 25, 25], [32, 25, 25], [32, 128, 128], [32, 8, 128]]);
    const counted = await page.evaluate(
      async ([url, model, texts]) => {
        const { Encoder } = await import(url);
        const encoder = await Encoder.load({ model, device: "wasm" });
        return Promise.all(texts.map(async (text) => (await encoder.tokenize(text)).length));
      },
      [`${server.origin}/pkg/dist/index.js`, "models/caselens-csts-q4_0.gguf", lengths[3].map(textOf)],
    );
    assert.deepEqual(counted, lengths[3]);
    await page.close();
  });
});
