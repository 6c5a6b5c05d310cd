// How a text's tokens become one embedding: as the encoder's file says, or as is asked. The companion makes files of each kind of a tiny
// encoder; what they should give is what transformers made of the same texts.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Encoder } from "caselens";
import { embeddingModel } from "caselens/ai";
import { CaseLensEmbeddings } from "caselens/langchain";
import { cosine, readSafetensors } from "./helpers.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FIXTURES = path.join(ROOT, "tests/fixtures");
const COMPANION = process.env.CASELENS ?? path.join(ROOT, "target/release/caselens");

let folder;
/** The short texts of the fixture, and the vectors of their tokens, `[tokens, 64]` each. */
let texts;
let tokens;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "caselens-pooling-"));
  const inputs = JSON.parse(await readFile(path.join(FIXTURES, "bert-tiny/hidden.json"), "utf8"));
  const states = await readSafetensors(path.join(FIXTURES, "bert-tiny/hidden.safetensors"));
  const places = inputs.flatMap(({ b }, i) => (b === null && states[`hidden.${i}`].shape[0] < 40 ? [i] : []));
  assert.ok(places.length >= 2);
  texts = places.map((place) => inputs[place].a);
  tokens = places.map((place) => {
    const { shape, data } = states[`hidden.${place}`];
    return Array.from({ length: shape[0] }, (_, i) => data.subarray(i * shape[1], (i + 1) * shape[1]));
  });
});
after(() => rm(folder, { recursive: true, force: true }));

/** A file of the tiny encoder whose authors pool so, in sentence-transformers' words. */
async function pooled(mode, maxLength) {
  const from = path.join(folder, `from-${mode}`);
  await cp(path.join(FIXTURES, "bert-tiny"), from, { recursive: true });
  await mkdir(path.join(from, "1_Pooling"), { recursive: true });
  await writeFile(path.join(from, "1_Pooling/config.json"), JSON.stringify({ [`pooling_mode_${mode}`]: true }));
  if (maxLength) await writeFile(path.join(from, "sentence_bert_config.json"), JSON.stringify({ max_seq_length: maxLength }));
  const file = path.join(folder, `${mode}.gguf`);
  execFileSync(COMPANION, ["quantize", "--model", from, "--output", file], { stdio: "pipe" });
  return file;
}

const EXPECTED = {
  mean: (rows) => rows[0].map((_, d) => rows.reduce((sum, row) => sum + row[d], 0) / rows.length),
  cls: (rows) => rows[0],
  last: (rows) => rows.at(-1),
};

/** Which of the three poolings the rows are of. A tiny encoder's tokens are much alike: it has to be the nearest by far, of all texts together. */
function poolingOf(rows) {
  const away = ([, pooled]) => [...rows].reduce((sum, row, i) => sum + 1 - cosine(row, pooled(tokens[i])), 0) / rows.length;
  const [nearest, next] = Object.entries(EXPECTED).map((entry) => [entry[0], away(entry)]).sort((a, b) => a[1] - b[1]);
  assert.ok(nearest[1] < 5e-4 && next[1] > 5 * nearest[1], `${nearest}, then ${next}`);
  return nearest[0];
}

for (const [mode, name] of [["mean_tokens", "mean"], ["cls_token", "cls"], ["lasttoken", "last"]]) {
  test(`a file whose authors take ${name} gives that wherever nothing else is asked`, async () => {
    const file = await pooled(mode, 24);
    const encoder = await Encoder.load({ model: file, threads: 1 });
    assert.deepEqual([encoder.info.pooling, encoder.info.maxLength], [name, 24]);
    assert.equal(poolingOf(await encoder.embed(texts)), name);
    for (const pooling of Object.keys(EXPECTED)) assert.equal(poolingOf(await encoder.embed(texts, { pooling })), pooling);
    for await (const { embeddings } of encoder.embedStream(texts)) assert.equal(poolingOf(embeddings), name);

    assert.equal(poolingOf(await new CaseLensEmbeddings(encoder).embedDocuments(texts)), name);
    const { embeddings } = await embeddingModel(encoder).doEmbed({ values: texts });
    assert.equal(poolingOf(embeddings), name);

    // What lies in the index is found by the embedding of the same text, whose cosine to itself is 1.
    const index = await encoder.index();
    await index.add(texts.map((text, id) => ({ id, text })));
    const own = await encoder.embed(texts);
    for (const [id] of texts.entries()) {
      const [hit] = await index.search(own.select([id]), { limit: 1 });
      assert.ok(hit.similarity > 0.9999, `${hit.similarity}`);
    }
    const again = await encoder.loadIndex(await index.save());
    assert.equal(again.size, texts.length);
    encoder.dispose();
  });
}

test("a pooler that the file does not hold is refused, and so is what is no pooling", async () => {
  const encoder = await Encoder.load({ model: await pooled("mean_tokens"), threads: 1 });
  await assert.rejects(encoder.embed(texts, { pooling: "pooler" }), { code: "invalid-argument", message: /no pooler/ });
  await assert.rejects(encoder.embed(texts, { pooling: "max" }), { code: "invalid-argument", message: /"mean", "cls", "last", "pooler"/ });
  encoder.dispose();
});

test("SimCSE's files pool by their pooler, as transformers does", async () => {
  const from = path.join(folder, "princeton-nlp/sup-simcse-bert-base-uncased");
  await cp(path.join(FIXTURES, "published/bert"), from, { recursive: true });
  const file = path.join(folder, "simcse.gguf");
  execFileSync(COMPANION, ["quantize", "--model", from, "--output", file], { stdio: "pipe" });
  const encoder = await Encoder.load({ model: file, threads: 1 });
  assert.equal(encoder.info.pooling, "pooler");
  const { texts } = JSON.parse(await readFile(path.join(FIXTURES, "published/bert/ids.json"), "utf8"));
  const outputs = await readSafetensors(path.join(FIXTURES, "published/bert/outputs.safetensors"));
  for (const [i, row] of [...(await encoder.embed(texts.slice(0, 4)))].entries()) {
    const agreement = cosine(row, outputs[`pooler.${i}`].data);
    assert.ok(agreement > 0.99, `${agreement} for ${texts[i]}`);
  }
  encoder.dispose();
});
