// Downloads in a real browser: progress, the cache, and what happens when either goes wrong.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import path from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { BASE_FILE, HEAD_FILE, launch, MODEL_FILE, MODELS, NO_RELAXED_SIMD, openPage, prefixWorker, serve, until, WATCHED_MEMORY, wasmMemory } from "./helpers.mjs";

const MODEL = `/models/${MODEL_FILE}`;
const HEAD = `/models/${HEAD_FILE}`;
const options = { timeout: 60_000 };
let browser;
let server;
let page;

before(async () => {
  browser = await launch({ args: ["--host-resolver-rules=MAP plain.test 127.0.0.1"] });
});
after(() => browser?.close());
beforeEach(async () => {
  server = await serve();
  page = await openPage(browser, server); // a new context: nothing is cached
});
afterEach(async () => {
  await page.context().close();
  await server.close();
});

/** Loads once in the page and gives what was seen on the way. */
function load(target = page) {
  return target.evaluate(async (model) => {
    const events = [];
    const warnings = [];
    const lens = await caselens.CaseLens.load({
      model,
      device: "wasm",
      onProgress: (event) => events.push(event),
      onWarning: (message) => warnings.push(message),
    });
    const { info } = lens;
    const [result] = await lens.compare("A cat sleeps.", "A dog sleeps.", ["the animal"]);
    // An answer does not wait for the cache.
    const kept = async () => (await (await caches.open("caselens-v1")).keys()).length >= 2;
    while (warnings.length === 0 && !(await kept())) await new Promise((resolve) => setTimeout(resolve, 10));
    lens.dispose();
    return { events, warnings, info, similarity: result.similarity };
  }, MODEL);
}

function assertMonotone(events) {
  for (const [i, event] of events.entries()) {
    const before = events[i - 1];
    if (before) assert.ok(event.progress >= before.progress && event.loaded >= before.loaded, JSON.stringify([before, event]));
  }
  assert.equal(events.at(-1).progress, 1);
  assert.equal(events.at(-1).phase, "ready");
  assert.equal(events.filter(({ progress }) => progress >= 1).length, 1, "1 is reached exactly once");
}

for (const file of [MODEL_FILE, BASE_FILE]) {
  for (const [build, prefix] of [["relaxed SIMD", ""], ["simd128", NO_RELAXED_SIMD]]) {
    test(`loading ${file} takes at most 1.6 times its size in memory (${build})`, options, async () => {
      await prefixWorker(server, prefix + WATCHED_MEMORY);
      const { size } = statSync(path.join(MODELS, file));
      for (const from of ["network", "cache"]) {
        await page.evaluate(async (model) => {
          window.encoder = await caselens.Encoder.load({ model, device: "wasm", threads: 1 });
        }, `/models/${file}`);
        const memory = await wasmMemory(page);
        // An encoder does not wait for the cache, and its worker's end would be the end of what is being written.
        await until(page, async ([url, size]) => {
          const kept = await (await caches.open("caselens-v1")).match(url);
          return kept && (await kept.arrayBuffer()).byteLength === size;
        }, [`/models/${file}`, size]);
        await page.evaluate(() => encoder.dispose());
        assert.ok(memory > size / 2 && memory <= 1.6 * size, `${memory / size} times from the ${from}`);
      }
      assert.equal(server.count(`/models/${file}`), 1);
    });
  }
}

test("progress counts model and head together, never falls and ends at 1", options, async () => {
  server.rule(MODEL, { rate: 20e6 }); // slow enough for the head's size to be known while it lasts
  const { events, info, warnings } = await load();
  assertMonotone(events);
  assert.equal(events.at(-1).loaded, info.bytes);
  assert.equal(events.at(-1).total, info.bytes);
  assert.ok(events.filter(({ phase, total }) => phase === "download" && total === info.bytes).length >= 10, "steps on the way");
  assert.deepEqual(warnings, []);
});

test("progress without Content-Length never falls and ends at 1", options, async () => {
  server.rule(MODEL, { chunked: true });
  const { events, info } = await load();
  assertMonotone(events);
  assert.ok(events.filter(({ phase }) => phase === "download").every(({ total }) => total === null));
  assert.equal(events.at(-1).total, info.bytes);
});

test("the second load asks the server for no model and no head", options, async () => {
  const first = await load();
  assert.deepEqual([server.count(MODEL), server.count(HEAD)], [1, 1]);
  const second = await load();
  await page.reload();
  const later = await openPage(browser, server, { context: page.context() });
  const third = await load(later);
  assert.deepEqual([server.count(MODEL), server.count(HEAD)], [1, 1]);
  for (const again of [second, third]) {
    assertMonotone(again.events);
    assert.equal(again.info.bytes, first.info.bytes);
    assert.equal(again.similarity, first.similarity);
  }
});

test("with the server gone, a second load works from the cache", options, async () => {
  await load();
  await server.close();
  const { events, similarity } = await load();
  assertMonotone(events);
  assert.equal(typeof similarity, "number");
});

test("offline without a kept model is a network error that says so", options, async () => {
  await load(); // the code is here now
  await page.evaluate(() => caches.delete("caselens-v1"));
  await page.context().setOffline(true);
  const error = await page.evaluate((model) => failure(caselens.CaseLens.load({ model, device: "wasm" })), MODEL);
  assert.equal(error.code, "network");
  assert.match(error.message, /offline/);
});

test("a kept file of the wrong size is fetched again", options, async () => {
  await load();
  await page.evaluate(async (url) => {
    const cache = await caches.open("caselens-v1");
    const { headers } = await cache.match(url);
    await cache.put(url, new Response(new Uint8Array(1000), { headers }));
  }, server.origin + MODEL);
  const { events } = await load();
  assertMonotone(events);
  assert.equal(server.count(MODEL), 2);
  await load();
  assert.equal(server.count(MODEL), 2, "and kept whole this time");
});

test("a kept file that is no model is fetched again", options, async () => {
  await load();
  await page.evaluate(async (url) => {
    const cache = await caches.open("caselens-v1");
    await cache.put(url, new Response(new Uint8Array(20), { headers: { "x-caselens-bytes": "20" } }));
  }, server.origin + MODEL);
  assertMonotone((await load()).events);
  assert.equal(server.count(MODEL), 2);
});

test("an incomplete download is not kept", options, async () => {
  server.rule(MODEL, { cut: 1_000_000 });
  const error = await page.evaluate((model) => failure(caselens.CaseLens.load({ model, device: "wasm" })), MODEL);
  assert.equal(error.code, "download-incomplete");
  assert.match(error.message, /Load it again/);
  server.rule(MODEL, undefined);
  await load();
  assert.equal(server.count(MODEL), 2);
});

test("without a secure context there is no cache: one warning, and it works", options, async () => {
  const plain = { ...server, blank: server.blank.replace("127.0.0.1", "plain.test"), origin: server.origin.replace("127.0.0.1", "plain.test") };
  const insecure = await openPage(browser, plain, { context: page.context() });
  const { warnings, events } = await load(insecure);
  assertMonotone(events);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /https/);
});

test("over plain http, in a school's own network, the CPU does everything, and says once what there is not", options, async () => {
  const gpu = await launch({ webgpu: true, args: ["--host-resolver-rules=MAP plain.test 127.0.0.1"] });
  const origin = server.origin.replace("127.0.0.1", "plain.test");
  try {
    const insecure = await openPage(gpu, { ...server, blank: `${origin}/blank.html`, origin });
    const { has, info, ratings, hit, groups } = await insecure.evaluate(async (model) => {
      const has = { isSecureContext, caches: "caches" in window, subtle: crypto.subtle !== undefined, gpu: "gpu" in navigator };
      window.warnings = [];
      const lens = await caselens.CaseLens.load({ model, threads: 2, onWarning: (message) => warnings.push(message) });
      const { info } = lens;
      const conditions = ["the place", "the game", "the person", "the time of day", "the mood", "the weather"];
      const results = await lens.compare("She plays chess in the park", "He plays football in the park", conditions);
      const texts = Array.from({ length: 200 }, (_, i) => `text ${i}`);
      const { groups, embeddings } = await lens.cluster(texts);
      const [hit] = await lens.search("text 7", texts, { embeddings });
      return { has, info, ratings: results.map(({ rating }) => rating), hit: hit.text, groups: groups.length };
    }, MODEL);
    assert.deepEqual(has, { isSecureContext: false, caches: false, subtle: false, gpu: false });
    assert.deepEqual([info.device, info.threads], ["wasm", 2]);
    assert.ok(ratings[0] > 4 && ratings[1] < 3, `${ratings}`);
    assert.equal(hit, "text 7");
    assert.ok(groups > 1);
    // The second worker has got the first one's copy.
    assert.equal(server.requests.filter(({ path }) => path === MODEL).length, 1);
    const warnings = await insecure.evaluate(() => window.warnings);
    assert.equal(warnings.length, 1, warnings.join("\n"));
    const { code } = await insecure.evaluate((model) => failure(caselens.CaseLens.load({ model, device: "webgpu", onWarning: () => {} })), MODEL);
    assert.equal(code, "webgpu-unavailable");
    assert.deepEqual(insecure.problems, []);
  } finally {
    await gpu.close();
  }
});

test("a full storage is one warning, on the console by default, and it works", options, async () => {
  const session = await page.context().newCDPSession(page);
  await session.send("Storage.overrideQuotaForOrigin", { origin: server.origin, quotaSize: 100_000 });
  const { warnings, events } = await load();
  assertMonotone(events);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /downloaded again next time/);
  await page.evaluate(async (model) => (await caselens.Encoder.load({ model, device: "wasm" })).dispose(), MODEL);
  const told = () => page.warnings.filter((text) => text.includes("downloaded again next time")).length;
  for (let i = 0; i < 100 && told() === 0; i++) await page.waitForTimeout(20);
  assert.equal(told(), 1);
});
