// The notices name whatever the wasm modules hold: each crate that Cargo builds for them, and each whose name stands in them, where
// code says in which file it broke down.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

let notices;
before(async () => {
  notices = await readFile(`${ROOT}pkg/THIRD-PARTY-NOTICES.txt`, "utf8").catch(() => assert.fail("it is missing: node pkg/notices.mjs"));
});

test("they name each crate that is built for the modules, and no other", () => {
  const args = ["tree", "--locked", "--target", "wasm32-unknown-unknown", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"];
  const [, ...lines] = execFileSync("cargo", args, { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
  const built = new Set(lines.map((line) => line.replace(/^(\S+) v(\S+).*/, "$1 $2")).filter((crate) => !crate.startsWith("caselens ")));
  assert.ok(built.size > 50);
  const named = [...notices.matchAll(/^ {2}(\S+ \d\S*) \(https?:/gm)].map(([, crate]) => crate);
  assert.deepEqual([...new Set(named)].sort(), [...built].sort(), "node pkg/notices.mjs writes them anew");
});

for (const module of ["wasm", "wasm/relaxed"]) {
  test(`they name each crate that dist/${module} names`, async () => {
    const text = await readFile(`${ROOT}pkg/dist/${module}/caselens_bg.wasm`, "latin1");
    const crates = new Set([...text.matchAll(/\/([\w-]+)-(\d+\.\d+\.\d+[\w.+-]*)\/src\//g)].map(([, name, version]) => `${name} ${version}`));
    assert.ok(crates.size > 20);
    // Those of the Rust standard library are named without their version, which is the compiler's.
    const inStandardLibrary = new Set([...text.matchAll(/\/rust\/deps\/([\w-]+?)-\d/g)].map(([, name]) => name));
    for (const crate of crates) {
      const [name] = crate.split(" ");
      const isNamed = notices.includes(`  ${crate} (`) || (inStandardLibrary.has(name) && notices.match(new RegExp(`${name}\\b.*\\(in the Rust standard library\\)`)));
      assert.ok(isNamed, crate);
    }
  });
}

test("each licence that is named has its text, and each crate its licence", () => {
  const [, ...sections] = notices.split(`${"=".repeat(80)}\n`);
  const texts = { MIT: "Permission is hereby granted, free of charge", "Apache-2.0": "TERMS AND CONDITIONS FOR USE", Zlib: "provided 'as-is'", "Unicode-3.0": "UNICODE LICENSE V3" };
  const known = sections.map((section) => section.slice(0, section.indexOf("\n")));
  assert.deepEqual(Object.keys(texts).filter((license) => !known.includes(license)), []);
  for (const [i, section] of sections.entries()) assert.ok(section.includes(texts[known[i]]), known[i]);
});
