// The demo's list view as a tool: groups with names, what is judged of them, and the map as people use it with pointer, fingers and keys.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { HEAD_FILE, launch, mentioning, MODELS, ROOT, serve, violations, visit } from "./helpers.mjs";

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

/** Opens the page in a context of its own. What the map draws is noted: fills of its canvas, by colour, and letters. */
async function open(hash, { site = "site", ...options } = {}) {
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 1280, height: 900 }, ...options });
  return visit(context, `${server.origin}/${site}/${hash}`);
}

const KINDS = [
  ["cat", "sleeps on the sofa"],
  ["dog", "runs in the park"],
  ["horse", "gallops along the shore"],
];
/** Texts of three animals in turn. */
const ANIMALS = Array.from({ length: 24 }, (_, i) => `A ${["black", "young", "big", "small"][i % 4]} ${KINDS[i % 3].join(" ")} at ${1 + i} o'clock.`);
const address = (texts, more = {}) => `#/list?${new URLSearchParams({ t: texts.join("\n"), c: "the animal", ...more, device: "wasm" })}`;
const grouped = (page, count) =>
  page.waitForFunction(
    (count) => !document.querySelector("[role=progressbar]") && !document.querySelector(".earlier") && document.querySelectorAll(".group:not(.unmentioned)").length === count,
    count,
    PATIENT,
  );
const names = (page) => page.locator(".group-name").allInnerTexts();
const map = (page) => page.locator(".map canvas");
const spoken = (page) => page.locator(".map > p[role=status]").innerText();
const chosen = (page) => page.locator(".selection p").first().innerText();
const upload = (page, name, content) =>
  page.getByLabel("Open a file").setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.from(content) });
const download = async (page, name, within = "main") => {
  const [saved] = await Promise.all([page.waitForEvent("download"), page.locator(within).getByRole("button", { name, exact: true }).first().click()]);
  return [saved.suggestedFilename(), await readFile(await saved.path(), "utf8")];
};
/** Where the plate of a group, by its number, was drawn last, in pixels of the page. */
async function watchPlates(page) {
  await page.addInitScript(() => {
    const { fillText } = CanvasRenderingContext2D.prototype;
    window.plates = {};
    window.drawn = 0;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      window.plates[text] = { x, y };
      window.drawn++;
      return fillText.call(this, text, x, y);
    };
  });
}
const plate = async (page, text) => {
  const [box, at] = [await map(page).boundingBox(), await page.evaluate((text) => window.plates[text], text)];
  return { x: box.x + at.x, y: box.y + at.y - 1, inMap: at };
};
async function openWatched(hash, options) {
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 1280, height: 900 }, ...options });
  const page = await visit(context, "about:blank");
  await watchPlates(page);
  await page.goto(`${server.origin}/site/${hash}`);
  await grouped(page, 3);
  await page.waitForFunction(() => window.plates[3]);
  return page;
}

describe("names of groups", () => {
  test("are words of their texts, in the list, in the legend and in what is saved", PATIENT, async () => {
    const page = await open(address(ANIMALS, { k: 3 }));
    await grouped(page, 3);
    const own = await names(page);
    for (const [animal] of KINDS) assert.equal(own.filter((name) => name.includes(animal)).length, 1, `${own}`);
    assert.ok(own.every((name) => !/animal|o'clock|\bthe\b/.test(name)), `${own}`);
    assert.deepEqual(await page.locator(".legend-name").allInnerTexts(), own);
    const [csvName, csv] = await download(page, "Save as CSV");
    const [heading, ...rows] = csv.trimEnd().split("\r\n");
    assert.equal(heading, "\uFEFFtext,group,group_name,similarity_to_centre,x,y,condition,language,unknown_pieces,cut");
    assert.ok(rows.every((row) => own.some((name) => row.includes(`,${name},`)) && row.endsWith(",the animal,,,")), rows[0]);
    const [jsonName, json] = await download(page, "Save as JSON");
    assert.deepEqual([csvName, jsonName], ["caselens-groups.csv", "caselens-groups.json"]);
    assert.deepEqual(JSON.parse(json).map(({ text, group, group_name }) => [text, group_name === own[group - 1]]), ANIMALS.map((text) => [text, true]));
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("can be changed by keyboard, kept by a link and through other conditions, and taken back", PATIENT, async () => {
    const page = await open(address(ANIMALS, { k: 3 }));
    await grouped(page, 3);
    const before = await names(page);
    const rename = page.getByRole("button", { name: `Rename “${before[1]}”` });
    await rename.focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Name of group 2").waitFor();
    await page.keyboard.type("nothing");
    await page.keyboard.press("Escape");
    assert.deepEqual(await names(page), before);
    await page.waitForFunction(() => document.activeElement.matches(".rename"));
    await page.keyboard.press("Enter");
    await page.getByLabel("Name of group 2").waitFor();
    await page.keyboard.type("Our <b>friends</b>");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement.matches(".rename"));
    const renamed = before.with(1, "Our <b>friends</b>");
    assert.deepEqual(await names(page), renamed);
    assert.deepEqual(await page.locator(".legend-name").allInnerTexts(), renamed);
    const link = new URL(page.url()).hash;
    assert.match(new URLSearchParams(link.split("?")[1]).get("n"), /^\d+ Our <b>friends<\/b>$/);

    // Another text among them, another condition and back: still the same group.
    await page.getByLabel("One text a line").evaluate((field) => {
      field.value = `A small dog barks in the yard at noon.\n${field.value}`;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await page.getByText("25 texts in 3 groups by “the animal”").waitFor(PATIENT);
    assert.equal((await names(page)).filter((name) => name.startsWith("Our")).length, 1);
    await page.getByRole("button", { name: "the place", exact: true }).click();
    await page.getByText("25 texts in 3 groups by “the place”").waitFor(PATIENT);
    await page.goBack();
    await page.getByText("25 texts in 3 groups by “the animal”").waitFor(PATIENT);
    assert.equal((await names(page)).filter((name) => name.startsWith("Our")).length, 1);

    const other = await open(link);
    await grouped(other, 3);
    assert.deepEqual(await names(other), renamed);
    // Renaming is a step of its own: Back undoes it.
    await other.getByRole("button", { name: `Rename “${before[0]}”` }).click();
    await other.getByLabel("Name of group 1").fill("First");
    await other.getByRole("button", { name: "Keep" }).click();
    assert.deepEqual(await names(other), renamed.with(0, "First"));
    await other.goBack();
    await other.waitForFunction((name) => document.querySelector(".group-name").textContent === name, before[0]);
    assert.deepEqual(await names(other), renamed);
    // An empty name is none.
    await other.getByRole("button", { name: "Rename “Our <b>friends</b>”" }).click();
    await other.getByLabel("Name of group 2").fill("");
    await other.keyboard.press("Enter");
    assert.deepEqual(await names(other), before);
    assert.deepEqual([...page.problems, ...other.problems], []);
    await page.context().close();
    await other.context().close();
  });

  test("come back with the file that was saved, and so do its condition and the number of its groups", PATIENT, async () => {
    const page = await open(address(ANIMALS, { k: 3 }));
    await grouped(page, 3);
    await page.locator(".rename").first().click();
    await page.getByLabel("Name of group 1").fill("My own group");
    await page.keyboard.press("Enter");
    const own = await names(page);
    const saved = [await download(page, "Save as CSV"), await download(page, "Save as JSON")];
    for (const [name, content] of saved) {
      await page.getByRole("button", { name: "Support Tickets" }).click();
      await page.waitForFunction(() => document.querySelector("#texts").value.includes("password"));
      await upload(page, name, content);
      await page.getByText("24 texts in 3 groups by “the animal”").waitFor(PATIENT);
      await grouped(page, 3);
      assert.deepEqual(await names(page), own);
      assert.equal(await page.getByLabel("Number of groups").inputValue(), "3");
      assert.match(await page.locator("#texts-told").innerText(), /This page saved the file/);
    }
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });
});

describe("what is judged of groups", () => {
  test("as many groups as stand out, and a sentence with what groups are measured against", PATIENT, async () => {
    const page = await open(address(ANIMALS));
    await grouped(page, 3);
    const verdict = await page.locator(".judgement").innerText();
    const [, own, without] = /^The groups stand apart: their silhouette is (0\.\d\d), where .* give (0\.\d\d)\. That says how they lie, not whether/.exec(verdict) ?? assert.fail(verdict);
    assert.ok(Number(own) > Number(without) + 0.2, verdict);
    // Where a cloud without groups gives as much, that is said.
    await page.goto(`${server.origin}/site/#/list?list=tickets&c=the+problem&device=wasm`);
    await page.getByText("45 texts in").waitFor(PATIENT);
    await page.waitForFunction(() => !document.querySelector("[role=progressbar]"));
    assert.match(await page.locator(".judgement").innerText(), /^Nothing shows that these are groups: their silhouette is 0\.\d\d, and points spread alike without any groups give 0\.\d\d\./);
    await page.getByLabel("One text a line").fill(ANIMALS.slice(0, 6).join("\n"));
    await page.getByText("These are too few texts to tell").waitFor(PATIENT);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });
});

describe("texts that say nothing about the condition", () => {
  test("are a group by themselves, which stands last, has a plain name, and is left out of the verdict", PATIENT, async () => {
    // A head that finds the condition mentioned by some: by the sign of a sum of the embedding's numbers.
    const head = mentioning(await readFile(path.join(MODELS, HEAD_FILE)), 384, 0, (d) => 200 * Math.sin(d * d));
    await server.siteWith("/mentioning/", { [HEAD_FILE]: head });
    const page = await open(address([...ANIMALS, ...ANIMALS.map((text) => text.replace(/A .* at/, "The invoice is due at"))]), { serviceWorkers: "block", site: "mentioning" });
    const last = page.locator(".group.unmentioned");
    await last.waitFor(PATIENT);
    const own = await names(page);
    assert.ok(own.length >= 3, `${own}`);
    assert.equal(own.at(-1), "Says nothing about “the animal”");
    assert.equal(await last.getByRole("button", { name: /^Rename/ }).count(), 0);
    assert.equal(await page.locator(".rename").count(), own.length - 1);
    assert.deepEqual(await page.locator(".legend-name").allInnerTexts(), own);
    const silent = Number((await last.locator(".group-size").innerText()).split(" ")[0]);
    assert.match(await page.locator(".work-line p").innerText(), new RegExp(`^${48 - silent} texts in ${own.length - 1} groups by “the animal”\\. ${silent} texts? says? nothing about it\\.$`));
    // The same texts without those: the same verdict.
    const verdict = await page.locator(".judgement").innerText();
    const [, json] = await download(page, "Save as JSON");
    const said = JSON.parse(json).filter(({ group_name }) => group_name !== "says nothing about the animal").map(({ text }) => text);
    assert.equal(said.length, 48 - silent);
    await page.getByLabel("One text a line").fill(said.join("\n"));
    await page.waitForFunction(() => !document.querySelector("[role=progressbar], .earlier, .group.unmentioned"), undefined, PATIENT);
    assert.equal(await page.locator(".judgement").innerText(), verdict);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });
});

describe("the map", () => {
  test("zooms by Ctrl and wheel, buttons and keys about what is there, is dragged, and shows all again", PATIENT, async () => {
    const page = await openWatched(address(ANIMALS, { k: 3 }));
    await map(page).scrollIntoViewIfNeeded();
    const start = await plate(page, "1");
    const closer = page.getByRole("button", { name: "Zoom in" });
    const farther = page.getByRole("button", { name: "Zoom out" });
    const all = page.getByRole("button", { name: "Show all" });
    assert.deepEqual([await farther.isDisabled(), await all.isDisabled()], [true, true]);

    // Without Ctrl the page scrolls and the map stays.
    const zoomed = () => farther.isEnabled();
    await page.mouse.move(start.x, start.y);
    await page.mouse.wheel(0, -60);
    await page.waitForTimeout(200);
    assert.equal(await zoomed(), false);
    await map(page).scrollIntoViewIfNeeded();
    const before = await plate(page, "1");
    await page.mouse.move(before.x, before.y);
    await page.keyboard.down("Control");
    for (let i = 0; i < 3; i++) await page.mouse.wheel(0, -60);
    await page.keyboard.up("Control");
    await page.waitForFunction(() => !document.querySelector("[aria-label='Show all']").disabled);
    await page.waitForTimeout(100);
    const near = await plate(page, "1");
    assert.ok(Math.hypot(near.x - before.x, near.y - before.y) < 40, JSON.stringify([before, near]));

    const from = await plate(page, "1");
    const box = await map(page).boundingBox();
    const [middle, height] = [box.x + box.width / 2, box.y + box.height / 2];
    // Towards the middle of the points: the map does not leave them.
    const [dx, dy] = [from.inMap.x < box.width / 2 ? 40 : -40, from.inMap.y < box.height / 2 ? 30 : -30];
    await page.mouse.move(middle, height);
    await page.mouse.down();
    await page.mouse.move(middle - dx, height - dy, { steps: 4 });
    await page.mouse.up();
    await page.waitForTimeout(100);
    const to = (await plate(page, "1")).inMap;
    assert.ok(Math.abs(to.x - from.inMap.x + dx) < 1 && Math.abs(to.y - from.inMap.y + dy) < 1, JSON.stringify([from.inMap, to]));
    assert.equal(await chosen(page), ""); // a drag is no click

    await all.click();
    await page.waitForFunction((at) => window.plates[1].x === at.x && window.plates[1].y === at.y, start.inMap);
    await closer.click();
    await page.waitForFunction((at) => window.plates[1].x !== at.x, start.inMap);
    // However far in, something is in view.
    for (let i = 0; i < 6; i++) await closer.click();
    await page.waitForTimeout(150);
    const points = await map(page).evaluate((canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0));
    assert.ok(points);
    await map(page).focus();
    await page.keyboard.press("0");
    await page.waitForFunction((at) => window.plates[1].x === at.x, start.inMap);
    await page.keyboard.press("+");
    await page.waitForFunction(() => !document.querySelector("[aria-label='Zoom out']").disabled);
    await page.keyboard.press("-");
    await page.waitForFunction(() => document.querySelector("[aria-label='Zoom out']").disabled);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("a click selects a text, which is marked and in view in the list, and can be found, copied, saved and let go", PATIENT, async () => {
    const page = await openWatched(address(ANIMALS, { k: 3 }), { permissions: ["clipboard-read", "clipboard-write"] });
    await map(page).scrollIntoViewIfNeeded();
    const at = await plate(page, "3");
    await page.mouse.move(at.x, at.y);
    const tip = page.locator(".map-tip");
    await tip.waitFor();
    const text = await tip.innerText();
    assert.ok(ANIMALS.includes(text), text);
    assert.equal(await page.locator(".group.lit .group-name").innerText(), (await names(page))[2]);
    assert.equal(await page.locator(".legend-entry.lit .legend-name").innerText(), (await names(page))[2]);
    await page.mouse.click(at.x, at.y);
    await page.locator(".members .selected").waitFor();
    assert.ok((await page.locator(".members .selected > span").first().innerText()).startsWith(text));
    await page.waitForFunction(() => {
      const { top, bottom } = document.querySelector(".members .selected").getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
    assert.equal(await chosen(page), "1 text selected");
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByText("Copied").waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
    const [, csv] = await download(page, "Save as CSV", ".selection");
    assert.deepEqual(csv.trimEnd().split("\r\n").length, 2);
    assert.ok(csv.includes(text), csv);
    await page.getByRole("button", { name: "Find similar" }).click();
    await page.waitForSelector(".hits li");
    assert.equal(await page.locator(".hit").first().innerText(), text);
    assert.equal(await page.locator(".hit").first().getAttribute("aria-pressed"), "true");
    await page.getByRole("button", { name: "Clear" }).press("Enter");
    assert.equal(await chosen(page), "");
    assert.equal(await page.evaluate(() => document.activeElement.closest(".selection") !== null), true);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("a line drawn with Shift, or with the tool, selects what is within it; the legend selects a group", PATIENT, async () => {
    const page = await openWatched(address(ANIMALS, { k: 3 }));
    await map(page).scrollIntoViewIfNeeded();
    const around = async () => {
      const box = await map(page).boundingBox();
      await page.mouse.move(box.x + 2, box.y + 2);
      await page.mouse.down();
      for (const [x, y] of [[1, 0], [1, 1], [0, 1]]) await page.mouse.move(box.x + 2 + x * (box.width - 4), box.y + 2 + y * (box.height - 4), { steps: 3 });
      await page.mouse.up();
    };
    await page.keyboard.down("Shift");
    await around();
    await page.keyboard.up("Shift");
    await page.getByText("24 texts selected").waitFor();
    const [, csv] = await download(page, "Save as CSV", ".selection");
    assert.equal(csv.trimEnd().split("\r\n").length, 25);
    await map(page).focus();
    await page.keyboard.press("Escape");
    assert.equal(await chosen(page), "");
    const tool = page.getByRole("button", { name: "Draw around texts" });
    await tool.click();
    assert.equal(await tool.getAttribute("aria-pressed"), "true");
    await around();
    await page.getByText("24 texts selected").waitFor();
    const entry = page.locator(".legend-entry").nth(1);
    const size = await page.locator(".group").nth(1).locator(".group-size").innerText();
    await entry.focus();
    await page.keyboard.press("Enter");
    await page.getByText(`${size} selected`).waitFor();
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("is walked by keyboard, spoken, and Enter selects", PATIENT, async () => {
    const page = await open(address(ANIMALS, { k: 3 }));
    await grouped(page, 3);
    await page.locator("#find").focus();
    await page.keyboard.press("Shift+Tab"); // what stands before the search is the map's own help
    await map(page).focus();
    await page.keyboard.press("Home");
    const own = await names(page);
    assert.match(await spoken(page), new RegExp(`^A .* o'clock\\. Group: ${own[0]}\\.$`));
    const heard = new Set([await spoken(page)]);
    for (let i = 0; i < 8; i++) {
      await page.keyboard.press("PageDown");
      heard.add(await spoken(page));
    }
    assert.equal(heard.size, 8, [...heard].join("\n")); // all of the group's eight texts, and round again
    assert.ok([...heard].every((one) => one.endsWith(`Group: ${own[0]}.`)));
    const groups = new Set();
    for (const key of ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"]) {
      for (let i = 0; i < 14; i++) {
        await page.keyboard.press(key);
        groups.add((await spoken(page)).split("Group: ")[1]);
      }
    }
    assert.equal(groups.size, 3, [...groups].join("\n"));
    await page.keyboard.press("Enter");
    assert.match(await spoken(page), /Selected\.$/);
    await page.keyboard.press("PageDown");
    await page.keyboard.press("Shift+Enter");
    assert.equal(await chosen(page), "2 texts selected");
    await page.keyboard.press("Space");
    assert.equal(await chosen(page), "1 text selected");
    await page.keyboard.press("Escape");
    assert.equal(await chosen(page), "");
    await page.keyboard.press("Tab");
    assert.equal(await spoken(page), "");
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("rings what is found, fades what is not pointed at in the list, and a hit selects its point", PATIENT, async () => {
    const page = await openWatched(address(ANIMALS, { k: 3 }));
    /** The picture of the map, as a number. */
    const look = () => map(page).evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let hash = 0;
      for (let i = 0; i < data.length; i += 4) hash = (hash * 31 + data[i] + 7 * data[i + 1] + 13 * data[i + 3]) | 0;
      return hash;
    });
    const plain = await look();
    await page.locator(".group").nth(1).locator("h3").hover();
    await page.waitForTimeout(150);
    assert.notEqual(await look(), plain);
    await page.locator("h1").hover();
    await page.waitForTimeout(150);
    assert.equal(await look(), plain);
    await page.locator(".legend-entry").first().focus();
    await page.waitForTimeout(150);
    assert.notEqual(await look(), plain);
    await page.getByLabel("Find in the list").fill("A hound");
    await page.waitForSelector(".hits li");
    await page.waitForTimeout(150);
    const ringed = await look();
    assert.notEqual(ringed, plain);
    const hit = page.locator(".hit").first();
    await hit.focus();
    await page.keyboard.press("Enter");
    assert.equal(await chosen(page), "1 text selected");
    assert.equal(await page.locator(".selection-text").innerText(), await hit.innerText());
    await page.getByLabel("Find in the list").fill("");
    await page.waitForFunction(() => !document.querySelector(".hits"));
    await map(page).focus();
    await page.keyboard.press("Escape");
    await page.locator("h1").hover();
    await page.getByLabel("One text a line").focus();
    await page.waitForTimeout(150);
    assert.equal(await look(), plain);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("is coloured by a column of the table that was opened: names with a legend, numbers on a scale", PATIENT, async () => {
    const page = await open(address(ANIMALS, { k: 3 }));
    await grouped(page, 3);
    assert.equal(await page.getByLabel("Colour", { exact: true }).count(), 0);
    const csv = ["id,text,stars,branch,note", ...ANIMALS.map((text, i) => `${i + 100},"${text}",${i % 6 === 5 ? "" : 1 + (i % 5)},${["north", "south"][i % 2]},note ${i}`)];
    csv.splice(3, 0, "99, ,5,west,no text"); // a row without a text shifts nothing
    await upload(page, "pets.csv", csv.join("\n"));
    const colour = page.getByLabel("Colour", { exact: true });
    await colour.waitFor(PATIENT);
    assert.deepEqual(await colour.locator("option").allInnerTexts(), ["by group", "by id", "by stars", "by branch"]);
    await colour.selectOption({ label: "by branch" });
    assert.deepEqual(await page.locator(".legend-entry").allInnerTexts().then((all) => all.map((one) => one.replace(/\s+/g, " ").trim())), ["north 12", "south 12"]);
    await page.locator(".legend-entry").first().click();
    await page.getByText("12 texts selected").waitFor();
    const [, saved] = await download(page, "Save as CSV", ".selection");
    assert.deepEqual(saved.trimEnd().split("\r\n").slice(1).map((row) => row.split(",")[0]), ANIMALS.filter((_, i) => i % 2 === 0));
    await colour.selectOption({ label: "by stars" });
    assert.match(await page.locator(".legend-scale").innerText(), /1[^]*5/);
    await map(page).focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    assert.match(await spoken(page), /Group: .*\.( stars: \d\.)?/);
    assert.deepEqual(await violations(page), []);
    // Texts that are typed have no columns.
    await page.getByLabel("One text a line").fill(ANIMALS.slice(0, 14).join("\n"));
    await page.waitForFunction(() => !document.querySelector(".map-tools select"));
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("fingers: a tap selects, two fingers zoom, and one scrolls the page past a map that is whole", PATIENT, async () => {
    const page = await openWatched(address(ANIMALS, { k: 3 }), { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    await map(page).scrollIntoViewIfNeeded();
    const action = () => map(page).evaluate((canvas) => canvas.style.touchAction);
    assert.equal(await action(), "pan-y");
    const { x, y } = await plate(page, "2");
    const scrolled = await page.evaluate(() => scrollY);
    await page.touchscreen.tap(x, y);
    await page.getByText("1 text selected").waitFor();
    assert.equal(await page.evaluate(() => scrollY), scrolled); // the map stays in view
    await page.getByRole("button", { name: "Show in the list" }).click();
    await page.waitForFunction(() => {
      const { top, bottom } = document.querySelector(".members .selected").getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
    await map(page).scrollIntoViewIfNeeded();
    const box = await map(page).boundingBox();
    const [middle, height] = [box.x + box.width / 2, box.y + box.height / 2];
    const session = await page.context().newCDPSession(page);
    const touch = (type, ...points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([px, id]) => ({ x: px, y: height, id })) });
    await touch("touchStart", [middle - 20, 0], [middle + 20, 1]);
    for (let i = 1; i <= 5; i++) await touch("touchMove", [middle - 20 - 12 * i, 0], [middle + 20 + 12 * i, 1]);
    await touch("touchEnd");
    await page.waitForFunction(() => !document.querySelector("[aria-label='Show all']").disabled);
    assert.equal(await action(), "none");
    await page.getByRole("button", { name: "Show all" }).click();
    assert.equal(await action(), "pan-y");
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("draws in the colours of the system where it chooses them", PATIENT, async () => {
    const page = await openWatched(address(ANIMALS, { k: 3 }), { forcedColors: "active", colorScheme: "dark" });
    await page.locator(".theme-toggle, [aria-label^=Switch]").first().click();
    await map(page).focus();
    await page.keyboard.press("Enter");
    await page.waitForTimeout(200);
    // Points and rings of a page that is light by choice would be lost on a ground that the system keeps dark.
    const { ground, bright } = await map(page).evaluate((canvas) => {
      const ground = getComputedStyle(canvas).backgroundColor;
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let bright = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255 && data[i] + data[i + 1] + data[i + 2] > 450) bright++;
      return { ground, bright };
    });
    assert.equal(ground, "rgb(0, 0, 0)");
    assert.ok(bright > 500, `${bright}`);
    await page.context().close();
  });

  test("1,000 texts: the page never stands still for 50 ms by the map's doing, however it is moved, and nothing shifts", PATIENT, async () => {
    const texts = Array.from({ length: 1000 }, (_, i) => `A ${["black", "young", "big"][i % 3]} ${KINDS[i % 3].join(" ")} near house ${i}.`);
    const page = await open(address(["one", "two"]));
    await page.waitForSelector(".group");
    await page.getByLabel("One text a line").evaluate((field, text) => {
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }, texts.join("\n"));
    await page.waitForFunction(() => /^1,000 texts in/.test(document.querySelector(".work-line p").textContent) && !document.querySelector("[role=progressbar]"), undefined, PATIENT);
    await page.waitForTimeout(500);
    await page.evaluate(() => {
      window.shifts = 0;
      window.tasks = [];
      new PerformanceObserver((list) => list.getEntries().forEach(({ value, hadRecentInput }) => (window.shifts += hadRecentInput ? 0 : value))).observe({ type: "layout-shift" });
      new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => Math.round(duration)))).observe({ type: "longtask" });
    });
    await map(page).scrollIntoViewIfNeeded();
    const box = await map(page).boundingBox();
    for (let i = 0; i < 20; i++) await page.mouse.move(box.x + 20 + 20 * i, box.y + 30 + 15 * i);
    await map(page).focus();
    for (const key of ["+", "+", "ArrowRight", "ArrowDown", "Enter", "PageDown", "Shift+ArrowLeft", "0"]) await page.keyboard.press(key);
    await page.locator(".group h3").nth(1).hover();
    await page.waitForTimeout(400);
    const { shifts, tasks } = await page.evaluate(() => ({ shifts: window.shifts, tasks: window.tasks }));
    assert.equal(shifts, 0);
    // A machine with other things to do makes a task or two late; work of the map's own would be late each time.
    assert.ok(tasks.length <= 2, `${tasks} ms`);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  for (const [name, options] of Object.entries({ "320 px": { viewport: { width: 320, height: 640 } }, dark: { colorScheme: "dark" } })) {
    test(`axe finds nothing and nothing sticks out with a selection and a name in the making: ${name}`, PATIENT, async () => {
      const page = await open(address([...ANIMALS, "x".repeat(300)], { k: 3, q: "a dog" }), options);
      await grouped(page, 3);
      await page.waitForSelector(".hits li");
      await map(page).focus();
      await page.keyboard.press("Home");
      await page.keyboard.press("Enter");
      await page.locator(".map-help summary").click();
      await page.locator(".rename").nth(1).click();
      assert.deepEqual(await violations(page), []);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), page.viewportSize().width);
      await page.context().close();
    });
  }
});
