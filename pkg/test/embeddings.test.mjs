import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { Embeddings } from "../build/api/embeddings.js";
import { unsaid } from "../build/api/mentioned.js";
import { joined } from "../build/chunks.js";

const floats = { dtype: "float32", data: Float32Array.of(3, 4, 0, 2, -6, -8), count: 3, dims: 2 };
const bytes = { dtype: "int8", data: Int8Array.of(95, 127, 0, 127), scales: Float32Array.of(0.5, 2), count: 2, dims: 2 };
/** 101 0000 0 | 1…, and its complement in the first nine bits. */
const bits = { dtype: "binary", data: Uint8Array.of(0b10100000, 0b10000000, 0b01011111, 0), count: 2, dims: 9 };

test("rows are views of one block, and can be iterated over", () => {
  const embeddings = new Embeddings(floats);
  const [first, second] = embeddings;
  assert.deepEqual([...first, ...second], [3, 4, 0, 2]);
  assert.equal(embeddings.row(2).buffer, floats.data.buffer);
  // An array of rows, whose methods give plain arrays.
  assert.deepEqual([embeddings.length, embeddings[2]], [3, embeddings.row(2)]);
  assert.deepEqual(embeddings.map((row) => row.length), [2, 2, 2]);
  assert.equal(embeddings.map((row) => row).constructor, Array);
  assert.equal(embeddings.data, floats.data);
  assert.deepEqual([...new Embeddings({ ...floats, data: new Float32Array(0), count: 0 })], []);
  assert.deepEqual(new Embeddings(structuredClone({ ...embeddings })).row(0), embeddings.row(0));
});

test("bytes and bits give numbers back", () => {
  assert.deepEqual([...new Embeddings(bytes).row(0)], [47.5, 63.5]);
  assert.deepEqual([...new Embeddings(bytes).row(1)], [0, 254]);
  const row = new Embeddings(bits).row(0);
  assert.deepEqual([...row].map(Math.sign), [1, -1, 1, -1, -1, -1, -1, -1, 1]);
  assert.ok(Math.abs(Math.hypot(...row) - 1) < 1e-6);
});

test("similarity is the cosine of the rows, in every form", () => {
  const plain = new Embeddings(floats);
  assert.ok(Math.abs(plain.similarity(0, 1) - 0.8) < 1e-6);
  assert.equal(plain.similarity(0, 2), -1);
  for (const data of [bytes, bits]) {
    const embeddings = new Embeddings(data);
    const [a, b] = [embeddings.row(0), embeddings.row(1)];
    const cosine = a.reduce((sum, x, d) => sum + x * b[d], 0) / (Math.hypot(...a) * Math.hypot(...b));
    assert.ok(Math.abs(embeddings.similarity(0, 1) - cosine) < 1e-6, data.dtype);
    assert.ok(Math.abs(embeddings.similarity(1, 1, new Embeddings(data)) - 1) < 1e-12);
  }
  assert.equal(new Embeddings({ ...floats, data: new Float32Array(6) }).similarity(0, 1), 0);
});

test("what does not fit together is refused", () => {
  const invalid = { code: "invalid-argument" };
  for (const wrong of [{ ...floats, count: 2 }, { ...floats, data: [3, 4] }, { ...floats, dtype: "f4" }, { ...bytes, scales: undefined }, { ...bits, dims: 17 }]) {
    assert.throws(() => new Embeddings(wrong), invalid);
  }
  const plain = new Embeddings(floats);
  for (const i of [-1, 3, 0.5, "0"]) assert.throws(() => plain.row(i), { ...invalid, message: /they are 0 to 2/ });
  assert.throws(() => plain.similarity(0, 0, new Embeddings(bytes)), invalid);
  assert.throws(() => plain.similarity(0, 0, new Embeddings({ ...floats, count: 2, dims: 3 })), invalid);
});

test("parts are joined row by row", () => {
  const whole = joined([bytes, bytes]);
  assert.deepEqual([whole.count, whole.dims, ...whole.data], [4, 2, 95, 127, 0, 127, 95, 127, 0, 127]);
  assert.deepEqual([...whole.scales], [0.5, 2, 0.5, 2]);
  assert.ok(joined([bits, bits]).data instanceof Uint8Array);
  assert.equal(joined([floats]), floats);
});

test("packed signs are numpy's", async () => {
  const { x, dims, binary } = JSON.parse(await readFile(new URL("../../tests/fixtures/vectors.json", import.meta.url)));
  const packed = new Embeddings({ dtype: "binary", data: Uint8Array.from(binary), count: x.length / dims, dims });
  for (const i of packed.keys()) {
    const row = packed.row(i);
    assert.deepEqual([...row].map((number) => number > 0), x.slice(i * dims, (i + 1) * dims).map((number) => number > 0));
  }
});

test("what embeddings were told to mention comes along, a number a row", () => {
  const data = { dtype: "float32", data: Float32Array.of(1, 0, 0, 1), count: 2, dims: 2 };
  const mentioned = Float32Array.of(0.25, 0.75);
  assert.equal(new Embeddings(data).mentioned, undefined);
  assert.equal(new Embeddings({ ...data, mentioned }).mentioned, mentioned);
  assert.throws(() => new Embeddings({ ...data, mentioned: Float32Array.of(1) }), { code: "invalid-argument" });
  assert.deepEqual([...joined([{ ...data, mentioned }, { ...data, mentioned }]).mentioned], [0.25, 0.75, 0.25, 0.75]);
});

test("what was left out of texts and what is unknown in them comes along, a number a row", () => {
  const truncated = Uint32Array.of(0, 5);
  const data = { dtype: "float32", data: Float32Array.of(1, 0, 0, 1), count: 2, dims: 2 };
  assert.deepEqual([...new Embeddings({ ...data, truncated, unknown: truncated }).truncated], [0, 5]);
  assert.throws(() => new Embeddings({ ...data, unknown: Uint32Array.of(1) }), { code: "invalid-argument" });
  const whole = joined([data, { ...data, truncated }, data]);
  assert.deepEqual([...whole.truncated], [0, 0, 0, 5, 0, 0]);
  assert.equal(whole.unknown, undefined);
});

test("which sentences say nothing about a condition, by the head's threshold", () => {
  const info = { mentioned: { threshold: 0.4 } };
  assert.equal(unsaid({ mentioned: [0.4, 0.9] }, info), undefined);
  assert.equal(unsaid({ mentioned: [0.1, 0.9] }, info), "first");
  assert.equal(unsaid({ mentioned: [0.5, 0.39] }, info), "second");
  assert.equal(unsaid({ mentioned: [0, 0] }, info), "both");
  assert.equal(unsaid({}, info), undefined);
  assert.equal(unsaid({ mentioned: [0, 0] }, { mentioned: null }), undefined);
});
