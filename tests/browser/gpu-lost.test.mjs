// A GPU that goes away for real: Chromium's GPU process is made to crash under a loaded model.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { launch, MODEL_FILE, openPage, prefixWorker, serve, STOPPED_CLOCK, WATCHED_GPU, watchGpu } from "./helpers.mjs";

const MODEL = `/models/${MODEL_FILE}`;
const options = { timeout: 180_000 };
let server;
let browser;
let page;

before(async () => {
  server = await serve();
  await prefixWorker(server, STOPPED_CLOCK + WATCHED_GPU);
});
after(() => server?.close());
beforeEach(async () => {
  browser = await launch({ webgpu: true }); // each test crashes its own
  page = await openPage(browser, server);
}, options);
afterEach(() => browser?.close());

async function crashGpu() {
  const session = await browser.newBrowserCDPSession();
  await session.send("Browser.crashGpuProcess").catch(() => {}); // its answer may go down with the process
  await page.waitForTimeout(500);
}

const load = (device) =>
  page.evaluate(
    async ([model, device]) => {
      window.lens = await caselens.CaseLens.load({ model, device });
      const [{ similarity }] = await lens.compare("A cat sleeps.", "A dog sleeps.", ["the animal"]);
      return { similarity, device: lens.info.device };
    },
    [MODEL, device],
  );

test("a lens that chose the GPU itself goes on with the CPU, and says so", options, async () => {
  const before = await load("auto");
  assert.equal(before.device, "webgpu");
  await crashGpu();
  const { similarity, info } = await page.evaluate(async () => {
    const [{ similarity }] = await lens.compare("A cat sleeps.", "A dog sleeps.", ["the animal"]);
    return { similarity, info: lens.info };
  });
  assert.equal(info.device, "wasm");
  assert.match(info.reason, /GPU was lost/);
  assert.ok(Math.abs(similarity - before.similarity) <= 0.01);
});

test("a lens that was told to use the GPU says that it is lost, each time and without hanging", options, async () => {
  assert.equal((await load("webgpu")).device, "webgpu");
  await crashGpu();
  for (let i = 0; i < 2; i++) {
    const error = await page.evaluate(() => failure(lens.compare("A cat sleeps.", "A dog sleeps.", ["the animal"])));
    assert.equal(error.code, "gpu-lost", error.message);
    assert.ok(error.typed);
  }
});

test("a GPU lost in the middle of a call does not hang it", options, async () => {
  await load("auto");
  const answer = page.evaluate(async () => {
    const rows = await lens.embed(Array.from({ length: 40 }, (_, i) => ({ sentence: `A cat sleeps on sofa ${i}.` })));
    return { rows: rows.length, device: lens.info.device };
  });
  await page.waitForTimeout(300);
  await crashGpu();
  assert.deepEqual(await answer, { rows: 40, device: "wasm" });
});

for (const device of ["webgpu", "auto"]) {
  test(`a GPU that is lost before the model is here, for ${device}`, options, async () => {
    let send;
    server.rule(MODEL, { until: new Promise((resolve) => (send = resolve)) });
    await watchGpu(page);
    await page.evaluate(
      ([model, device]) => {
        window.loading = caselens.Encoder.load({ model, device });
        loading.catch(() => {});
      },
      [MODEL, device],
    );
    await page.waitForFunction(() => gpu.some(({ name }) => name === "submit"));
    await crashGpu();
    server.rule(MODEL, undefined);
    send();
    if (device === "webgpu") {
      const error = await page.evaluate(() => failure(loading));
      assert.equal(error.code, "gpu-lost", error.message);
      assert.ok(error.typed);
      return assert.equal((await load("webgpu")).device, "webgpu", "another load has another GPU");
    }
    const info = await page.evaluate(async () => (await loading).info);
    assert.equal(info.device, "wasm");
    assert.match(info.reason, /auto: the CPU.*lost/);
  });
}
