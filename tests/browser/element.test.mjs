// <case-lens> in a page: attributes, children, editing by keyboard, sharing, errors, and what assistive technology is told.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { after, afterEach, before, test } from "node:test";
import { HEAD_FILE, launch, mentioning, MODEL_FILE, MODELS, serve, visit, withoutMentions } from "./helpers.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const MODEL = `/models/${MODEL_FILE}`;
const PAIR = 'sentence1="She plays chess in the park" sentence2="He plays football in the park"';
const LENS = `<case-lens ${PAIR} conditions="the place; the game" model="${MODEL}" device="wasm"></case-lens>`;
const options = { timeout: 120_000 };

let server;
let browser;
let page;
before(async () => {
  server = await serve();
  browser = await launch();
}, options);
after(async () => {
  await browser?.close();
  await server?.close();
});
afterEach(async () => {
  server.reset();
  await page?.context().close();
  page = undefined;
});

/** Opens a page with this body; `events` of the elements are kept in `window.events`. */
async function open(body, { script = '<script type="module" src="/pkg/dist/element.js"></script>', ...context } = {}) {
  server.rule("/element.html", {
    headers: { "Content-Type": "text/html; charset=utf-8" },
    body: `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>element</title>
      <style>body { font: 16px/1.5 sans-serif; margin: 1rem; color: CanvasText; background: Canvas; color-scheme: light dark }</style>
      <script>window.events = []; for (const type of ["result", "error"]) addEventListener(type, ({ type, target, detail }) => {
        if (target.localName === "case-lens") events.push({ type, code: detail.code, results: detail.results, device: detail.info?.device });
      }, true);</script>${script}<main><h1>A comparison</h1>${body}</main>`,
  });
  page = await visit(await browser.newContext({ reducedMotion: "reduce", ...context }), `${server.origin}/element.html`);
}

/** Waits until there are `count` events, and gives them. */
async function events(count) {
  await page
    .waitForFunction((count) => events.length >= count, count, { timeout: 30_000 })
    .catch(async () => assert.fail(`${count} events expected: ${JSON.stringify(await page.evaluate(() => events))} ${page.problems}`));
  return page.evaluate(() => events);
}

/** What the rows say. */
const rows = () =>
  page.locator("case-lens").first().locator("li.row").evaluateAll((rows) =>
    rows.map((row) => {
      const meter = row.querySelector("[role=meter]");
      return {
        name: meter.getAttribute("aria-label"),
        now: Number(meter.getAttribute("aria-valuenow")),
        said: meter.getAttribute("aria-valuetext"),
        numbers: row.querySelector("[part=numbers]").textContent,
        share: meter.firstChild.getBoundingClientRect().width / meter.getBoundingClientRect().width,
      };
    }),
  );

async function assertAccessible() {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"] }));
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]), []);
}

test("attributes alone make a comparison", options, async () => {
  await open(LENS);
  const [event] = await events(1);
  assert.deepEqual([event.type, event.device, event.results.map((result) => result.condition)], ["result", "wasm", ["the place", "the game"]]);
  const shown = await rows();
  for (const [i, { condition, rating, similarity }] of event.results.entries()) {
    assert.equal(shown[i].name, condition);
    assert.equal(shown[i].now, rating);
    const number = similarity.toFixed(2).replace(/^-(?=0\.00$)/, "").replace("-", "−");
    assert.equal(shown[i].said, `${rating.toFixed(1)} of 5, similarity ${number}`);
    assert.equal(shown[i].numbers, `${rating.toFixed(1)} of 5 · similarity ${number}`);
    assert.ok(Math.abs(shown[i].share - (rating - 1) / 4) < 0.01, `a bar of ${shown[i].share} for a rating of ${rating}`);
  }
  assert.match(await page.getByRole("status").textContent(), /^the place: 4\.\d of 5; the game: [12]\.\d of 5$/);
  assert.match(await page.locator("[part=unconditional]").textContent(), /^Similarity without a condition: 0\.\d\d$/);
  await assertAccessible();
  assert.deepEqual(page.problems, []);
});

test("conditions may be children, also when they arrive late, and everything follows changes", options, async () => {
  await open(`<case-lens ${PAIR} model="${MODEL}" device="wasm"><ul><li>the place</li></ul></case-lens>`);
  await events(1);
  assert.deepEqual((await rows()).map(({ name }) => name), ["the place"]);
  await page.evaluate(() => document.querySelector("case-lens ul").insertAdjacentHTML("beforeend", "<li>the <b>game</b></li>"));
  assert.equal((await events(2))[1].results[1].condition, "the game");
  await page.evaluate(() => Object.assign(document.querySelector("case-lens"), { sentence1: "A dog", sentence2: "A cat", conditions: ["the animal"] }));
  const all = await events(3);
  assert.equal(all.length, 3, "three changes at once are one comparison");
  assert.deepEqual(await page.evaluate(() => document.querySelector("case-lens").results.map((result) => result.condition)), ["the animal"]);
});

test("it takes what was set before it was defined", options, async () => {
  await open(`<case-lens model="${MODEL}" device="wasm"></case-lens>
    <script>Object.assign(document.querySelector("case-lens"), { sentence1: "A dog", sentence2: "A cat", conditions: ["the animal"], editable: true });
    setTimeout(() => import("/pkg/dist/element.js"), 50);</script>`, { script: "" });
  assert.equal((await events(1))[0].results[0].condition, "the animal");
  assert.equal(await page.getByLabel("First sentence").inputValue(), "A dog");
});

test("elements with the same model share one lens, which ends with the last of them", options, async () => {
  await open(LENS + LENS.replace("the place", "the sport"));
  await events(2);
  assert.equal(server.count(MODEL), 1);
  assert.equal(page.workers().length, 1);
  // Moved within the page, one keeps what it has.
  await page.evaluate(() => document.querySelector("main").append(document.querySelector("case-lens")));
  await events(3);
  assert.equal(page.workers().length, 1);
  assert.equal(server.count("/pkg/dist/worker.js"), 1);
  await page.evaluate(() => document.querySelector("case-lens").remove());
  await page.waitForTimeout(100);
  assert.equal(page.workers().length, 1);
  await page.evaluate(() => document.querySelector("case-lens").remove());
  for (let i = 0; i < 100 && page.workers().length > 0; i++) await page.waitForTimeout(20);
  assert.equal(page.workers().length, 0);
});

test("what is shown is marked as old until the answer to a change is there", options, async () => {
  await open(LENS);
  await events(1);
  const opacity = () => page.locator("[part=numbers]").first().evaluate((numbers) => getComputedStyle(numbers).opacity);
  const changes = Object.entries({ sentence2: "He plays football in the house", conditions: "the sport; the game", device: "auto" });
  for (const [i, change] of changes.entries()) {
    assert.equal(await opacity(), "1");
    const atOnce = await page.evaluate(([name, value]) => {
      const lens = document.querySelector("case-lens");
      lens.setAttribute(name, value);
      return getComputedStyle(lens.shadowRoot.querySelector("[part=numbers]")).opacity;
    }, change);
    assert.equal(atOnce, "0.5", `after a change of ${change[0]}`);
    await events(i + 2);
  }
  assert.equal(await opacity(), "1");
});

/** All that the element says, in German. */
const GERMAN = `({
  sentence1: "Erster Satz", sentence2: "Zweiter Satz", conditions: "Ähnlichkeit unter jeder Bedingung",
  condition: (number) => "Bedingung " + number, add: "Noch eine Bedingung", remove: (number) => "Bedingung " + number + " entfernen",
  rating: (rating) => rating.toLocaleString("de", { maximumFractionDigits: 1 }) + " von 5",
  similarity: (cosine) => "Kosinus-Ähnlichkeit " + cosine.toLocaleString("de", { maximumFractionDigits: 2 }),
  unconditional: (cosine) => "Ähnlichkeit ohne Bedingung: " + cosine.toLocaleString("de", { maximumFractionDigits: 2 }),
  uncertain: (why) => "unsicher: " + why, pending: "noch kein Ergebnis", loading: "Das Modell wird geladen", error: ({ code }) => "Es ging nicht: " + code, retry: "Noch einmal",
})`;
/** All that assistive technology is told. */
const told = async () => (await page.locator("main").ariaSnapshot()).replace(/^- heading.*$/m, "");

test("a page in another language gives it other words, before it is defined and at any time", options, async () => {
  server.rule(MODEL, { status: 503 });
  await open(LENS.replace("<case-lens", "<case-lens editable") + `<script>document.querySelector("case-lens").labels = ${GERMAN}</script>`);
  await events(1);
  assert.equal(await page.getByRole("alert").locator("p").innerText(), "Es ging nicht: http");
  server.rule(MODEL, { rate: 20e6 });
  await page.getByRole("button", { name: "Noch einmal" }).click();
  await page.getByRole("progressbar", { name: "Das Modell wird geladen" }).waitFor();
  assert.equal(await page.getByRole("status").textContent(), "Das Modell wird geladen");
  const [, { results: [first] }] = await events(2);
  const german = (value, digits) => value.toLocaleString("de", { maximumFractionDigits: digits });
  assert.equal((await rows())[0].numbers, `${german(first.rating, 1)} von 5 · Kosinus-Ähnlichkeit ${german(first.similarity, 2)}`);
  assert.match(await page.getByRole("status").textContent(), /^the place: 4,\d von 5; the game: [12](,\d)? von 5$/);
  const right = await page.locator("[part=numbers]").first().evaluate((numbers) => {
    const words = document.createRange();
    words.selectNodeContents(numbers);
    return words.getBoundingClientRect().right;
  });
  const { x } = await page.getByRole("button", { name: "Bedingung 1 entfernen" }).boundingBox();
  assert.ok(right <= x, "longer words have room");
  await page.getByLabel("Zweiter Satz").fill("He plays football in a garden");
  await events(3);
  await page.getByRole("button", { name: "Noch eine Bedingung" }).click();
  assert.equal((await rows())[2].said, "noch kein Ergebnis");
  const inGerman = await told();
  assert.doesNotMatch(inGerman, /sentence\b|condition\b|similarity|of 5|Remove/i);
  await assertAccessible();

  // In place: the texts, the numbers and the caret stay.
  await page.evaluate(() => (document.querySelector("case-lens").labels = {}));
  assert.equal(await page.evaluate(() => document.querySelector("case-lens").shadowRoot.activeElement.getAttribute("aria-label")), "Condition 3");
  assert.equal(await page.getByLabel("Second sentence").inputValue(), "He plays football in a garden");
  assert.match((await rows())[0].numbers, /^\d\.\d of 5 · similarity/);
  assert.match(await page.locator("[part=unconditional]").textContent(), /^Similarity without a condition: /);
  assert.doesNotMatch(await told(), /Bedingung|Satz|von 5|Ähnlichkeit|Noch/);
  await page.evaluate((german) => (document.querySelector("case-lens").labels = (0, eval)(german)), GERMAN);
  assert.equal(await told(), inGerman);
  assert.equal((await page.evaluate(() => events)).length, 3, "words are no reason to compare again");
});

/** From now on the head is what `change` makes of the one that ships. */
async function withHead(change) {
  server.rule(`/models/${HEAD_FILE}`, { body: change(await readFile(path.join(MODELS, HEAD_FILE))), headers: { "Cache-Control": "no-store" } });
}

test("where a sentence says nothing about a condition, words stand in the place of numbers, also for who hears them", options, async () => {
  await withHead((head) => mentioning(head, 384, -4));
  await open(LENS);
  await events(1);
  for (const { said, numbers, share, now } of await rows()) assert.deepEqual([said, numbers, share, now], ["neither sentence says", "neither sentence says", 0, 1]);
  assert.equal(await page.getByRole("status").textContent(), "the place: neither sentence says; the game: neither sentence says");
  await assertAccessible();
});

for (const [what, sentence, why] of [
  ["in another language", "Er spielt im Park mit seinen Freunden Fußball", "another language"],
  ["with characters that the encoder does not know", "ꙮ plays chess in the park", "unknown characters"],
  ["that is not read to its end", `She plays chess in the park ${"and she plays on ".repeat(200)}`, "not read to its end"],
]) {
  test(`a sentence ${what} makes an uncertain result, which looks and sounds unlike others`, options, async () => {
    // A head that tells mentions reads long texts part by part.
    await withHead(withoutMentions);
    await open(LENS.replace("She plays chess in the park", sentence), { viewport: { width: 360, height: 700 } });
    await events(1);
    for (const { said, numbers } of await rows()) {
      assert.match(numbers, new RegExp(`^\\d\\.\\d of 5 · similarity −?\\d\\.\\d\\d · uncertain: ${why}$`));
      assert.equal(said, numbers.replaceAll(" · ", ", "));
    }
    assert.match(await page.getByRole("status").textContent(), new RegExp(`^the place: \\d\\.\\d of 5, uncertain: ${why}; the game: \\d\\.\\d of 5, uncertain: ${why}$`));
    assert.equal(await page.locator("[part=foreign]").isVisible(), why === "another language");
    assert.match(await page.locator("[part=bar]").first().evaluate((bar) => getComputedStyle(bar).backgroundImage), /gradient/);
    await assertAccessible();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
    await page.evaluate((pair) => Object.assign(document.querySelector("case-lens"), { sentence1: pair }), "She plays chess in the park");
    await events(2);
    assert.doesNotMatch((await rows())[0].numbers, /uncertain/);
    assert.equal(await page.locator("[part=foreign]").isVisible(), false);
  });
}

test("readers write their own, by keyboard alone", options, async () => {
  await open(LENS.replace("<case-lens", "<case-lens editable"));
  await events(1);
  await assertAccessible();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("He plays chess in the house");
  const retyped = (await events(2)).at(-1);
  assert.equal(await page.getByLabel("First sentence").inputValue(), "He plays chess in the house");
  assert.ok(retyped.results[0].similarity < 0.9, "another place");

  await page.getByLabel("Condition 2", { exact: true }).focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.querySelector("case-lens").shadowRoot.activeElement.getAttribute("aria-label")), "Condition 3");
  await page.keyboard.type("the person");
  assert.deepEqual((await events(3)).at(-1).results.map((result) => result.condition), ["the place", "the game", "the person"]);
  assert.deepEqual((await rows()).map(({ name }) => name), ["the place", "the game", "the person"]);

  await page.getByRole("button", { name: "Remove condition 1" }).press("Enter");
  assert.deepEqual((await events(4)).at(-1).results.map((result) => result.condition), ["the game", "the person"]);
  assert.equal(await page.evaluate(() => document.querySelector("case-lens").shadowRoot.activeElement.getAttribute("aria-label")), "Condition 1");
  assert.deepEqual(await page.evaluate(() => document.querySelector("case-lens").conditions), ["the game", "the person"]);

  await page.getByRole("button", { name: "Add a condition" }).click();
  assert.equal((await rows()).length, 3);
  assert.equal((await rows())[2].said, "no result yet");
  await page.getByLabel("Second sentence").fill("");
  await page.waitForFunction(() => document.querySelector("case-lens")?.results?.length === 0);
  assert.equal((await rows())[0].numbers, "", "an empty sentence has no results, and is no error");
  assert.equal((await page.evaluate(() => events)).filter(({ type }) => type === "error").length, 0);
  await assertAccessible();
});

test("progress is shown, and a failed download can be tried again", options, async () => {
  server.rule(MODEL, { status: 503 });
  await open(LENS);
  assert.deepEqual((await events(1)).map(({ type, code }) => [type, code]), [["error", "http"]]);
  assert.match(await page.getByRole("alert").innerText(), /HTTP 503/);
  await assertAccessible();
  server.rule(MODEL, { rate: 20e6 });
  await page.getByRole("button", { name: "Try again" }).press("Enter");
  await page.getByRole("progressbar", { name: "Loading the model" }).waitFor();
  assert.equal(await page.getByRole("status").textContent(), "Loading the model");
  await events(2);
  assert.equal(await page.getByRole("progressbar").count(), 0);
  assert.equal(await page.getByRole("alert").count(), 0);
  assert.equal((await rows())[0].name, "the place");
});

test("texts that cannot be compared say so, and need no second try", options, async () => {
  await open(LENS.replace("the game", `the game ${"of chess ".repeat(400)}`));
  assert.equal((await events(1))[0].code, "condition-too-long");
  assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
  await page.evaluate(() => (document.querySelector("case-lens").conditions = ["the game"]));
  assert.equal((await events(2))[1].type, "result");
  assert.equal(await page.getByRole("alert").count(), 0);
});

test("wrong options are shown", options, async () => {
  await open(LENS.replace('device="wasm"', 'device="abacus"'));
  assert.equal((await events(1))[0].code, "invalid-argument");
  assert.match(await page.getByRole("alert").innerText(), /device must be one of/);
});

test("themes reach inside, motion stays out where it is not wanted", options, async () => {
  await open(`<style>case-lens { --case-lens-accent: rgb(1, 2, 3) } case-lens::part(numbers) { color: rgb(4, 5, 6) }</style>${LENS}`);
  await events(1);
  const style = (selector, property) =>
    page.evaluate(([selector, property]) => getComputedStyle(document.querySelector("case-lens").shadowRoot.querySelector(selector))[property], [selector, property]);
  assert.equal(await style(".bar", "backgroundColor"), "rgb(1, 2, 3)");
  assert.equal(await style(".numbers", "color"), "rgb(4, 5, 6)");
  assert.equal(await style(".bar", "transitionDuration"), "0s");
  await page.emulateMedia({ reducedMotion: "no-preference" });
  assert.equal(await style(".bar", "transitionDuration"), "0.3s");
});

for (const [colorScheme, width] of [["light", 1280], ["dark", 1280], ["light", 320], ["dark", 320]]) {
  test(`it is accessible in ${colorScheme}, ${width} pixels wide`, options, async () => {
    await open(LENS + LENS.replace("<case-lens", "<hr><case-lens editable"), { colorScheme, viewport: { width, height: 800 } });
    await events(2);
    await assertAccessible();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} pixels too wide`);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/element-${colorScheme}-${width}.png` });
  });
}

test("a strict Content-Security-Policy allows it", options, async () => {
  const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'; img-src data:";
  const strict = await serve({ headers: { "Content-Security-Policy": policy } });
  strict.rule("/strict.html", {
    headers: { "Content-Type": "text/html; charset=utf-8" },
    body: `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>strict</title><script type="module" src="/pkg/dist/element.js"></script>${LENS}`,
  });
  try {
    page = await visit(await browser.newContext(), `${strict.origin}/strict.html`);
    await page.waitForFunction(() => document.querySelector("case-lens").results?.length === 2, undefined, { timeout: 30_000 }).catch(() => {});
    assert.deepEqual(page.problems, []);
    assert.match((await rows())[0].numbers, /^4\.\d of 5/);
  } finally {
    await strict.close();
  }
});

test('with loading="lazy" nothing is loaded before the reader comes near', options, async () => {
  await open(`<div style="height: 5000px"></div>${LENS.replace("<case-lens", '<case-lens loading="lazy"')}`);
  await page.evaluate(() => (document.querySelector("case-lens").sentence1 = "She plays chess on a bench")); // a change is none either
  await page.waitForTimeout(500);
  assert.equal(server.count(MODEL), 0);
  assert.equal(await page.evaluate(() => events.length), 0);
  await page.evaluate(() => document.querySelector("case-lens").scrollIntoView());
  assert.equal((await events(1))[0].type, "result");
  assert.equal(server.count(MODEL), 1);
});

test('taking loading="lazy" away loads at once, and what is near is loaded as ever', options, async () => {
  await open(`<div style="height: 5000px"></div>${LENS.replace("<case-lens", '<case-lens loading="lazy"')}`);
  await page.waitForTimeout(300);
  assert.equal(server.count(MODEL), 0);
  await page.evaluate(() => document.querySelector("case-lens").removeAttribute("loading"));
  assert.equal((await events(1))[0].type, "result");

  await page.context().close();
  await open(LENS.replace("<case-lens", '<case-lens loading="lazy"'));
  assert.equal((await events(1))[0].type, "result");
});
