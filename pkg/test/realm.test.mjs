// Values of another realm, as an iframe, Jest and jsdom hand them over: `instanceof` says no to them.

import assert from "node:assert/strict";
import test from "node:test";
import { createContext, runInContext } from "node:vm";
import { Embeddings } from "../build/api/embeddings.js";
import { cluster } from "../build/api/list/cluster.js";
import { search } from "../build/api/list/search.js";
import { encoderRequest } from "../build/api/options.js";
import { toCaseLensError } from "../build/errors.js";

const elsewhere = createContext({});
const foreign = (code) => runInContext(code, elsewhere);

const BASE = "https://example.org/";

/** Calls without workers, whose answers come from the other realm: each text is embedded as its place on the circle. */
const calls = {
  info: { mentioned: null },
  async call({ method, sentences, data, dims, counts, previous }) {
    if (method === "plane") return previous ?? data;
    if (method === "group") return counts.map(() => ({ labels: new Uint32Array(data.length / dims), centrality: new Float32Array(data.length / dims), silhouette: 0 }));
    const numbers = foreign("(list) => new Float32Array(list)")(sentences.flatMap((text) => [Math.cos(text.length), Math.sin(text.length)]));
    assert.ok(!(numbers instanceof Float32Array), "it is of another realm");
    return { dtype: "float32", data: numbers, length: sentences.length, dims: 2 };
  },
};

test("embeddings of another realm are taken, and become this one's without a copy", () => {
  const data = foreign("new Float32Array([9, 3, 4, 0, 2]).subarray(1)");
  const embeddings = new Embeddings({ dtype: "float32", data, length: 2, dims: 2, mentioned: foreign("new Float32Array(2)") });
  assert.ok(embeddings.data instanceof Float32Array && embeddings.mentioned instanceof Float32Array);
  assert.equal(embeddings.data.buffer, data.buffer);
  assert.deepEqual([...embeddings.row(0), ...embeddings.row(1)], [3, 4, 0, 2]);
  assert.ok(Math.abs(embeddings.similarity(0, 1) - 0.8) < 1e-6);
  const bytes = new Embeddings({ dtype: "int8", data: foreign("new Int8Array([1, 2])"), scales: foreign("new Float32Array([0.5])"), length: 1, dims: 2 });
  assert.deepEqual([...bytes.row(0)], [0.5, 1]);
  const bits = new Embeddings({ dtype: "binary", data: foreign("new Uint8Array([0b10000000])"), length: 1, dims: 1 });
  assert.deepEqual([...bits.row(0)], [1]);
});

test("what is no typed array of the right class is refused from everywhere", () => {
  for (const code of ["new Float64Array(2)", "new DataView(new ArrayBuffer(8))", "[1, 2]", "new ArrayBuffer(8)", "({ length: 2, buffer: new ArrayBuffer(8) })"]) {
    const wrong = { dtype: "float32", data: foreign(code), length: 1, dims: 2 };
    assert.throws(() => new Embeddings(wrong), { code: "invalid-argument", message: /must be a Float32Array of length 2/ }, code);
  }
});

test("a model may be bytes or a URL of another realm", async () => {
  const sources = async (model) => (await encoderRequest({ model: foreign(model) }, BASE)).call.model;
  assert.deepEqual(await sources("new Uint8Array([7, 1, 2]).subarray(1)"), { bytes: Uint8Array.of(1, 2) });
  assert.deepEqual(await sources("new Uint8Array([1, 2]).buffer"), { bytes: Uint8Array.of(1, 2) });
  const url = { href: "https://example.net/m.gguf", [Symbol.toStringTag]: "URL" }; // Node's contexts have no URL of their own
  assert.deepEqual((await encoderRequest({ model: url }, BASE)).call.model, { url: "https://example.net/m.gguf" });
  for (const wrong of ["new Float32Array(2)", "({})", "new Date(0)"]) await assert.rejects(sources(wrong), { code: "invalid-argument" }, wrong);
});

test("search and cluster take embeddings and points of another realm, and another copy's embeddings", async () => {
  assert.deepEqual((await search(calls, "aaa", ["a", "aaa"])).map(({ index }) => index), [1, 0]);
  const embeddings = { dtype: "float32", data: foreign("new Float32Array([1, 0, 0, 1])"), length: 2, dims: 2 };
  assert.equal((await search(calls, "a", ["a", "b"], { embeddings })).length, 2);
  const { points } = await cluster(calls, ["a", "b"], { embeddings, previous: foreign("new Float32Array([1, 2, 3, 4])") });
  assert.deepEqual([...points], [1, 2, 3, 4]);
  await assert.rejects(cluster(calls, ["a", "b"], { previous: foreign("new Float64Array(4)") }), { code: "invalid-argument" });
  await assert.rejects(search(calls, "a", ["a"], { embeddings: 7 }), { code: "invalid-argument" });
});

test("an error of another realm is told by its message alone", () => {
  assert.match(toCaseLensError(foreign('new TypeError("no such thing")')).message, /^caselens failed: no such thing\. /);
});
