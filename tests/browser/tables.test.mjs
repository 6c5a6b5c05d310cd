// What the demo's list view makes of files and of pasted texts, as plain functions, without a browser: list-view.test.mjs shows the
// same view as people use it.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { ROOT } from "./helpers.mjs";

let folder;
/** The view's modules, by their names. */
let list;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "caselens-tables-"));
  const names = ["fields", "readable"];
  await build({
    entryPoints: names.map((name) => path.join(ROOT, `www/src/list/${name}.ts`)),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    // The ready lists are Vite's to find.
    define: { "import.meta.glob": "Object" },
    logLevel: "warning",
  });
  const modules = await Promise.all(names.map((name) => import(pathToFileURL(path.join(folder, `${name}.mjs`)))));
  list = Object.fromEntries(names.map((name, i) => [name, modules[i]]));
});
after(() => rm(folder, { recursive: true, force: true }));

describe("lines that the tokenizer sees nothing of", () => {
  test("zero-width and control characters, lone accents and halves of pairs are no text; what has a shape is", () => {
    const { isReadable } = list.readable;
    for (const empty of ["", " \u00a0", "\u200b", "\u00ad", "\u202e", "\ufeff\u2060", "\u0301", "\ufe0f", "\u0000\u0007", "\ue000", "\ufffd", "\u200b \u0301"]) {
      assert.equal(isReadable(empty), false, JSON.stringify(empty));
    }
    for (const text of ["a", "…", "猫", "😀", "❤️", "1️⃣", "e\u0301", "\u200bx", "🇩🇪", "-"]) assert.equal(isReadable(text), true, text);
  });

  test("they are left out and counted, and so is a condition or a search of nothing else", () => {
    const { condition, invisible, lines, query, setText, sought, through } = list.fields;
    setText("A cat\n\u200b\n \n\u00ad\u202e\n\ud83d\nA dog\u200b");
    assert.deepEqual(lines.value, ["A cat", "A dog\u200b"]);
    assert.equal(invisible.value, 3);
    condition.value = "\u200b";
    query.value = "\u0301";
    assert.deepEqual([through.value, sought.value], ["", ""]);
    // Of a long line only its beginning is read.
    setText(`${"\u200b".repeat(3000)}A cat`);
    assert.deepEqual([lines.value, invisible.value], [[], 1]);
  });
});
