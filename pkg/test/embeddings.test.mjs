import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { Embeddings } from "../build/api/embeddings.js";
import { unsaid } from "../build/api/mentioned.js";
import { joined } from "../build/chunks.js";

const floats = { dtype: "float32", data: Float32Array.of(3, 4, 0, 2, -6, -8), length: 3, dims: 2 };
const bytes = { dtype: "int8", data: Int8Array.of(95, 127, 0, 127), scales: Float32Array.of(0.5, 2), length: 2, dims: 2 };
/** 101 0000 0 | 1…, and its complement in the first nine bits. */
const bits = { dtype: "binary", data: Uint8Array.of(0b10100000, 0b10000000, 0b01011111, 0), length: 2, dims: 9 };

test("rows are views of one block, and can be iterated over", () => {
  const embeddings = new Embeddings(floats);
  const [first, second] = embeddings;
  assert.deepEqual([...first, ...second], [3, 4, 0, 2]);
  assert.equal(embeddings.row(2).buffer, floats.data.buffer);
  assert.equal(embeddings.length, 3);
  assert.deepEqual([embeddings.at(2), embeddings.at(-1)], [embeddings.row(2), embeddings.row(2)]);
  for (const nowhere of [3, -4, 0.5, NaN, "0"]) assert.equal(embeddings.at(nowhere), undefined, `${nowhere}`);
  assert.equal(embeddings.data, floats.data);
  assert.deepEqual([...new Embeddings({ ...floats, data: new Float32Array(0), length: 0 })], []);
  assert.deepEqual(new Embeddings(structuredClone(embeddings)).row(0), embeddings.row(0));
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
  for (const wrong of [{ ...floats, length: 2 }, { ...floats, data: [3, 4] }, { ...floats, dtype: "f4" }, { ...bytes, scales: undefined }, { ...bits, dims: 17 }]) {
    assert.throws(() => new Embeddings(wrong), invalid);
  }
  const plain = new Embeddings(floats);
  for (const i of [-1, 3, 0.5, "0"]) assert.throws(() => plain.row(i), { ...invalid, message: /they are 0 to 2/ });
  assert.throws(() => plain.similarity(0, 0, new Embeddings(bytes)), invalid);
  assert.throws(() => plain.similarity(0, 0, new Embeddings({ ...floats, length: 2, dims: 3 })), invalid);
});

test("parts are joined row by row", () => {
  const whole = joined([bytes, bytes]);
  assert.deepEqual([whole.length, whole.dims, ...whole.data], [4, 2, 95, 127, 0, 127, 95, 127, 0, 127]);
  assert.deepEqual([...whole.scales], [0.5, 2, 0.5, 2]);
  assert.ok(joined([bits, bits]).data instanceof Uint8Array);
  assert.equal(joined([floats]), floats);
});

test("packed signs are numpy's", async () => {
  const { x, dims, binary } = JSON.parse(await readFile(new URL("../../tests/fixtures/vectors.json", import.meta.url)));
  const packed = new Embeddings({ dtype: "binary", data: Uint8Array.from(binary), length: x.length / dims, dims });
  for (let i = 0; i < packed.length; i++) {
    const row = packed.row(i);
    assert.deepEqual([...row].map((number) => number > 0), x.slice(i * dims, (i + 1) * dims).map((number) => number > 0));
  }
});

test("what embeddings were told to mention comes along, a number a row", () => {
  const data = { dtype: "float32", data: Float32Array.of(1, 0, 0, 1), length: 2, dims: 2 };
  const mentioned = Float32Array.of(0.25, 0.75);
  assert.equal(new Embeddings(data).mentioned, undefined);
  assert.equal(new Embeddings({ ...data, mentioned }).mentioned, mentioned);
  assert.throws(() => new Embeddings({ ...data, mentioned: Float32Array.of(1) }), { code: "invalid-argument" });
  assert.deepEqual([...joined([{ ...data, mentioned }, { ...data, mentioned }]).mentioned], [0.25, 0.75, 0.25, 0.75]);
});

test("what was left out of texts and what is unknown in them comes along, a number a row", () => {
  const truncated = Uint32Array.of(0, 5);
  const data = { dtype: "float32", data: Float32Array.of(1, 0, 0, 1), length: 2, dims: 2 };
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

test("embeddings become plain arrays and JSON, and come back from it", () => {
  assert.deepEqual(new Embeddings(floats).toArrays(), [[3, 4], [0, 2], [-6, -8]]);
  assert.deepEqual(new Embeddings(bytes).toArrays(), [[47.5, 63.5], [0, 254]]);
  const told = { model: "m", condition: "the place", mentioned: Float32Array.of(0.1, NaN), truncated: Uint32Array.of(0, 3), unknown: Uint32Array.of(1, 0) };
  for (const data of [floats, bytes, bits, { ...bytes, ...told }, { ...floats, condition: null, data: Float32Array.of(0.1, 1e-7, 1 / 3, 0, 0, 0) }]) {
    const embeddings = new Embeddings(data);
    const json = JSON.stringify(embeddings);
    assert.ok(!json.includes("{", 1), "plain arrays, and no objects in place of them");
    assert.deepEqual(Embeddings.fromJSON(JSON.parse(json)), embeddings);
  }
  const wrong = [null, {}, { ...bits, data: "abc" }, { ...floats, data: [1] }, { ...bytes, data: [1, 2, 3, 4], scales: undefined }];
  for (const json of wrong) assert.throws(() => Embeddings.fromJSON(json), { code: "invalid-argument" }, JSON.stringify(json));
});

test("some rows, and those of several, with all that is known of them", () => {
  const told = { model: "m", condition: "the place", mentioned: Float32Array.of(0.1, 0.2), truncated: Uint32Array.of(0, 3) };
  const embeddings = new Embeddings({ ...bytes, ...told });
  const some = embeddings.select([1, 0, 1]);
  assert.deepEqual(some.toArrays(), [[0, 254], [47.5, 63.5], [0, 254]]);
  assert.deepEqual([some.model, some.condition, some.unknown], ["m", "the place", undefined]);
  assert.deepEqual([[...some.mentioned], [...some.truncated]], [[...Float32Array.of(0.2, 0.1, 0.2)], [3, 0, 3]]);
  assert.notEqual(embeddings.select([0, 1]).data.buffer, embeddings.data.buffer);
  assert.deepEqual(new Embeddings(bits).select([1]).row(0), new Embeddings(bits).row(1));
  assert.equal(new Embeddings(floats).select([]).length, 0);
  for (const nowhere of [[2], [-1], [0.5], ["0"], "01"]) assert.throws(() => embeddings.select(nowhere), { code: "invalid-argument" }, `${nowhere}`);

  const plain = new Embeddings({ ...bytes, model: "m", condition: "the time" });
  const whole = embeddings.concat(embeddings, plain);
  assert.deepEqual(whole.toArrays(), [...embeddings.toArrays(), ...embeddings.toArrays(), ...plain.toArrays()]);
  assert.deepEqual([whole.length, whole.model, whole.condition], [6, "m", undefined]);
  assert.deepEqual([...whole.truncated], [0, 3, 0, 3, 0, 0]);
  assert.equal(embeddings.concat(embeddings).condition, "the place");
  assert.deepEqual(embeddings.concat(), embeddings);
  assert.throws(() => embeddings.concat(new Embeddings(floats)), { code: "invalid-argument" });
  assert.throws(() => embeddings.concat(new Embeddings({ ...bytes, model: "other" })), { code: "invalid-argument", message: /m, other/ });
});

test("lengths that are none are refused", () => {
  const data = new Float32Array(8);
  for (const wrong of [{ length: -2, dims: -4 }, { length: 2.5, dims: 3.2 }, { length: 8, dims: NaN }, { length: undefined, dims: 4 }, { length: "2", dims: 4 }]) {
    assert.throws(() => new Embeddings({ dtype: "float32", data, ...wrong }), { code: "invalid-argument" }, JSON.stringify(wrong));
  }
});

test("what is no number is refused, and null in JSON with it", () => {
  const refused = { code: "invalid-argument", message: /must be finite numbers/ };
  for (const none of [NaN, Infinity, -Infinity]) {
    assert.throws(() => new Embeddings({ ...floats, data: Float32Array.of(1, none, 3, 4, 5, 6) }), { ...refused, message: /^data must/ });
    assert.throws(() => new Embeddings({ ...bytes, scales: Float32Array.of(1, none) }), { ...refused, message: /^scales must/ });
  }
  const json = (data, changed) => ({ ...JSON.parse(JSON.stringify(new Embeddings(data))), ...changed });
  for (const none of [null, "a", 1e300]) assert.throws(() => Embeddings.fromJSON(json(floats, { data: [1, 2, none, 4, 5, 6] })), refused, `${none}`);
  assert.throws(() => Embeddings.fromJSON(json(bytes, { data: [1, null, 3, 4] })), refused);
  assert.throws(() => Embeddings.fromJSON(json(bytes, { scales: [1, null] })), refused);
  assert.throws(() => Embeddings.fromJSON(json(floats, { truncated: [1, null, 0] })), refused);
  assert.ok(Number.isNaN(Embeddings.fromJSON(json(floats, { mentioned: [1, null, 0] })).mentioned[1]));
});
