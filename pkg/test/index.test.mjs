// Indexes: what is in one, what is found, what is kept, and what is refused. A text is embedded at the angle, in degrees, that it
// names, or at random numbers that belong to it; the last tests are of the real encoder.

import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CaseLens, CaseLensError as PublishedError, Encoder } from "caselens";
import { Embeddings } from "../build/api/embeddings.js";
import { stamp } from "../build/api/index/file.js";
import { deleteIndex, loadIndex, newIndex, openIndex } from "../build/api/index/open.js";
import { xxHash32 } from "../build/api/index/xxhash.js";
import { CaseLensError } from "../build/errors.js";
import { indexFiles } from "../build/node/indexes.js";

const invalid = { code: "invalid-argument" };
let folder;
before(async () => (folder = await mkdtemp(path.join(tmpdir(), "caselens-index-"))));
after(() => rm(folder, { recursive: true, force: true }));

const DIMS = 12;
/** Numbers that look random and belong to a text under a condition. */
function vectorOf(text, condition, dims) {
  let state = 7;
  for (const letter of `${text}|${condition ?? ""}`) state = (state * 31 + letter.codePointAt(0)) % 2_147_483_647;
  const angle = /^at (-?\d+)$/.exec(text)?.[1];
  if (angle !== undefined) return Array.from({ length: dims }, (_, d) => (d === 0 ? Math.cos((angle * Math.PI) / 180) : d === 1 ? Math.sin((angle * Math.PI) / 180) : 0));
  return Array.from({ length: dims }, () => (state = (state * 48_271 + 1) % 2_147_483_647) / 1_073_741_824 - 1);
}

/** Embeddings of texts in a form, as an engine gives them. */
function embeddingsOf(texts, condition, { dtype, dims = DIMS }) {
  const rows = texts.map((text) => vectorOf(text, condition, dims));
  const shape = { dtype, dims, length: texts.length };
  if (dtype === "float32") return { ...shape, data: Float32Array.from(rows.flat()) };
  if (dtype === "int8") {
    const scales = Float32Array.from(rows, (row) => Math.max(...row.map(Math.abs)) / 127);
    return { ...shape, data: Int8Array.from(rows.flatMap((row, i) => row.map((x) => Math.round(x / scales[i])))), scales };
  }
  const bits = (row) => Array.from({ length: Math.ceil(dims / 8) }, (_, byte) => row.slice(8 * byte, 8 * byte + 8).reduce((sum, x, i) => sum | (x > 0 ? 128 >> i : 0), 0));
  return { ...shape, data: Uint8Array.from(rows.flatMap(bits)) };
}

/** What an index belongs to, without workers. `asked` lists the texts of each call; `hold`, when set, is waited for in each. */
function origin({ kind = "lens", model = "fake", store, mentioned, change = 0, fail } = {}) {
  const asked = [];
  const self = {
    kind,
    store,
    asked,
    hold: undefined,
    calls: {
      info: { model, pooling: "mean", mentioned: mentioned ? { threshold: 0.5 } : null },
      async call(call, signal, onPart) {
        if (call.method === "group") return call.counts.map((count) => ({ labels: Uint32Array.from({ length: call.data.length / call.dims }, (_, i) => i % count), centrality: new Float32Array(call.data.length / call.dims).fill(0.5), silhouette: 0.5 }));
        if (call.method === "plane") return new Float32Array((2 * call.data.length) / call.dims);
        const texts = call.sentences ?? call.texts;
        asked.push(texts);
        if (texts[0] !== PROBE && self.hold) await self.hold;
        signal?.throwIfAborted();
        fail?.(texts, call);
        onPart?.(0.5);
        onPart?.(1);
        const condition = call.conditions?.[0];
        const given = embeddingsOf(texts, condition, call);
        if (texts[0] === PROBE) given.data[0] += change;
        return { ...given, ...(mentioned && { mentioned: Float32Array.from(texts, mentioned) }) };
      },
    },
  };
  return self;
}
const PROBE = "A cat sleeps on a red sofa while it rains in Bergen.";

/** An index, with what it belongs to; the question by which a model is known is not listed. */
async function open(options, from = origin()) {
  const index = await newIndex(from, options);
  from.asked.length = 0;
  return { index, from };
}
const items = (texts) => texts.map((text, id) => ({ id, text }));
const ids = (hits) => hits.map(({ id }) => id);
const words = (count) => Array.from({ length: count }, (_, i) => `text ${(i * 7919) % 10_007}`);

test("items are there by their ids, in the order in which they came", async () => {
  const { index } = await open({ condition: "the angle" });
  assert.deepEqual([index.size, index.condition, index.model, index.dtype, index.dims, [...index]], [0, "the angle", "fake", "float32", DIMS, []]);
  const metadata = { tags: ["a", null], deep: { n: 1.5, gone: undefined } };
  await index.add([{ id: 1, text: "at 10", metadata }, { id: "1", text: "at 20" }]);
  metadata.tags.push("later");
  assert.deepEqual(index.get(1), { id: 1, text: "at 10", metadata: { tags: ["a", null], deep: { n: 1.5 } } });
  assert.deepEqual(index.get("1"), { id: "1", text: "at 20" });
  assert.deepEqual([index.has("1"), index.has(2), index.get(2)], [true, false, undefined]);
  assert.deepEqual(Array.from(index, ({ id }) => id), [1, "1"]);
  assert.throws(() => (index.get(1).id = 5), TypeError);
  await index.add([]);
  assert.equal(index.size, 2);
  const own = JSON.parse('{"__proto__": {"polluted": 1}}');
  await index.add([{ id: "p", text: "at 1", metadata: own }]);
  assert.equal(JSON.stringify(index.get("p").metadata), '{"__proto__":{"polluted":1}}');
  assert.equal(index.get("p").metadata.polluted, undefined);
});

test("a text is embedded once, however many items have it", async () => {
  const { index, from } = await open({ condition: "the angle" });
  await index.add(items(["at 10", "at 20", "at 10", "at 10"]));
  assert.deepEqual(from.asked, [["at 10", "at 20"]]);
  assert.deepEqual(ids(await index.search("at 10", { limit: 3 })), [0, 2, 3]);
});

test("items that are none are refused, before anything is read, and nothing is changed", async () => {
  const { index, from } = await open({});
  await index.add([{ id: "there", text: "at 1" }]);
  from.asked.length = 0;
  const circle = {};
  circle.self = circle;
  const bad = [
    [{ id: 2, text: "at 2" }, "duplicate-id", 2, /items\[0\] and items\[2\] have the same id, 2/],
    [{ id: "there", text: "at 2" }, "duplicate-id", 2, /"there", which is in the index already/],
    [{ id: 3, text: " \n" }, "empty-text", 2, /items\[2\]\.text/],
    [{ id: 3, text: "\ud800" }, "invalid-text", 2],
    [{ id: 3, text: "a".repeat(50_001) }, "text-too-long", 2],
    [{ id: 3 }, "invalid-argument", 2],
    [{ text: "at 3" }, "invalid-argument", 2],
    [{ id: NaN, text: "at 3" }, "invalid-argument", 2],
    [{ id: {}, text: "at 3" }, "invalid-argument", 2],
    ["at 3", "invalid-argument", 2],
    [null, "invalid-argument", 2],
    ...[NaN, Infinity, 1n, () => 1, Symbol("s"), new Date(), new Map(), [undefined], { a: { b: [1, new Set()] } }, circle].map((metadata) => [{ id: 3, text: "at 3", metadata }, "invalid-argument", 2, /metadata/]),
  ];
  for (const [item, code, at, message = /./] of bad) {
    await assert.rejects(index.add([{ id: 2, text: "at 2" }, { id: 9, text: "at 9" }, item]), (error) => {
      assert.ok(error instanceof CaseLensError, String(error));
      assert.deepEqual([error.code, error.index], [code, at], error.message);
      assert.match(error.message, message);
      return true;
    });
  }
  for (const list of [undefined, "at 1", { id: 1, text: "at 1" }]) await assert.rejects(index.add(list), invalid);
  for (const options of [null, { signal: 1 }, { onProgress: 1 }, { onTruncate: "never" }]) await assert.rejects(index.add([], options), invalid);
  assert.deepEqual([index.size, from.asked], [1, []]);
});

for (const form of [{ dtype: "float32" }, { dtype: "int8" }, { dtype: "binary" }, { dtype: "float32", dims: 7 }, { dtype: "int8", dims: 5 }, { dtype: "binary", dims: 41 }]) {
  test(`a search finds what comparing each by itself would: ${JSON.stringify(form)}`, async () => {
    const { index } = await open({ condition: "c", ...form });
    const texts = words(2500);
    await index.add(items(texts));
    const given = new Embeddings(embeddingsOf(texts, "c", form));
    const query = new Embeddings(embeddingsOf(["the query"], "c", form));
    const expected = Array.from(given, (_, id) => ({ id, text: texts[id], similarity: given.similarity(id, 0, query) }));
    expected.sort((a, b) => b.similarity - a.similarity || a.id - b.id);
    const hits = await index.search("the query", { limit: 40 });
    for (const [i, { similarity }] of hits.entries()) assert.ok(Math.abs(similarity - expected[i].similarity) < 1e-6, `${i}`);
    if (form.dtype === "binary") assert.deepEqual(ids(hits), ids(expected.slice(0, 40)), "of two as similar the first comes first");
    assert.equal((await index.search("the query")).length, 10);
    assert.equal((await index.search("the query", { limit: 9999 })).length, 2500);
    const by = await index.search(new Embeddings({ ...query, model: "fake", condition: "c." }), { limit: 40 });
    assert.deepEqual(by, hits, "an embedding is what its text is");
  });
}

test("limit, minimum and filter say what may be a hit", async () => {
  const { index } = await open({});
  await index.add([0, 10, 20, 30, 40, 50].map((angle) => ({ id: angle, text: `at ${angle}`, metadata: { even: angle % 20 === 0 } })));
  assert.deepEqual(ids(await index.search("at 0", { limit: 2 })), [0, 10]);
  assert.deepEqual(ids(await index.search("at 0", { minimum: Math.cos(Math.PI / 7) })), [0, 10, 20]);
  const seen = [];
  const filter = (item) => seen.push(item) > 0 && item.metadata.even;
  assert.deepEqual(ids(await index.search("at 50", { filter, limit: 2 })), [40, 20]);
  assert.ok(seen.every((item) => index.get(item.id) === item), "it is asked of items");
  const own = new Error("mine");
  await assert.rejects(index.search("at 0", { filter: () => { throw own; } }), (error) => error === own);
  for (const options of [{ filter: async () => true }, { filter: () => 1 }, { filter: 1 }, { limit: 0 }, { limit: 1.5 }, { minimum: "1" }, { minimum: NaN }, { lexicalWeight: 2 }, { lexical: 1 }]) {
    await assert.rejects(index.search("at 0", options), invalid, JSON.stringify(options));
  }
  assert.deepEqual(ids(await index.search("at 0", { limit: 1 })), [0], "the next search is as any other");
  await assert.rejects(index.search(" "), { code: "empty-text" });
  await assert.rejects(index.search(7), invalid);
  assert.deepEqual(await (await open({})).index.search("at 0"), []);
});

test("words count as much as they are weighed, by the caller's own measure", async () => {
  const { index } = await open({});
  await index.add(items(["at 0", "at 10", "at 60"]));
  const lexical = (query, { id }) => (query === "at 0" && id === 2 ? 1 : 0);
  const [first] = await index.search("at 0", { lexical, lexicalWeight: 0.8 });
  assert.equal(first.id, 2);
  assert.ok(Math.abs(first.score - (0.2 * 0.5 + 0.8)) < 1e-6 && Math.abs(first.similarity - 0.5) < 1e-6);
  assert.deepEqual(ids(await index.search("at 0", { lexical, lexicalWeight: 0 })), [0, 1, 2]);
  assert.deepEqual(ids(await index.search("at 0", { lexical })), [0, 1, 2], "at 0.7, 0.69 and 0.65");
  assert.deepEqual(ids(await index.search("at 0", { lexical, minimum: 0.66 })), [0, 1], "the least score, not the least similarity");
  assert.ok(!("score" in (await index.search("at 0"))[0]));
  const asked = [];
  await index.search({ id: 1 }, { lexical: (query, item) => asked.push([query, item.id]) && 0, filter: ({ id }) => id !== 0 });
  assert.deepEqual(asked, [["at 10", 2]], "with an id the words are those of its text");
  for (const wrong of [() => NaN, async () => 1, () => "1"]) await assert.rejects(index.search("at 0", { lexical: wrong }), invalid);
  await assert.rejects(index.search(new Embeddings(embeddingsOf(["at 0"], undefined, { dtype: "float32" })), { lexical }), { ...invalid, message: /in words/ });
});

test("more like one that is there: itself is no hit", async () => {
  const { index, from } = await open({});
  await index.add(items(["at 0", "at 10", "at 0", "at 50"]));
  from.asked.length = 0;
  assert.deepEqual(ids(await index.search({ id: 0 })), [2, 1, 3]);
  assert.deepEqual(from.asked, [], "nothing is read");
  await assert.rejects(index.search({ id: 9 }), { code: "unknown-id" });
  await assert.rejects(index.search({}), invalid);
});

test("embeddings of others are refused", async () => {
  const { index } = await open({ condition: "the place" });
  const own = embeddingsOf(["at 0"], "the place", { dtype: "float32" });
  const refused = [
    [{ ...own, model: "another" }, "index-mismatch", /another.*fake/],
    [{ ...own, condition: "the time" }, "index-condition", /"the time".*"the place"/],
    [{ ...own, condition: null }, "index-condition", /no condition/],
    [embeddingsOf(["at 0", "at 1"], "the place", { dtype: "float32" }), "invalid-argument", /one row/],
    [embeddingsOf(["at 0"], "the place", { dtype: "int8" }), "invalid-argument", /int8/],
    [embeddingsOf(["at 0"], "the place", { dtype: "float32", dims: 5 }), "invalid-argument", /5 dimensions/],
  ];
  for (const [embeddings, code, message] of refused) await assert.rejects(index.search(new Embeddings(embeddings)), { code, message });
  assert.deepEqual(await index.search({ ...own }), [], "plain data that says nothing is taken");
});

test("texts that say nothing about the condition come last, also after they were kept", async () => {
  const from = origin({ mentioned: (text) => (text === "at 0" ? 0.1 : 0.9) });
  const { index } = await open({ condition: "c" }, from);
  await index.add(items(["at 0", "at 40", "at 30"]));
  const expected = [[2, undefined], [1, undefined], [0, true]];
  const found = async (index) => (await index.search("at 0")).map(({ id, unmentioned }) => [id, unmentioned]);
  assert.deepEqual(await found(index), expected);
  assert.deepEqual(await found(await loadIndex(from, await index.save())), expected);
  await index.remove([1]);
  await index.update([{ id: 2, text: "at 0" }]);
  assert.deepEqual(await found(index), [[0, true], [2, true]]);
  const { groups } = await index.cluster({ groups: 1 });
  assert.deepEqual(groups.map(({ unmentioned }) => unmentioned), [true]);
});

test("an update reads what changed, and leaves the rest", async () => {
  const { index, from } = await open({});
  await index.add([{ id: "a", text: "at 0", metadata: 1 }, { id: "b", text: "at 50", metadata: 2 }]);
  from.asked.length = 0;
  await index.update([{ id: "a", metadata: { n: 3 } }, { id: "b", text: "at 10" }]);
  assert.deepEqual(from.asked, [["at 10"]]);
  assert.deepEqual([...index], [{ id: "a", text: "at 0", metadata: { n: 3 } }, { id: "b", text: "at 10", metadata: 2 }]);
  await index.update([{ id: "b", text: "at 10", metadata: null }]);
  assert.equal(from.asked.length, 1);
  assert.equal(index.get("b").metadata, null);
  const [hit] = await index.search("at 11");
  assert.ok(hit.id === "b" && hit.similarity > 0.999);
  await assert.rejects(index.update([{ id: "a", text: "at 90" }, { id: "c", text: "at 1" }]), { code: "unknown-id", index: 1 });
  await assert.rejects(index.update([{ id: "a", text: "at 90" }, { id: "a", text: "at 1" }]), { code: "duplicate-id", index: 1 });
  await assert.rejects(index.update([{ id: "a", text: "" }]), { code: "empty-text", index: 0 });
  assert.equal(index.get("a").text, "at 0");
});

for (const dtype of ["float32", "int8", "binary"]) {
  test(`what is removed is gone, and the rest is found as before: ${dtype}`, async () => {
    const { index } = await open({ condition: "c", dtype });
    const texts = words(2300);
    await index.add(items(texts));
    const gone = texts.map((_, id) => id).filter((id) => id % 3 === 0 || (id > 900 && id < 1500));
    await assert.rejects(index.remove([1, 99_999]), { code: "unknown-id", index: 1 });
    await assert.rejects(index.remove([1, 2, 1]), { code: "duplicate-id", index: 2 });
    await assert.rejects(index.remove(1), invalid);
    assert.equal(index.size, 2300);
    await index.remove(gone);
    const left = texts.map((text, id) => ({ id, text })).filter(({ id }) => !gone.includes(id));
    assert.deepEqual([...index], left);
    const { index: fresh } = await open({ condition: "c", dtype });
    await fresh.add(left);
    assert.deepEqual(await index.search("the query", { limit: 30 }), await fresh.search("the query", { limit: 30 }));
    await Promise.all([index, fresh].map((one) => one.add([{ id: 0, text: "the query" }])));
    assert.deepEqual(await index.search("the query", { limit: 30 }), await fresh.search("the query", { limit: 30 }));
    assert.ok((await index.search("the query"))[0].similarity > 0.9999);
    await index.remove(Array.from(index, ({ id }) => id));
    assert.deepEqual([index.size, await index.search("the query")], [0, []]);
  });
}

test("a call that is aborted, or whose progress throws, changes nothing", async () => {
  const { index, from } = await open({});
  await index.add(items(["at 0"]));
  const before = await index.save();
  const more = [{ id: "new", text: "at 5" }];
  const unchanged = async () => assert.deepEqual(await index.save(), before);

  await assert.rejects(index.add(more, { signal: AbortSignal.abort("no") }), (reason) => reason === "no");
  await assert.rejects(index.search("at 0", { signal: AbortSignal.abort("no") }), (reason) => reason === "no");
  await unchanged();
  let release;
  from.hold = new Promise((resolve) => (release = resolve));
  const first = new AbortController();
  const second = new AbortController();
  const adding = index.add(more, { signal: first.signal });
  const waiting = index.remove([0], { signal: second.signal });
  second.abort("second");
  await assert.rejects(waiting, (reason) => reason === "second");
  first.abort("first");
  release();
  await assert.rejects(adding, (reason) => reason === "first");
  from.hold = undefined;
  await unchanged();

  const own = new Error("mine");
  for (const at of [0.5, 1]) {
    const onProgress = ({ progress }) => {
      if (progress === at) throw own;
    };
    if (at === 1) await assert.rejects(index.add(more, { onProgress }), (error) => error === own);
    const last = new AbortController();
    await assert.rejects(index.update([{ id: 0, text: "at 7" }], { signal: last.signal, onProgress: ({ progress }) => progress === at && last.abort("late") }), (reason) => reason === "late");
    await unchanged();
  }
  const seen = [];
  await index.add(more, { onProgress: (progress) => seen.push(progress) });
  assert.deepEqual(seen, [{ phase: "embed", progress: 0.5 }, { phase: "embed", progress: 1 }]);
  assert.equal(index.size, 2);
});

test("changes take turns, and a search meanwhile sees what was there", async () => {
  const { index, from } = await open({});
  await index.add(items(["at 0"]));
  let release;
  from.hold = new Promise((resolve) => (release = resolve));
  const first = index.add([{ id: "x", text: "at 1" }]);
  const second = index.add([{ id: "x", text: "at 2" }, { id: "y", text: "at 3" }]);
  const third = index.remove(["x"]);
  assert.deepEqual(ids(await index.search({ id: 0 })), []);
  assert.equal(index.size, 1);
  release();
  await first;
  await assert.rejects(second, { code: "duplicate-id", index: 0 });
  await third;
  assert.deepEqual(Array.from(index, ({ id }) => id), [0]);
});

test("an error of a text says which item it is", async () => {
  const fail = (texts, { named }) => {
    const index = texts.indexOf("at 2");
    if (index >= 0) throw new CaseLensError("text-too-long", `${named ?? `texts[${index}]`} is too long`, named === undefined ? { index } : {});
  };
  const { index } = await open({}, origin({ fail }));
  await assert.rejects(index.add(items(["at 1", "at 1", "at 2"])), { code: "text-too-long", index: 2, message: "items[2].text is too long" });
  await assert.rejects(index.search("at 2"), (error) => error.message === "query is too long" && !("index" in error));
  assert.equal(index.size, 0);
});

test("what is in it is gathered, by ids", async () => {
  for (const dtype of ["float32", "int8", "binary"]) {
    const { index } = await open({ condition: "c", dtype });
    await assert.rejects(index.cluster(), { ...invalid, message: /empty/ });
    await index.add([{ id: "a", text: "at 0", metadata: 1 }, { id: "b", text: "at 5" }, { id: "c", text: "at 90" }]);
    const { groups, labels, points } = await index.cluster({ groups: 2 });
    assert.deepEqual(groups, [
      { center: "a", members: [{ id: "a", text: "at 0", metadata: 1, similarity: 0.5 }, { id: "c", text: "at 90", similarity: 0.5 }] },
      { center: "b", members: [{ id: "b", text: "at 5", similarity: 0.5 }] },
    ]);
    assert.deepEqual([[...labels], points.length], [[0, 1, 0], 6]);
    await assert.rejects(index.cluster({ groups: 4 }), invalid);
  }
});

test("the same texts under another condition are a new index", async () => {
  const { index, from } = await open({ condition: "the place", dtype: "int8", dims: 7 });
  await index.add([{ id: "a", text: "one", metadata: { n: 1 } }, { id: "b", text: "two" }]);
  const seen = [];
  const other = await index.under("the time", { onProgress: ({ progress }) => seen.push(progress) });
  assert.deepEqual(seen, [0.5, 1]);
  assert.deepEqual([other.condition, other.dtype, other.dims, [...other]], ["the time", "int8", 7, [...index]]);
  assert.deepEqual([index.condition, index.revision], ["the place", 0]);
  const { index: fresh } = await open({ condition: "the time", dtype: "int8", dims: 7 }, from);
  await fresh.add([...index]);
  assert.deepEqual(await other.search("three"), await fresh.search("three"));
  assert.equal((await index.under(null)).condition, null);
  await assert.rejects(index.under(""), { code: "empty-text" });
  await assert.rejects(index.under("the time", { signal: AbortSignal.abort("no") }), (reason) => reason === "no");
  const { index: plain } = await open({ pooling: "cls" }, origin({ kind: "encoder" }));
  await assert.rejects(plain.under("the time"), { ...invalid, message: /no conditions/ });
  await assert.rejects(open({ condition: "c" }, origin({ kind: "encoder" })), invalid);
});

for (const form of [{ dtype: "float32" }, { dtype: "int8", dims: 9 }, { dtype: "binary", dims: 33 }]) {
  test(`what is saved is loaded again, from bytes anywhere: ${JSON.stringify(form)}`, async () => {
    const { index, from } = await open({ condition: 'the "place"', ...form });
    await index.add(words(1500).map((text, id) => ({ id: id % 2 ? id : `é${id}\n`, text: `${text}\u2028\n"ü"`, metadata: { id } })));
    const bytes = await index.save();
    const hits = await index.search("query", { limit: 20 });
    const elsewhere = new Uint8Array(bytes.length + 1);
    elsewhere.set(bytes, 1);
    for (const given of [bytes, bytes.buffer, elsewhere.subarray(1)]) {
      const again = await loadIndex(from, given, { condition: 'the "place".' });
      assert.deepEqual([again.condition, again.dtype, again.dims, again.size], [index.condition, index.dtype, index.dims, 1500]);
      assert.deepEqual([...again], [...index]);
      assert.deepEqual(await again.search("query", { limit: 20 }), hits);
      assert.deepEqual(await again.save(), bytes);
      await again.remove([1, 3, 5]);
      await again.add([{ id: "more", text: "query" }]);
      assert.equal((await again.search("query"))[0].id, "more");
    }
    assert.deepEqual(await index.save(), bytes, "the bytes that were given are left alone");
    const { index: empty } = await open(form, from);
    assert.equal((await loadIndex(from, await empty.save())).size, 0);
  });
}

test("the checksum is XXH32", () => {
  const bytes = (text) => new TextEncoder().encode(text);
  assert.equal(xxHash32(bytes("")), 0x02cc5d05);
  assert.equal(xxHash32(bytes("abc")), 0x32d153ff);
  assert.equal(xxHash32(bytes("Nobody inspects the spammish repetition")), 0xe2293b2f);
});

test("a broken file is told, whatever is broken", async () => {
  const { index, from } = await open({ condition: "c", dtype: "int8" }, origin({ mentioned: () => 0.9 }));
  await index.add([{ id: "a", text: "one", metadata: [1] }, { id: 2, text: "two" }]);
  const bytes = await index.save();
  const codeOf = (bytes) => loadIndex(from, bytes).then(() => "loaded", ({ code }) => code);
  for (let at = 0; at < bytes.length; at++) {
    const damaged = bytes.slice();
    damaged[at] ^= 1 << at % 8;
    const expected = at >= 32 && at < 64 ? ["loaded"] : at >= 8 && at < 12 ? ["index-version"] : ["index-format"];
    assert.ok(expected.includes(await codeOf(damaged)), `byte ${at}: ${await codeOf(damaged)}`);
  }
  for (const length of [0, 1, 7, 8, 63, 64, 200, bytes.length - 1]) assert.equal(await codeOf(bytes.slice(0, length)), "index-format", `${length} bytes`);
  assert.equal(await codeOf(Uint8Array.from([...bytes, 0])), "index-format");
  for (const wrong of [undefined, "bytes", [1, 2], new Float32Array(8)]) assert.equal(await codeOf(wrong), "invalid-argument");
});

test("a file that holds what is no number is damaged, though its hash fits", async () => {
  for (const [dtype, block] of [["float32", "vectors"], ["float32", "probe"], ["int8", "scales"]]) {
    const { index, from } = await open({ dtype });
    await index.add([{ id: 1, text: "one" }]);
    const bytes = await index.save();
    const view = new DataView(bytes.buffer);
    const start = 64 + view.getUint32(12, true);
    const { blocks } = JSON.parse(new TextDecoder().decode(bytes.subarray(64, start)));
    for (const none of [NaN, Infinity]) {
      view.setFloat32(blocks[block][0], none, true);
      view.setUint32(28, xxHash32(bytes.subarray(start)), true);
      await assert.rejects(loadIndex(from, bytes), { code: "index-format", message: new RegExp(`${block} hold what is no number`) });
    }
  }
});

test("a file of another version, model, kind or condition is refused by its own code", async () => {
  const { index } = await open({ condition: "the place" });
  const bytes = await index.save();
  const later = bytes.slice();
  later[8] = 2;
  await assert.rejects(loadIndex(origin(), later), { code: "index-version", message: /version 2 .* version 1/ });
  await assert.rejects(loadIndex(origin({ model: "other" }), bytes), { code: "index-mismatch", message: /fake.*other/ });
  await assert.rejects(loadIndex(origin({ kind: "encoder" }), bytes), { code: "index-mismatch", message: /CaseLens.*Encoder/ });
  await assert.rejects(loadIndex(origin({ change: 5 }), bytes), { code: "index-mismatch", message: /though it has that name/ });
  assert.equal((await loadIndex(origin({ change: 0.01 }), bytes)).size, 0, "another processor rounds otherwise");
  await assert.rejects(loadIndex(origin(), bytes, { condition: "the time" }), { code: "index-condition", message: /"the place".*"the time"/ });
  await assert.rejects(loadIndex(origin(), bytes, { condition: null }), { code: "index-condition" });
  await assert.rejects(loadIndex(origin(), bytes, { signal: AbortSignal.abort("no") }), (reason) => reason === "no");
});

test("an index in a file: whoever comes late is refused, and nothing is lost", async () => {
  const store = indexFiles((name) => pathToFileURL(path.join(folder, name)).href);
  const from = origin({ store });
  const { index } = await open({ condition: "c" }, from);
  assert.equal(await openIndex(from, "notes"), undefined);
  await index.add(items(["one"]));
  await index.store("notes");
  assert.equal(index.revision, 1);
  const [mine, theirs] = [await openIndex(from, "notes"), await openIndex(from, "notes", { condition: "c" })];
  await mine.add([{ id: "mine", text: "two" }]);
  await theirs.add([{ id: "theirs", text: "three" }]);
  await mine.store("notes");
  await assert.rejects(theirs.store("notes"), { code: "index-conflict", message: /revision 2.*revision 1/ });
  assert.deepEqual([theirs.size, theirs.revision, (await openIndex(from, "notes")).size], [2, 1, 2]);
  const { index: stranger } = await open({ condition: "c" }, from);
  await assert.rejects(stranger.store("notes"), { code: "index-conflict", message: /another index/ });
  await theirs.store("other");
  await theirs.store("notes", { overwrite: true });
  assert.deepEqual([theirs.revision, (await openIndex(from, "notes")).has("theirs")], [3, true]);
  await mine.store("mine");
  await deleteIndex(store, "mine");
  await deleteIndex(store, "mine");
  assert.equal(await openIndex(from, "mine"), undefined);
  assert.deepEqual((await readdir(folder)).sort(), ["notes", "other"], "nothing is left beside them");
  for (const name of ["", 7, undefined]) await assert.rejects(index.store(name), invalid);
  await assert.rejects(index.store("notes", { overwrite: 1 }), invalid);
});

test("of two that store at once, one is refused; a lock that was left behind is no hindrance", async () => {
  const store = indexFiles((name) => pathToFileURL(path.join(folder, name)).href);
  const from = origin({ store });
  const { index } = await open({}, from);
  await index.store("race");
  const both = await Promise.all([openIndex(from, "race"), openIndex(from, "race")]);
  const ended = await Promise.allSettled(both.map((one) => one.store("race")));
  assert.deepEqual(ended.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  assert.equal(ended.find(({ reason }) => reason).reason.code, "index-conflict");
  await writeFile(path.join(folder, "race.lock"), "");
  await utimes(path.join(folder, "race.lock"), 1, 1);
  await (await openIndex(from, "race")).store("race");
});

test("where storing fails, what was stored stays, and the error says why", async () => {
  const files = indexFiles((name) => pathToFileURL(path.join(folder, name)).href);
  await assert.rejects((await open({}, origin({ store: files }))).index.store("no/folder/notes"), { code: "storage", message: /no.folder.notes/ });
  await assert.rejects(openIndex(origin({ store: files }), "."), { code: "storage" });
  await assert.rejects(indexFiles((name) => name).read("https://example.org/notes"), invalid);
  const full = { ...files, write: async () => { throw new CaseLensError("storage-full", "full"); } };
  const { index } = await open({}, origin({ store: full }));
  await assert.rejects(index.store("notes"), { code: "storage-full" });
  assert.equal(index.revision, 0);
  await assert.rejects((await open({}, origin({ store: undefined }))).index.store("notes"), { code: "storage", message: /no IndexedDB/ });
});

test("a stamp can be written over without reading the file again", async () => {
  const { index, from } = await open({});
  const bytes = await index.save();
  stamp(bytes, { number: 7, stamp: "ab".repeat(16) });
  assert.equal((await loadIndex(from, bytes)).revision, 7);
});

test("a search gives way to other work", async (context) => {
  const { index } = await open({});
  await index.add(items(words(5000)));
  const query = new Embeddings(embeddingsOf(["q"], undefined, { dtype: "float32" }));
  // A clock by which each look is long after the one before.
  let now = 0;
  context.mock.method(performance, "now", () => (now += 100));
  let turns = 0;
  const count = () => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  await index.search(query);
  clearImmediate(timer);
  assert.ok(turns >= 4, `${turns} turns while five blocks were searched`);
});

test("bytes of an index that were handed over to another thread are told", async () => {
  const bytes = new Uint8Array(64);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  for (const gone of [bytes, bytes.buffer]) await assert.rejects(loadIndex(origin(), gone), { name: "CaseLensError", ...invalid, message: /^bytes has no bytes any more/ });
});

test("what a killed process left beside an index in a file is swept once it is old, and nothing else", async () => {
  const at = await mkdtemp(path.join(folder, "swept-"));
  const store = indexFiles((name) => pathToFileURL(name).href);
  const uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
  const old = new Date(Date.now() - 25 * 60 * 60 * 1000);
  const names = { left: `a+b (1).idx.${uuid}.tmp`, fresh: `a+b (1).idx.${uuid.replace("0f", "1f")}.tmp`, other: `other.idx.${uuid}.tmp` };
  for (const [what, name] of Object.entries(names)) {
    await writeFile(path.join(at, name), "x");
    if (what !== "fresh") await utimes(path.join(at, name), old, old);
  }
  await store.write(path.join(at, "a+b (1).idx"), new Uint8Array(3), () => {});
  assert.deepEqual((await readdir(at)).sort(), ["a+b (1).idx", names.fresh, names.other].sort());
});

const MODELS = fileURLToPath(new URL("../../www/public/models/", import.meta.url));
const MODEL = path.join(MODELS, "caselens-csts-q4_0.gguf");
const TEXTS = ["She plays chess in the park.", "He plays football in the park.", "It rains in Bergen.", "A cat sleeps on the sofa."];

test("with the real encoder it finds what search finds, in the package as it is published", async () => {
  const lens = await CaseLens.load({ model: MODEL });
  const encoder = await Encoder.load({ model: MODEL });
  const index = await lens.index({ condition: "the place" });
  await index.add(items(TEXTS));
  const hits = await index.search("They walk in a garden.");
  const expected = await lens.search("They walk in a garden.", TEXTS, { condition: "the place" });
  assert.deepEqual(ids(hits), expected.map(({ index }) => index));
  for (const [i, { similarity }] of hits.entries()) assert.ok(Math.abs(similarity - expected[i].similarity) < 1e-6);
  const file = path.join(folder, "real.index");
  await index.store(file);
  const again = await lens.openIndex(file, { condition: "the place" });
  assert.deepEqual(await again.search("They walk in a garden."), hits);
  const { groups } = await again.cluster({ groups: 2 });
  assert.equal(groups.flatMap(({ members }) => members).length, 4);
  assert.equal((await again.under("the sport")).size, 4);
  assert.deepEqual(index.search(await lens.embed(["They walk in a garden."], { condition: "the place" })) instanceof Promise, true);

  const plain = await encoder.index({ dtype: "binary", dims: 100 });
  await plain.add(items(TEXTS));
  assert.equal((await plain.search(TEXTS[2]))[0].similarity, 1);
  assert.deepEqual([...(await encoder.loadIndex(await plain.save()))], [...plain]);
  await assert.rejects(encoder.openIndex(file), (error) => error instanceof PublishedError && error.code === "index-mismatch");
  await assert.rejects(encoder.index({ condition: "c" }), invalid);
  await assert.rejects(lens.index({ dims: 9999 }), invalid);
  await assert.rejects(lens.index({ condition: " " }), { code: "empty-text" });

  lens.dispose();
  for (const call of [() => index.add([{ id: 9, text: "more" }]), () => index.search("a"), () => index.cluster(), () => index.under("c"), () => lens.index()]) {
    await assert.rejects(call(), (error) => error instanceof PublishedError && error.code === "disposed");
  }
  assert.deepEqual(ids(await index.search({ id: 0 }, { limit: 1 })), [1]);
  assert.deepEqual((await readFile(file)).subarray(64), Buffer.from(await index.save()).subarray(64), "nothing is lost");
  await CaseLens.deleteIndex(file);
  encoder.dispose();
});
