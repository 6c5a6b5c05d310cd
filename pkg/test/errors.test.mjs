// Every error code is explained where people look: in the types, and in the README with cause and remedy.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { CaseLensError, CODES, fromErrorData, toCaseLensError, toErrorData, withDetails } from "../build/errors.js";

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

test("an error crosses to the page with its details, and with the code of what lay beneath", () => {
  const beneath = Object.assign(new Error("no such file"), { code: "ENOENT" });
  const error = new CaseLensError("http", "Not found.", { cause: beneath, url: "https://example.org/m", status: 404 });
  const there = fromErrorData(structuredClone(toErrorData(error)));
  assert.ok(there instanceof CaseLensError);
  assert.deepEqual([there.code, there.message, there.url, there.status], ["http", "Not found.", "https://example.org/m", 404]);
  assert.deepEqual([there.cause.name, there.cause.message, there.cause.code], ["Error", "no such file", "ENOENT"]);
  assert.equal(fromErrorData(toErrorData(new CaseLensError("worker", "x", { cause: "a string" }))).cause.message, "a string");
  const plain = fromErrorData(toErrorData(new CaseLensError("empty-text", "Empty.")));
  for (const detail of ["index", "url", "status", "cause"]) assert.ok(!(detail in plain), detail);
});

test("an error can be of another item of a list, or of none", () => {
  const cause = new Error("beneath");
  const error = new CaseLensError("empty-text", "texts[3] is empty.", { index: 3, cause });
  const moved = withDetails(error, { index: 7 });
  assert.deepEqual([moved.index, moved.message, moved.cause], [7, error.message, cause]);
  assert.ok(!("index" in withDetails(error, { index: undefined })));
});
