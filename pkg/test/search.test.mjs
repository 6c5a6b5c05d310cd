// Finding the nearest of many embeddings.

import assert from "node:assert/strict";
import test from "node:test";
import { Embeddings } from "../build/api/embeddings.js";
import { First } from "../build/api/list/first.js";
import { search } from "../build/api/list/search.js";

/** The first `limit` of the numbers 0 to `count` − 1, in their order. */
function firstOf(count, limit, order) {
  const first = new First(limit, order);
  for (let number = 0; number < count; number++) if (first.takes(number)) first.keep(number);
  return first.sorted();
}

/** Numbers that look random and are the same every time, −1 to 1. */
function* numbers(seed = 1) {
  for (let state = seed; ; ) {
    state = (state * 48_271) % 2_147_483_647;
    yield (2 * state) / 2_147_483_647 - 1;
  }
}
const some = (length, seed) => {
  const source = numbers(seed);
  return Array.from({ length }, () => source.next().value);
};

test("the first of many are those that sorting all would give, in that order", () => {
  for (const count of [0, 1, 2, 7, 100]) {
    const keys = some(count).map((number) => Math.round(4 * number)); // many are alike
    let compared = 0;
    const order = (a, b) => {
      compared++;
      return keys[a] - keys[b] || a - b;
    };
    const sorted = keys.map((_, i) => i).sort((a, b) => keys[a] - keys[b] || a - b);
    for (const limit of [1, 2, 10, 99, 100, 1000]) assert.deepEqual(firstOf(count, limit, order), sorted.slice(0, limit), `${limit} of ${count}`);
    assert.ok(count === 0 || compared > 0 || count === 1);
  }
  let compared = 0;
  const keys = some(50_000);
  firstOf(keys.length, 10, (a, b) => {
    compared++;
    return keys[a] - keys[b];
  });
  assert.ok(compared < 55_000, `hardly more than one comparison each: ${compared}`);
});

/** The same 30 vectors of 12 dimensions in each form, and what they say. */
const FORMS = [
  { dtype: "float32", data: Float32Array.from(some(360)), length: 30, dims: 12 },
  { dtype: "int8", data: Int8Array.from(some(360), (number) => 127 * number), scales: new Float32Array(30).fill(0.01), length: 30, dims: 12 },
  { dtype: "binary", data: Uint8Array.from(some(60), (number, i) => (128 + 127 * number) & (i % 2 ? 0xf0 : 0xff)), length: 30, dims: 12 },
];

test("all similarities to a row at once are those of one pair after the other, in every form", () => {
  for (const form of FORMS) {
    const embeddings = new Embeddings(form);
    const other = embeddings.select([4, 9]);
    assert.deepEqual([...embeddings.similarities(1, other)], Array.from(embeddings, (_, i) => embeddings.similarity(i, 1, other)), form.dtype);
    const own = embeddings.similarities(9);
    assert.ok(Math.abs(own[9] - 1) < 1e-12);
    assert.ok(own.every((similarity) => similarity >= -1 && similarity <= 1));
    assert.throws(() => embeddings.similarities(30), { code: "invalid-argument" });
    assert.throws(() => embeddings.similarities(0, new Embeddings({ ...form, dims: 11, data: form.data.slice(0, 30 * (form.dtype === "binary" ? 2 : 11)) })), { code: "invalid-argument" });
  }
});

test("a search of embeddings gives the nearest, and reads no text but the query", async () => {
  for (const form of FORMS) {
    const embeddings = new Embeddings(form);
    const asked = [];
    const calls = {
      info: { model: "fake", mentioned: null },
      async call({ sentences, dims, dtype }) {
        asked.push([sentences, dims, dtype]);
        return embeddings.select([5]);
      },
    };
    const texts = Array.from(embeddings, () => " "); // what is not read may be empty
    const hits = await search(calls, "the query", texts, { embeddings, limit: 4 });
    const expected = Array.from(embeddings, (_, index) => ({ index, text: " ", similarity: embeddings.similarity(index, 5) }));
    expected.sort((a, b) => b.similarity - a.similarity || a.index - b.index);
    assert.deepEqual(hits, expected.slice(0, 4));
    assert.equal(hits[0].index, 5);
    assert.deepEqual(asked, [[["the query"], 12, form.dtype]]);
  }
});

test("a search by embeddings that are there gives way to other work, and can be left", async (context) => {
  const [length, dims] = [4000, 8];
  const embeddings = new Embeddings({ dtype: "float32", data: Float32Array.from(some(length * dims)), length, dims });
  const texts = Array.from({ length }, (_, i) => `text ${i}`);
  const calls = { info: { model: "fake", mentioned: null }, call: async () => ({ dtype: "float32", data: Float32Array.from(some(dims, 7)), length: 1, dims }) };
  const expected = await search(calls, "query", texts, { embeddings });

  // A clock by which each look is long after the one before.
  let now = 0;
  context.mock.method(performance, "now", () => (now += 100));
  let turns = 0;
  const controller = new AbortController();
  const count = () => {
    if (++turns === 30) controller.abort(new Error("enough"));
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  assert.deepEqual(await search(calls, "query", texts, { embeddings }), expected);
  assert.ok(turns >= 10, `${turns} turns`);
  turns = 0;
  await assert.rejects(search(calls, "query", texts, { embeddings, signal: controller.signal }), { message: "enough" });
  clearImmediate(timer);
});
