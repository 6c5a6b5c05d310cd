// The demo's list view as people use it, and the suggestions under the comparison.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { launch, ROOT, serve, violations, visit } from "./helpers.mjs";

const PATIENT = { timeout: 120_000 };

let server;
let browser;
before(async () => {
  server = await serve({ mounts: { "/site/": path.join(ROOT, "www/dist") } });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** Opens the page in a context of its own; what it complains about is kept in `page.problems`. */
async function open(hash = "#/list?device=wasm", options = {}) {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  return visit(context, `${server.origin}/site/${hash}`);
}

/** Waits until the groups are those of this condition. */
const groupedBy = (page, condition) =>
  page.waitForFunction(
    (condition) =>
      !document.querySelector("[role=progressbar]") && document.querySelector(".work-line p")?.textContent.includes(condition),
    condition ? `“${condition}”` : "",
    PATIENT,
  );
const names = (page) => page.locator(".group-name").allInnerTexts();
const ownList = (texts, condition = "the animal") =>
  `#/list?${new URLSearchParams([["t", texts.join("\n")], ["c", condition], ["device", "wasm"]])}`;
/** Puts texts into the field as a paste: typing a thousand lines takes the browser's editing commands longer than the model. */
const paste = (page, text) =>
  page.getByLabel("One text a line").evaluate((field, text) => {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }, text);
const field = (page) => page.getByLabel("One text a line").inputValue();
const holds = (page, text) => page.waitForFunction((text) => document.querySelector("#texts")?.value === text, text);
/** What is said below the texts. */
const told = (page) => page.locator("#texts-told").innerText();
/** Chooses a file by the button. */
const upload = (page, name, content) =>
  page.getByLabel("Open a file").setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.from(content) });
const hasFocus = (page, selector) => page.waitForFunction((selector) => document.activeElement?.matches(selector), selector);
/** What went wrong apart from the files that a test withholds. */
const unexpected = (page) => page.problems.filter((problem) => !problem.startsWith("Failed to load resource"));
const ANIMALS = ["A cat sleeps on the sofa.", "A dog runs in the park.", "A puppy chews a bone.", "A kitten plays with wool.", "A dog barks at night."];

describe("the list view", () => {
  test("opens with a list in groups, and another condition makes other groups", PATIENT, async () => {
    const page = await open();
    await groupedBy(page, "the number of people");
    const before = await names(page);
    assert.ok(before.length >= 2);
    assert.match(await page.locator("canvas").getAttribute("aria-label"), /^Map of 48 texts in \d+ groups/);
    await page.getByRole("button", { name: "the place", exact: true }).click();
    await groupedBy(page, "the place");
    assert.notDeepEqual(await names(page), before);
    await page.getByLabel("Number of groups").selectOption("5");
    await page.waitForFunction(() => document.querySelectorAll(".group").length === 5);
    assert.equal(new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get("k"), "5");

    // The link opens the same, and Back undoes the choice.
    const link = new URL(page.url()).hash;
    const other = await open(link);
    await groupedBy(other, "the place");
    assert.deepEqual(await names(other), await names(page));
    await page.goBack();
    await page.waitForFunction(() => document.querySelectorAll(".group").length !== 5);
    await page.getByRole("button", { name: "Support Tickets" }).click();
    await groupedBy(page, "the mood of the customer");
    assert.match(page.url(), /list=tickets/);
    assert.deepEqual([...page.problems, ...other.problems], []);
    await page.context().close();
    await other.context().close();
  });

  test("its link on another view opens it with a list, and comes back to it", PATIENT, async () => {
    const page = await open("#device=wasm");
    await page.getByRole("link", { name: "List" }).click();
    await groupedBy(page, "the number of people");
    await page.getByRole("button", { name: "the place", exact: true }).click();
    await groupedBy(page, "the place");
    const before = await names(page);
    await page.getByRole("link", { name: "Compare" }).click();
    await page.waitForFunction(() => document.querySelector(".rows"));
    await page.getByRole("link", { name: "List" }).click();
    await groupedBy(page, "the place");
    assert.deepEqual(await names(page), before);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("members unfold, and what is searched for is found under the condition", PATIENT, async () => {
    const page = await open(ownList(ANIMALS));
    await groupedBy(page, "the animal");
    const shown = await page.locator(".members li").count();
    assert.equal(shown, ANIMALS.length);
    await page.getByLabel("Find in the list").fill("A hound sleeps.");
    await page.waitForSelector(".hits li");
    const found = await page.locator(".hits li span:nth-child(2)").allInnerTexts();
    assert.equal(found.length, ANIMALS.length);
    assert.match(found[0], /dog/);

    // Under another condition's heading stands what that condition finds, never what the one before found.
    await page.evaluate(() => {
      const similarities = () => [...document.querySelectorAll(".hits .quiet")].map((one) => one.innerText).join(" ");
      const read = () => [document.querySelector("#found-title").innerText, similarities()];
      window.shown = [read()];
      new MutationObserver(() => window.shown.push(read())).observe(document.querySelector(".search section"), { subtree: true, childList: true, characterData: true });
    });
    await page.getByRole("button", { name: "the place", exact: true }).click();
    await page.waitForFunction(() => window.shown.at(-1)[0] === "Most alike by “the place”");
    const shownHits = await page.evaluate(() => window.shown);
    assert.ok(shownHits.every(([heading, hits]) => (heading === shownHits[0][0]) === (hits === shownHits[0][1])), JSON.stringify(shownHits));

    await page.getByLabel("Find in the list").fill("");
    await page.waitForFunction(() => !document.querySelector(".hits"));
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("a CSV file offers its columns, and the groups are saved as one", PATIENT, async () => {
    const page = await open(ownList(ANIMALS));
    const csv = `id,"what, it says",mood\n${ANIMALS.map((text, i) => `${i},"${text} ""Really"", he said",good`).join("\n")}\n`;
    await page.getByLabel("Open a file").setInputFiles({ name: "pets.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
    const column = page.getByLabel("Column");
    await column.waitFor();
    assert.deepEqual(await column.locator("option").allInnerTexts(), ["id", "what, it says", "mood"]);
    assert.equal(await column.inputValue(), "1");
    assert.equal((await page.getByLabel("One text a line").inputValue()).split("\n")[0], `${ANIMALS[0]} "Really", he said`);
    await groupedBy(page, "the animal");
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as CSV" }).click()]);
    const [heading, ...rows] = (await readFile(await saved.path(), "utf8")).trimEnd().split("\r\n");
    assert.equal(heading, "\uFEFFtext,group,group_name,similarity_to_centre,x,y,condition,language,unknown_pieces,cut");
    assert.match(rows[0], /^"A cat sleeps on the sofa\. ""Really"", he said",\d+,[^,]+,.*,the animal,,,$/);
    assert.equal(rows.length, ANIMALS.length);
    const numbers = rows.flatMap((row) => row.split(",").slice(-7, -4));
    assert.ok(numbers.every((number) => /^-?\d(\.\d{1,4})?$/.test(number)) && numbers.some((number) => number < 0), `${numbers}`);
    await column.selectOption("2");
    assert.equal(await page.getByLabel("One text a line").inputValue(), Array(5).fill("good").join("\n"));
    await page.waitForFunction(() => document.querySelectorAll(".group").length === 1);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("files of any encoding and kind are read, what was guessed can be switched, and what cannot be read is told", PATIENT, async () => {
    const page = await open(ownList(ANIMALS));
    await holds(page, ANIMALS.join("\n"));
    const header = page.getByLabel("The first row is a header");
    const column = page.getByLabel("Column");
    assert.equal(await header.count(), 0);

    // As Excel saves it in western Europe, without a header.
    await upload(page, "umlauts.csv", Buffer.from("1;Gr\xfc\xdfe aus K\xf6ln\r\n2;Caf\xe9 f\xfcr 5 \x80\r\n3; \r\n", "latin1"));
    await holds(page, "Grüße aus Köln\nCafé für 5 €");
    assert.match(await told(page), /^1 row has no text in this column\. The file is not in UTF-8 and was read as Windows-1252/);
    assert.equal(await header.isChecked(), false);
    assert.deepEqual(await column.locator("option").allInnerTexts(), ["Column 1", "Column 2"]);
    await header.check();
    await holds(page, "Café für 5 €");
    assert.deepEqual(await column.locator("option").allInnerTexts(), ["1", "Grüße aus Köln"]);
    await page.goBack();
    await holds(page, "Grüße aus Köln\nCafé für 5 €");
    assert.equal(await header.isChecked(), false);
    assert.match(await told(page), /Windows-1252/);

    await upload(page, "workbook.xlsx", await readFile(path.join(ROOT, "tests/fixtures/tables/workbook.xlsx")));
    await holds(page, "Crème brûlée & <coffee>, “great”\nA cold soup\nTwo lines 😀");
    assert.deepEqual([await header.isChecked(), await column.inputValue()], [true, "1"]);
    await upload(page, "list.jsonl", '{"text": "A dog", "id": 1}\n{"text": "A cat", "id": 2}\n');
    await holds(page, "A dog\nA cat");
    assert.equal(await header.count(), 0); // its names are no guess
    await upload(page, "list.txt", "A dog, a cat\nA man, a plan");
    await holds(page, "A dog, a cat\nA man, a plan");
    assert.deepEqual([await header.isChecked(), await column.count()], [false, 0]);

    // What this page saved is read by the column that it calls the text.
    await groupedBy(page, "the animal");
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as CSV" }).click()]);
    const csv = await readFile(await saved.path());
    await page.getByLabel("One text a line").fill("");
    await upload(page, "caselens-groups.csv", csv);
    await holds(page, "A dog, a cat\nA man, a plan");
    assert.deepEqual([await header.isChecked(), await column.inputValue()], [true, "0"]);

    // What cannot be read leaves what is there.
    await upload(page, "old.xls", Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(600)]));
    await page.getByText("old.xls is in an older Office format").waitFor();
    await upload(page, "photo.csv", await readFile(path.join(ROOT, "www/screenshot.png")));
    await page.getByText("photo.csv is no text, table or list. Save it as CSV, Excel (.xlsx), JSON or plain text, then open that.").waitFor();
    assert.equal(await field(page), "A dog, a cat\nA man, a plan");
    assert.deepEqual(await violations(page, "main"), []);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("long work says how far it is and can be stopped; what is too much is left out and said", PATIENT, async () => {
    const page = await open(ownList(ANIMALS));
    await groupedBy(page, "the animal");
    await page.getByLabel("Find in the list").fill("A hound sleeps.");
    await page.waitForSelector(".hits li");
    const many = Array.from({ length: 10_100 }, (_, i) => `${ANIMALS[i % 5]} ${i}`).join("\n");
    await paste(page, many);
    assert.equal(await page.locator("#texts-count").innerText(), "10,000 texts");
    assert.match(await told(page), /^A random sample of the 10,100 that were given/);
    await page.waitForFunction(() => Number(document.querySelector(".work [role=progressbar]")?.getAttribute("aria-valuenow")) > 0);
    // It speaks of what is done, and not of the groups before.
    assert.equal(await page.locator(".work-line [role=status]").innerText(), "Grouping 10,000 texts by “the animal” …");
    await page.getByText(/^[\d,]+ of 10,000 read\b/).waitFor();
    await page.getByText(/^[\d,]+ of 10,000 read · about [\d,]+ (s|min) left$/).waitFor();
    assert.match(await page.locator(".work [role=progressbar]").getAttribute("aria-valuetext"), /^about [\d,]+ (s|min) left$/);
    await page.getByRole("button", { name: "Cancel" }).press("Enter");
    await page.getByText("Stopped before it was done. What stands below is from before the last change.").waitFor();
    assert.equal(await page.locator(".work [role=progressbar]").count(), 0);
    await hasFocus(page, ".work-line [role=status]");

    // The groups that are still there say that they are not of these texts, and are not saved as if they were.
    const save = page.getByRole("button", { name: "Save as CSV" });
    assert.deepEqual(await page.locator(".grouped h2").allInnerTexts(), ["Earlier map", "Most alike by “the animal”", "Earlier groups"]);
    assert.equal(await page.locator(".earlier").count(), 3);
    assert.ok(await save.isDisabled());
    assert.deepEqual(await violations(page, "main"), []);
    await page.getByLabel("Find in the list").fill("");
    await page.getByLabel("One text a line").fill(ANIMALS.join("\n"));
    await groupedBy(page, "the animal");
    assert.deepEqual(await page.locator(".grouped h2").allInnerTexts(), ["Map", "Groups"]);
    assert.equal(await page.locator(".earlier").count(), 0);
    assert.ok(await save.isEnabled());

    // Cancel goes away when the work is done; who stood on it hears what came of it.
    await page.getByRole("button", { name: "the mood", exact: true }).click();
    await page.getByRole("button", { name: "Cancel" }).focus();
    await groupedBy(page, "the mood");
    await hasFocus(page, ".work-line [role=status]");
    await page.getByLabel("One text a line").fill(" \n");
    await page.getByText("Paste a list to see its groups.").waitFor();
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("texts in another language are told, and what is written from right to left begins at the right", PATIENT, async () => {
    const german = ["Der Hund schläft auf dem roten Sofa und träumt", "Die Katze jagt eine Maus durch den ganzen Garten"];
    const arabic = "القطة تنام على الأريكة الحمراء";
    const page = await open(`${ownList([...ANIMALS, ...german, arabic])}&${new URLSearchParams({ q: arabic })}`);
    await groupedBy(page, "the animal");
    const said = page.getByText(/^3 texts look like /);
    await said.waitFor();
    assert.match(await said.innerText(), /German.*; the model was trained on English\. What it says of them means little\.$/);
    // Each of them is marked, in the page and in what is saved.
    const marked = page.locator(".members li", { hasText: german[0] });
    assert.match(await marked.innerText(), /uncertain: not English/);
    assert.doesNotMatch(await page.locator(".members li", { hasText: ANIMALS[0] }).innerText(), /uncertain/);
    const saved = {};
    for (const kind of ["CSV", "JSON"]) {
      const [file] = await Promise.all([page.waitForEvent("download"), page.locator(".work-tools").getByRole("button", { name: `Save as ${kind}` }).click()]);
      saved[kind] = await readFile(await file.path(), "utf8");
    }
    assert.deepEqual(JSON.parse(saved.JSON).map(({ language }) => language), [...ANIMALS.map(() => ""), "de", "de", "ar"]);
    assert.match(saved.CSV, /träumt,.*,de,,\r\n/);
    const direction = (locator) => locator.evaluate((each) => getComputedStyle(each).direction);
    await page.locator(".hits li").first().waitFor();
    for (const [parts, text] of [[".members li > span", arabic], [".hits li > span", arabic], [".members li > span", ANIMALS[0]]]) {
      assert.equal(await direction(page.locator(parts, { hasText: text }).first()), text === arabic ? "rtl" : "ltr", `${parts} ${text}`);
    }
    assert.equal(await direction(page.getByLabel("Find in the list")), "rtl");
    await paste(page, arabic);
    assert.equal(await direction(page.getByLabel("One text a line")), "rtl");
    await paste(page, ANIMALS.join("\n"));
    await groupedBy(page, "the animal");
    await said.waitFor({ state: "detached" });
    await page.context().close();
  });

  test("a list too long for a link stays through a reload, another view and another list", PATIENT, async () => {
    const many = Array.from({ length: 1000 }, (_, i) => `${ANIMALS[i % 5]} ${i}`).join("\n");
    const page = await open(ownList(ANIMALS), { permissions: ["clipboard-read", "clipboard-write"] });
    await holds(page, ANIMALS.join("\n"));
    await paste(page, many);
    await page.getByRole("button", { name: "the price", exact: true }).click();
    assert.equal(new URL(page.url()).hash, "#/list?t=&c=the+price&device=wasm");

    await page.reload();
    await holds(page, many);
    assert.equal(await page.locator("#group-by").inputValue(), "the price");
    await page.getByRole("link", { name: "Compare" }).click();
    await page.waitForSelector(".rows");
    await page.goBack();
    await holds(page, many);
    await page.getByRole("link", { name: "Compare" }).click();
    await page.waitForSelector(".rows");
    await page.getByRole("link", { name: "List" }).click();
    await holds(page, many);
    await page.getByRole("button", { name: "Support Tickets" }).click();
    await page.waitForURL(/list=tickets/);
    await page.goBack();
    await holds(page, many);
    assert.equal(await page.locator("#group-by").inputValue(), "the price");
    await page.goBack();
    await page.waitForSelector(".rows");

    // The link says what it does not hold, where it is copied and where it is opened.
    await page.goForward();
    await holds(page, many);
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("Link copied without the texts").waitFor();
    const other = await open(new URL(await page.evaluate(() => navigator.clipboard.readText())).hash);
    await other.getByText("This link came without its texts").waitFor();
    assert.equal(await field(other), "");
    assert.equal(await other.locator("#group-by").inputValue(), "the price");
    await other.reload();
    await other.getByText("This link came without its texts").waitFor();
    await paste(other, ANIMALS.join("\n"));
    await groupedBy(other, "the price");
    await other.getByText("This link came without its texts").waitFor({ state: "detached" });
    assert.deepEqual([...page.problems, ...other.problems], []);
    await page.context().close();
    await other.context().close();
  });

  test("what was pasted just before a click on another view is there on the way back", PATIENT, async () => {
    const page = await open(ownList(ANIMALS));
    await holds(page, ANIMALS.join("\n"));
    await page.evaluate(() => {
      const field = document.querySelector("#texts");
      field.value = "one\ntwo";
      field.dispatchEvent(new Event("input", { bubbles: true }));
      document.querySelector(".nav a").click();
    });
    await page.waitForSelector(".rows");
    await page.goBack();
    await holds(page, "one\ntwo");
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("a ready list that comes late does not take the place of what was pasted meanwhile; Back undoes one", PATIENT, async () => {
    const page = await open(ownList(ANIMALS), { serviceWorkers: "block" });
    await holds(page, ANIMALS.join("\n"));
    const asked = new Promise((resolve) => void page.route(/\/tickets-[^/]*\.js$/, resolve));
    const tickets = page.getByRole("button", { name: "Support Tickets" });
    await tickets.click();
    const late = await asked;
    await paste(page, "one\ntwo");
    await late.continue();
    await page.evaluate(async (url) => {
      await import(url);
      await new Promise(requestAnimationFrame);
    }, late.request().url());
    assert.equal(await field(page), "one\ntwo");

    await tickets.click();
    await page.waitForURL(/list=tickets/);
    await page.goBack();
    await holds(page, "one\ntwo");
    assert.equal(await page.locator("#group-by").inputValue(), "the animal");
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("what is loaded when it is needed says so where it cannot be, and comes when it can", PATIENT, async () => {
    const page = await open("#/how", { serviceWorkers: "block" });
    const parts = /\/(captions|MapChart|papaparse)[^/]*\.js$/;
    await page.route(parts, (route) => route.abort("internetdisconnected"));
    await page.goto(`${server.origin}/site/#/list?device=wasm`);
    await page.getByText("This list could not be loaded. Check your connection").waitFor();
    await paste(page, ANIMALS.join("\n"));
    await page.getByText("What draws the map could not be loaded.").waitFor(PATIENT);
    assert.equal(await page.getByText("This list could not be loaded.").count(), 0);
    await page.getByRole("button", { name: "Save as CSV" }).click();
    await page.getByText("What writes CSV could not be loaded.").waitFor();
    await upload(page, "pets.csv", "text\nA cat\n");
    await page.getByText("What reads such a file could not be loaded.").waitFor();
    assert.equal(await field(page), ANIMALS.join("\n"));

    await page.unroute(parts);
    await page.getByRole("button", { name: "Try again" }).press("Enter");
    await hasFocus(page, "#map-title");
    await page.waitForFunction(() => {
      const canvas = document.querySelector("canvas");
      return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0);
    });
    await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as CSV" }).click()]);
    await page.getByRole("button", { name: "Pictures Captions" }).click();
    await groupedBy(page, "the number of people");
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.deepEqual(unexpected(page), []);
    await page.context().close();
  });

  test("a file may be dropped anywhere, and what is not taken of it is said", PATIENT, async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), "caselens-list-"));
    t.after(() => rm(folder, { recursive: true }));
    const drag = async (page, rows) => {
      const file = path.join(folder, "pets.csv");
      await writeFile(file, rows.join("\n"));
      const session = await page.context().newCDPSession(page);
      const { x, y } = await page.locator("h1").boundingBox();
      const data = { items: [], files: [file], dragOperationsMask: 1 };
      return (type) => session.send("Input.dispatchDragEvent", { type, x: x + 5, y: y + 5, data });
    };
    const page = await open(ownList(ANIMALS));
    await holds(page, ANIMALS.join("\n"));
    const hint = page.getByText("Drop the file to open it");
    const rows = Array.from({ length: 10_203 }, (_, i) => `${i},${i === 5 ? "" : `A cat purrs ${i} times`}`);
    rows[10_202] += " purrs".repeat(500);
    const small = await drag(page, ["id,text", ...rows]);
    await small("dragEnter");
    await small("dragOver");
    await hint.waitFor();
    await page.locator("h1").dispatchEvent("dragleave"); // as out of the window
    await hint.waitFor({ state: "hidden" });
    await small("dragEnter");
    await small("dragOver");
    await hint.waitFor();
    await small("drop");
    await page.getByLabel("Column").waitFor();
    await hint.waitFor({ state: "hidden" });
    assert.equal(
      await told(page),
      "A random sample of the 10,202 that were given, in their order and the same each time: this page groups up to 10,000. 1 row has no text in this column. 1 text is longer than 2,000 characters: what is beyond them is left out.",
    );
    const places = (await field(page)).split("\n").map((line) => Number(line.split(" ")[3]));
    assert.equal(places.length, 10_000);
    assert.ok(places.every((place, i) => i === 0 || place > places[i - 1]) && places.at(-1) > 10_150, `${places.slice(-5)}`);
    await page.goBack();
    await holds(page, ANIMALS.join("\n"));
    assert.equal(await page.getByLabel("Column").count(), 0);
    assert.equal(await page.locator("#texts-count").innerText(), "5 texts");
    assert.equal(await told(page), "");

    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  for (const reducedMotion of ["no-preference", "reduce"]) {
    const glides = reducedMotion === "no-preference";
    test(`points of the map ${glides ? "glide to where another condition puts them" : "jump where less motion is asked for"}`, PATIENT, async () => {
      const page = await open("#/list?list=captions&c=the+place&k=4&device=wasm", { reducedMotion });
      // The plates with the groups' numbers tell, frame by frame, where the map draws their points.
      await page.evaluate(() => {
        const { fillText } = CanvasRenderingContext2D.prototype;
        window.drawn = [];
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
          window.drawn.push({ text, x, y });
          return fillText.call(this, text, x, y);
        };
      });
      /** Waits until nothing new was drawn for a third of a second, counted from here. */
      const atRest = async () => {
        await page.evaluate(() => Object.assign(window, { last: 0, still: 0 }));
        await page.waitForFunction(() => {
          const same = window.drawn.length > 0 && window.drawn.length === window.last;
          window.still = same ? window.still + 1 : 0;
          window.last = window.drawn.length;
          return window.still > 20;
        });
      };
      await groupedBy(page, "the place");
      await atRest();
      await page.evaluate(() => (window.drawn = []));
      await page.getByRole("button", { name: "the activity", exact: true }).click();
      await groupedBy(page, "the activity");
      await atRest();
      const drawn = await page.evaluate(() => window.drawn);
      for (const plate of ["1", "2", "3", "4"]) {
        const places = drawn.filter(({ text }) => text === plate);
        const [from, to] = [places[0], places.at(-1)];
        const moving = places.filter(({ x, y }) => (x !== from.x || y !== from.y) && (x !== to.x || y !== to.y));
        const between = ({ x, y }) => (x - from.x) * (to.x - x) >= 0 && (y - from.y) * (to.y - y) >= 0;
        if (glides) assert.ok(moving.length > 0 && moving.every(between), JSON.stringify(places));
        else assert.ok(places.every(({ x, y }) => x === to.x && y === to.y), JSON.stringify(places));
      }
      await page.context().close();
    });
  }

  test("hostile and odd lists are harmless", PATIENT, async () => {
    const page = await open(ownList(["<img src=x onerror=alert(1)>", "=1+1", "…", "same", "same"], "<script>"));
    page.on("dialog", () => page.problems.push("a dialog opened"));
    await groupedBy(page, "<script>");
    assert.equal(await page.locator("main img, main script").count(), 0);
    await page.getByLabel("One text a line").fill("fine\n\uFFFD\n\u200b\ngood");
    assert.equal(await page.locator("#texts-count").innerText(), "2 texts");
    assert.equal(await told(page), "2 lines hold nothing but invisible characters and are left out.");
    await page.getByText("2 texts say nothing").first().waitFor(PATIENT);
    assert.equal(await page.getByRole("alert").count(), 0);
    for (const hash of ["#/list?list=__proto__&k=99&c=", "#/list?t=&k=-1", `#/list?t=${"a".repeat(20_000)}`]) {
      const other = await open(`${hash}&device=wasm`);
      await other.waitForSelector(".group, .work-line", PATIENT);
      assert.deepEqual(other.problems, []);
      await other.context().close();
    }
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const [name, viewport] of Object.entries({ desktop: { width: 1280, height: 800 }, phone: { width: 360, height: 740 } })) {
      test(`axe finds nothing and nothing sticks out: ${colorScheme}, ${name}`, PATIENT, async () => {
        const page = await open("#/list?list=captions&c=the+place&k=12&q=a+dog&device=wasm", { colorScheme, viewport });
        await groupedBy(page, "the place");
        await page.waitForSelector(".hits li");
        assert.deepEqual(await violations(page), []);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width);
        assert.equal(await page.locator(".group:not(.unmentioned)").count(), 12);
        await page.context().close();
      });
    }
  }
});

test("the comparison suggests conditions, and a click adds one", PATIENT, async () => {
  const page = await open("#s1=She+plays+chess+in+the+park&s2=He+plays+football+in+the+park&c=the+game&device=wasm");
  const chips = page.locator(".suggestions .chip");
  await chips.first().waitFor(PATIENT);
  const offered = await chips.allInnerTexts();
  assert.ok(offered.length >= 4, `${offered}`);
  const unsaid = ["the opinion", "the problem", "the danger", "the weather", "the service"];
  for (const none of ["the game", ...unsaid]) assert.ok(!offered.some((text) => text.startsWith(none)), `${offered}`);
  const place = chips.filter({ hasText: "the place" });
  await place.click();
  assert.deepEqual(
    await page.locator(".condition").evaluateAll((fields) => fields.map(({ value }) => value)),
    ["the game", "the place", ""],
  );
  assert.equal(await place.count(), 0);
  assert.deepEqual(await violations(page, ".suggestions-place"), []);

  // Other sentences, other suggestions; until they are there, none.
  await page.getByLabel("First sentence").fill("A black dog sleeps on a red sofa.");
  await page.waitForFunction(() => document.querySelectorAll(".suggestions .chip").length === 0);
  await chips.first().waitFor(PATIENT);
  assert.notDeepEqual(await chips.allInnerTexts(), offered);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
