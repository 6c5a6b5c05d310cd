// Files that are told by their SHA-256 are the right ones to the bit, wherever they come from.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { BrowserCache } from "../build/worker/cache.js";
import { download, Whole } from "../build/worker/download.js";
import { Verified } from "../build/worker/integrity.js";
import { Session } from "../build/worker/session.js";
import { Sha256 } from "../build/worker/sha256.js";
import { FakeCaches, fakeWasm, recordingMeter } from "./helpers.mjs";

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const FILE = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);
const OTHER = FILE.with(500, 0);
const MODEL = "https://example.org/model.gguf";
const verified = (sink) => new Verified(sink, "The model", sha256(FILE), () => new Sha256());
const refused = { code: "integrity", message: new RegExp(`^The model.*${sha256(OTHER)}, not ${sha256(FILE)}`) };

test("hashes are those of others, in pieces of any length", () => {
  for (let length = 0; length < 200; length++) {
    const bytes = FILE.subarray(0, length);
    for (const cut of [0, 1, 55, 64, 65]) {
      const hash = new Sha256();
      hash.update(bytes.subarray(0, cut));
      hash.update(bytes.subarray(cut));
      assert.equal(hash.digest(), sha256(bytes), `${length} bytes, cut at ${cut}`);
    }
  }
});

test("a file that is another is refused at its end, and one that begins anew is judged anew", () => {
  const sink = verified(new Whole());
  sink.begin(null);
  sink.push(OTHER);
  assert.throws(() => sink.end(), refused);
  sink.begin(null);
  sink.push(FILE.subarray(0, 7));
  sink.push(FILE.subarray(7));
  sink.end();
});

test("a kept file that is another is fetched anew, and one from the network is an error that keeps nothing", async (context) => {
  const storage = (globalThis.caches = new FakeCaches());
  const realFetch = globalThis.fetch;
  context.after(() => {
    delete globalThis.caches;
    globalThis.fetch = realFetch;
  });
  let served = FILE;
  globalThis.fetch = async () => new Response(served);
  const get = async () => {
    const sink = new Whole();
    const found = await download(MODEL, { role: "model", cache: await BrowserCache.open(assert.fail), meter: recordingMeter() }, verified(sink));
    await found.kept;
    assert.deepEqual(sink.bytes(), FILE);
    return found.fromCache;
  };
  storage.entries.set(MODEL, new Response(OTHER, { headers: { "x-caselens-bytes": "1000" } }));
  assert.equal(await get(), false);
  assert.equal(await get(), true);
  storage.entries.clear();
  served = OTHER;
  await assert.rejects(get(), refused);
  assert.equal(storage.entries.size, 0);
});

test("what was checked before it was kept says so, and is not checked each time", async (context) => {
  const storage = (globalThis.caches = new FakeCaches());
  const realFetch = globalThis.fetch;
  context.after(() => {
    delete globalThis.caches;
    globalThis.fetch = realFetch;
  });
  globalThis.fetch = async () => new Response(FILE);
  let hashed = 0;
  const hash = () => {
    const own = new Sha256();
    return { update: (bytes) => ((hashed += bytes.length), own.update(bytes)), digest: () => own.digest() };
  };
  const get = async (expected) => {
    const sink = new Verified(new Whole(), "The model", expected, hash);
    const found = await download(MODEL, { role: "model", cache: await BrowserCache.open(assert.fail), meter: recordingMeter(), sha256: expected }, sink);
    await found.kept;
    return found.fromCache;
  };
  assert.equal(await get(sha256(FILE)), false);
  assert.equal(hashed, FILE.length);
  assert.equal(storage.entries.get(MODEL).headers.get("x-caselens-sha256"), sha256(FILE));
  assert.equal(await get(sha256(FILE)), true);
  assert.equal(hashed, FILE.length);
  // One that is asked for by another sum is another file.
  await assert.rejects(get(sha256(OTHER)), { code: "integrity" });
});

test("bytes and URLs are checked in the worker, the head as the model", async () => {
  const load = async (model, head) => {
    const answers = [];
    const session = new Session({
      boot: async () => fakeWasm(),
      openCache: async () => ({ drop: async () => {} }),
      download: async (_, __, sink) => {
        await sink.begin(null);
        sink.push(FILE);
        sink.end?.();
        return { fromCache: false, kept: Promise.resolve() };
      },
      post: (message) => answers.push(message),
    });
    session.receive({ type: "call", id: 0, call: { method: "load", model, head, device: "wasm", cache: "none", request: { headers: {}, timeout: 1000 } } });
    for (;;) {
      const answer = answers.find(({ type }) => type === "done" || type === "failed");
      if (answer) return answer.error?.code ?? answer.type;
      await new Promise((resolve) => setTimeout(resolve));
    }
  };
  const right = { sha256: sha256(FILE) };
  assert.equal(await load({ bytes: FILE.slice(), ...right }, { url: MODEL, ...right }), "done");
  assert.equal(await load({ bytes: OTHER.slice(), ...right }, { url: MODEL, ...right }), "integrity");
  assert.equal(await load({ url: MODEL, ...right }, { bytes: OTHER.slice(), ...right }), "integrity");
});
