// Every error code is explained where people look: in the types, and in the README with cause and remedy.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { CaseLensError, CODES, toCaseLensError } from "../build/errors.js";

const read = (file) => readFile(new URL(file, import.meta.url), "utf8");

test("the README lists each code once, with cause and remedy", async () => {
  const rows = [...(await read("../README.md")).matchAll(/^\| `([a-z-]+)` \| (.+) \| (.+) \|$/gm)];
  assert.deepEqual(rows.map(([, code]) => code).sort(), [...CODES].sort());
  for (const [, code, cause, remedy] of rows) assert.ok(cause.length > 10 && remedy.length > 10, code);
});

test("the type's comment lists each code once", async () => {
  const listed = [...(await read("../src/errors.ts")).matchAll(/^ \* - `([a-z-]+)`: .+/gm)].map(([, code]) => code);
  assert.deepEqual(listed, CODES);
});

test("every code that the engine can throw is one of them", async () => {
  const source = await read("../../src/error.rs");
  const body = source.slice(source.indexOf("fn code("));
  const thrown = new Set([...body.slice(0, body.indexOf("\n    }\n")).matchAll(/=> "([a-z-]+)"/g)].map(([, code]) => code));
  assert.ok(thrown.size > 5);
  // These are the command line program's alone: they are about its files, training data and published encoders.
  const natives = ["checkpoint-format", "checkpoint-mismatch", "data", "io", "missing-file", "cuda-unavailable", "table-format",
    "hub-gated", "hub-unknown", "hub-file", "hub-offline", "hub-download"];
  for (const code of natives) assert.ok(thrown.delete(code), code);
  for (const code of thrown) assert.equal(toCaseLensError(Object.assign(new Error("x"), { code })).code, code);
});

test("what carries none of the codes is a fault of this package", () => {
  const error = toCaseLensError(Object.assign(new Error("x"), { code: "ENOENT" }));
  assert.ok(error instanceof CaseLensError);
  assert.equal(error.code, "internal");
});
