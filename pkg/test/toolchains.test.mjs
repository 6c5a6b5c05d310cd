// What is published is bundled once more, by tools that are older than ours: they have to print JavaScript again. Vite 5 and 6
// bring these two versions of esbuild along.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as esbuild021 from "esbuild-0.21";
import * as esbuild025 from "esbuild-0.25";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const FILES = ["index.js", "text-index.js", "more.js", "element.js", "worker.js", "inline.js", "langchain.js", "ai.js", "node.js", "node-text-index.js", "node-more.js", "node-worker.js", "node-inline.js"];

let folder;
before(async () => (folder = await mkdtemp(path.join(tmpdir(), "caselens-bundled-"))));
after(() => rm(folder, { recursive: true, force: true }));

/** What Node says of a module's syntax; undefined where nothing is wrong. */
async function syntaxError(code) {
  const file = path.join(folder, "checked.mjs");
  await writeFile(file, code);
  try {
    execFileSync(process.execPath, ["--check", file], { stdio: "pipe" });
    return undefined;
  } catch (error) {
    return String(error.stderr);
  }
}

for (const { version, build } of [esbuild021, esbuild025]) {
  for (const file of FILES) {
    test(`esbuild ${version} makes JavaScript of ${file}`, async () => {
      for (const minify of [false, true]) {
        const { outputFiles } = await build({
          entryPoints: [path.join(DIST, file)],
          bundle: true,
          minify,
          format: "esm",
          target: "es2022",
          platform: file.startsWith("node") ? "node" : "browser",
          write: false,
          logLevel: "silent",
        });
        assert.equal(await syntaxError(outputFiles[0].text), undefined);
      }
    });
  }
}

test("an optional chain is nowhere the callee of `new`, which other tools refuse or print wrongly too", async () => {
  const risky = /new\s*\((?:[^()]|\([^()]*\))*\?\./;
  assert.match("new (arrays[0]?.constructor)(total)", risky);
  assert.match("new(f(a)?.b)(c)", risky);
  assert.doesNotMatch("new Array(a?.b)", risky);
  for (const file of FILES) assert.doesNotMatch(await readFile(path.join(DIST, file), "utf8"), risky, file);
});
