// The view “How it works”: the model's own numbers at each step, switches, lessons, presenting, printing, for everyone.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { launch, MODEL_FILE, ROOT, serve } from "./helpers.mjs";

const SITE = path.join(ROOT, "www/dist");
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const CHESS = ["She plays chess in the park", "He plays football in the park"];
const CONDITIONS = ["the place", "the game"];

let server;
let browser;

before(async () => {
  server = await serve({ mounts: { "/site/": SITE } });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});
afterEach(() => server.reset());

/** Opens the view with this state; what the page complains about is kept in `page.problems`. */
async function open(extra = {}, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  const query = new URLSearchParams([["s1", CHESS[0]], ["s2", CHESS[1]], ...CONDITIONS.map((c) => ["c", c]), ["device", "wasm"], ...Object.entries(extra)]);
  await page.goto(`${server.origin}/site/#/how?${query}`);
  await settled(page);
  return page;
}

/** Waits until the page shows an explanation and none is under way. */
const settled = (page) =>
  page.waitForFunction(() => document.querySelector(".step-figure > *") && !document.querySelector(".step-figure.stale"), undefined, { timeout: 60_000 });

const leave = (page) => page.context().close();
const numberOf = (text) => Number(text.replace("−", "-").match(/-?\d\.\d\d/)[0]);
const verdict = async (page) => page.locator(".verdict").innerText();
/** The cosines that the last step's chart names. */
const cosines = async (page) =>
  ((await page.locator(".step-cosine .chart").getAttribute("aria-label")).replaceAll("−", "-").match(/-?\d\.\d\d/g) ?? []).map(Number);

describe("how it works", { concurrency: false }, () => {
  test("every number is the model's own, and switches change them", async () => {
    const page = await open({ on: "2" });
    const expected = await page.evaluate(
      async ([entry, model, pair, condition]) => {
        const { CaseLens } = await import(entry);
        const lens = await CaseLens.load({ model, device: "wasm" });
        const all = await Promise.all([{}, { subtract: true }, { pooling: "cls" }].map((options) => lens.explain(...pair, condition, options)));
        lens.dispose();
        return all.map(({ steps, readings }) => ({
          cosines: steps.map(({ cosine }) => cosine),
          tokens: readings.map(([reading]) => reading.tokens.map(({ text }) => text)),
        }));
      },
      [`${server.origin}/pkg/dist/index.js`, `${server.origin}/site/models/${MODEL_FILE}`, CHESS, CONDITIONS[1]],
    );
    const near = (found, expected) => {
      assert.equal(found.length, expected.length);
      found.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) <= 0.0051, `${found} and ${expected}`));
    };
    near(await cosines(page), expected[0].cosines);
    assert.deepEqual(await page.locator(".tokens").evaluateAll((lists) => lists.map((list) => [...list.children].map((token) => token.textContent))), expected[0].tokens);
    assert.equal(await page.getByRole("switch", { name: /Head/ }).isDisabled(), true);
    assert.match(await page.locator(".step-subtraction .absent").innerText(), /leaves this step out/);

    await page.getByRole("switch", { name: "Subtraction" }).click();
    await page.waitForFunction(() => document.querySelector(".step-subtraction .strips") && !document.querySelector(".stale"));
    near(await cosines(page), expected[1].cosines);
    assert.match(await verdict(page), /as switched; the model’s own way gives/);
    assert.equal(numberOf(await verdict(page)), (await cosines(page)).at(-1));

    await page.getByRole("button", { name: "As the model does it" }).click();
    await page.getByLabel("Tokens averaged").selectOption("cls");
    await page.waitForFunction(() => location.hash.includes("pooling=cls") && !document.querySelector(".stale"));
    near(await cosines(page), expected[2].cosines);

    await page.getByRole("switch", { name: "Condition", exact: true }).click();
    await page.getByText("There is nothing to see here without a condition.").first().waitFor();
    near(await cosines(page), expected[0].cosines.slice(0, 1));

    // The link holds all of it.
    await page.waitForFunction(() => location.hash.includes("condition=off"));
    const address = page.url();
    const shown = await cosines(page);
    await page.reload();
    await settled(page);
    assert.equal(page.url(), address);
    assert.deepEqual(await cosines(page), shown);
    assert.deepEqual(page.problems, []);
    await leave(page);
  });

  test("attention is told in numbers, layer by layer", async () => {
    const page = await open();
    const words = () => page.locator(".words").first().locator("li .hidden").allInnerTexts();
    const last = await words();
    assert.equal(last.length, 6);
    const shares = last.map((text) => Number(text.match(/(\d+) %$/)[1]));
    assert.ok(Math.abs(shares.reduce((sum, share) => sum + share) - 100) <= 3, last.join(", "));
    assert.equal(last[shares.indexOf(Math.max(...shares))].split(":")[0], "park", "by the place, it looks at the park");
    const layer = page.getByRole("slider");
    await layer.focus();
    await page.keyboard.press("Home");
    assert.equal(await layer.getAttribute("aria-valuetext"), "1 of 6");
    assert.notDeepEqual(await words(), last);
    await page.waitForFunction(() => location.hash.includes("layer=1"));
    await leave(page);
  });

  test("six lessons ask a question and keep the answer until it is asked for", async () => {
    const page = await open();
    const lessons = page.locator(".lessons .example");
    assert.equal(await lessons.count(), 6);
    for (let index = 0; index < 6; index += 1) {
      await lessons.nth(index).click();
      await settled(page);
      const question = page.locator(".lesson .question");
      assert.match(await question.locator(".question-text").innerText(), /\?|look at the attention/);
      assert.equal(await question.locator("details p").isVisible(), false);
      await question.getByText("Show the answer").click();
      assert.ok((await question.locator("details p").innerText()).length > 100);
      assert.match(await verdict(page), /^Similarity −?\d\.\d\d/);
      await page.waitForFunction((lesson) => location.hash.includes(`lesson=${lesson}`), index + 1);
    }
    await page.goBack();
    await page.waitForFunction(() => location.hash.includes("lesson=5"));
    await page.getByRole("button", { name: "Close the lesson" }).click();
    assert.equal(await page.locator(".lesson").count(), 0);
    assert.deepEqual(page.problems, []);
    await leave(page);
  });

  test("it is presented with a clicker's keys, and what is presented has a link", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Present" }).click();
    const title = () => page.locator(".step-title").innerText();
    assert.equal(await page.locator(".step").count(), 1);
    assert.equal(await page.locator(".head").isVisible(), false);
    const first = await title();
    await page.keyboard.press("PageDown");
    await page.waitForFunction((first) => {
      const title = document.querySelector(".step-title");
      return title.innerText !== first && document.activeElement === title;
    }, first);
    await page.keyboard.press("ArrowRight");
    await page.locator(".presenter-place", { hasText: "3 / 7" }).waitFor();
    await page.waitForFunction(() => location.hash.includes("step=attention") && location.hash.includes("present=1"));
    const other = await page.context().newPage();
    await other.goto(page.url());
    await settled(other);
    assert.equal(await other.locator(".step-title").innerText(), await title());
    await other.close();
    for (let press = 0; press < 9; press += 1) await page.keyboard.press("ArrowRight");
    await page.locator(".presenter-place", { hasText: "7 / 7" }).waitFor();
    for (let press = 0; press < 9; press += 1) await page.keyboard.press("PageUp");
    assert.equal(await title(), first);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".step").count(), 7);
    assert.equal(await page.locator(".head").isVisible(), true);
    assert.deepEqual(page.problems, []);
    await leave(page);
  });

  test("the worksheet prints on one page, its answers on a second", async () => {
    const page = await open();
    await page.waitForFunction(() => /\d/.test(document.querySelector(".worksheet section:last-child td").textContent));
    await page.emulateMedia({ media: "print" });
    const [questions, solutions] = await page.locator(".worksheet section").allInnerTexts();
    for (const text of [...CHESS, ...CONDITIONS]) assert.ok(questions.includes(text) && solutions.includes(text), text);
    assert.doesNotMatch(questions, /0\.\d\d/);
    assert.match(solutions, /the place\s+0\.\d\d/);
    assert.equal(await page.locator(".steps").isVisible(), false);
    const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
    assert.equal(pdf.match(/\/Type\s*\/Page\b/g).length, 2);
    await leave(page);
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const [name, viewport] of Object.entries({ desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 800 } })) {
      test(`axe finds nothing: ${colorScheme}, ${name}; nothing sticks out`, async () => {
        const page = await open({ lesson: "3", subtract: "on" }, { colorScheme, viewport, reducedMotion: "reduce" });
        await page.locator(".chart canvas").first().waitFor();
        await page.addScriptTag({ path: AXE });
        const check = async () => {
          const violations = await page.evaluate(async () => (await window.axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(" ")}`));
          assert.deepEqual(violations, []);
          assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= viewport.width, "nothing sticks out");
        };
        await check();
        await page.getByRole("button", { name: "Present" }).click();
        await page.keyboard.press("PageDown");
        await page.keyboard.press("PageDown");
        await check();
        assert.deepEqual(page.problems, []);
        await leave(page);
      });
    }
  }

  test("nothing moves once the typeface is there", async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.addInitScript(() => {
      window.shifts = 0;
      new PerformanceObserver((list) => {
        if (document.fonts.status === "loaded") for (const entry of list.getEntries()) window.shifts += entry.value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    await page.goto(`${server.origin}/site/#/how?s1=${CHESS[0]}&s2=${CHESS[1]}&c=the+game&device=wasm`);
    await settled(page);
    await page.locator(".chart canvas").first().waitFor();
    const shifts = await page.evaluate(() => window.shifts);
    assert.ok(shifts < 0.02, `layout shifts add up to ${shifts}`);
    await context.close();
  });
});
