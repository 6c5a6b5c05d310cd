import assert from "node:assert/strict";
import test from "node:test";
import { Embeddings } from "../build/api/embeddings.js";
import { cluster } from "../build/api/list/cluster.js";
import { CONDITIONS } from "../build/api/list/conditions.js";
import { search } from "../build/api/list/search.js";
import { ranked, suggest } from "../build/api/list/suggest.js";

const invalid = { code: "invalid-argument" };

/** Calls without workers: a text is embedded at the angle, in degrees, that it names. `calls` lists what was asked. */
function fakeCalls({ silhouettes = {}, mentioned, threshold = 0.5 } = {}) {
  const calls = [];
  return {
    calls,
    info: { model: "fake", mentioned: mentioned ? { threshold } : null },
    async call(call, signal, onPart) {
      calls.push(call);
      signal?.throwIfAborted();
      if (call.method === "embed") {
        onPart?.(0.5);
        onPart?.(1);
        const data = Float32Array.from(call.sentences.flatMap((text) => [Math.cos(angle(text)), Math.sin(angle(text))]));
        const told = mentioned && Float32Array.from(call.sentences, (text, i) => mentioned(text, call.conditions[i]));
        return { dtype: "float32", data, length: call.sentences.length, dims: 2, mentioned: told };
      }
      if (call.method === "plane") return call.previous ?? call.data;
      return call.counts.map((count) => {
        onPart?.(count / call.counts.at(-1));
        const n = call.data.length / 2;
        const centrality = Float32Array.from({ length: n }, (_, i) => (i + 1) / n);
        return { labels: Uint32Array.from({ length: n }, (_, i) => i % count), centrality, silhouette: silhouettes[count] ?? 0 };
      });
    },
  };
}
const angle = (text) => (Number(text.replace(/\D/g, "")) * Math.PI) / 180;
const texts = ["at 90", "at 10", "at 50", "at 10"];

test("search ranks by similarity, and keeps the order of what is as similar", async () => {
  const calls = fakeCalls();
  const seen = [];
  const hits = await search(calls, "at 0", texts, { condition: "the angle", onProgress: (progress) => seen.push(progress) });
  assert.deepEqual(hits.map(({ index }) => index), [1, 3, 2, 0]);
  assert.deepEqual(hits.map(({ text }) => text), ["at 10", "at 10", "at 50", "at 90"]);
  assert.ok(Math.abs(hits[0].similarity - Math.cos(angle("10"))) < 1e-6);
  for (const call of calls.calls) assert.ok(call.conditions.every((condition) => condition === "the angle"));
  assert.deepEqual(seen, [{ phase: "embed", progress: 0.5 }, { phase: "embed", progress: 1 }]);
  assert.equal((await search(fakeCalls(), "at 0", texts, { limit: 2 })).length, 2);
  assert.deepEqual(await search(fakeCalls(), "at 0", []), []);
});

test("embeddings that are given are not made again, and the query takes their form", async () => {
  const calls = fakeCalls();
  const embeddings = new Embeddings({ dtype: "float32", data: Float32Array.of(0, 1, 1, 0), length: 2, dims: 2 });
  const hits = await search(calls, "at 0", ["a", "b"], { embeddings });
  assert.deepEqual(hits.map(({ index, similarity }) => [index, similarity]), [[1, 1], [0, 0]]);
  assert.deepEqual(calls.calls.map(({ sentences, dims, dtype }) => [sentences, dims, dtype]), [[["at 0"], 2, "float32"]]);
  const grouping = fakeCalls();
  const { embeddings: same } = await cluster(grouping, ["a", "b"], { embeddings });
  assert.equal(same, embeddings);
  assert.deepEqual(grouping.calls.map(({ method }) => method), ["group", "plane"]);
});

test("groups are named by their most central text, and their members come in that order", async () => {
  const { groups, labels, points } = await cluster(fakeCalls(), texts, { groups: 2 });
  assert.deepEqual(groups.map(({ center, members }) => [center, ...members.map(({ index }) => index)]), [[2, 2, 0], [3, 3, 1]]);
  assert.deepEqual(groups[0].members[0], { index: 2, text: "at 50", similarity: 0.75 });
  assert.deepEqual([...labels], [0, 1, 0, 1]);
  assert.equal(points.length, 8);
});

test("the number of groups is the smallest whose silhouette is as good as the best", async () => {
  const many = Array.from({ length: 30 }, (_, i) => `at ${i}`);
  const count = async (silhouettes, list = many) => (await cluster(fakeCalls({ silhouettes }), list, {})).groups.length;
  assert.equal(await count({ 2: 0.1, 3: 0.39, 4: 0.4, 5: 0.2 }), 3);
  assert.equal(await count({ 2: 0.1, 3: 0.3, 4: 0.4, 5: 0.41 }), 4);
  assert.equal(await count({ 2: -0.3, 3: -0.2, 4: -0.1, 5: -0.4 }), 5, "where nothing holds together the most are tried");
  assert.equal(await count({}, many.slice(0, 2)), 1);
  assert.equal(await count({}, many.slice(0, 1)), 1);
  const calls = fakeCalls();
  await cluster(calls, many, {});
  assert.deepEqual(calls.calls[1].counts, [2, 3, 4, 5]);
});

test("progress rises to 1", async () => {
  for (const options of [{}, { groups: 2 }]) {
    const seen = [];
    await cluster(fakeCalls(), texts, { ...options, onProgress: ({ progress }) => seen.push(progress) });
    assert.deepEqual(seen, [...seen].sort((a, b) => a - b));
    assert.equal(seen.filter((progress) => progress === 1).length, 1);
    assert.equal(seen.at(-1), 1);
  }
});

test("the map before goes to the map after", async () => {
  const previous = new Float32Array(8).fill(3);
  const { points } = await cluster(fakeCalls(), texts, { previous });
  assert.equal(points, previous);
});

test("lists that cannot be used are refused before any work", async () => {
  const calls = fakeCalls();
  const few = new Embeddings({ dtype: "int8", data: new Int8Array(4), scales: new Float32Array(2), length: 2, dims: 2 });
  await assert.rejects(search(calls, "at 0", ["a", " \n"], {}), { code: "empty-text", message: /^texts\[1\] is empty/ });
  await assert.rejects(search(calls, "", ["a"], {}), { code: "empty-text", message: /^query is empty/ });
  await assert.rejects(search(calls, "a", ["a"], { condition: " " }), { code: "empty-text", message: /^condition is empty/ });
  await assert.rejects(search(calls, "a", ["\uD800"], {}), { code: "invalid-text" });
  await assert.rejects(search(calls, "a", ["a"], { embeddings: few }), invalid);
  await assert.rejects(search(calls, "a", ["a"], { limit: 0 }), invalid);
  await assert.rejects(search(calls, "a", "abc", {}), invalid);
  await assert.rejects(cluster(calls, [], {}), invalid);
  await assert.rejects(cluster(calls, ["a", "b"], { groups: 3 }), invalid);
  await assert.rejects(cluster(calls, ["a", "b"], { embeddings: few }), { ...invalid, message: /float32, not int8/ });
  await assert.rejects(cluster(calls, ["a", "b"], { previous: new Float32Array(2) }), invalid);
  await assert.rejects(suggest(calls, "a", "", {}), { code: "empty-text", message: /^sentence2 is empty/ });
  await assert.rejects(suggest(calls, "a", "b", { conditions: [""] }), { code: "empty-text", message: /^conditions\[0\]/ });
  assert.deepEqual(calls.calls, []);
});

test("embeddings of another model or condition are refused, and what says nothing of itself is taken", async () => {
  const told = (of) => new Embeddings({ dtype: "float32", data: Float32Array.of(0, 1, 1, 0), length: 2, dims: 2, ...of });
  const list = ["a", "b"];
  for (const call of [(options) => search(fakeCalls(), "at 0", list, options), (options) => cluster(fakeCalls(), list, options)]) {
    const place = { condition: "the place" };
    await call({ embeddings: told({}), ...place });
    await call({ embeddings: told({ model: "fake", condition: null }) });
    await call({ embeddings: told({ model: "fake", ...place }), condition: " the place. " });
    await assert.rejects(call({ embeddings: told({ model: "other" }) }), { ...invalid, message: /model other, and fake is loaded/ });
    await assert.rejects(call({ embeddings: told(place) }), { ...invalid, message: /the condition "the place", not under no condition/ });
    await assert.rejects(call({ embeddings: told(place), condition: "the time" }), { ...invalid, message: /not under the condition "the time"/ });
    await assert.rejects(call({ embeddings: told({ condition: null }), ...place }), invalid);
  }
  const { embeddings } = await cluster(fakeCalls(), texts, { condition: "the place" });
  assert.deepEqual([embeddings.model, embeddings.condition], ["fake", "the place"]);
  await assert.rejects(search(fakeCalls(), "at 0", ["a", 7], { embeddings: told({}) }), { ...invalid, index: 1 });
});

test("a search gives ten hits where it is not told how many", async () => {
  const many = Array.from({ length: 90 }, (_, i) => `at ${i}`);
  assert.deepEqual((await search(fakeCalls(), "at 0", many)).map(({ index }) => index), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.equal((await search(fakeCalls(), "at 0", many, { limit: many.length })).length, 90);
});

/** Rows at angles in degrees: two a condition. */
const rowsAt = (angles) =>
  new Embeddings({ dtype: "float32", data: Float32Array.from(angles.flatMap((a) => [Math.cos(angle(`${a}`)), Math.sin(angle(`${a}`))])), length: angles.length, dims: 2 });

test("suggestions come from both ends, the farthest first, and none says what another has said", () => {
  //                 same     like it   middle    unlike    unlike, elsewhere
  const rows = rowsAt([0, 0,    2, 4,     0, 60,    0, 90,    90, 179]);
  const names = ["same", "like it", "middle", "unlike", "elsewhere"];
  const all = ranked(names, rows, 5);
  assert.deepEqual(all.map(({ condition }) => condition).sort(), [...names].sort());
  assert.deepEqual(ranked(names, rows, 2).map(({ condition }) => condition), ["unlike", "same"], "one of each end");
  const [first] = all;
  assert.ok(Math.abs(first.similarity - Math.cos(angle("90"))) < 1e-5);
  assert.ok(Math.abs(first.score - (0.5 - first.similarity)) < 1e-5);
  assert.ok(all.find(({ condition }) => condition === "like it").score < 0.01, "hardly told apart from `same`");
  assert.deepEqual(ranked([], rowsAt([]), 3), []);
});

test("suggest tries the built-in conditions and the caller's, each once", async () => {
  const calls = fakeCalls();
  const suggested = await suggest(calls, "at 10", "at 20", { conditions: ["the tempo", CONDITIONS[0], "the tempo"], limit: 3 });
  assert.equal(suggested.length, 3);
  const [{ sentences, conditions }] = calls.calls;
  assert.deepEqual(conditions.filter((_, i) => i % 2), ["the tempo", CONDITIONS[0], ...CONDITIONS.slice(1)]);
  assert.deepEqual(sentences.slice(0, 4), ["at 10", "at 20", "at 10", "at 20"]);
  assert.equal(new Set(CONDITIONS).size, CONDITIONS.length);
  assert.equal((await suggest(fakeCalls(), "at 10", "at 20")).length, 8);
  const seen = [];
  await suggest(fakeCalls(), "at 10", "at 20", { onProgress: (progress) => seen.push(progress) });
  assert.deepEqual(seen, [{ phase: "embed", progress: 0.5 }, { phase: "embed", progress: 1 }]);
  await assert.rejects(suggest(fakeCalls(), "at 10", "at 20", { onProgress: "bar" }), invalid);
  const controller = new AbortController();
  controller.abort();
  await assert.rejects(suggest(fakeCalls(), "at 10", "at 20", { signal: controller.signal }));
});

/** What a text says about conditions: whether it is about an angle below 60. */
const below60 = (text) => (Number(text.replace(/\D/g, "")) < 60 ? 0.9 : 0.1);

test("search puts texts that say nothing about the condition last, and marks them", async () => {
  const options = { condition: "the angle" };
  const hits = await search(fakeCalls({ mentioned: below60 }), "at 90", texts, options);
  assert.deepEqual(hits.map(({ index }) => index), [2, 1, 3, 0]);
  assert.deepEqual(hits.map(({ unmentioned }) => unmentioned), [undefined, undefined, undefined, true]);
  const all = await search(fakeCalls({ mentioned: below60, threshold: 0.05 }), "at 90", texts, options);
  assert.deepEqual(all.map(({ index }) => index), [0, 2, 1, 3]);
  assert.ok(all.every((hit) => !("unmentioned" in hit)));
});

test("texts that say nothing about the condition are a group by themselves, the last", async () => {
  const calls = fakeCalls({ mentioned: below60 });
  const { groups, labels, embeddings } = await cluster(calls, ["at 90", "at 10", "at 80", "at 50", "at 20"], { condition: "the angle", groups: 2 });
  assert.deepEqual(groups.map(({ unmentioned }) => unmentioned), [undefined, undefined, true]);
  assert.deepEqual(groups.map(({ members }) => members.map(({ index }) => index).sort()), [[1, 4], [3], [0, 2]]);
  assert.deepEqual([...labels], [2, 0, 2, 1, 0]);
  const asked = calls.calls.filter(({ method }) => method === "group");
  assert.deepEqual(asked.map(({ data, counts }) => [data.length / 2, counts]), [[3, [2]], [2, [1]]]);
  // The rows of the others alone.
  assert.deepEqual([...asked[1].data], [...embeddings.row(0), ...embeddings.row(2)]);
  const silent = await cluster(fakeCalls({ mentioned: () => 0 }), ["at 1", "at 2"], { condition: "the angle" });
  assert.deepEqual(silent.groups.map(({ unmentioned, members }) => [unmentioned, members.length]), [[true, 2]]);
  assert.equal(silent.silhouette, 0);
});

test("what not both sentences say something about is not suggested", async () => {
  const about = (text, condition) => (condition === "both" || (condition === "one" && text === "at 10") ? 0.9 : condition === "hardly" ? 0.45 : 0.1);
  const found = await suggest(fakeCalls({ mentioned: about, threshold: 0.35 }), "at 10", "at 50", { conditions: ["both", "one", "hardly", "none"] });
  assert.deepEqual(found.map(({ condition }) => condition), ["both"]);
  assert.equal((await suggest(fakeCalls(), "at 10", "at 50")).length, 8, "all are, where the encoder does not tell what is mentioned");
});
