// The page in every language that it speaks: its words, how the language is chosen, and whether it all fits.

import assert from "node:assert/strict";
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import path from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { build } from "esbuild";
import { launch, MODEL_FILE, MODELS, ROOT, serve, stickingOut, until, violations, visit } from "./helpers.mjs";

const SITE = path.join(ROOT, "www/dist");
const WORDS = path.join(ROOT, "www/src/strings");
const PATIENT = { timeout: 180_000 };
const LANGUAGES = readdirSync(WORDS).map((file) => path.basename(file, ".ts")).sort();
const OTHERS = LANGUAGES.filter((language) => language !== "en");
/** A locale whose first language is this one. */
const localeOf = (language) => ({ en: "en-US", ja: "ja-JP" })[language] ?? `${language}-${language.toUpperCase()}`;

/** What a module of words has, as the page has it in that language. */
async function wordsOf(language) {
  const banner = { js: `const document = { documentElement: { lang: "${language}" } }; const globalThis = { document };` };
  const { outputFiles } = await build({ entryPoints: [path.join(WORDS, `${language}.ts`)], bundle: true, write: false, format: "esm", platform: "node", banner });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

/** Every word of an object: where it stands, and the word or the function that makes it. */
function* leaves(value, at = "") {
  if (value === null || typeof value !== "object") yield [at, value];
  else for (const [key, inner] of Object.entries(value)) yield* leaves(inner, at ? `${at}.${key}` : key);
}

/** What functions of words are given, of some kind or other: each makes something of one of these. */
const GIVEN = [
  ["Xa", "Xb", "Xc", true],
  [3, 4, 5, 6],
  [0, 1],
  [0.25, 0.75],
  ["Xa", 3, 4],
  ["Xa", 0.25, 0.75],
  [3, 4, "Xa"],
  [["Xa"], ["Xb"]],
  ["de", ["en"]],
  [3, ["de"], ["en"]],
  [{ accuracy: 89.9, rows: 1814, spearman: 74.1, unseen: 54.4 }],
  [Float32Array.of(0.5, -0.25)],
];
/** What a word says: of a function, all that it makes of what it can be given. */
function said(word) {
  if (typeof word !== "function") return [word];
  return GIVEN.map((given) => {
    try {
      const made = word(...given);
      return /undefined|NaN|\[object/.test(made) ? undefined : made;
    } catch {
      return undefined;
    }
  });
}
/** The words in a text: without what was given, numbers, units and names. */
const spelled = (text) => text.replace(/X[abc]|\d[\d.,\s]*|\b(ms|MB|GOP\/s|GPU|CPU|WebGPU|Markdown|CSV|JSON|Excel|Auto)\b/g, "").match(/\p{L}{2,}/gu) ?? [];

/** What may be the same as in English: names, and words that several languages have. */
const SAME = [
  /^pairs\.condition$/, // of French, too
  /^name$/,
  /^views\.names\.list$/,
  /^inEnglish$/,
  /^examples\.names\.\d+\.\d$/,
  /^engine\.(names\.\w+|choices\.\w+|megabytes|dtype|size|adapter|instructions|milliseconds)$/,
  /^encoders\.(names\.\w+|base\.url)$/,
  /^about\.right\.of\.small$/,
  /^about\.right\.from\.papers\.\d\.(text|url)$/,
  /^conditions\.(heading|label)$/,
  /^undo\.key$/,
  /^list\.names\.\w+\.\d$/,
  /^list\.(condition\.automatic|groups\.between|map\.(value|colour))$/,
  /^larger\.(waiting|pair|licences)$/,
  /^how\.(place|question|heads\.(look|share)|switches\.(head|condition))$/,
  /^how\.sources\.papers\.\d\.(text|url)$/,
  /^how\.beside\.(waiting|rating)$/,
  /^how\.teachers\.glossary\.terms\.\d\.0$/,
  /^how\.worksheet\.(name|columns\.0)$/,
  /^results\.(none|outOf|spokenUnsaid)$/,
  /^speed\.(shapes\.\w+|milliseconds|texts|operations|cpu)$/,
  /^footer\.credits\.\d\.url$/,
];

describe("the words of each language", () => {
  test("are there in English and in German at least", () => assert.ok(["en", "de"].every((language) => LANGUAGES.includes(language)), `${LANGUAGES}`));

  for (const language of OTHERS) {
    test(`${language}: every one of them, of the same kind`, async () => {
      const [english, own] = await Promise.all([wordsOf("en"), wordsOf(language)]);
      const kinds = ({ strings }) => [...leaves(strings)].map(([at, word]) => [at, typeof word === "function" ? `of ${word.length}` : typeof word]).sort();
      assert.deepEqual(kinds(own), kinds(english));
      for (const [at, word] of leaves(own.strings)) {
        if (typeof word === "string" && at !== "about.right.of.small") assert.notEqual(word.trim(), "", at);
        if (typeof word === "function") assert.ok(said(word).some((made) => typeof made === "string" && made !== ""), `${at} makes nothing of anything`);
      }
      assert.notEqual(own.strings.inEnglish, "");
    });

    test(`${language}: none is left in English`, async () => {
      const [english, own] = await Promise.all([wordsOf("en"), wordsOf(language)]);
      const before = new Map(leaves(english.strings));
      const left = [...leaves(own.strings)].flatMap(([at, word]) => {
        if (SAME.some((allowed) => allowed.test(at))) return [];
        const [mine, theirs] = [said(word), said(before.get(at))];
        return mine.some((text, i) => text !== undefined && text === theirs[i] && spelled(text).length > 0) ? [at] : [];
      });
      assert.deepEqual(left, []);
      // Links, and figures with their units, are the same everywhere.
      const addresses = ({ strings }) => [...leaves(strings)].filter(([at]) => /\.url$/.test(at));
      assert.deepEqual(addresses(own), addresses(english));
    });

    test(`${language}: the lessons are told in it, and try out the same sentences and conditions`, async () => {
      const [english, own] = await Promise.all([wordsOf("en"), wordsOf(language)]);
      const tried = ({ lessons }) => lessons.map(({ sentences, conditions, chosen }) => ({ sentences, conditions, chosen }));
      assert.deepEqual(tried(own), tried(english));
      own.lessons.forEach((lesson, i) => {
        for (const part of ["title", "question", "answer"]) assert.notEqual(lesson[part], english.lessons[i][part], `lesson ${i + 1}: ${part}`);
      });
    });
  }

  test("numbers are written as the language writes them", async () => {
    const de = (await wordsOf("de")).strings;
    assert.equal(de.results.spokenUnaided(0.964), "Ohne Bedingung: Ähnlichkeit 0,96.");
    assert.equal(de.engine.megabytes(13_700_000), "13,7 MB");
    assert.equal(de.attention.share("park", 0.6), "park 60\u00a0%");
    assert.equal(de.list.texts.count(1814), "1.814 Texte");
    assert.match(de.list.verdict.some(-0.06, 0.09), /−0,06.*0,09/);
    assert.match(de.how.vector(Float32Array.of(0.5, -0.25)), /^2 Zahlen: 0,50; −0,25; … Länge 0,56\.$/);
  });

  test("the sizes that the steps are explained with are those of the models' files", async () => {
    /** A number of the encoder's configuration, which stands at the beginning of its file. */
    const sizeIn = (file) => {
      const start = Buffer.alloc(1 << 14);
      const handle = openSync(path.join(MODELS, file));
      readSync(handle, start);
      closeSync(handle);
      return (name) => Number(new RegExp(`"${name}": (\\d+)`).exec(start.toString("latin1"))[1]);
    };
    const [small, large] = [MODEL_FILE, "caselens-csts-large-q4_0.gguf"].map(sizeIn);
    for (const language of LANGUAGES) {
      const { tokens, attention, cosine } = (await wordsOf(language)).strings.how.steps;
      // Numbers without what parts their thousands; layers are spelled out in most languages.
      const numbersIn = (text) => text.replace(/(\d)[.,\u00a0](?=\d{3})/g, "$1").match(/\d+/g).map(Number);
      const says = (text, ...numbers) => numbers.forEach((number) => assert.ok(numbersIn(text).includes(number), `${language}, ${number}: ${text}`));
      says(tokens.more, small("hidden_size"), small("max_position_embeddings"));
      says(tokens.moreOf.large, large("hidden_size"), large("max_position_embeddings") - 2); // its first two stand for nothing
      says(attention.more, small("hidden_size"), small("intermediate_size"));
      says(attention.moreOf.large, large("hidden_size"), large("intermediate_size"));
      for (const text of [cosine.more, cosine.moreOf.large, cosine.moreOf.case]) says(text, 11342);
    }
    assert.deepEqual([small("num_hidden_layers"), large("num_hidden_layers")], [6, 12]);
  });
});

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

const QUERY = `${new URLSearchParams([["s1", "She plays chess in the park"], ["s2", "He plays football in the park"], ["c", "the place"], ["c", "the game"], ["device", "wasm"]])}`;
const open = (context, hash = `#${QUERY}`) => visit(context, `${server.origin}/site/${hash}`);
const answered = (page) => page.waitForFunction(() => /\d/.test(document.querySelector(".rows > li:nth-child(2) .cell-value")?.textContent ?? ""), undefined, PATIENT);
const langOf = (page) => page.evaluate(() => document.documentElement.lang);
const choice = (page) => page.getByRole("contentinfo").getByRole("combobox");
/** The languages whose words were asked for. */
const asked = () => server.requests.flatMap(({ path: asked }) => /\/assets\/([a-z]{2})-[^/]*\.js$/.exec(asked)?.[1] ?? []).filter((name) => LANGUAGES.includes(name));

describe("the language", () => {
  test("is the browser's: its words alone are loaded, and the title, the description, the numbers and <html lang> follow", async () => {
    const { strings } = await wordsOf("de");
    const own = await browser.newContext({ locale: "de-DE", serviceWorkers: "block" });
    const page = await open(own);
    await answered(page);
    assert.equal(await langOf(page), "de");
    assert.equal(await page.title(), strings.documents.compare);
    assert.equal(await page.locator("meta[name=description]").getAttribute("content"), strings.description);
    assert.equal(await page.getByRole("heading", { level: 1 }).innerText().then((text) => text.replace(/\s+/g, " ").trim()), strings.headline.join(" "));
    assert.match(await page.locator(".rows > li:nth-child(2) .cell-value").innerText(), /^0,\d\d$/);
    await page.getByText(strings.inEnglish).waitFor();
    assert.deepEqual(asked(), ["de"]);
    // What is read in English is marked as English.
    assert.equal(await page.locator("#sentence-1").getAttribute("lang"), "en");
    // What links hold is the same in all languages.
    await page.getByRole("link", { name: strings.views.names.how }).click();
    await page.locator(".chart canvas").first().waitFor(PATIENT);
    assert.equal(await page.title(), strings.documents.how);
    assert.match(page.url(), /#\/how\?s1=She\+plays\+chess/);
    await page.goto(`${server.origin}/site/speed.html`);
    await page.getByRole("button", { name: strings.speed.begin }).waitFor();
    assert.deepEqual([await langOf(page), await page.title()], ["de", strings.documents.speed]);
    assert.deepEqual(page.problems, []);
    await own.close();
  });

  for (const [wanted, expected] of [[["pl", "de-AT", "en"], "de"], [["pl", "ko-KR"], "en"], [["en-GB", "de"], "en"], [[], "en"]]) {
    test(`is ${expected} for who reads ${wanted.join(", ") || "nobody knows what"}`, async () => {
      const own = await browser.newContext();
      await own.addInitScript((wanted) => Object.defineProperty(Navigator.prototype, "languages", { get: () => wanted }), wanted);
      const page = await open(own);
      await page.locator("#sentence-1").waitFor();
      assert.equal(await langOf(page), expected);
      assert.deepEqual(page.problems, []);
      await own.close();
    });
  }

  test("can be chosen in the page's foot, keeps what was typed, and is remembered", async () => {
    const own = await browser.newContext({ locale: "de-DE" });
    const page = await open(own);
    await page.locator("#sentence-1").fill("A red kite over the hill");
    assert.equal(await choice(page).inputValue(), "de");
    assert.deepEqual((await choice(page).locator("option").allInnerTexts()).filter((name) => ["Deutsch", "English"].includes(name)), ["Deutsch", "English"]);
    await choice(page).selectOption("en");
    await page.getByRole("heading", { name: "Under which condition?" }).waitFor();
    assert.equal(await langOf(page), "en");
    assert.equal(await page.locator("#sentence-1").inputValue(), "A red kite over the hill");
    await page.reload();
    await page.getByRole("heading", { name: "Under which condition?" }).waitFor();
    assert.equal(await choice(page).inputValue(), "en");
    await page.goto(`${server.origin}/site/speed.html`);
    await page.getByRole("button", { name: "Measure" }).waitFor();
    await choice(page).selectOption("de");
    await page.getByRole("button", { name: "Messen" }).waitFor();
    assert.deepEqual(page.problems, []);
    await own.close();
  });

  test("cannot be chosen where nothing may be remembered; the page is there all the same", async () => {
    const own = await browser.newContext({ locale: "de-DE" });
    await own.addInitScript(() => Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError"); } }));
    const page = await open(own);
    await page.getByRole("contentinfo").waitFor();
    assert.equal(await langOf(page), "de");
    assert.equal(await choice(page).count(), 0);
    assert.deepEqual(page.problems, []);
    await own.close();
  });

  test("what went wrong is told in it", async () => {
    const { strings } = await wordsOf("de");
    server.rule(`/site/models/${MODEL_FILE}`, { status: 404 });
    const own = await browser.newContext({ locale: "de-DE" });
    const page = await open(own);
    await page.getByRole("alert").getByText(strings.problems.told.http).waitFor();
    server.rule(`/site/models/${MODEL_FILE}`, undefined);
    await page.getByRole("button", { name: strings.problems.retry }).click();
    await answered(page);
    await page.locator("input[data-condition]").first().fill("word ".repeat(1000));
    await page.locator(".row .note").filter({ hasText: strings.problems.told["condition-too-long"] }).waitFor();
    await own.close();
  });

  test("works without a network, and so do the others: all of them are kept", async () => {
    const own = await serve({ mounts: { "/site/": SITE } });
    const context = await browser.newContext({ locale: "de-DE" });
    const page = await visit(context, `${own.origin}/site/#${QUERY}`);
    await answered(page);
    await until(page, async () => (await (await caches.open("caselens-v1")).keys()).length >= 2);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await own.close();
    await context.setOffline(true);
    await page.reload();
    await answered(page);
    assert.equal(await langOf(page), "de");
    for (const language of LANGUAGES) {
      await choice(page).selectOption(language);
      await page.waitForFunction((language) => document.documentElement.lang === language && document.querySelector("h1"), language);
    }
    await context.close();
  });
});

/** Each view, and what tells that it is all there. */
const VIEWS = {
  compare: [`#${QUERY}`, ".suggestions .chip"],
  list: [`#/list?${new URLSearchParams({ list: "captions", c: "the place", k: 12, q: "a dog", device: "wasm" })}`, ".hits li"],
  how: [`#/how?${QUERY}&lesson=1`, ".chart canvas"],
  "how, presented": [`#/how?${QUERY}&present=1&step=embedding`, ".chart canvas"],
  speed: ["speed.html", "main button"],
  unkept: ["unkept.html", "main a"],
};
const SIZES = { "320 px": { width: 320, height: 640 }, "1280 px": { width: 1280, height: 800 } };

/** What layout shifts may add up to: a word gets wider while it counts. A presented step moves up on a small screen when its figure comes. */
const shiftOf = (view, size) => (view === "how, presented" && size === "320 px" ? 0.06 : 0.02);

/** What is wider than its place without being made to scroll: the page, or the words of a part of it. */
function tooWide() {
  const isTooWide = (element) => element.matches("button, th, summary, label, .cell-value, .cell-difference, .readout, legend") && !element.closest(".hidden") && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0;
  const shown = [...document.body.querySelectorAll("*")].filter((element) => element.checkVisibility());
  const named = (element) => `inside ${element.localName}.${element.getAttribute("class") ?? ""}: ${element.textContent.trim().slice(0, 40)}`;
  return [...(document.documentElement.scrollWidth > innerWidth ? ["the page"] : []), ...shown.filter(isTooWide).map(named)];
}

/** What is folded away in a view: each is opened and, where it has something to do, does it. */
const FOLDED = {
  compare: async (page, { strings }) => {
    await page.locator(".engine summary").click();
    await page.locator(".encoders input, .encoder input").first().waitFor();
    await page.getByText(strings.pairs.title).click();
    const table = "sentence1,sentence2,condition,label\nA girl plays chess,A boy plays chess,the game,5\nA dog runs,A cat sits,the animal,1\nDer Hund schläft auf dem roten Sofa und träumt,A cat sleeps,the animal,2\n,A cat,the animal,1\n";
    await page.locator(".pairs input[type=file]").setInputFiles({ name: "pairs.csv", mimeType: "text/csv", buffer: Buffer.from(table) });
    await page.getByRole("button", { name: strings.pairs.compare }).click();
    await page.locator(".pairs-rows tbody tr").nth(2).waitFor();
    await page.locator(".pairs").getByRole("button", { name: strings.list.export.csv }).waitFor();
  },
  list: async (page) => {
    for (const part of [".map-help summary", ".engine summary"]) await page.locator(part).click();
    await page.locator(".group .rename").first().click();
    await page.locator(".hit").first().click();
  },
  how: async (page) => {
    for (const part of [".heads", ".space", ".rate", ".teachers:not(.heads, .space, .rate)", ".sheet-pairs", ".engine"]) await page.locator(`${part} > summary`).click();
    await page.locator(".heads-one").nth(11).click();
    await page.locator(".heads-picture").waitFor();
    await page.locator(".space-point").nth(13).waitFor();
    await page.locator(".rate input").nth(2).check({ force: true });
    await page.locator(".rate-table td").nth(1).filter({ hasText: /\d/ }).waitFor();
    // It lies over what is below: looked at last, and put away.
    await page.locator(".sheet-pairs input").first().check();
    await page.locator(".sheet-pairs > summary").click();
  },
};
for (const [language, size] of [["de", "320 px"], ["de", "1280 px"], ["fr", "320 px"], ["ja", "320 px"]]) {
  describe(`in ${language}, ${size}, what is folded away fits, too`, () => {
    for (const [view, unfold] of Object.entries(FOLDED)) {
      test(`${view}: nothing sticks out, and axe finds nothing`, PATIENT, async () => {
        const own = await browser.newContext({ locale: localeOf(language), viewport: SIZES[size], reducedMotion: "reduce" });
        const [address, there] = VIEWS[view];
        const page = await open(own, address);
        await page.locator(there).first().waitFor(PATIENT);
        await unfold(page, await wordsOf(language));
        assert.deepEqual(await page.evaluate(stickingOut), []);
        assert.deepEqual(await page.evaluate(tooWide), []);
        const found = (await violations(page)).filter((violation) => language !== "ja" || !violation.startsWith("label-content-name-mismatch"));
        assert.deepEqual(found, []);
        assert.deepEqual(page.problems, []);
        await own.close();
      });
    }
  });
}

for (const language of LANGUAGES) {
  describe(`in ${language} everything fits`, () => {
    for (const [size, viewport] of Object.entries(SIZES)) {
      for (const [view, [address, there]] of Object.entries(VIEWS)) {
        test(`${view}, ${size}: nothing sticks out or moves, and axe finds nothing`, PATIENT, async () => {
          const own = await browser.newContext({ locale: localeOf(language), viewport, reducedMotion: "reduce" });
          await own.addInitScript(() => {
            window.shifts = [];
            new PerformanceObserver((list) => {
              for (const { value, hadRecentInput, sources } of list.getEntries()) if (!hadRecentInput) window.shifts.push([value, ...sources.map(({ node }) => node?.className ?? node?.nodeName)]);
            }).observe({ type: "layout-shift", buffered: true });
          });
          const page = await open(own, address);
          await page.locator(there).first().waitFor(PATIENT);
          await page.waitForTimeout(300);
          assert.equal(await langOf(page), language);
          const shifts = await page.evaluate(() => window.shifts);
          assert.ok(shifts.reduce((sum, [value]) => sum + value, 0) < shiftOf(view, size), JSON.stringify(shifts));
          assert.deepEqual(await page.evaluate(stickingOut), []);
          assert.deepEqual(await page.evaluate(tooWide), []);
          // axe looks for a button's words in its label between spaces, which Japanese has none of.
          const found = (await violations(page)).filter((violation) => language !== "ja" || !violation.startsWith("label-content-name-mismatch"));
          assert.deepEqual(found, []);
          assert.deepEqual(page.problems, []);
          await own.close();
        });
      }
    }
  });
}
