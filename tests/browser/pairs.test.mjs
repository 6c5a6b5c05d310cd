// Many pairs from a table, in the demo's view "Compare": columns, conditions, ratings, what is left out, stopping, and the file that is saved.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { HEAD_FILE, launch, mentioning, MODELS, ROOT, serve, stickingOut, violations, visit } from "./helpers.mjs";
import { pageModules } from "./pageModules.mjs";

const options = { timeout: 120_000 };
let server;
let browser;
let modules;
let remove;
before(async () => {
  ({ modules, remove } = await pageModules(["pairs/columns", "pairs/correlation"]));
  server = await serve({ mounts: { "/site/": path.join(ROOT, "www/dist") } });
  browser = await launch();
}, options);
after(async () => {
  await browser?.close();
  await server?.close();
  await remove?.();
});

const TABLE = `id,sentence1,sentence2,condition,label
1,She plays chess in the park,He plays football in the park,the place,5
2,She plays chess in the park,He plays football in the park,the game,1
3,A dog sleeps on the red sofa,A cat sleeps on the red sofa,the animal,1
4,A dog sleeps on the red sofa,A cat sleeps on the red sofa,the furniture,5
5,,A cat sleeps,the animal,3
6,=SUM(A1) is a formula,A formula,the kind of text,4
`;

async function opened(text, { hash = "#device=wasm", name = "pairs.csv", type = "text/csv", site = "site" } = {}) {
  const page = await visit(await browser.newContext({ acceptDownloads: true, serviceWorkers: "block" }), `${server.origin}/${site}/${hash}`);
  await page.getByText("Compare many pairs from a table").click();
  const chooser = page.locator(".pairs input[type=file]");
  await chooser.setInputFiles({ name, mimeType: type, buffer: Buffer.from(text) });
  return page;
}
const compared = async (page) => {
  await page.getByRole("button", { name: "Compare them" }).click();
  await page.getByRole("button", { name: "Save as CSV" }).waitFor();
};
async function saved(page) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as CSV" }).click()]);
  return readFile(await file.path(), "utf8");
}

test("columns are found by name, else by their words", () => {
  const { columnsOf, ratingsOf } = modules.columns;
  const table = (...rows) => ({ rows, notices: [] });
  const named = table(["condition", "Sentence 2", "Sentence 1", "label"], ["c", "b", "a", "1,5"], ["c", "b", "a", ""]);
  assert.deepEqual(columnsOf(named, true), { first: 2, second: 1, condition: 0 });
  const { name, values } = ratingsOf(named, true);
  assert.deepEqual([name, values], ["label", [1.5, NaN]]);
  assert.deepEqual(columnsOf(table(["7", "a dog runs", "x", "a cat sits down"]), false), { first: 1, second: 3, condition: undefined });
  assert.equal(columnsOf(table(["a"]), false), undefined);
  assert.equal(ratingsOf(table(["label", "b"], ["x", "y"]), true), undefined);
});

test("Spearman's correlation is scipy's", () => {
  const { spearman } = modules.correlation;
  // scipy.stats.spearmanr([1, 2, 2, 4, 5], [3, 1, 2, 5, 5]).statistic
  assert.ok(Math.abs(spearman([1, 2, 2, 4, 5], [3, 1, 2, 5, 5]) - 0.6315789473684211) < 1e-12);
  assert.equal(spearman([1, 2, 3], [3, 2, 1]), -1);
  assert.equal(spearman([1, 1], [1, 2]), undefined);
});

test("each row is compared under its own condition, agrees with its label, and is saved with what was found", options, async () => {
  const page = await opened(TABLE);
  await page.getByText("5 comparisons. 1 row lacks a sentence or a condition and is left out.").waitFor();
  await compared(page);
  assert.match(await page.locator(".pairs").innerText(), /Spearman’s correlation with the column “label” over 5 rows: 0\.\d\d\./);
  const rows = (await saved(page)).replace("\uFEFF", "").split("\r\n");
  assert.equal(rows[0], "id,sentence1,sentence2,condition,label,similarity,rating,similarity_without_condition,sentences_that_say_nothing,sentences_in_other_languages,unknown_pieces,cut,problem");
  assert.equal(rows.length, 6);
  const similarity = (row) => Number(row.split(",")[5]);
  assert.ok(similarity(rows[1]) > similarity(rows[2]) + 0.3, "the same place, another game");
  assert.match(rows[5], /^6,"'=SUM/, "a spreadsheet takes it for no formula");
  assert.deepEqual(await violations(page, ".pairs"), []);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("without a column of conditions those of the page hold, and another column can be chosen", options, async () => {
  const page = await opened("She plays chess in the park\tHe plays football in the park\nA dog sleeps\tA cat sleeps\n", {
    hash: "#s1=a&s2=b&c=the+place&c=the+animal&device=wasm",
    name: "pairs.tsv",
  });
  await page.getByText("4 comparisons.").waitFor();
  await compared(page);
  const rows = (await saved(page)).trim().split("\r\n").map((row) => row.split(","));
  assert.deepEqual(rows[0].slice(0, 3), ["Column 1", "Column 2", "condition"]);
  assert.deepEqual(rows.slice(1).map((row) => row[2]), ["the place", "the animal", "the place", "the animal"]);
  await page.getByLabel("Second sentence").last().selectOption({ label: "Column 1" });
  assert.equal(await page.locator(".pairs-rows").count(), 0, "what was found was of other columns");
  await page.context().close();
});

test("a table of one column and a file that is none are told", options, async () => {
  const page = await opened("a\nb\n", { name: "one.txt", type: "text/plain" });
  await page.getByText("The table has one column.").waitFor();
  await page.locator(".pairs input[type=file]").setInputFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from("{") });
  await page.getByText("x.json is not valid JSON").waitFor();
  await page.context().close();
});

test("a long table can be stopped, and what is there can be saved; on a phone nothing sticks out", options, async () => {
  const rows = Array.from({ length: 3000 }, (_, i) => `A dog runs by river ${i}.,A cat waits near house ${i}.,the place`);
  const page = await opened(["sentence1,sentence2,condition", ...rows].join("\n"));
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByText("3,000 comparisons.").waitFor();
  await page.getByRole("button", { name: "Compare them" }).click();
  await page.locator(".pairs-rows tbody tr").nth(2).waitFor();
  await page.locator(".pairs").getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Stopped before it was done.").waitFor();
  const csv = await saved(page);
  const lines = csv.trim().split("\r\n").length;
  assert.ok(lines > 3 && lines < 3001, `${lines} lines`);
  assert.deepEqual(await page.evaluate(stickingOut), []);
  await page.context().close();
});

test("sentences in another language are told", options, async () => {
  const german = "Der Hund schläft auf dem roten Sofa und träumt";
  const page = await opened(`sentence1,sentence2,condition\n${german},A cat sleeps on the sofa,the animal\nA dog runs,A cat runs,the animal\n`);
  await compared(page);
  await page.getByText("1 text looks like German; the model was trained on English. What it says of it means little.").waitFor();
  const answer = page.locator(".pairs-rows tbody tr").first().locator("td").last();
  assert.match(await answer.innerText(), /uncertain: not English$/);
  const [, uncertain, sure] = (await saved(page)).split("\r\n").map((row) => row.split(","));
  assert.equal(uncertain.at(-4), "1: de");
  assert.equal(sure.at(-4), "");
  await page.context().close();
});

test("rows of which a sentence says nothing have no number, and none counts when people's ratings are looked at", options, async () => {
  await server.siteWith("/silent/", { [HEAD_FILE]: mentioning(await readFile(path.join(MODELS, HEAD_FILE)), 384, -4) });
  const page = await opened(TABLE, { site: "silent" });
  await compared(page);
  assert.deepEqual([...new Set(await page.locator(".pairs-rows tbody tr td:last-child").allInnerTexts())], ["neither sentence says"]);
  assert.doesNotMatch(await page.locator(".pairs").innerText(), /Spearman/);
  const [, ...rows] = (await saved(page)).trim().split("\r\n");
  for (const row of rows) assert.match(row, /,,,-?\d\.\d+,1 2,,,,$/);
  await page.context().close();
});
