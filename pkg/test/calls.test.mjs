// The calls of a lens and an encoder, from their arguments to the engine and back. The engine is a double.

import assert from "node:assert/strict";
import test from "node:test";
import { CaseLens } from "../build/api/caselens.js";
import { Encoder } from "../build/api/encoder.js";
import { withoutThreads } from "./helpers.mjs";

const texts = (n) => Array.from({ length: n }, (_, i) => `text ${i}`);
const long = "x".repeat(50_001);

/** A lens and an encoder with engines that are doubles; `calls` are those that reached an engine. */
async function open({ behave, ...options } = {}) {
  const wasm = withoutThreads(behave);
  const given = { device: "wasm", threads: 1, ...options };
  const [lens, encoder] = [await CaseLens.load(given), await Encoder.load(given)];
  return { lens, encoder, wasm, calls: () => wasm.engines.flatMap((engine) => engine.calls) };
}

test("a text that cannot be read is found before any is, and the error has its place", async () => {
  const { lens, encoder, calls } = await open();
  const bad = { "": "empty-text", " \n": "empty-text", [long]: "text-too-long", "\uD800": "invalid-text" };
  for (const [text, code] of Object.entries(bad)) {
    const error = { code, index: 1999 };
    const list = [...texts(1999), text];
    await assert.rejects(encoder.embed(list), error);
    await assert.rejects(lens.embed(list.map((sentence) => ({ sentence }))), error);
    await assert.rejects(lens.embed(list.map((condition) => ({ sentence: "a", condition }))), error);
    await assert.rejects(lens.compare("a", "b", list), error);
    await assert.rejects(lens.search("a", list), error);
    await assert.rejects(lens.cluster(list), error);
    await assert.rejects(lens.suggest("a", "b", { conditions: list }), error);
    for (const call of [lens.compare(text, "b", ["c"]), lens.explain("a", text), lens.explain("a", "b", text), lens.search(text, ["a"]), lens.suggest("a", text)]) {
      await assert.rejects(call, (thrown) => thrown.code === code && !("index" in thrown));
    }
  }
  await assert.rejects(encoder.embed(["a", 7]), { code: "invalid-argument", index: 1, message: /^texts\[1\] must be a string/ });
  await assert.rejects(lens.embed([{ sentence: "a" }, 7]), { code: "invalid-argument", index: 1, message: /^items\[1\]/ });
  assert.deepEqual(calls(), []);
});

test("embed tells how far it is, up to 1 when it is done", async () => {
  const { lens, encoder } = await open();
  for (const [n, shares] of [[100, 4], [1, 1], [0, 1]]) {
    for (const call of [(options) => encoder.embed(texts(n), options), (options) => lens.embed(texts(n).map((sentence) => ({ sentence })), options)]) {
      const seen = [];
      await call({ onProgress: (told) => seen.push(told) });
      assert.deepEqual(seen, Array.from({ length: shares }, (_, i) => ({ phase: "embed", progress: (i + 1) / shares })));
    }
  }
  await assert.rejects(encoder.embed(["a"], { onProgress: "bar" }), { code: "invalid-argument" });
  const mine = new Error("my own");
  const onProgress = () => {
    throw mine;
  };
  await assert.rejects(lens.embed(texts(100).map((sentence) => ({ sentence })), { onProgress }), (error) => error === mine);
  assert.equal((await encoder.embed(["a"])).count, 1);
});
