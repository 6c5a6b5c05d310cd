// The package in Node: worker threads, files by path and URL, a folder for downloads. No doubles: the wasm module and the
// encoders are the real ones (`./build.sh setup` makes all-MiniLM-L6-v2).

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { CaseLens, CaseLensError, Encoder } from "caselens";
import * as browserEntry from "../dist/index.js";
import * as nodeEntry from "../dist/node.js";
import { cosine, readSafetensors } from "./helpers.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MODELS = path.join(ROOT, "www/public/models");
const MODEL = path.join(MODELS, "caselens-csts-q4_0.gguf");
const HEAD = path.join(MODELS, "caselens-csts.head.safetensors");
const BASE = path.join(MODELS, "all-MiniLM-L6-v2-q8_0.gguf");
const FIXTURES = path.join(ROOT, "tests/fixtures/minilm");
const PAIR = ["She plays chess in the park", "He plays football in the park"];

let temporary;
before(async () => (temporary = await mkdtemp(path.join(tmpdir(), "caselens-node-"))));
after(() => rm(temporary, { recursive: true, force: true }));

/** Serves the models' folder; `requests` are the paths asked for. */
async function serveModels() {
  const requests = [];
  const server = createServer(async (request, response) => {
    requests.push(request.url);
    response.end(await readFile(path.join(MODELS, path.basename(request.url.split("?")[0]))));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, requests, close: () => server.close() };
}

test("the package's name leads to Node's entry here, which has what the browser's has", () => {
  assert.equal(CaseLens, nodeEntry.CaseLens);
  assert.deepEqual(Object.keys(nodeEntry).sort(), Object.keys(browserEntry).sort());
});

/** Texts with emoji are read otherwise than sentence-transformers reads them: by their names. */
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u;

test("embeddings are those of sentence-transformers, to within 8-bit weights", async () => {
  const encoder = await Encoder.load({ model: BASE });
  const { texts } = JSON.parse(await readFile(path.join(FIXTURES, "sentence.json"), "utf8"));
  const { embeddings } = await readSafetensors(path.join(FIXTURES, "sentence.safetensors"));
  const rows = [...(await encoder.embed(texts))];
  // Relaxed SIMD, which newer versions of Node have, keeps seven bits of activations beside q8_0.
  const same = encoder.info.instructions.startsWith("relaxed-simd") ? 0.996 : 0.998;
  assert.equal(encoder.info.device, "wasm");
  assert.equal(rows.length, texts.length);
  for (const [i, ours] of rows.entries()) {
    if (EMOJI.test(texts[i])) continue;
    assert.equal(ours.length, 384);
    assert.ok(Math.abs(Math.hypot(...ours) - 1) < 1e-4, "unit length");
    const theirs = embeddings.data.subarray(384 * i, 384 * (i + 1));
    assert.ok(cosine(ours, theirs) >= same, `cosine ${cosine(ours, theirs)} for ${JSON.stringify(texts[i].slice(0, 40))}`);
  }
  encoder.dispose();
});

test("a path, a file: URL, an http: URL and bytes are the same model", async () => {
  const server = await serveModels();
  const events = [];
  const sources = [
    { model: path.relative(process.cwd(), MODEL), onProgress: (event) => events.push(event) },
    { model: pathToFileURL(MODEL) },
    { model: pathToFileURL(MODEL).href, head: HEAD },
    { model: `${server.origin}/caselens-csts-q4_0.gguf` },
    { model: await readFile(MODEL), head: await readFile(HEAD) },
    { model: new Blob([await readFile(MODEL)]), head: new Response(await readFile(HEAD)) },
  ];
  let first;
  for (const source of sources) {
    const lens = await CaseLens.load(source);
    const results = await lens.compare(...PAIR, ["the place", "the game"]);
    lens.dispose();
    assert.deepEqual(results, (first ??= results));
  }
  server.close();
  assert.ok(first[0].similarity > first[1].similarity + 0.3, "the same place, another game");
  assert.equal(events.at(-1).progress, 1);
});

test("a comparison tells where its condition looked as explain does, to the bit, in every chunk and worker", async () => {
  const conditions = Array.from({ length: 20 }, (_, i) => `the place ${i}`);
  const wrong = conditions.with(17, " ");
  for (const threads of [1, 2]) {
    const lens = await CaseLens.load({ model: MODEL, threads });
    const plain = await lens.compare(...PAIR, conditions);
    const looked = await lens.compare(...PAIR, conditions, { attention: true });
    assert.deepEqual(looked.map(({ readings, ...rest }) => rest), plain);
    assert.deepEqual(new Set(plain.map(({ unconditional }) => unconditional)), new Set([(await lens.explain(...PAIR)).similarity]));
    for (const { condition, readings } of [looked[0], looked[19]]) {
      const explained = await lens.explain(...PAIR, condition);
      const last = explained.readings.map((of) => of.map((reading) => ({ ...reading, attention: reading.attention.slice(-1) })));
      assert.deepEqual(readings, last);
      assert.ok(readings[0][0].attention[0].length > 0, "the condition has tokens, and each a row");
    }
    await assert.rejects(lens.compare(...PAIR, wrong), { code: "empty-text", message: /^conditions\[17\]/, index: 17 });
    lens.dispose();
  }
});

test("attention is told head by head, and its mean is what explain tells", async () => {
  const lens = await CaseLens.load({ model: MODEL, threads: 1 });
  const explained = await lens.explain(...PAIR, "the game.");
  for (const [at, sentence] of PAIR.entries()) {
    const [reading] = explained.readings[at];
    for (const layer of reading.attention.keys()) {
      const { shares, ...seen } = await lens.attention(sentence, "the game.", { layer });
      const { order, tokens, cut } = reading;
      assert.deepEqual(seen, { order, tokens, cut, condition: "the game", layer, layers: reading.attention.length, heads: 12 });
      const { length } = tokens;
      assert.equal(shares.length, 12 * length * length);
      const row = (head, from) => shares.subarray((head * length + from) * length).subarray(0, length);
      for (let start = 0; start < shares.length; start += length) {
        const sum = shares.subarray(start, start + length).reduce((sum, share) => sum + share, 0);
        assert.ok(Math.abs(sum - 1) < 1e-5, `a row sums to ${sum}`);
      }
      const looking = tokens.flatMap(({ part }, i) => (part === "condition" ? [i] : []));
      for (const [i, from] of looking.entries()) {
        for (let to = 0; to < length; to += 1) {
          const mean = Array.from({ length: 12 }, (_, head) => row(head, from)[to] / 12).reduce((sum, share) => sum + share);
          assert.ok(Math.abs(mean - reading.attention[layer][i][to]) < 1e-6, `layer ${layer}, from ${from} to ${to}`);
        }
      }
    }
  }
  const last = await lens.attention(PAIR[0]);
  assert.deepEqual([last.order, last.condition, last.layer, last.tokens.length], [null, null, last.layers - 1, PAIR[0].split(" ").length + 2]);
  assert.deepEqual((await lens.attention(PAIR[0], undefined, { layer: last.layer })).shares, last.shares);
  await assert.rejects(lens.attention(PAIR[0], "the game", { layer: last.layers }), { code: "invalid-argument", message: /no layer 6/ });
  await assert.rejects(lens.attention(PAIR[0], "the game ".repeat(300)), { code: "condition-too-long" });
  const aborted = AbortSignal.abort(new Error("no longer wanted"));
  await assert.rejects(lens.attention(PAIR[0], "the game", { signal: aborted }), /no longer wanted/);
  lens.dispose();
});

test("a condition that is better put in another way is compared, and told", async () => {
  const lens = await CaseLens.load({ model: MODEL });
  const results = await lens.compare(...PAIR, ["the colour", "the colour is green", "the game in the sentence", "the number of people", "The Activity."]);
  lens.dispose();
  assert.deepEqual(results.map(({ advice }) => advice), [undefined, ["value"], ["sentence"], ["literal"], ["vague"]]);
});

test("paths may hold what URLs give a meaning to", async () => {
  const odd = path.join(temporary, "50% #1 tiny?.gguf");
  await writeFile(odd, await readFile(BASE));
  const encoder = await Encoder.load({ model: odd });
  assert.equal((await encoder.tokenize("a dog")).length, 4);
  encoder.dispose();
});

test("the event loop is free while a call works, and a long call is shared out", async () => {
  const texts = Array.from({ length: 40 }, (_, i) => `a dog by the river ${i} `.repeat(2));
  const rows = [];
  for (const threads of [1, 2]) {
    const encoder = await Encoder.load({ model: BASE, threads });
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    rows.push(await encoder.embed(texts));
    clearInterval(timer);
    assert.ok(ticks > 2, `${ticks} ticks of a timer`);
    assert.equal(encoder.info.threads, threads);
    encoder.dispose();
  }
  assert.deepEqual(rows[0], rows[1]);
});

test("a stream of the lines of a file gives what the whole list gives, to the bit", async () => {
  const file = path.join(temporary, "lines.txt");
  const lines = Array.from({ length: 100 }, (_, i) => `a dog by the river ${i}`);
  await writeFile(file, lines.join("\n"));
  for (const threads of [1, 2]) {
    const lens = await CaseLens.load({ model: MODEL, threads });
    const opened = await open(file);
    const batches = [];
    for await (const batch of lens.embedStream(opened.readLines(), { condition: "the place" })) batches.push(batch);
    assert.deepEqual(batches.flatMap(({ texts }) => texts), lines);
    const [first, ...rest] = batches.map(({ embeddings }) => embeddings);
    assert.equal(first.length, 32 * threads);
    assert.deepEqual(first.concat(...rest), await lens.embed(lines, { condition: "the place" }));
    lens.dispose();
  }
});

test("the processor's peak is above what the encoder reaches", async () => {
  const encoder = await Encoder.load({ model: BASE, threads: 1 });
  const peak = await encoder.measurePeak();
  encoder.dispose();
  // From an old telephone to a processor that nobody has yet.
  assert.ok(peak > 1e8 && peak < 1e13, `${peak} operations a second`);
});

test("the engine in the calling thread gives the same, from URL, bytes or module", async () => {
  const wasm = fileURLToPath(import.meta.resolve("caselens/dist/wasm/caselens_bg.wasm"));
  const built = await readFile(wasm);
  const thread = await CaseLens.load({ model: MODEL, threads: 1, wasm });
  const expected = await thread.compare(...PAIR, ["the place", "the game"]);
  assert.equal(thread.info.instructions, "simd128");
  thread.dispose();
  const { inThisThread } = await import("caselens/inline");
  for (const [i, options] of [{ wasm: built }, { wasm: new WebAssembly.Module(built) }, { wasm, worker: inThisThread }].entries()) {
    const lens = await CaseLens.load({ model: MODEL, worker: false, ...options });
    assert.deepEqual(await lens.compare(...PAIR, ["the place", "the game"]), expected, `case ${i}`);
    assert.equal(lens.info.threads, 1);
    lens.dispose();
    await assert.rejects(lens.compare(...PAIR, ["the place"]), { code: "disposed" });
  }
});

test("threads of the caller's own do the work", async () => {
  const started = [];
  const worker = () => started[started.push(new Worker(fileURLToPath(import.meta.resolve("caselens/dist/node-worker.js")))) - 1];
  const lens = await CaseLens.load({ model: MODEL, threads: 1, worker });
  assert.equal((await lens.compare(...PAIR, ["the place"])).length, 1);
  assert.equal(started.length, 1);
  lens.dispose();
});

test("a thread that dies takes its calls with it, and the next call starts another", async () => {
  const started = [];
  const worker = () => started[started.push(new Worker(fileURLToPath(import.meta.resolve("caselens/dist/node-worker.js")))) - 1];
  const lens = await CaseLens.load({ model: await readFile(MODEL), head: await readFile(HEAD), threads: 1, worker });
  const conditions = Array.from({ length: 200 }, (_, i) => `the place ${i}`);
  const call = lens.compare(...PAIR, conditions);
  await started[0].terminate();
  await assert.rejects(call, { code: "worker", message: /Call again/ });
  const [first] = await lens.compare(...PAIR, ["the place"]);
  assert.ok(first.rating > 3);
  assert.equal(started.length, 2);
  lens.dispose();
  await assert.rejects(lens.compare(...PAIR, ["the place"]), { code: "disposed" });
});

test("CommonJS gets the same by require, also where Node cannot require ES modules", async () => {
  const script = `(async () => {
    const { CaseLens, CaseLensError } = require("caselens");
    const { CaseLensEmbeddings } = require("caselens/langchain");
    const { embeddingModel } = require("caselens/ai");
    const { default: model } = require("../models/caselens-csts/index.cjs");
    const lens = await CaseLens.load({ model: { model: { url: ${JSON.stringify(MODEL)} } }, threads: 2 });
    const index = await lens.index();
    await index.add([{ id: 1, text: "A cat sleeps." }]);
    const told = [];
    const { length } = await lens.embed(Array(40).fill("A cat sleeps."), { onProgress: ({ progress }) => told.push(progress) });
    const error = await lens.embed([""]).catch((error) => error);
    const rows = await new CaseLensEmbeddings(lens).embedDocuments(["A cat sleeps."]);
    lens.dispose();
    const here = await CaseLens.load({ model: ${JSON.stringify(MODEL)}, worker: false });
    here.dispose();
    console.log(index.size, length, told.at(-1), error instanceof CaseLensError, rows.length, embeddingModel(lens).provider, model.model.url.pathname.split("/").at(-1));
  })()`;
  const cwd = fileURLToPath(new URL("../", import.meta.url));
  // Newer Nodes give ES modules to `require`, and can be told not to.
  const flags = ["", "--no-experimental-require-module"].filter((flag) => flag === "" || process.allowedNodeEnvironmentFlags.has(flag));
  for (const flag of flags) {
    const { stdout } = await promisify(execFile)(process.execPath, [...(flag ? [flag] : []), "--no-warnings", "--eval", script], { cwd });
    assert.equal(stdout, "1 40 1 true 1 caselens caselens-csts-q4_0.gguf\n", flag);
  }
});

test("a file that cannot be read says which and why", async () => {
  await assert.rejects(CaseLens.load({ model: "nowhere/model.gguf" }), (error) => {
    assert.ok(error instanceof CaseLensError);
    assert.equal(error.code, "file");
    assert.match(error.message, /^The model could not be read from .*nowhere.model\.gguf: ENOENT.*working directory/);
    return true;
  });
  await assert.rejects(CaseLens.load({ model: temporary }), { code: "file" });
  await assert.rejects(CaseLens.load({ model: "file://elsewhere/model.gguf" }), { code: "file" });
  await assert.rejects(Encoder.load({ model: HEAD }), { code: "model-format" });
});

test("downloads are kept in a folder where one is named, and nowhere else", async () => {
  const server = await serveModels();
  const folder = path.join(temporary, "kept/deep");
  const load = async (cache) => {
    const lens = await CaseLens.load({ model: `${server.origin}/caselens-csts-q4_0.gguf?v=1`, cache, onWarning: assert.fail });
    lens.dispose();
  };
  await load(undefined);
  await load(false);
  assert.equal(server.requests.length, 4);
  await load({ folder });
  assert.equal(server.requests.length, 6);
  await load({ folder });
  assert.equal(server.requests.length, 6, "the second time nothing is asked for");
  const names = await readdir(folder);
  assert.deepEqual(names.map((name) => name.replace(/^[0-9a-f]{16}-/, "")).sort(), ["caselens-csts-q4_0.gguf", "caselens-csts.head.safetensors"]);

  // What was kept and is no model is fetched once more, whatever it is that is wrong with it.
  const whole = await Promise.all(names.map((name) => readFile(path.join(folder, name))));
  const damages = {
    "another file": () => "damaged",
    "cut in half": (bytes) => bytes.subarray(0, bytes.length >> 1),
    "its header overwritten": (bytes) => Buffer.from(bytes).fill(255, 0, 200),
    "empty": () => "",
  };
  for (const [what, damaged] of Object.entries(damages)) {
    for (const [i, name] of names.entries()) {
      await writeFile(path.join(folder, name), damaged(whole[i]));
      await load({ folder });
      assert.ok(whole[i].equals(await readFile(path.join(folder, name))), `${name}: ${what}`);
    }
  }
  server.close();
});

test("a model is downloaded once, however many threads take part and though nothing is kept", async () => {
  const server = await serveModels();
  const lens = await CaseLens.load({ model: `${server.origin}/caselens-csts-q4_0.gguf`, threads: 3, onWarning: assert.fail });
  const conditions = Array.from({ length: 40 }, (_, i) => `the place ${i}`);
  const [first] = await lens.compare(...PAIR, conditions);
  // Further threads are ready at some time after the first long call.
  for (let i = 0; i < 20; i++) assert.deepEqual((await lens.compare(...PAIR, conditions))[0], first);
  lens.dispose();
  assert.equal(server.requests.length, 2);
  server.close();
});

test("with cache: true files are kept in the user's own folder for caches", async (context) => {
  if (process.platform !== "linux") return context.skip("the variable is Linux's");
  const before = process.env.XDG_CACHE_HOME;
  process.env.XDG_CACHE_HOME = temporary;
  const server = await serveModels();
  const options = { model: `${server.origin}/caselens-csts-q4_0.gguf`, cache: true };
  (await CaseLens.load(options)).dispose();
  assert.equal((await readdir(path.join(temporary, "caselens"))).length, 2);
  assert.equal(await CaseLens.isCached(options), true);
  server.close();
  if (before === undefined) delete process.env.XDG_CACHE_HOME;
  else process.env.XDG_CACHE_HOME = before;
});

test("a folder that cannot be used is one warning", async () => {
  const server = await serveModels();
  const file = path.join(temporary, "a file");
  await writeFile(file, "");
  const warnings = [];
  const encoder = await Encoder.load({
    model: `${server.origin}/caselens-csts-q4_0.gguf`,
    cache: { folder: path.join(file, "folder") },
    onWarning: (message) => warnings.push(message),
  });
  encoder.dispose();
  server.close();
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /cannot be kept in .*a file.folder/);
});

test("wrong options reject, they do not throw", async () => {
  for (const options of [{ device: "cuda" }, { cache: "folder" }, { cache: {} }, { cache: 7 }, { model: "https://[" }]) {
    await assert.rejects(CaseLens.load(options), { code: "invalid-argument" }, JSON.stringify(options));
  }
});

test("aborting ends the work, and an aborted signal is seen before anything starts", async () => {
  const reason = new Error("changed my mind");
  await assert.rejects(CaseLens.load({ signal: AbortSignal.abort(reason) }), (error) => error === reason);
  const encoder = await Encoder.load({ model: BASE, threads: 1 });
  const controller = new AbortController();
  const call = encoder.embed(Array(200).fill("a dog by the river"), { signal: controller.signal });
  controller.abort();
  await assert.rejects(call, { name: "AbortError" });
  assert.equal((await encoder.embed(["a dog"])).length, 1, "it goes on with the next call");
  encoder.dispose();
  await assert.rejects(encoder.embed(["a dog"]), { code: "disposed" });
});

test("what the caller's own function throws rejects the call that told it, and harms nothing", async () => {
  const mine = new TypeError("bar is undefined");
  const onProgress = () => {
    throw mine;
  };
  const isMine = (error) => error === mine;
  await assert.rejects(CaseLens.load({ model: MODEL, onProgress }), isMine);
  const warnings = [];
  const lens = await CaseLens.load({ model: MODEL, threads: 2, onWarning: (message) => warnings.push(message) });
  const texts = Array.from({ length: 100 }, (_, i) => `text ${i}`);
  await assert.rejects(lens.cluster(texts, { onProgress }), isMine);
  await assert.rejects(lens.search("a", texts, { onProgress }), isMine);
  await assert.rejects(lens.suggest(...PAIR, { onProgress }), isMine);
  assert.equal((await lens.search("text 7", texts))[0].text, "text 7");
  lens.dispose();
  assert.deepEqual(warnings, []);
});

test("auto is the CPU and says why, and WebGPU says that there is none", async () => {
  const encoder = await Encoder.load({ model: BASE });
  assert.match(encoder.info.reason, /^auto: the CPU, since Node/);
  encoder.dispose();
  await assert.rejects(Encoder.load({ model: BASE, device: "webgpu" }), { code: "webgpu-unavailable" });
});

test("a script ends by itself, without dispose", { timeout: 60_000 }, async () => {
  const script = `
    import { Encoder } from "caselens";
    const encoder = await Encoder.load({ model: ${JSON.stringify(BASE)} });
    console.log((await encoder.embed(["A cat sleeps."])).row(0).length);`;
  const run = promisify(execFile);
  const cwd = fileURLToPath(new URL("../", import.meta.url));
  const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd });
  assert.deepEqual([stdout, stderr], ["384\n", ""]);
});
