// Bad input of every kind, in a real browser: a CaseLensError with a stable code, no hang, and a lens that goes on.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { HEAD_FILE, launch, MODEL_FILE, MODELS, openPage, serve } from "./helpers.mjs";

const MODEL = `/models/${MODEL_FILE}`;
const HEAD = `/models/${HEAD_FILE}`;
const options = { timeout: 60_000 };
let browser;
let server;
let page;

before(async () => {
  browser = await launch();
  server = await serve();
  page = await openPage(browser, server);
}, options);
after(async () => {
  await browser?.close();
  await server?.close();
});

function assertError(error, code, pattern = /\S/) {
  assert.deepEqual({ code: error.code, typed: error.typed, name: error.name }, { code, typed: true, name: "CaseLensError" }, error.message);
  assert.match(error.message, pattern);
  assert.match(error.message, /\.$/, "a sentence");
}

/** How `CaseLens.load` fails in the page. `files` are paths of the server. */
function loadFailure(options) {
  return page.evaluate((options) => failure(caselens.CaseLens.load(options)), { device: "wasm", ...options });
}

async function assertNoWorkers() {
  const end = Date.now() + 5000;
  while (page.workers().length > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(page.workers().length, 0, "nothing is left running");
}

describe("texts", () => {
  before(async () => {
    await page.evaluate(async (model) => {
      window.lens = await caselens.CaseLens.load({ model, device: "wasm", onWarning: (message) => warnings.push(message) });
      window.encoder = await caselens.Encoder.load({ model, device: "wasm" });
      window.warnings = [];
    }, MODEL);
  }, options);
  after(() =>
    page.evaluate(() => {
      lens.dispose();
      encoder.dispose();
    }),
  );
  afterEach(async () => {
    const [result] = await page.evaluate(() => lens.compare("A cat sleeps.", "A dog sleeps.", ["the animal"]));
    assert.equal(typeof result.similarity, "number", "the lens goes on");
    const [vector] = await page.evaluate(async () => [...(await encoder.embed(["A cat sleeps."]))]);
    assert.equal(Object.keys(vector).length, 384, "the encoder goes on");
  });

  // The texts are made in the page: a lone surrogate would not survive the way there.
  for (const [name, code, pattern, call] of [
    ["an empty first sentence", "empty-text", /empty/, () => lens.compare("", "b", ["c"])],
    ["a blank second sentence", "empty-text", /empty/, () => lens.compare("a", " \n\t", ["c"])],
    ["an empty condition", "empty-text", /condition/, () => lens.compare("a", "b", ["c", ""])],
    ["an empty sentence to embed", "empty-text", /empty/, () => lens.embed([{ sentence: "a" }, { sentence: "" }])],
    ["an empty condition to embed with", "empty-text", /empty/, () => lens.embed([{ sentence: "a", condition: "" }])],
    ["an empty text", "empty-text", /empty/, () => encoder.embed(["a", ""])],
    ["100,000 characters", "text-too-long", /\d{5,} characters/, () => lens.compare("word ".repeat(20_000), "b", ["c"])],
    ["a condition of 100,000 characters", "text-too-long", /\d{5,} characters/, () => lens.compare("a", "b", ["word ".repeat(20_000)])],
    ["100,000 characters to embed", "text-too-long", /\d{5,} characters/, () => encoder.embed(["word ".repeat(20_000)])],
    ["a condition that fills the encoder", "condition-too-long", /shorten/, () => lens.compare("a", "b", ["word ".repeat(1000)])],
    ["a lone surrogate in a sentence", "invalid-text", /sentence1.*position 7/, () => lens.compare("broken \uD83D emoji", "b", ["c"])],
    ["a lone surrogate in a condition", "invalid-text", /conditions\[1\].*position 0/, () => lens.compare("a", "b", ["c", "\uDE00"])],
    ["a lone surrogate to embed", "invalid-text", /texts\[0\].sentence/, () => lens.embed([{ sentence: "\uD800" }])],
    ["a lone surrogate in a text", "invalid-text", /texts\[2\]/, () => encoder.embed(["a", "b", "\uD800"])],
    ["a sentence that is no string", "invalid-argument", /sentence1.*undefined/, () => lens.compare(undefined, "b", ["c"])],
    ["conditions that are no list", "invalid-argument", /conditions.*array/, () => lens.compare("a", "b", "c")],
    ["an item that is no text", "invalid-argument", /texts\[0\]/, () => lens.embed([7])],
    ["an unknown pooling", "invalid-argument", /"mean", "cls"/, () => encoder.embed(["a"], { pooling: "max" })],
    ["a signal that is none", "invalid-argument", /AbortSignal/, () => lens.compare("a", "b", ["c"], { signal: 7 })],
  ]) {
    test(name, options, async () => assertError(await page.evaluate(`failure((${call})())`), code, pattern));
  }

  test("no conditions and no texts give no results", options, async () => {
    assert.deepEqual(
      await page.evaluate(async () => [await lens.compare("a", "b", []), (await lens.embed([])).length, [...(await encoder.embed([]))]]),
      [[], 0, []],
    );
  });

  test("10,000 characters are cut, and that is said; under a condition they are read", options, async () => {
    const { cut, results } = await page.evaluate(async () => {
      const long = "word ".repeat(2000);
      const { truncated } = await encoder.embed([long]);
      return { cut: truncated?.[0], results: await lens.compare(long, "A dog sleeps.", ["the animal"]) };
    });
    assert.ok(cut > 1000, `${cut} tokens`);
    assert.equal(results[0].truncated, undefined, "under a condition what ships reads long texts part by part");
  });

  test("a refused text in a long call is named by its place in the call", options, async () => {
    const error = await page.evaluate(() => failure(encoder.embed([...Array(40).fill("a"), ""])));
    assertError(error, "empty-text", /^texts\[40\]/);
    const ofCompare = await page.evaluate(() => failure(lens.compare("a", "b", [...Array(17).fill("c"), " "])));
    assertError(ofCompare, "empty-text", /^conditions\[17\]/);
  });
});

describe("files", () => {
  afterEach(async () => {
    server.reset();
    await assertNoWorkers();
    await page.evaluate(() => caches.delete("caselens-v1"));
  });

  test("a model that is not there", options, async () => {
    assertError(await loadFailure({ model: "/models/none.gguf" }), "http", /\/models\/none\.gguf.*HTTP 404.*Check the URL/);
  });

  test("a head that is not there", options, async () => {
    assertError(await loadFailure({ model: MODEL, head: "/models/none.safetensors" }), "http", /head.*none\.safetensors.*404/);
  });

  test("a server that answers everything with its page", options, async () => {
    server.rule("/models/none.gguf", { body: "<!doctype html>", headers: { "Content-Type": "text/html; charset=utf-8" } });
    assertError(await loadFailure({ model: "/models/none.gguf" }), "http", /web page/);
  });

  test("a server that is out of order", options, async () => {
    server.rule(MODEL, { status: 503 });
    assertError(await loadFailure({ model: MODEL }), "http", /503/);
  });

  test("a server that breaks the connection", options, async () => {
    server.rule(MODEL, { drop: true });
    const error = await loadFailure({ model: MODEL });
    assertError(error, "network", /did not answer/);
    assert.ok(error.cause);
  });

  test("a download that breaks off", options, async () => {
    server.rule(MODEL, { cut: 3_000_000 });
    assertError(await loadFailure({ model: MODEL }), "download-incomplete", /Load it again/);
  });

  test("a model file cut short", options, async () => {
    const whole = await readFile(path.join(MODELS, MODEL_FILE));
    for (const size of [10, 1000, 100_000, 3_000_000, whole.length - 1]) {
      server.rule(MODEL, { body: whole.subarray(0, size) });
      assertError(await loadFailure({ model: MODEL }), "model-format");
    }
    const kept = await page.evaluate((url) => caches.match(url).then(Boolean), server.origin + MODEL);
    assert.equal(kept, false, "a refused file is not kept");
  });

  test("a file that is no model", options, async () => {
    server.rule(MODEL, { body: "this is a text, not a model. ".repeat(1000) });
    assertError(await loadFailure({ model: MODEL }), "model-format");
  });

  test("a GGUF of another architecture", options, async () => {
    const bytes = await readFile(path.join(MODELS, MODEL_FILE));
    const key = bytes.indexOf("general.architecture");
    const value = bytes.indexOf("bert", key);
    assert.ok(key > 0 && value - key < 64);
    bytes.write("gpt2", value);
    server.rule(MODEL, { body: bytes });
    assertError(await loadFailure({ model: MODEL }), "unsupported-architecture", /gpt2/);
  });

  test("a head for another encoder: both are named", options, async () => {
    const bytes = await readFile(path.join(MODELS, HEAD_FILE));
    server.rule(HEAD, {
      body: withMetadata(bytes, (metadata) => {
        const head = JSON.parse(metadata["caselens.head"]);
        head.encoder = { id: "somebody/another-encoder", sha256: "f".repeat(64) };
        return { "caselens.head": JSON.stringify(head) };
      }),
    });
    assertError(await loadFailure({ model: MODEL }), "head-mismatch", /somebody\/another-encoder.*all-MiniLM-L6-v2/);
  });

  test("a head file cut short, and one that is no head", options, async () => {
    const whole = await readFile(path.join(MODELS, HEAD_FILE));
    for (const body of [whole.subarray(0, 6), whole.subarray(0, whole.length - 10), "no head", Buffer.alloc(1000)]) {
      server.rule(HEAD, { body });
      assertError(await loadFailure({ model: MODEL }), "head-format");
    }
  });

  test("a model given as bytes: works, keeps the caller's bytes, fails as a file does", options, async () => {
    const [length, error, bytes] = await page.evaluate(
      async ([model, head]) => {
        const read = async (url) => (await fetch(url)).arrayBuffer();
        const [modelBytes, headBytes] = [await read(model), new Uint8Array(await read(head))];
        const lens = await caselens.CaseLens.load({ model: modelBytes, head: headBytes, device: "wasm" });
        const results = await lens.compare("A cat sleeps.", "A dog sleeps.", ["the animal"]);
        lens.dispose();
        const cut = new Uint8Array(modelBytes, 0, 1_000_000);
        const error = await failure(caselens.CaseLens.load({ model: cut, head: headBytes, device: "wasm" }));
        return [results.length, error, [modelBytes.byteLength, headBytes.byteLength]];
      },
      [MODEL, HEAD],
    );
    assert.equal(length, 1);
    assert.ok(bytes[0] > 10e6 && bytes[1] > 0, "not detached");
    assertError(error, "model-format");
  });

  test("no WebGPU adapter, when one was asked for", options, async () => {
    assertError(await loadFailure({ model: MODEL, device: "webgpu" }), "webgpu-unavailable", /wasm/);
  });

  test("no WebGPU adapter is said before the model is here, and its download ends", options, async () => {
    server.requests.length = 0;
    server.rule(MODEL, { rate: 100_000 });
    assertError(await loadFailure({ model: MODEL, device: "webgpu" }), "webgpu-unavailable", /wasm/);
    const request = () => server.requests.find(({ path }) => path === MODEL);
    for (let i = 0; i < 250 && !request()?.left; i++) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.ok(request().left && !request().finished, "the server was left");
  });

  test("a package served without its wasm", options, async () => {
    const fresh = await openPage(browser, server); // nothing of the code is in the browser's cache
    for (const build of ["wasm", "wasm/relaxed"]) server.rule(`/pkg/dist/${build}/caselens_bg.wasm`, { status: 404 });
    assertError(await fresh.evaluate((model) => failure(caselens.CaseLens.load({ model })), MODEL), "http", /caselens_bg\.wasm/);
    await fresh.context().close();
  });

  test("a package served without its worker", options, async () => {
    const fresh = await openPage(browser, server);
    server.rule("/pkg/dist/worker.js", { status: 404 });
    assertError(await fresh.evaluate((model) => failure(caselens.CaseLens.load({ model })), MODEL), "worker", /`dist`/);
    await fresh.context().close();
  });
});

describe("life", () => {
  afterEach(async () => {
    server.reset();
    await assertNoWorkers();
  });

  test("a signal aborted before the load: nothing starts", options, async () => {
    server.reset();
    const error = await page.evaluate(
      (model) => failure(caselens.CaseLens.load({ model, signal: AbortSignal.abort(new Error("no need")) })),
      MODEL,
    );
    assert.equal(error.message, "no need");
    assert.equal(server.requests.length, 0);
  });

  test("a load aborted while it downloads: the download stops", options, async () => {
    server.rule(MODEL, { rate: 1_000_000 });
    const error = await page.evaluate(async (model) => {
      await caches.delete("caselens-v1");
      const controller = new AbortController();
      const load = caselens.CaseLens.load({
        model,
        signal: controller.signal,
        onProgress: ({ loaded }) => loaded > 200_000 && controller.abort(new Error("too slow")),
      });
      return failure(load);
    }, MODEL);
    assert.equal(error.message, "too slow");
    await assertNoWorkers();
    const request = server.requests.find((request) => request.path === MODEL);
    const end = Date.now() + 5000;
    while (!request.left && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.ok(request.left && !request.finished, "the server was left");
  });

  test("a load aborted while the model is built: the worker ends", options, async () => {
    const error = await page.evaluate((model) => {
      const controller = new AbortController();
      const onProgress = ({ phase }) => phase === "prepare" && controller.abort();
      return failure(caselens.CaseLens.load({ model, device: "wasm", signal: controller.signal, onProgress }));
    }, MODEL);
    assert.equal(error.name, "AbortError");
  });

  test("two loads at once", options, async () => {
    const results = await page.evaluate(async (model) => {
      const lenses = await Promise.all([1, 2].map(() => caselens.CaseLens.load({ model, device: "wasm" })));
      const results = await Promise.all(lenses.map((lens) => lens.compare("A cat sleeps.", "A dog sleeps.", ["the animal"])));
      for (const lens of lenses) lens.dispose();
      return results;
    }, MODEL);
    assert.deepEqual(results[0], results[1]);
  });

  test("one load of two aborted leaves the other alone", options, async () => {
    const [error, count] = await page.evaluate(async (model) => {
      const controller = new AbortController();
      const first = failure(caselens.CaseLens.load({ model, device: "wasm", signal: controller.signal }));
      const second = caselens.CaseLens.load({ model, device: "wasm" });
      controller.abort();
      const lens = await second;
      const results = await lens.compare("A cat sleeps.", "A dog sleeps.", ["the animal"]);
      lens.dispose();
      return [await first, results.length];
    }, MODEL);
    assert.equal(error.name, "AbortError");
    assert.equal(count, 1);
  });

  test("an aborted call rejects at once, the worker stops it, and the lens goes on", options, async () => {
    const { errors, waited, whole, after } = await page.evaluate(async (model) => {
      const lens = await caselens.CaseLens.load({ model, device: "wasm" });
      const text = "A cat sleeps on a warm red sofa while it rains outside. ".repeat(4);
      const items = Array.from({ length: 32 }, (_, i) => ({ sentence: `${i} ${text}` }));
      let start = performance.now();
      await lens.embed(items); // one chunk
      const chunk = performance.now() - start;

      const controller = new AbortController();
      const { signal } = controller;
      const conditions = Array.from({ length: 400 }, (_, i) => `the ${i}th thing`);
      const calls = [
        failure(lens.embed(Array(100).fill(items).flat(), { signal })),
        failure(lens.compare(text, text, conditions, { signal })),
        failure(lens.compare("a", "b", ["c"], { signal: AbortSignal.abort() })),
      ];
      setTimeout(() => controller.abort(new Error("enough")), chunk / 2);
      start = performance.now();
      const errors = await Promise.all(calls);
      const waited = performance.now() - start;
      start = performance.now();
      await lens.compare("A cat sleeps.", "A dog sleeps.", ["the animal"]);
      const after = performance.now() - start;
      lens.dispose();
      return { errors, waited, whole: chunk * 100, after };
    }, MODEL);
    assert.deepEqual(errors.slice(0, 2).map(({ message }) => message), ["enough", "enough"]);
    assert.equal(errors[2].name, "AbortError");
    assert.ok(waited < whole / 10, `rejected after ${waited} ms; the whole takes ${whole} ms`);
    assert.ok(after < whole / 10, `the next answer took ${after} ms; the whole takes ${whole} ms`);
  });

  test("calls after dispose, and calls that dispose finds waiting", options, async () => {
    const errors = await page.evaluate(async (model) => {
      const lens = await caselens.CaseLens.load({ model, device: "wasm" });
      const encoder = await caselens.Encoder.load({ model, device: "wasm" });
      const waiting = [
        failure(lens.compare("a", "b", ["c"])),
        failure(encoder.embed(["a"])),
      ];
      lens.dispose();
      encoder.dispose();
      lens.dispose();
      return Promise.all([
        ...waiting,
        failure(lens.compare("a", "b", ["c"])),
        failure(lens.embed([{ sentence: "a" }])),
        failure(lens.tokenize("a")),
        failure(encoder.embed(["a"])),
      ]);
    }, MODEL);
    assert.equal(errors.length, 6);
    for (const error of errors) assertError(error, "disposed", /Load a new one/);
  });

  test("the page is never blocked by a call", options, async () => {
    const longest = await page.evaluate(async (model) => {
      let last = performance.now();
      let longest = 0;
      const timer = setInterval(() => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
      }, 5);
      const encoder = await caselens.Encoder.load({ model, device: "wasm" });
      await encoder.embed(Array(64).fill("A cat sleeps on a warm red sofa while it rains outside."));
      clearInterval(timer);
      encoder.dispose();
      return longest;
    }, MODEL);
    assert.ok(longest < 250, `the page stood still for ${longest} ms`);
  });
});

test("the page itself saw no error but those asked for", () => {
  const expected = /Failed to load resource|status of (404|503)/;
  assert.deepEqual(page.problems.filter((text) => !expected.test(text)), []);
});

/** A safetensors file with its metadata changed. */
function withMetadata(bytes, change) {
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.subarray(8, start).toString());
  header.__metadata__ = change(header.__metadata__);
  let text = JSON.stringify(header);
  text += " ".repeat((8 - (Buffer.byteLength(text) % 8)) % 8);
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
  return Buffer.concat([size, Buffer.from(text), bytes.subarray(start)]);
}
