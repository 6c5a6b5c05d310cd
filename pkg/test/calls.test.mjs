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
  const given = { model: "m.gguf", device: "wasm", threads: 1, ...options };
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
    const calls = [
      lens.compare(text, "b", ["c"]),
      lens.explain("a", text),
      lens.explain("a", "b", text),
      lens.attention(text),
      lens.attention("a", text),
      lens.search(text, ["a"]),
      lens.suggest("a", text),
    ];
    for (const call of calls) {
      await assert.rejects(call, (thrown) => thrown.code === code && !("index" in thrown));
    }
  }
  await assert.rejects(encoder.embed(["a", 7]), { code: "invalid-argument", index: 1, message: /^texts\[1\] must be a string/ });
  await assert.rejects(lens.embed([{ sentence: "a" }, 7]), { code: "invalid-argument", index: 1, message: /^texts\[1\] must be a string, or an object/ });
  assert.deepEqual(calls(), []);
});

test("a layer is a whole number from 0", async () => {
  const { lens, calls } = await open();
  for (const layer of [-1, 1.5, "1", null, Number.NaN]) {
    await assert.rejects(lens.attention("a", "b", { layer }), { code: "invalid-argument", message: /^layer must be a whole number from 0/ }, `${layer}`);
  }
  await assert.rejects(lens.attention("a", "b", { signal: "now" }), { code: "invalid-argument" });
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
  assert.equal((await encoder.embed(["a"])).length, 1);
});

/** An engine that leaves out the end of texts that are long. */
const cutting = (method, args) => {
  if (method === "compare") {
    const [sentence1, , conditions] = args;
    const results = conditions.map((condition) => ({ condition, similarity: 0, rating: 1, unconditional: 0, ...(sentence1 === "long" && { truncated: true }) }));
    return { results, warnings: [] };
  }
  if (method !== "embed" && method !== "encode") return undefined;
  const [texts] = args;
  const truncated = texts.includes("long") ? Uint32Array.from(texts, (text) => (text === "long" ? 3 : 0)) : undefined;
  return { data: new Float32Array(2 * texts.length).fill(1), count: texts.length, dims: 2, truncated, warnings: [] };
};

test("onTruncate says what happens where a text is too long for the encoder, in every call that reads texts", async () => {
  const warnings = [];
  const { lens, encoder } = await open({ behave: cutting, onWarning: (message) => warnings.push(message) });
  const list = ["a", "long"];
  const calls = [
    (options) => encoder.embed(list, options),
    (options) => lens.embed(list.map((sentence) => ({ sentence })), options),
    (options) => lens.search("a", list, options),
    (options) => lens.cluster(list, options),
    (options) => lens.compare("long", "b", ["c"], options),
    (options) => lens.suggest("a", "long", options),
  ];
  for (const call of calls) {
    await call({ onTruncate: "ignore" });
    assert.deepEqual(warnings, []);
    await call();
    assert.match(warnings.splice(0)[0], /is longer than the encoder reads/, `${call}`);
    await assert.rejects(call({ onTruncate: "error" }), { code: "text-too-long", message: /onTruncate/ }, `${call}`);
    await assert.rejects(call({ onTruncate: "cut" }), { code: "invalid-argument" }, `${call}`);
  }
  await assert.rejects(encoder.embed(list, { onTruncate: "error" }), { index: 1 });
  await assert.rejects(lens.search("long", ["a"], { onTruncate: "error" }), (error) => !("index" in error));
  assert.deepEqual([...(await encoder.embed(list, { onTruncate: "ignore" })).truncated], [0, 3]);
});

test("what onWarning throws rejects the call that it is told of, and no other", async () => {
  const mine = new TypeError("my own");
  const onWarning = () => {
    throw mine;
  };
  const { encoder } = await open({ behave: cutting, onWarning });
  const [bad, good] = await Promise.allSettled([encoder.embed(["long"]), encoder.embed(["a"])]);
  assert.equal(bad.reason, mine);
  assert.equal(good.value.length, 1);
});

test("an aborted call rejects with the signal's reason, an AbortError where none was given", async () => {
  const { lens, encoder } = await open();
  for (const [reason, isReason] of [[undefined, (error) => error.name === "AbortError"], ["enough", (error) => error === "enough"]]) {
    const signal = AbortSignal.abort(reason);
    for (const call of [encoder.embed(["a"], { signal }), lens.compare("a", "b", ["c"], { signal }), lens.search("a", ["b"], { signal }), CaseLens.load({ signal })]) {
      await assert.rejects(call, isReason);
    }
    const controller = new AbortController();
    const long = encoder.embed(texts(5000), { signal: controller.signal });
    const shared = lens.cluster(texts(500), { signal: controller.signal, onProgress: () => controller.abort(reason) });
    await assert.rejects(shared, isReason);
    await assert.rejects(long, isReason);
  }
  assert.equal((await encoder.embed(["a"])).length, 1);
});

test("texts are embedded under one condition, each under its own or under none, and the embeddings know which", async () => {
  const { lens, encoder, calls } = await open();
  const asked = [];
  const embed = async (texts, options) => {
    const { model, condition } = await lens.embed(texts, options);
    asked.push(calls().at(-1).slice(1, 3));
    return [model, condition];
  };
  const pairs = [{ sentence: "a", condition: "c" }, { sentence: "b", condition: "c" }];
  assert.deepEqual(await embed(["a", "b"], { condition: "c" }), ["fake", "c"]);
  assert.deepEqual(await embed(pairs), ["fake", "c"]);
  assert.deepEqual(await embed(["a", "b"]), ["fake", null]);
  assert.deepEqual(await embed(["a", ...pairs.slice(1)], { condition: "d" }), ["fake", undefined]);
  assert.deepEqual(await embed([{ sentence: "a" }, pairs[1]]), ["fake", undefined]);
  assert.deepEqual(asked, [
    [["a", "b"], ["c", "c"]],
    [["a", "b"], ["c", "c"]],
    [["a", "b"], [undefined, undefined]],
    [["a", "b"], ["d", "c"]],
    [["a", "b"], [undefined, "c"]],
  ]);
  assert.equal((await lens.embed([], { condition: "c" })).condition, "c");
  assert.deepEqual([(await encoder.embed(["a"])).model, (await encoder.embed(["a"])).condition], ["fake", null]);
  await assert.rejects(encoder.embed(["a"], { condition: "c" }), { code: "invalid-argument", message: /load a CaseLens/ });
  await assert.rejects(lens.embed(["a"], { condition: "" }), { code: "empty-text", message: /^condition/ });
});

test("what is disposed of, by itself or by `using`, says that it is closed", async () => {
  for (const what of Object.values(await open()).slice(0, 2)) {
    assert.equal(what.closed, false);
    what[Symbol.dispose]();
    assert.equal(what.closed, true);
    await assert.rejects(what.tokenize("a"), { code: "disposed" });
    what.dispose();
  }
});

test("what is loaded says how its weights are stored, and `dtype` is a word of embeddings alone", async () => {
  const { lens } = await open();
  assert.equal(lens.info.weights, "q8_0");
  assert.equal("dtype" in lens.info, false);
  assert.equal((await lens.embed(["text 1"])).dtype, "float32");
  lens.dispose();
});
