import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { BrowserCache } from "../dist/cache.js";
import { download, statedSize } from "../dist/download.js";
import { FakeCaches, recordingMeter } from "./helpers.mjs";

const URL_ = "https://example.org/models/model.gguf";
const realFetch = globalThis.fetch;
let warnings;
let requests;
let storage;

beforeEach(() => {
  warnings = [];
  requests = [];
  storage = new FakeCaches();
  globalThis.caches = storage;
});
afterEach(() => {
  globalThis.fetch = realFetch;
  delete globalThis.caches;
});

function answerWith(make) {
  globalThis.fetch = async (url) => {
    requests.push(String(url));
    return make();
  };
}

/** A body in pieces of `step` bytes: 0, 1, 2, … */
function body(size, step = 7) {
  const bytes = Uint8Array.from({ length: size }, (_, i) => i % 256);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < size; at += step) controller.enqueue(bytes.slice(at, at + step));
      controller.close();
    },
  });
}

async function get(options = {}) {
  const cache = await BrowserCache.open((message) => warnings.push(message));
  const meter = recordingMeter();
  const result = await download(URL_, { role: "model", cache, meter, ...options });
  return { ...result, meter, cache };
}

const expected = (size) => Uint8Array.from({ length: size }, (_, i) => i % 256);
const rejectsWith = (code, pattern) => (error) => {
  assert.equal(error.name, "CaseLensError");
  assert.equal(error.code, code);
  assert.match(error.message, pattern);
  return true;
};

test("a file of known size is read whole", async () => {
  answerWith(() => new Response(body(1000), { headers: { "content-length": "1000" } }));
  const { bytes, fromCache, meter } = await get();
  assert.deepEqual(bytes, expected(1000));
  assert.equal(bytes.buffer.byteLength, 1000, "in one buffer of just that size");
  assert.equal(fromCache, false);
  assert.deepEqual(meter.seen[0], ["size", 1000]);
  assert.deepEqual(meter.seen.at(-1), ["at", 1000]);
});

test("a file of unknown size is read whole", async () => {
  answerWith(() => new Response(body(1000)));
  assert.deepEqual((await get()).bytes, expected(1000));
});

test("the length of a compressed answer is not taken for the file's", async () => {
  answerWith(() => new Response(body(1000), { headers: { "content-length": "300", "content-encoding": "gzip" } }));
  const { bytes, meter } = await get();
  assert.deepEqual(bytes, expected(1000));
  assert.deepEqual(meter.seen[0], ["size", null]);
});

test("a body longer than its stated length is read whole", async () => {
  answerWith(() => new Response(body(1000, 64), { headers: { "content-length": "300" } }));
  assert.deepEqual((await get()).bytes, expected(1000));
});

test("across origins a length is an estimate", () => {
  const response = { type: "cors", headers: new Headers({ "content-length": "300" }) };
  assert.deepEqual(statedSize(response), { size: 300, exact: false });
});

test("a short body is an error and is not kept", async () => {
  answerWith(() => new Response(body(500), { headers: { "content-length": "1000" } }));
  await assert.rejects(get(), rejectsWith("download-incomplete", /500 of 1000 bytes.*Load it again/));
  assert.equal(storage.entries.size, 0);
});

test("a body that breaks off is an error", async () => {
  answerWith(
    () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.error(new TypeError("network error"));
          },
        }),
      ),
  );
  await assert.rejects(get(), rejectsWith("download-incomplete", /broke off/));
});

test("an empty body is an error", async () => {
  answerWith(() => new Response(""));
  await assert.rejects(get(), rejectsWith("download-incomplete", /is empty/));
});

test("404 names the URL and what makes the file", async () => {
  answerWith(() => new Response("no", { status: 404 }));
  await assert.rejects(get(), rejectsWith("http", /not found at https:\/\/example.org\/models\/model.gguf \(HTTP 404\).*caselens quantize/));
  await assert.rejects(get({ role: "head" }), rejectsWith("http", /caselens train/));
});

test("500 names the status", async () => {
  answerWith(() => new Response("no", { status: 503 }));
  await assert.rejects(get(), rejectsWith("http", /HTTP 503/));
});

test("a web page in place of a model is not found", async () => {
  answerWith(() => new Response("<!doctype html>", { headers: { "content-type": "text/html; charset=utf-8" } }));
  await assert.rejects(get(), rejectsWith("http", /answered with a web page/));
});

test("a server that cannot be reached is a network error with its cause", async () => {
  globalThis.fetch = async () => {
    throw new TypeError("Failed to fetch");
  };
  await assert.rejects(get(), (error) => {
    rejectsWith("network", /did not answer/)(error);
    return error.cause instanceof TypeError;
  });
});

test("a kept file is not asked for again", async () => {
  answerWith(() => new Response(body(1000), { headers: { "content-length": "1000" } }));
  const { bytes, cache } = await get();
  await cache.keep(URL_, bytes);
  const second = await get();
  assert.equal(second.fromCache, true);
  assert.deepEqual(second.bytes, expected(1000));
  assert.equal(requests.length, 1);
  assert.deepEqual(warnings, []);
});

test("a kept file of the wrong size is dropped and fetched again", async () => {
  storage.entries.set(URL_, new Response(body(10), { headers: { "x-caselens-bytes": "1000" } }));
  answerWith(() => new Response(body(1000), { headers: { "content-length": "1000" } }));
  const { bytes, fromCache } = await get();
  assert.equal(fromCache, false);
  assert.deepEqual(bytes, expected(1000));
  assert.equal(storage.entries.has(URL_), false);
});

test("without Cache Storage there is one warning, and the file", async () => {
  delete globalThis.caches;
  answerWith(() => new Response(body(1000)));
  const { bytes, cache } = await get();
  await cache.keep(URL_, bytes);
  assert.equal(bytes.byteLength, 1000);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /https/);
});

test("a full cache is one warning", async () => {
  storage.fail = new DOMException("Quota exceeded.", "QuotaExceededError");
  answerWith(() => new Response(body(1000)));
  const { bytes, cache } = await get();
  await cache.keep(URL_, bytes);
  await cache.keep(`${URL_}2`, bytes);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /storage is full/);
});

test("a cache that cannot be opened is one warning", async () => {
  storage.open = async () => {
    throw new DOMException("The operation is insecure.", "SecurityError");
  };
  answerWith(() => new Response(body(1000)));
  assert.equal((await get()).bytes.byteLength, 1000);
  assert.equal(warnings.length, 1);
});
