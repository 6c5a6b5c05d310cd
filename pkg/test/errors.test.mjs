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

test("a code of the engine stays, and what to do is said in words of JavaScript", () => {
  const thrown = (code, message) => toCaseLensError(Object.assign(new Error(message), { code }));
  assert.deepEqual([thrown("empty-text", "It is empty.").code, thrown("empty-text", "It is empty.").message], ["empty-text", "It is empty."]);
  const error = thrown("webgpu-unavailable", "WebGPU is not available. Use the CPU.");
  assert.equal(error.code, "webgpu-unavailable");
  assert.match(error.message, /^WebGPU is not available\. Use the CPU\. .*device: "wasm"/);
  assert.equal(toCaseLensError(error), error);
});

test("what carries none of the codes is a fault of this package", () => {
  const error = toCaseLensError(Object.assign(new Error("x"), { code: "ENOENT" }));
  assert.ok(error instanceof CaseLensError);
  assert.equal(error.code, "internal");
});
