// Encoders that are not ours, and files that are not what they were taken for, through the package as it is published: from
// llama.cpp's converter, from a server with the hub's paths, of other packages; and whatever servers and folders have in place of a model.

import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CaseLens, CaseLensError, Encoder } from "caselens";
import { cosine } from "./helpers.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CONVERTED = path.join(ROOT, "tests/fixtures/converted");
const MODELS = path.join(ROOT, "www/public/models");

let folder;
/** What the server sends, by path: bytes, or what answers a request itself. */
const files = new Map();
let server;
let origin;
const requests = [];

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "caselens-encoders-"));
  server = createServer(async (request, response) => {
    requests.push(request);
    const found = files.get(request.url);
    if (typeof found === "function") return found(response);
    response.writeHead(found ? 200 : 404).end(found ?? "Entry not found");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
});
after(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

for (const name of ["bert", "roberta", "xlm-r"]) {
  test(`a file that llama.cpp's converter made of ${name} embeds as transformers does, to within the 8 bits of the CPU`, async () => {
    const { texts, encoders } = JSON.parse(await readFile(path.join(CONVERTED, "converted.json"), "utf8"));
    const encoder = await Encoder.load({ model: path.join(CONVERTED, `${name}.gguf`), threads: 1 });
    const rows = [...(await encoder.embed(texts))];
    for (const [i, { ids, embedding }] of encoders[name].single.entries()) {
      assert.deepEqual([...(await encoder.tokenize(texts[i]))], ids);
      assert.ok(cosine(rows[i], embedding) > 0.999, `${cosine(rows[i], embedding)} for ${texts[i]}`);
    }
    encoder.dispose();
  });
}

test("a file on a server with the hub's paths comes by its name, through a redirect and with a token", async () => {
  const bytes = await readFile(path.join(CONVERTED, "bert.gguf"));
  for (const revision of ["main", "v1.5"]) {
    const cdn = `/cdn/${revision}`;
    files.set(`/owner/tiny/resolve/${revision}/gguf/bert.gguf`, (response) => response.writeHead(302, { Location: cdn }).end());
    files.set(cdn, bytes);
  }
  for (const model of ["hf://owner/tiny/gguf/bert.gguf", "hf://owner/tiny@v1.5/gguf/bert.gguf"]) {
    requests.length = 0;
    const encoder = await Encoder.load({ model, hub: origin, headers: { Authorization: "Bearer hf_token" }, threads: 1 });
    assert.equal(encoder.info.dims, 32);
    encoder.dispose();
    assert.equal(requests.length, 2);
    assert.equal(requests[0].headers.authorization, "Bearer hf_token");
  }
  await assert.rejects(Encoder.load({ model: "hf://owner/tiny/none.gguf", hub: origin }), { code: "http", status: 404, url: `${origin}/owner/tiny/resolve/main/none.gguf` });
});

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${"4d7a".repeat(16)}\nsize 13722816\n`;
const WRONG = {
  "a pointer of Git LFS": [POINTER, /pointer of Git LFS.*git lfs pull/],
  "an error of a store in XML": ['<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>', /web page or XML/],
  "a page that is not called one": ["<!doctype html><title>Log in</title>", /web page or XML/],
  "an error in JSON": ['{"error":"Repository not found"}', /JSON/],
  "nothing known": ["GGML, of long ago", /does not begin with GGUF's magic number\. Download/],
};
for (const [what, [body, pattern]] of Object.entries(WRONG)) {
  test(`${what} in place of a model is named, with its URL or path`, async () => {
    files.set("/model.gguf", Buffer.from(body));
    const file = path.join(folder, "model.gguf");
    await writeFile(file, body);
    const url = `${origin}/model.gguf`;
    for (const [model, named] of [[url, url], [file, file], [new Blob([body]), "The model|the model"]]) {
      await assert.rejects(Encoder.load({ model }), (error) => {
        assert.ok(error instanceof CaseLensError);
        assert.equal(error.code, "model-format");
        assert.match(error.message, pattern);
        assert.match(error.message, new RegExp(named));
        if (model === url) assert.equal(error.url, url);
        return true;
      });
    }
  });
}

test("a head that is none is named with its URL", async () => {
  files.set("/head.safetensors", Buffer.from(POINTER));
  const url = `${origin}/head.safetensors`;
  await assert.rejects(CaseLens.load({ model: path.join(MODELS, "caselens-csts-q4_0.gguf"), head: url }), { code: "head-format", url, message: new RegExp(`the head from ${url}`) });
});

test("a tokenizer that would break the engine down is refused as one", async () => {
  const bytes = await readFile(path.join(MODELS, "caselens-csts-q4_0.gguf"));
  const normalizer = '{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}';
  const first = '"single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A"';
  for (const [from, to, says] of [
    [first, first.replace('"A"', '"B"'), /second one/],
    [normalizer, '{"type":"Replace","pattern":{"Regex":"(?=x)"},"content":"x"}'.padEnd(normalizer.length), /replaces what is empty/],
  ]) {
    const hostile = Buffer.from(bytes);
    hostile.write(to, bytes.indexOf(from));
    await assert.rejects(Encoder.load({ model: new Uint8Array(hostile) }), { code: "tokenizer", message: says });
  }
});

test("a kept file that was cut short is fetched anew", async () => {
  const bytes = await readFile(path.join(MODELS, "caselens-csts-q4_0.gguf"));
  files.set("/cut.gguf", bytes);
  const kept = await mkdtemp(path.join(folder, "cache-"));
  const load = async () => {
    const before = requests.length;
    (await Encoder.load({ model: `${origin}/cut.gguf`, cache: { folder: kept } })).dispose();
    return requests.length - before;
  };
  assert.equal(await load(), 1);
  assert.equal(await load(), 0);
  const [name] = await readdir(kept);
  for (const length of [13_000_000, 5_000_000, 1_000_000, 0]) {
    await truncate(path.join(kept, name), length);
    assert.equal(await load(), 1, `${length} bytes`);
    assert.equal(await load(), 0, "it is whole again");
  }
});

test("a part that nobody asked for is no whole file", async () => {
  const bytes = await readFile(path.join(CONVERTED, "bert.gguf"));
  const part = (response) => response.writeHead(206, { "Content-Range": `bytes 0-9999/${bytes.length}`, "Content-Length": 10_000 }).end(bytes.subarray(0, 10_000));
  files.set("/part.gguf", part);
  const url = `${origin}/part.gguf`;
  await assert.rejects(Encoder.load({ model: url }), { code: "http", status: 206, url, message: /206/ });
});

test("a folder as the model is told as such, and of the model", async () => {
  await assert.rejects(CaseLens.load({ model: folder }), { code: "file", message: /^The model could not be read from .*: it is a folder/ });
});

const packaged = (name, sums = name) => {
  const url = (file) => path.join(MODELS, file);
  return import(path.join(ROOT, "models", sums, "index.js")).then(({ default: { model, head } }) => ({
    model: { url: url(`${name}-q4_0.gguf`), sha256: model.sha256 },
    head: { url: url(`${name}.head.safetensors`), sha256: head.sha256 },
  }));
};

test("files of two packages, or of two versions of one, are refused", async () => {
  const [small, large] = [await packaged("caselens-csts"), await packaged("caselens-csts-large")];
  await assert.rejects(CaseLens.load({ model: { model: small.model, head: large.head } }), { code: "head-mismatch" });
  await assert.rejects(CaseLens.load({ model: { model: large.model, head: small.head } }), { code: "head-mismatch" });
  // What is installed lists the sums of its own version.
  const other = await packaged("caselens-csts", "caselens-csts-large");
  await assert.rejects(CaseLens.load({ model: other }), { code: "integrity", message: /^The (model|head) from / });
  await assert.rejects(CaseLens.load({ model: { model: small.model, head: other.head } }), { code: "integrity", message: /^The head from / });
});

test("a text that only the engine finds empty is named as the argument is, in every call about a list", async () => {
  const lens = await CaseLens.load({ model: path.join(MODELS, "caselens-csts-q4_0.gguf"), threads: 2 });
  const texts = Array.from({ length: 90 }, (_, i) => (i === 77 ? "\u200b" : `a dog by river ${i}`));
  const condition = "the animal";
  const named = { code: "empty-text", index: 77, message: /^texts\[77\] / };
  await assert.rejects(lens.embed(texts), named);
  await assert.rejects(lens.embed(texts, { condition }), named);
  await assert.rejects(lens.embed(texts, { condition, onProgress: assert.fail }), named, "before any is read");
  const mixed = texts.map((_, i) => ({ sentence: "a dog", condition: i === 60 ? "on and on ".repeat(200) : condition }));
  await assert.rejects(lens.embed(mixed, { onProgress: assert.fail }), { code: "condition-too-long", index: 60 });
  const long = texts.with(77, "on and on ".repeat(400));
  await assert.rejects(lens.embed(long, { onTruncate: "error", onProgress: assert.fail }), { code: "text-too-long", index: 77, message: /^texts\[77\] / });
  await assert.rejects(lens.search("a cat", texts, { condition }), named);
  await assert.rejects(lens.cluster(texts, { condition }), named);
  await assert.rejects(lens.search("\u200b", ["a dog"], { condition }), (error) => error.index === undefined && /^query /.test(error.message));
  await assert.rejects(lens.embed([{ sentence: "a dog", condition: "\u200b" }]), { index: 0, message: /^the condition of texts\[0\] / });
  const index = await lens.index({ condition });
  await assert.rejects(index.add(texts.map((text, id) => ({ id, text }))), { ...named, message: /^items\[77\]\.text / });
  await index.add([{ id: 1, text: "a dog" }]);
  await assert.rejects(index.search("\u200b"), (error) => error.index === undefined && /^query /.test(error.message));
  lens.dispose();

  const encoder = await Encoder.load({ model: path.join(CONVERTED, "bert.gguf"), threads: 1 });
  await assert.rejects(encoder.embed(texts), named);
  encoder.dispose();
});
