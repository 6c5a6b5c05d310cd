// The view “How it works”: the model's own numbers at each step, switches, lessons, presenting, printing, for everyone.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import jsQR from "jsqr";
import { CaseLens } from "../../pkg/dist/node.js";
import { COMPANION, HEAD_FILE, launch, mentioning, MODEL_FILE, MODELS, ROOT, serve, violations, visit, withoutMentions } from "./helpers.mjs";

const SITE = path.join(ROOT, "www/dist");
const CHESS = ["She plays chess in the park", "He plays football in the park"];
const CONDITIONS = ["the place", "the game"];
const MODEL_PATH = `/site/models/${MODEL_FILE}`;
/** Long enough for first answers on the software GPU. */
const PATIENT = 180_000;

let server;
let browser;
/** A tiny encoder with a head, under the names of what ships, which has none. */
let tiny;

before(async () => {
  tiny = await mkdtemp(path.join(tmpdir(), "caselens-how-"));
  server = await serve({ mounts: { "/site/": SITE } });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
  if (tiny) await rm(tiny, { recursive: true, force: true });
});
afterEach(() => server.reset());

/** Opens this address of the site, where workers can be meddled with. */
async function openAt(address, { within = browser, ...options } = {}) {
  const context = await within.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  await context.addInitScript(letMeddle);
  return visit(context, server.origin + address);
}

/** The view's part of an address. */
const state = (extra = {}, conditions = CONDITIONS) =>
  new URLSearchParams([["s1", CHESS[0]], ["s2", CHESS[1]], ...conditions.map((c) => ["c", c]), ...Object.entries({ device: "wasm", ...extra })]);

/** Opens the view with this state and waits for its numbers. */
async function open(extra, options) {
  const page = await openAt(`/site/#/how?${state(extra)}`, options);
  await settled(page);
  return page;
}

/** In the page: `window.between` gets what workers say and gives what the package hears in its place; undefined for nothing. */
function letMeddle() {
  const { set } = Object.getOwnPropertyDescriptor(Worker.prototype, "onmessage");
  window.between = (message) => message;
  Object.defineProperty(Worker.prototype, "onmessage", {
    set(listener) {
      const hear = ({ data }) => {
        const message = window.between(data);
        if (message) listener({ data: message });
      };
      set.call(this, hear);
    },
  });
}

/** Waits until the page shows an explanation and none is under way. */
const settled = (page, timeout = 60_000) =>
  page.waitForFunction(() => document.querySelector(".step-figure > *") && !document.querySelector(".step-figure.stale"), undefined, { timeout });

/** What the package explains of the two sentences in the page, by the model of this site, done in each of these ways. */
const explained = (page, site, condition, ways) =>
  page.evaluate(
    async ([entry, model, pair, condition, ways]) => {
      const { CaseLens } = await import(entry);
      const lens = await CaseLens.load({ model, device: "wasm" });
      const all = await Promise.all(ways.map((options) => lens.explain(...pair, condition, options)));
      lens.dispose();
      return all.map(({ steps, readings }) => ({
        names: steps.map(({ name }) => name),
        cosines: steps.map(({ cosine }) => cosine),
        tokens: readings.map(([reading]) => reading.tokens.map(({ text }) => text)),
      }));
    },
    [`${server.origin}/pkg/dist/index.js`, `${server.origin}/${site}/models/${MODEL_FILE}`, CHESS, condition, ways],
  );
/** What the package says of a sentence's attention by the model of this site: the tokens by name, and each head's rows. */
const attended = async (page, sentence, condition, layer) => {
  const { texts, heads, shares } = await page.evaluate(
    async ([entry, model, sentence, condition, layer]) => {
      const { CaseLens } = await import(entry);
      const lens = await CaseLens.load({ model, device: "wasm" });
      const { tokens, heads, shares } = await lens.attention(sentence, condition, { layer });
      lens.dispose();
      return { texts: tokens.map(({ text }) => text), heads, shares: [...shares] };
    },
    [`${server.origin}/pkg/dist/index.js`, `${server.origin}${MODEL_PATH}`, sentence, condition, layer],
  );
  const count = texts.length;
  const alike = (text, among) => among.filter((other) => other === text).length;
  return {
    names: texts.map((text, at) => (alike(text, texts) > 1 ? `${text} (${alike(text, texts.slice(0, at + 1))})` : text)),
    heads: Array.from({ length: heads }, (_, head) => Array.from({ length: count }, (_, from) => shares.slice((head * count + from) * count).slice(0, count))),
  };
};
const percent = (share) => `${Math.round(100 * share)}%`;
/** The places of numbers, the largest first. */
const descending = (numbers) => [...numbers.keys()].sort((a, b) => numbers[b] - numbers[a]);
/** What each head's button says. */
const labels = ({ names, heads }) =>
  heads.map((rows, head) => {
    const [best] = descending(rows.flat());
    const [from, to] = [Math.floor(best / names.length), best % names.length];
    return `${head + 1}: head ${head + 1}, whose largest share is ${percent(rows[from][to])}, from “${names[from]}” to “${names[to]}”`;
  });
/** Opens the part about heads and waits for them. */
async function openHeads(page) {
  await page.locator(".heads > summary").click();
  await page.locator(".heads-one").nth(11).waitFor();
}
const saidOfHeads = (page) => page.locator(".heads-one").evaluateAll((buttons) => buttons.map((button) => button.getAttribute("aria-label")));
/** Waits until the buttons say this. */
const saysOfHeads = (page, said) =>
  page.waitForFunction((said) => [...document.querySelectorAll(".heads-one")].every((button, at) => button.getAttribute("aria-label") === said[at]), said);

/** As far as two digits tell. */
function near(found, expected) {
  assert.equal(found.length, expected.length);
  found.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) <= 0.0051, `${found} and ${expected}`));
}

/** The shares of the condition's attention to a sentence that its words get in a layer, from 0, and how much goes to it at all. */
function shares({ readings, sentences }, index, layer) {
  const [{ tokens, attention }] = readings[index];
  const rows = attention.at(layer);
  const words = [];
  tokens.forEach(({ part, word, start, end }, at) => {
    if (part !== "sentence") return;
    words[word] ??= { text: "", weight: 0 };
    words[word].text += sentences[index].slice(start, end);
    words[word].weight += rows.reduce((sum, row) => sum + row[at], 0) / rows.length;
  });
  const toSentence = words.reduce((sum, { weight }) => sum + weight, 0);
  words.sort((a, b) => b.weight - a.weight);
  return { of: Object.fromEntries(words.map(({ text, weight }) => [text, weight / toSentence])), most: words.map(({ text }) => text), toSentence };
}

/** What the answer of each lesson claims; `by` explains the lesson's sentences by one of its conditions. */
const CLAIMS = [
  async (by) => {
    const [place, game] = [await by("the place"), await by("the game")];
    const [{ cosine: plain }] = place.steps;
    assert.ok(place.similarity > 0.85, "by the place almost the same");
    assert.ok(game.similarity < 0.5, "by the game not");
    assert.ok(game.similarity < plain && plain < place.similarity, "without a condition in between");
  },
  async (by) => {
    const [animal, furniture] = [await by("the type of animal"), await by("the furniture")];
    assert.deepEqual(animal.without.steps.map(({ name }) => name), ["plain"], "without a condition one step is left");
    assert.ok(animal.without.similarity > animal.similarity + 0.2, "the sofa makes up for the animals");
    assert.ok(animal.similarity < 0.5, "unlike by the animal");
    assert.ok(furniture.similarity > 0.85, "nearly the same by the furniture");
  },
  async (by) => {
    const explanation = await by("the number of people");
    const [first, second] = [shares(explanation, 0, -1), shares(explanation, 1, -1)];
    assert.ok(first.of["Three"] > 0.5, "most goes to “Three”");
    const rest = Object.entries(second.of).filter(([word]) => word !== "A" && word !== "lone");
    assert.ok(rest.every(([, share]) => share < second.of["A"] + second.of["lone"]), "“A lone” gets more than any other word");
    for (const { toSentence } of [first, second]) assert.ok(toSentence < 0.8, "a good part stays");
    for (const layer of [0, 1]) assert.notEqual(shares(explanation, 0, layer).most[0], "Three", "the first layers look elsewhere");
  },
  async (by) => {
    const explanation = await by("the cleanliness");
    for (const index of [0, 1]) {
      const { of, most } = shares(explanation, index, 0);
      assert.ok(of[most[0]] < 0.2, "in the first layer the shares are nearly even");
    }
    for (const [index, word] of ["spotless", "filthy"].entries()) {
      const share = shares(explanation, index, -1).of[word];
      assert.ok(share > 0.5, `in the last one most goes to “${word}”`);
      assert.ok(share < 0.8, "a fifth and more goes elsewhere");
    }
  },
  async (by) => {
    const [own, subtracted] = [await by("the activity"), await by("the activity", { subtract: true })];
    assert.equal(own.usual.subtract, false, "fine-tuned without that step");
    assert.ok(subtracted.similarity > own.similarity + 0.1, "more alike, not less");
  },
  async (by) => {
    const own = await by("the battery life");
    const [{ cosine: plain }] = own.steps;
    assert.ok(own.similarity < plain, "opposite batteries are less alike by the battery life");
    const [condition, cls] = [await by("the battery life", { pooling: "condition" }), await by("the battery life", { pooling: "cls" })];
    assert.equal(own.usual.pooling, "all", "trained with the mean of all tokens");
    assert.ok(Math.abs(condition.similarity - own.similarity) < 0.15, "the condition’s tokens come close");
    assert.ok(cls.similarity > own.similarity + 0.1, "with the first token alone more alike");
  },
];

const leave = (page) => page.context().close();
/** Waits until the page says what the switches have changed. */
const switched = (page) => page.waitForFunction(() => /as switched/.test(document.querySelector(".verdict:not(.stale)")?.innerText ?? ""));
/** The field of a sentence. */
const field = (page, name) => page.getByRole("textbox", { name });
const numberOf = (text) => Number(text.replace("−", "-").match(/-?\d\.\d\d/)[0]);
const verdict = async (page) => page.locator(".verdict").innerText();
/** The cosines that the last step's chart names. */
const cosines = async (page) =>
  ((await page.locator(".step-cosine .chart").getAttribute("aria-label")).replaceAll("−", "-").match(/-?\d\.\d\d/g) ?? []).map(Number);

describe("how it works", { concurrency: false }, () => {
  test("every number is the model's own, and switches change them", async () => {
    const page = await open({ on: "2" });
    const expected = await explained(page, "site", CONDITIONS[1], [{}, { subtract: true }, { pooling: "cls" }]);
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

  test("a cosine below zero has a bar to the left of a line at zero", async () => {
    const page = await open();
    await page.evaluate(() => {
      const answered = window.between;
      const below = (value) => {
        if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return;
        if (Array.isArray(value.steps)) for (const step of value.steps) step.cosine = step.name === "plain" ? 0.6 : -0.3;
        for (const inner of Object.values(value)) below(inner);
      };
      window.between = (message) => (below(message), answered(message));
    });
    await page.locator("#sentence-2").fill("He plays football in the street");
    await page.waitForFunction(() => /−0\.30/.test(document.querySelector(".step-cosine .chart").getAttribute("aria-label")));
    const read = () => page.locator(".step-cosine .chart canvas").evaluate((canvas) => {
      const { width, height } = canvas;
      const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
      const [shared, ink] = ["--shared", "--ink"].map((name) => {
        const probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = `var(${name})`;
        const colour = getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number);
        probe.remove();
        return colour;
      });
      const is = (colour, x, y) => colour.every((value, c) => Math.abs(data[4 * (y * width + x) + c] - value) < 24);
      const columns = Array.from({ length: width }, (_, x) => x);
      const rows = Array.from({ length: height }, (_, y) => y);
      /** Where this colour is in a row, from the first pixel to the last. */
      const reach = (colour, y) => {
        const there = columns.filter((x) => is(colour, x, y));
        return there.length > 0 ? [there[0], there.at(-1)] : undefined;
      };
      const bars = rows.map((y) => reach(shared, y)).filter((each) => each && each[1] - each[0] > 20);
      const kinds = [...new Set(bars.map(String))].map((each) => each.split(",").map(Number));
      const zero = columns.filter((x) => rows.filter((y) => is(ink, x, y)).length > 0.3 * height);
      return { kinds, zero };
    });
    // Charts are drawn one after the other.
    let drawn = await read();
    for (let i = 0; i < 100 && drawn.kinds.length < 2; i += 1) {
      await page.waitForTimeout(100);
      drawn = await read();
    }
    assert.equal(drawn.kinds.length, 2, JSON.stringify(drawn));
    const [above, below] = drawn.kinds.sort((a, b) => b[1] - a[1]);
    assert.ok(drawn.zero.length > 0 && drawn.zero.at(-1) - drawn.zero[0] <= 4, `a line at zero: ${drawn.zero}`);
    const zero = drawn.zero[0];
    assert.ok(Math.abs(above[0] - zero) <= 4 && Math.abs(below[1] - zero) <= 4, JSON.stringify(drawn));
    const ratio = (zero - below[0]) / (above[1] - zero);
    assert.ok(Math.abs(ratio - 0.5) < 0.05, `−0.3 is half as long as 0.6: ${ratio}`);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("positions, segments, the feed-forward part and the training are told where they belong, by the encoder; not while presenting", async () => {
    const page = await open();
    const more = (id) => page.locator(`#step-${id} .step-more`);
    for (const [id, said] of [["tokens", /position.*segment/], ["attention", /feed-forward.*384 numbers to 1,536/], ["cosine", /11,342 pairs.*22 million weights/]]) {
      assert.match(await more(id).innerText(), said);
    }
    assert.equal(await page.locator(".step-more").count(), 3);
    await page.getByRole("button", { name: "Present" }).click();
    await page.locator(".step").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.locator("#step-tokens").waitFor();
    assert.equal(await page.locator(".step-more").count(), 0);
    assert.deepEqual(page.problems, []);
    await page.context().close();
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

  test("every head is drawn, and told in the numbers that the package gives", async () => {
    const page = await open();
    await openHeads(page);
    const last = await attended(page, CHESS[0], CONDITIONS[0]);
    assert.deepEqual(await saidOfHeads(page), labels(last));
    const cells = await page.locator(".heads-map").evaluateAll((maps) =>
      maps.map((map) => [...map.getContext("2d").getImageData(0, 0, map.width, map.height).data].filter((_, i) => i % 4 === 3)),
    );
    for (const [head, rows] of last.heads.entries()) {
      const strongest = Math.max(...rows.flat());
      rows.flat().forEach((share, i) => assert.ok(Math.abs(cells[head][i] - (255 * share) / strongest) <= 1, `head ${head + 1}, cell ${i}`));
    }

    // By the keyboard alone: a head, all of its tokens, then one of them.
    await page.locator(".heads-one").nth(2).focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.getByRole("button", { pressed: true, name: /^3: head 3/ }).count(), 1);
    const picture = page.getByRole("group", { name: /^Head 3: which token looks where/ });
    const told = () => picture.locator(".heads-shares li").allInnerTexts();
    const [, , rows] = last.heads;
    assert.deepEqual(await told(), rows.map((row, from) => `${last.names[from]} → ${last.names[descending(row)[0]]}: ${percent(Math.max(...row))}`));
    assert.ok((await picture.locator(".heads-lines path").count()) > 1);
    await page.keyboard.press("Tab");
    while (!(await picture.getByRole("radio", { name: "All tokens" }).evaluate((radio) => radio === document.activeElement))) await page.keyboard.press("Tab");
    for (let at = 0; at < 2; at += 1) await page.keyboard.press("ArrowDown");
    assert.ok(await picture.getByRole("radio", { name: last.names[1], exact: true }).isChecked());
    const inWords = (row) => {
      const shown = descending(row).filter((to) => row[to] >= 0.005);
      const rest = row.reduce((sum, share) => sum + share, 0) - shown.reduce((sum, to) => sum + row[to], 0);
      const others = row.length - shown.length;
      const said = shown.map((to) => `${last.names[to]}: ${percent(row[to])}`);
      return others === 0 ? said : [...said, `${others === 1 ? "1 other token" : `${others} other tokens`}: ${percent(rest)}`];
    };
    assert.deepEqual(await told(), inWords(rows[1]));
    assert.ok((await picture.getByRole("status").innerText()).startsWith(`“${last.names[1]}” looks most at ${inWords(rows[1])[0]}`));

    // A pointer shows the looks of what it passes over, and changes nothing that is told.
    await picture.locator(".heads-from .heads-token").nth(5).hover();
    const beside = await picture.locator(".heads-to li").evaluateAll((items) => items.map((item) => item.querySelector("b")?.innerText ?? ""));
    assert.deepEqual(beside, rows[5].map((share) => (share >= 0.005 ? percent(share) : "")));
    assert.deepEqual(await told(), inWords(rows[1]));

    // The step's slider, the other sentence, and the sentence without the condition.
    await page.getByRole("slider").fill("1");
    await saysOfHeads(page, labels(await attended(page, CHESS[0], CONDITIONS[0], 0)));
    assert.ok(await picture.getByRole("radio", { name: last.names[1], exact: true }).isChecked(), "the same tokens: the same one is looked at");
    await page.locator(".heads").getByRole("button", { name: "Second sentence" }).click();
    await saysOfHeads(page, labels(await attended(page, CHESS[1], CONDITIONS[0], 0)));
    assert.ok(await picture.getByRole("radio", { name: "All tokens" }).isChecked());
    await page.getByRole("switch", { name: "Condition", exact: true }).click();
    await saysOfHeads(page, labels(await attended(page, CHESS[1], undefined, 0)));
    await page.locator(".heads").getByRole("slider").fill("6");
    await saysOfHeads(page, labels(await attended(page, CHESS[1], undefined)));
    await page.getByRole("button", { pressed: true, name: /^3: head 3/ }).click();
    assert.equal(await picture.count(), 0, "pressed again, it is closed");
    assert.deepEqual(page.problems, []);
    await leave(page);
  });

  test("heads that cannot be read say so, and are read again", async () => {
    const page = await open();
    await openHeads(page);
    await page.evaluate(() => {
      window.between = (message) => (message.value?.shares ? { type: "failed", id: message.id, error: { code: "internal", message: "It broke." } } : message);
    });
    await page.getByRole("slider").fill("2");
    const alert = page.getByRole("alert");
    assert.match(await alert.innerText(), /The heads could not be read[^]*This should not happen/);
    assert.equal(await page.locator(".heads-one").count(), 0);
    assert.ok(await page.locator(".words").first().isVisible(), "the rest of the step stays");
    await page.evaluate(() => (window.between = (message) => message));
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.locator(".heads-one").nth(11).waitFor();
    assert.equal(await alert.count(), 0);
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
    await page.getByRole("button", { name: "Close the lesson" }).focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".lesson").count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement.innerText.slice(0, 40).replace(/\s+/g, " ")), "5 Subtract the condition", "the focus is on its entry");
    assert.deepEqual(page.problems, []);
    await leave(page);
  });

  test("a lesson opens as the model does it; what its question asks for is still to be done", async () => {
    const page = await open({ subtract: "on" });
    for (const [lesson, name] of [[2, "Condition"], [5, "Subtraction"]]) {
      await page.locator(".lessons .example").nth(lesson - 1).click();
      await page.waitForFunction((lesson) => location.hash.includes(`lesson=${lesson}`), lesson);
      await settled(page);
      assert.match(await verdict(page), /done as the model was trained to do it/);
      const own = numberOf(await verdict(page));
      await page.getByRole("switch", { name, exact: true }).click();
      await switched(page);
      assert.ok(numberOf(await verdict(page)) > own + 0.05, await verdict(page));
    }
    await leave(page);
  });

  test("what the lessons' answers claim is what the model says", { timeout: PATIENT }, async () => {
    const page = await open();
    const lens = await CaseLens.load({ model: path.join(MODELS, MODEL_FILE), device: "wasm" });
    try {
      for (const [index, claims] of CLAIMS.entries()) {
        await page.locator(".lessons .example").nth(index).click();
        await page.waitForFunction((lesson) => location.hash.includes(`lesson=${lesson}`), index + 1);
        const query = new URLSearchParams(new URL(page.url()).hash.replace("#/how?", ""));
        const sentences = [query.get("s1"), query.get("s2")];
        await claims(async (condition, options) => {
          assert.ok(query.getAll("c").includes(condition), condition);
          return { ...(await lens.explain(...sentences, condition, options)), sentences, without: await lens.explain(...sentences) };
        });
      }
    } finally {
      lens.dispose();
    }
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
    await page.locator(".presenter-place", { hasText: "3 / 5" }).waitFor();
    await page.waitForFunction(() => location.hash.includes("step=attention") && location.hash.includes("present=1"));
    const other = await page.context().newPage();
    await other.goto(page.url());
    await settled(other);
    assert.equal(await other.locator(".step-title").innerText(), await title());
    await other.close();
    for (let press = 0; press < 9; press += 1) await page.keyboard.press("ArrowRight");
    await page.locator(".presenter-place", { hasText: "5 / 5" }).waitFor();
    for (let press = 0; press < 9; press += 1) await page.keyboard.press("PageUp");
    assert.equal(await title(), first);
    // The keys of keyboards, too; none of the slides is one that the model leaves out.
    await page.keyboard.press("End");
    await page.locator(".step-cosine").waitFor();
    await page.keyboard.press("Home");
    const seen = [];
    for (let press = 0; press < 5; press += 1) {
      assert.equal(await page.locator(".absent").count(), 0);
      seen.push(await title());
      await page.locator(".step-title").focus();
      await page.keyboard.press("Space");
    }
    assert.equal(new Set(seen).size, 5);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".step").count(), 7);
    assert.equal(await page.locator(".head").isVisible(), true);
    assert.deepEqual(page.problems, []);
    await leave(page);
  });

  test("a presentation fills the screen, and its controls lie over no words", async () => {
    const asks = () => {
      window.filled = 0;
      Element.prototype.requestFullscreen = async () => void (window.filled += 1);
    };
    for (const viewport of [{ width: 1024, height: 768 }, { width: 360, height: 740 }]) {
      const context = await browser.newContext({ viewport });
      await context.addInitScript(letMeddle);
      await context.addInitScript(asks);
      const page = await visit(context, `${server.origin}/site/#/how?${state({ lesson: "4" })}`);
      await settled(page);
      await page.getByRole("button", { name: "Present" }).click();
      assert.equal(await page.evaluate(() => window.filled), 1);
      for (let slide = 0; slide < 5; slide += 1) {
        // At its end nothing of the step is left below the controls.
        const { words, bar, clear } = await page.evaluate(() => {
          scrollTo(0, document.documentElement.scrollHeight);
          const bar = document.querySelector(".presenter");
          const step = document.querySelector(".step");
          return {
            words: step.getBoundingClientRect().bottom,
            bar: bar.getBoundingClientRect().top,
            clear: getComputedStyle(bar).backgroundColor === getComputedStyle(document.body).backgroundColor && bar.getBoundingClientRect().width >= innerWidth - 1,
          };
        });
        assert.ok(words <= bar + 1 && clear, `${viewport.width}, slide ${slide + 1}: words to ${words}, controls from ${bar}`);
        await page.keyboard.press("PageDown");
      }
      await context.close();
    }
  });

  test("a presentation ends at its step, with the focus there", async () => {
    const page = await open({ present: "1", step: "embedding" });
    await page.keyboard.press("PageUp");
    await page.getByRole("button", { name: "End (Esc)" }).click();
    await page.waitForFunction(() => {
      const title = document.activeElement;
      return title.matches("h2#step-attention-title") && title.getBoundingClientRect().top >= 0 && title.getBoundingClientRect().bottom < innerHeight / 2;
    });
    await leave(page);
  });

  test("a presented step has a code that phones read its link from", async () => {
    const page = await open({ present: "1", step: "embedding" });
    await page.getByText("QR code", { exact: true }).click();
    const code = page.locator(".presenter-code svg");
    await code.waitFor();
    const { size, dark } = await code.evaluate((svg) => ({
      size: svg.viewBox.baseVal.width,
      dark: [...svg.querySelector("path").getAttribute("d").matchAll(/M(\d+) (\d+)/g)].map(([, x, y]) => [Number(x), Number(y)]),
    }));
    const scale = 4;
    const side = size * scale;
    const pixels = new Uint8ClampedArray(4 * side * side).fill(255);
    for (const [x, y] of dark) {
      for (let row = y * scale; row < (y + 1) * scale; row++) {
        for (let at = row * side + x * scale; at < row * side + (x + 1) * scale; at++) pixels.fill(0, 4 * at, 4 * at + 3);
      }
    }
    assert.equal((jsQR.default ?? jsQR)(pixels, side, side)?.data, await page.evaluate(() => location.href));
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => !document.querySelector(".presenter-code[open]"));

    // A code holds no whole story.
    const long = await openAt(`/site/#/how?${new URLSearchParams({ s1: `${CHESS[0]} ${"and on ".repeat(500)}`, s2: CHESS[1], c: "the place", present: "1" })}`);
    await long.getByText("QR code", { exact: true }).click();
    await long.getByText("The texts are too long for a QR code.").waitFor();
  });

  test("steps are switched in a presentation, too", async () => {
    const page = await open({ present: "1", step: "subtraction" });
    assert.match(await page.locator(".absent").innerText(), /under “What if\?”/);
    await page.locator("summary", { hasText: "What if?" }).click();
    await page.getByRole("switch", { name: "Subtraction" }).click();
    await page.locator(".step-subtraction .strips").first().waitFor();
    // The arrows are the choice's own there; a clicker's keys are not.
    await page.getByLabel("Tokens averaged").focus();
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => location.hash.includes("pooling=condition") && location.hash.includes("step=subtraction"));
    await page.keyboard.press("PageDown");
    await page.locator(".step-cosine").waitFor();
    // Switched on, the step is one of the presentation's.
    await page.keyboard.press("PageUp");
    await page.locator(".step-subtraction").waitFor();
    assert.deepEqual(page.problems, []);
    await leave(page);
  });

  test("a presentation says that the model is being loaded, why it is not, and what is missing", async () => {
    server.rule(MODEL_PATH, { delay: 500, rate: 20e6 });
    const page = await openAt(`/site/#/how?${state({ present: "1" })}`, { serviceWorkers: "block" });
    await page.getByRole("progressbar", { name: "Loading the model" }).waitFor();
    await settled(page);
    await leave(page);

    server.rule(MODEL_PATH, { status: 404 });
    const without = await openAt(`/site/#/how?${state({ present: "1" })}`, { serviceWorkers: "block", viewport: { width: 360, height: 800 } });
    const alert = without.getByRole("alert");
    assert.match(await alert.innerText(), /The model could not be loaded/);
    assert.ok(await without.evaluate(() => document.querySelector("[role=alert]").scrollWidth <= innerWidth), "nothing sticks out");
    server.rule(MODEL_PATH, undefined);
    await alert.getByRole("button", { name: "Try again" }).click();
    await settled(without);
    assert.equal(await alert.count(), 0);
    await leave(without);

    const empty = await openAt(`/site/#/how?${state({ present: "1" }, [])}`);
    await empty.getByText("Type a condition to see what it does.").waitFor();
    await empty.getByLabel("Condition to explain").fill("the game");
    await settled(empty);
    await leave(empty);
  });

  test("the worksheet prints on one page, its answers on a second", async () => {
    const page = await open();
    await page.waitForFunction(() => /\d/.test(document.querySelector(".worksheet section:last-child td")?.textContent));
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

  test("where a sentence says nothing about the condition, no number is given for an answer: not as the last step, nor under the switches, nor on paper", async () => {
    await server.siteWith("/silent/", { [HEAD_FILE]: mentioning(await readFile(path.join(MODELS, HEAD_FILE)), 384, -4) });
    const page = await openAt(`/silent/#/how?${state()}`, { serviceWorkers: "block" });
    await settled(page);
    assert.equal(await page.locator(".answer-value").innerText(), "–");
    assert.doesNotMatch(await page.locator(".answer").innerText(), /Rating/);
    assert.match(await verdict(page), /^Neither sentence says anything about the condition/);
    assert.doesNotMatch(await verdict(page), /\d/);
    await page.locator("summary", { hasText: "1 pair on the worksheet" }).click();
    await page.getByRole("checkbox", { name: "Two dogs" }).check();
    await page.waitForFunction(() => document.querySelectorAll(".worksheet section:last-child .worksheet-pair:nth-of-type(2) td").length > 3 && !/–/.test(document.querySelector(".worksheet section:last-child").textContent));
    await page.emulateMedia({ media: "print" });
    const cells = await page.locator(".worksheet section:last-child td").allInnerTexts();
    assert.equal(cells.filter((text) => /\d/.test(text)).length, 2, "the sentences by themselves");
    assert.ok(cells.every((text) => /\d|^neither sentence says$/.test(text.trim())), `${cells}`);
    await leave(page);
  });

  for (const [sentence, why] of [["Sie spielt mit ihren Freunden Schach im Park", "uncertain: not English"], ["ꙮ plays chess in the park", "uncertain: unknown characters"]]) {
    test(`an answer that is “${why}” is marked as one, also on paper`, async () => {
      await server.siteWith("/doubtful/", { [HEAD_FILE]: withoutMentions(await readFile(path.join(MODELS, HEAD_FILE))) });
      const page = await openAt(`/doubtful/#/how?${state({ s1: sentence })}`.replace(/s1=[^&]*&/, ""), { serviceWorkers: "block" });
      await settled(page);
      assert.match(await page.locator(".answer-value.doubtful-value").innerText(), /^\d\.\d\d$/);
      assert.ok((await page.locator(".answer").innerText()).includes(why));
      await page.waitForFunction(() => /\d/.test(document.querySelector(".worksheet section:last-child td")?.textContent));
      await page.emulateMedia({ media: "print" });
      for (const cell of (await page.locator(".worksheet section:last-child td").allInnerTexts()).slice(1)) assert.match(cell, new RegExp(`^\\d\\.\\d\\d, ${why}$`));
      await leave(page);
    });
  }

  test("a worksheet takes several pairs, each with its answers", async () => {
    const page = await open();
    await page.locator("summary", { hasText: "1 pair on the worksheet" }).click();
    await page.getByRole("checkbox", { name: "At the beach" }).check();
    await page.getByRole("checkbox", { name: "Two dogs" }).check();
    assert.ok(await page.locator("summary", { hasText: "3 pairs on the worksheet" }).isVisible());
    await page.waitForFunction(() => {
      const values = [...document.querySelectorAll(".worksheet section:last-child td")];
      return values.length === 3 + 4 + 5 && values.every(({ textContent }) => /\d/.test(textContent));
    });
    await page.emulateMedia({ media: "print" });
    const [questions, solutions] = await page.locator(".worksheet section").allInnerTexts();
    for (const text of [CHESS[0], "Three children build a sandcastle on the beach.", "A black dog sleeps on a red sofa."]) {
      assert.ok(questions.includes(text) && solutions.includes(text), text);
    }
    assert.doesNotMatch(questions, /\d\.\d\d/);
    const { values } = await page.evaluate(
      async ([entry, model]) => {
        const { CaseLens } = await import(entry);
        const lens = await CaseLens.load({ model, device: "wasm" });
        const [location] = await lens.compare("Three children build a sandcastle on the beach.", "A lone surfer waits for a wave on the beach.", ["the location"]);
        lens.dispose();
        return { values: [location.unconditional, location.similarity].map((value) => value.toFixed(2)) };
      },
      [`${server.origin}/pkg/dist/index.js`, `${server.origin}${MODEL_PATH}`],
    );
    assert.deepEqual(await page.locator(".worksheet section:last-child .worksheet-pair").nth(1).locator("td").evaluateAll((cells) => cells.slice(0, 2).map((cell) => cell.textContent)), values);
    await leave(page);
  });

  test("the space is drawn, and its points move when the condition changes", async () => {
    const page = await open();
    const place = page.locator(".space");
    await place.locator("summary").click();
    await place.locator(".space-point").nth(13).waitFor();
    const lie = () => place.locator(".space-point").evaluateAll((marks) => marks.map(({ style }) => style.transform.match(/-?[\d.]+/g).map(Number)));
    const apart = ([a, b], [c, d]) => Math.hypot(a - c, b - d);
    /** Mean distance of sentences that share a part, as a share of that of all. */
    const gathered = (points, key) => {
      const mean = (pairs) => pairs.reduce((sum, [i, j]) => sum + apart(points[i], points[j]), 0) / pairs.length;
      const pairs = [...Array(12).keys()].flatMap((i) => [...Array(i).keys()].map((j) => [i, j]));
      return mean(pairs.filter(([i, j]) => key(i) === key(j))) / mean(pairs);
    };
    const byPlace = await lie();
    assert.equal(byPlace.length, 14);
    assert.ok(gathered(byPlace, (i) => i % 3) < 0.5, "alike by the place");
    await place.getByRole("button", { name: "the activity" }).click();
    await place.getByRole("img", { name: "under “the activity”" }).waitFor();
    const byActivity = await lie();
    assert.ok(gathered(byActivity, (i) => Math.floor(i / 3) % 2) < 0.5, "alike by the activity");
    assert.ok(gathered(byActivity, (i) => i % 3) > 0.6);
    await place.getByText(/is the most like your first sentence: [01]\.\d\d\./).waitFor();
    await place.getByRole("button", { name: "no condition" }).click();
    await place.getByRole("img", { name: "without a condition" }).waitFor();
    assert.deepEqual(await violations(page, ".space"), []);
    await page.close();
  });

  test("the space follows the view's condition when that changes, and lets others be tried until then", async () => {
    const page = await open({ on: "2" });
    const place = page.locator(".space");
    await place.locator("summary").click();
    await place.getByRole("img", { name: "under “the game”" }).waitFor();
    assert.equal(await place.getByRole("button", { name: "the game" }).getAttribute("aria-pressed"), "true");
    await page.getByLabel("Other conditions").selectOption("the place");
    await place.getByRole("img", { name: "under “the place”" }).waitFor();
    await place.getByRole("button", { name: "the activity" }).click();
    await place.getByRole("img", { name: "under “the activity”" }).waitFor();
    await page.getByLabel("Condition to explain").fill("the weather");
    await place.getByRole("img", { name: "under “the weather”" }).waitFor();
    assert.equal(await place.getByRole("button", { name: "the weather" }).getAttribute("aria-pressed"), "true");
    await leave(page);
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`in the system's own colours the strips keep theirs, and the condition's tokens a mark: ${colorScheme}`, async () => {
      const page = await open({}, { forcedColors: "active", colorScheme });
      await page.locator(".step-embedding canvas").nth(1).waitFor();
      const colours = await page.locator(".step-embedding canvas").first().evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, canvas.height >> 1, canvas.width, 1);
        const all = Array.from({ length: canvas.width }, (_, x) => [...data.subarray(4 * x, 4 * x + 3)]);
        const [blue, yellow] = [all.filter(([r, , b]) => b > r + 30), all.filter(([r, , b]) => r > b + 30)];
        return { different: new Set(all.map(String)).size, blue: blue.length, yellow: yellow.length };
      });
      assert.ok(colours.different > 50 && colours.blue > 20 && colours.yellow > 20, JSON.stringify(colours));
      const border = (part) => page.locator(`.step-tokens .token-${part}`).first().evaluate((each) => getComputedStyle(each).borderTopWidth);
      assert.equal(await border("condition"), "3px");
      assert.notEqual(await border("sentence"), "3px");
      await leave(page);
    });
  }

  test("what is explained has its sources, with links", async () => {
    const page = await open();
    const sources = page.getByRole("region", { name: "Sources" });
    const links = await sources.getByRole("link").evaluateAll((all) => all.map(({ href, textContent }) => [textContent, href]));
    for (const [name, url] of [["C-STS", "2305.15093"], ["CASE", "2503.17279"], ["Attention Is All You Need", "1706.03762"], ["BERT", "1810.04805"], ["Sentence-BERT", "1908.10084"], ["MiniLM", "2002.10957"], ["MPNet", "2004.09297"], ["Attention is not Explanation", "1902.10186"]]) {
      assert.ok(links.some(([text, href]) => text.startsWith(name) && href === `https://arxiv.org/abs/${url}`), name);
    }
    assert.ok((await sources.locator("li").allInnerTexts()).every((text) => /^[A-Z].*: \S/.test(text)), "each says what is from it");
    await leave(page);
  });

  test("one rates pairs before the model does, and sees both beside what people said", async () => {
    const page = await open();
    const place = page.locator(".rate");
    await place.locator("summary").click();
    await place.getByText("Pair 1 of 8").waitFor();
    assert.doesNotMatch(await place.innerText(), /the model says \d/, "nothing is told before one has rated");
    const told = [];
    for (let i = 1; i <= 8; i++) {
      await place.getByText(`Pair ${i} of 8`).waitFor();
      await place.getByRole("radio", { name: "3" }).press("Space");
      const answer = place.getByText(/You say 3, the model says \d\.\d, people said \d\./);
      await answer.waitFor();
      told.push(/model says (.*), people said (.*)\./.exec(await answer.innerText()).slice(1).map(Number));
      if (i < 8) await place.getByRole("button", { name: "Next pair" }).click();
    }
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const [own, model] = [mean(told.map(([, people]) => Math.abs(3 - people))), mean(told.map(([model, people]) => Math.abs(model - people)))];
    const [, saidOwn, saidModel] = /you are (\d\.\d) away from what people said, the model (\d\.\d)\./.exec(await place.innerText());
    assert.ok(Math.abs(Number(saidOwn) - own) <= 0.06 && Math.abs(Number(saidModel) - model) <= 0.11, `${saidOwn} ${own}, ${saidModel} ${model}`);
    assert.deepEqual(await violations(page, ".rate"), []);
    await place.getByRole("button", { name: "Start again" }).click();
    await place.getByText("Pair 1 of 8").waitFor();
    assert.equal(await place.locator("table").count(), 0);
    await page.close();
  });

  test("teachers find goals, time, level and a glossary", async () => {
    const page = await open();
    await page.locator("summary", { hasText: "For teachers" }).click();
    const text = await page.locator(".teachers", { hasText: "Afterwards learners can" }).innerText();
    for (const said of [/Afterwards learners can/, /45 minutes/, /From about 14 years/, /Glossary/, /Token/, /Cosine/]) assert.match(text, said);
    assert.deepEqual(await violations(page), []);
    await leave(page);
  });

  test("no answer is printed beside sentences that it is not about", async () => {
    const page = await open();
    const answers = page.locator(".worksheet section").last();
    await page.waitForFunction(() => /\d/.test(document.querySelector(".worksheet section:last-child td")?.textContent));
    await page.evaluate(() => (window.between = () => undefined));
    await field(page, "First sentence").fill("She reads in the park");
    await page.emulateMedia({ media: "print" });
    const printed = await answers.innerText();
    assert.ok(printed.includes("She reads in the park"));
    assert.match(printed, /had no answers when this was printed/);
    assert.doesNotMatch(printed, /\d\.\d\d/);
    await leave(page);
  });

  test("what goes wrong is said, with a way out, and takes the figures with it", async () => {
    const page = await open();
    // A broken engine: explanations fail, comparisons do not.
    await page.evaluate(() => {
      window.between = (message) =>
        message.type === "done" && message.value?.steps ? { type: "failed", id: message.id, error: { code: "internal", message: "It broke." } } : message;
    });
    await page.getByRole("switch", { name: "Subtraction" }).click();
    const alert = page.getByRole("alert");
    assert.match(await alert.innerText(), /The steps could not be worked out[^]*This should not happen/);
    assert.equal(await page.locator(".step-figure > *").count(), 0);
    assert.equal(await verdict(page), "");
    await page.evaluate(() => (window.between = (message) => message));
    await alert.getByRole("button", { name: "Try again" }).click();
    await settled(page);
    assert.equal(await alert.count(), 0);
    assert.match(await verdict(page), /as switched/);

    // A text to blame: only another text helps.
    await field(page, "First sentence").fill("word ".repeat(20_000));
    assert.match(await alert.innerText(), /characters/);
    assert.equal(await alert.count(), 1);
    assert.equal(await alert.getByRole("button").count(), 0);
    await field(page, "First sentence").fill(CHESS[0]);
    await settled(page);
    assert.equal(await alert.count(), 0);
    assert.deepEqual(page.problems, []);
    await leave(page);
  });

  test("WebGPU where there is none offers the CPU, and the device can be chosen here", async () => {
    const page = await openAt(`/site/#/how?${state({ device: "webgpu" })}`);
    await page.getByRole("alert").getByRole("button", { name: "Use the CPU" }).click();
    await settled(page);
    await page.locator(".engine summary").click();
    assert.ok(await page.getByRole("radio", { name: "CPU" }).isChecked());
    await page.getByRole("radio", { name: "Auto" }).check();
    await page.waitForFunction(() => !location.hash.includes("device="));
    await settled(page);
    await leave(page);
  });

  test("a GPU that is lost leaves the work to the CPU, and that is said", { timeout: PATIENT }, async () => {
    const own = await launch({ webgpu: true });
    try {
      const page = await openAt(`/site/#/how?${state({ device: "webgpu" })}`, { within: own });
      await settled(page, PATIENT);
      const session = await own.newBrowserCDPSession();
      await session.send("Browser.crashGpuProcess").catch(() => {}); // its answer may go down with the process
      await page.getByRole("switch", { name: "Subtraction" }).click();
      await page.locator(".notice", { hasText: "has moved to the CPU" }).waitFor();
      await switched(page);
      await page.locator(".engine summary").click();
      assert.match(await page.locator(".facts").innerText(), /CPU/);
      assert.equal(await page.getByRole("alert").count(), 0);
    } finally {
      await own.close();
    }
  });

  test("a condition can be typed where it is explained", async () => {
    const page = await openAt(`/site/#/how?${state({}, [])}`);
    await page.getByText("Type a condition to see what it does.").waitFor();
    await page.getByLabel("Condition to explain").pressSequentially("the game");
    await settled(page);
    assert.equal(await page.locator(".asked").innerText(), "under “the game”");
    await page.getByLabel("Condition to explain").fill("");
    assert.equal(await page.locator(".step-figure > *").count(), 0);
    await page.getByLabel("Condition to explain").fill("the weather");
    await settled(page);
    assert.equal(await page.locator(".asked").innerText(), "under “the weather”");
    await page.waitForFunction(() => /c=the\+weather/.test(location.hash) && !/c=the\+game/.test(location.hash));
    await leave(page);
  });

  test("a character that the vocabulary lacks is explained", async () => {
    const page = await openAt(`/site/#/how?${new URLSearchParams([["s1", "ꙮ is a letter"], ["s2", CHESS[1]], ["c", "the letter"], ["device", "wasm"]])}`);
    await settled(page);
    await page.locator(".step-tokens").getByText("[UNK] stands for").waitFor();
    await field(page, "First sentence").fill(CHESS[0]);
    await page.waitForFunction(() => !document.querySelector(".token-unknown"));
    assert.equal(await page.getByText("[UNK] stands for").count(), 0);
    await leave(page);
  });

  test("what is missing is named", async () => {
    const page = await open();
    await field(page, "Second sentence").fill(" ");
    await page.getByText("Type both sentences").waitFor();
    assert.equal(await page.locator(".step-figure > *").count(), 0);
    await field(page, "Second sentence").fill(CHESS[1]);
    await settled(page);
    assert.equal(await page.getByText("Type both sentences").count(), 0);
    await leave(page);
  });

  test("a model with a head shows what the head makes of the sentences", async () => {
    const companion = (...args) => execFileSync(COMPANION, args, { stdio: "pipe" });
    const [encoder, data] = [path.join(ROOT, "tests/fixtures/bert-tiny"), path.join(tiny, "toy.csv")];
    const row = (_, i) => `a dog by river ${i},a cat by river ${i % 3},${i % 2 ? "the place" : "the animal"},${1 + (i % 5)}`;
    await writeFile(data, ["sentence1,sentence2,condition,label", ...Array.from({ length: 40 }, row), ""].join("\n"));
    companion("quantize", "--model", encoder, "--output", path.join(tiny, MODEL_FILE));
    const shape = ["--hidden", "32", "--dims", "16", "--epochs", "2", "--cache", path.join(tiny, "cache")];
    companion("train-head", "--model", encoder, "--data", data, "--output", path.join(tiny, HEAD_FILE), ...shape);

    const [model, head] = await Promise.all([MODEL_FILE, HEAD_FILE].map((file) => readFile(path.join(tiny, file))));
    await server.siteWith("/tiny/", { [MODEL_FILE]: model, [HEAD_FILE]: head });
    const page = await openAt(`/tiny/#/how?${state()}`, { serviceWorkers: "block" });
    await settled(page);
    const expected = await explained(page, "tiny", CONDITIONS[0], [{}, { head: false }]);
    assert.deepEqual(expected.map(({ names }) => names.includes("projected")), [true, false]);
    near(await cosines(page), expected[0].cosines);
    const figure = page.locator(".step-head .step-figure");
    await figure.locator(".strips canvas").nth(1).waitFor();
    assert.match(await figure.locator(".vector").first().innerText(), /16 numbers/);
    assert.equal(numberOf(await figure.locator(".number").innerText()), (await cosines(page)).at(-1));

    const toggle = page.getByRole("switch", { name: "Head", exact: true });
    assert.ok(await toggle.isChecked());
    await toggle.click();
    await figure.getByText("Switched off: this step is left out.").waitFor();
    near(await cosines(page), expected[1].cosines);
    await page.waitForFunction(() => location.hash.includes("head=off"));
    assert.deepEqual(page.problems, []);
    await leave(page);
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const [name, viewport] of Object.entries({ desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 800 } })) {
      test(`axe finds nothing: ${colorScheme}, ${name}; nothing sticks out`, async () => {
        const page = await open({ lesson: "3", subtract: "on" }, { colorScheme, viewport, reducedMotion: "reduce" });
        await page.locator(".chart canvas").first().waitFor();
        const check = async () => {
          assert.deepEqual(await violations(page), []);
          assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= viewport.width, "nothing sticks out");
        };
        await check();
        await page.getByText("Show the answer").click();
        await check();
        await page.getByRole("button", { name: "Present" }).click();
        await page.keyboard.press("PageDown");
        await page.keyboard.press("PageDown");
        await check();
        await page.locator("summary", { hasText: "What if?" }).click();
        await check();
        await page.evaluate(() => (location.hash = "#/how?s1=a&s2=b"));
        await page.getByText("Type a condition to see what it does.").waitFor();
        await check();
        assert.deepEqual(page.problems, []);
        await leave(page);
      });
    }
  }

  for (const colorScheme of ["light", "dark"]) {
    test(`heads on a small phone: axe finds nothing, ${colorScheme}; nothing sticks out, and fingers choose`, async () => {
      const page = await open({}, { colorScheme, viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true, reducedMotion: "reduce" });
      await openHeads(page);
      const check = async () => {
        assert.deepEqual(await violations(page), []);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320, "nothing sticks out");
        const sticking = await page.locator(".heads *").evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right > 320).map(({ className }) => className));
        assert.deepEqual(sticking, []);
      };
      await check();
      await page.locator(".heads-one").nth(4).tap();
      await check();
      const token = page.locator(".heads-from .heads-token").nth(3);
      await token.tap();
      assert.ok(await token.getByRole("radio").isChecked());
      assert.ok((await token.boundingBox()).height >= 36, "large enough for a finger");
      await check();
      await page.emulateMedia({ forcedColors: "active" });
      const colours = await page.evaluate(() => {
        const of = (selector) => getComputedStyle(document.querySelector(selector));
        return [of(".heads-lines path").stroke, of(".heads-map").color, of("body").color];
      });
      assert.deepEqual(new Set(colours).size, 1, "the system's colours");
      assert.deepEqual(page.problems, []);
      await leave(page);
    });
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
