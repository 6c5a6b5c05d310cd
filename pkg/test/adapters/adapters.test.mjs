// The adapters in what they are for: LangChain's vector store in memory, and the AI SDK's own functions. No doubles, neither of
// them nor of the model.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { FakeVectorStore } from "@langchain/core/utils/testing";
import * as seven from "ai";
import * as six from "ai-6";
import { embeddingModel } from "../../dist/ai.js";
import { CaseLensEmbeddings } from "../../dist/langchain.js";
import { CaseLens, Encoder } from "../../dist/node.js";

const model = fileURLToPath(new URL("../../../www/public/models/caselens-csts-q4_0.gguf", import.meta.url));
const QUERY = "She plays chess in the park";
const TEXTS = ["He plays football in the park", "They play chess at home", "A train leaves the station"];
const [, CHESS] = TEXTS;

let lens;
let encoder;
before(async () => ([lens, encoder] = await Promise.all([CaseLens.load({ model, threads: 1 }), Encoder.load({ model, threads: 1 })])));
after(() => {
  lens.dispose();
  encoder.dispose();
});

test("LangChain's vector store finds what is alike under the condition", async () => {
  // The store of the core package: the same that `MemoryVectorStore` is, which brings more with it.
  const found = async (condition) => {
    const store = await FakeVectorStore.fromTexts(TEXTS, {}, new CaseLensEmbeddings(lens, { condition }));
    return store.similaritySearchWithScore(QUERY, 1);
  };
  for (const [condition, text] of [["the place", TEXTS[0]], ["the game", CHESS]]) {
    const [[document, score]] = await found(condition);
    assert.equal(document.pageContent, text);
    const [hit] = await lens.search(QUERY, TEXTS, { condition, limit: 1 });
    assert.ok(Math.abs(score - hit.similarity) < 1e-6, `${score} and ${hit.similarity}`);
  }
});

test("LangChain gets plain arrays of an encoder too, in the form that was asked for", async () => {
  const embeddings = new CaseLensEmbeddings(encoder, { pooling: "cls", dims: 64 });
  const expected = (await encoder.embed(TEXTS, { pooling: "cls", dims: 64 })).toArrays();
  assert.deepEqual(await embeddings.embedDocuments(TEXTS), expected);
  assert.deepEqual(await embeddings.embedQuery(CHESS), expected[1]);
  assert.deepEqual(await embeddings.embedDocuments([]), []);
  await assert.rejects(embeddings.embedDocuments(["a", ""]), { code: "empty-text", index: 1 });
  await assert.rejects(new CaseLensEmbeddings(encoder, { condition: "c" }).embedQuery("a"), { code: "invalid-argument" });
});

for (const [version, { cosineSimilarity, customProvider, embed, embedMany, wrapEmbeddingModel }] of [[6, six], [7, seven]]) {
  test(`the AI SDK ${version} embeds one text and many, and its cosines are those of compare`, async (context) => {
    const warned = context.mock.method(console, "warn", () => {});
    const info = context.mock.method(console, "info", () => {});
    const place = embeddingModel(lens, { condition: "the place" });
    const { embedding } = await embed({ model: place, value: QUERY });
    const { embeddings, usage } = await embedMany({ model: place, values: TEXTS });
    for (const [i, text] of TEXTS.entries()) {
      const [{ similarity }] = await lens.compare(QUERY, text, ["the place"]);
      assert.ok(Math.abs(cosineSimilarity(embedding, embeddings[i]) - similarity) < 1e-5);
    }
    const ids = await Promise.all(TEXTS.map((text) => lens.tokenize(text)));
    assert.equal(usage.tokens, ids.flatMap((ids) => [...ids]).length);
    assert.deepEqual([...warned.mock.calls, ...info.mock.calls], [], "it is of a version that the SDK does not warn of");
  });

  test(`the options of the AI SDK ${version} reach the call: dimensions, those of the provider, and the signal`, async () => {
    const plain = embeddingModel(encoder, { dims: 128 });
    assert.deepEqual([plain.provider, plain.modelId], ["caselens", encoder.info.model]);
    const lengthOf = async (options) => (await embed({ model: plain, value: QUERY, ...options })).embedding.length;
    assert.equal(await lengthOf(), 128);
    if (version === 7) assert.equal(await lengthOf({ dimensions: 64 }), 64); // 6 knows no such option

    const providerOptions = { caselens: { condition: "the game" } };
    const { embedding } = await embed({ model: embeddingModel(lens, { condition: "the place" }), value: QUERY, providerOptions });
    assert.deepEqual(embedding, (await lens.embed([QUERY], { condition: "the game" })).toArrays()[0]);

    const controller = new AbortController();
    const running = embedMany({ model: plain, values: Array.from({ length: 2000 }, () => QUERY), abortSignal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await assert.rejects(running, { name: "AbortError" });
    await assert.rejects(embed({ model: plain, value: "" }), { code: "empty-text" });
  });

  test(`the AI SDK ${version} wraps the model, and finds it in a provider`, async () => {
    const { embedding } = await embed({ model: embeddingModel(lens), value: QUERY });
    const wrapped = wrapEmbeddingModel({ model: embeddingModel(lens), middleware: { specificationVersion: version === 7 ? "v4" : "v3" } });
    const provider = customProvider({ embeddingModels: { plain: embeddingModel(lens) } });
    for (const model of [wrapped, provider.embeddingModel("plain")]) assert.deepEqual((await embed({ model, value: QUERY })).embedding, embedding);
  });
}

test("the example for LangChain finds a text under each condition", async () => {
  // Packages are looked for where a module lies: beside these tests' own.
  const root = await mkdtemp(path.join(tmpdir(), "caselens-langchain-"));
  try {
    const modules = path.join(root, "node_modules");
    await mkdir(modules);
    const own = fileURLToPath(new URL("./node_modules", import.meta.url));
    for (const name of await readdir(own)) await symlink(path.join(own, name), path.join(modules, name));
    await symlink(fileURLToPath(new URL("../..", import.meta.url)), path.join(modules, "caselens"));
    await symlink(fileURLToPath(new URL("../../../models/caselens-csts", import.meta.url)), path.join(modules, "caselens-csts"));
    const script = path.join(root, "search.mjs");
    await copyFile(new URL("../../examples/langchain/search.mjs", import.meta.url), script);
    const { stdout } = await promisify(execFile)(process.execPath, [script, model], { cwd: root });
    assert.equal(stdout, `the place: ${TEXTS[0]}\nthe game: ${CHESS}\n`);
  } finally {
    await rm(root, { recursive: true });
  }
});
