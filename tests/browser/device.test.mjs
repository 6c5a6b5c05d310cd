// The device is opened, and its kernels are compiled, while the model is on its way; whatever becomes of the load, a GPU that
// is not used is given back.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { launch, MODEL_FILE, openPage, prefixWorker, serve, WATCHED_GPU, watchGpu } from "./helpers.mjs";

const MODEL = `/models/${MODEL_FILE}`;
const options = { timeout: 180_000 };
/** An adapter that does not say that it is a program: linear layers multiply bytes on it, as on a GPU. */
const SILENT_ADAPTER = `for (const [name, value] of Object.entries({ vendor: "", architecture: "", description: "", isFallbackAdapter: false })) {
  Object.defineProperty(GPUAdapterInfo.prototype, name, { get: () => value });
}`;
let browser;
let server;
let page;

before(async () => {
  browser = await launch({ webgpu: true });
}, options);
after(() => browser?.close());
beforeEach(async () => {
  server = await serve();
  await prefixWorker(server, WATCHED_GPU);
  page = await openPage(browser, server);
  await watchGpu(page);
});
afterEach(async () => {
  await page.context().close();
  await server.close();
});

/** Keeps the model back until what it gives is called; then it is sent as `rule` says. */
function keepModel(rule) {
  let send;
  server.rule(MODEL, { ...rule, until: new Promise((resolve) => (send = resolve)) });
  return send;
}
/** Begins to load; `window.loading` is how that ends. */
function begin(options) {
  return page.evaluate((options) => {
    window.stop = new AbortController();
    window.loading = caselens.Encoder.load({ ...options, signal: stop.signal });
    loading.catch(() => {});
  }, { model: MODEL, device: "webgpu", ...options });
}
/** The kernels are being compiled once the queue has been sent something. */
const compiling = () => page.waitForFunction(() => gpu.some(({ name }) => name === "submit"));
const destroyed = () => page.waitForFunction(() => gpu.some(({ name }) => name === "destroy"));
const compiled = () => page.evaluate(() => gpu.flatMap(({ name, label }) => (name === "createComputePipeline" ? [label] : [])));
const ended = (path) => server.requests.filter((request) => request.path === path && request.finished).length;

for (const [name, code, linear] of [
  ["a software adapter", "", /^LinearThreads/],
  ["a GPU", SILENT_ADAPTER, /^LinearBytes/],
]) {
  test(`all that the first embedding runs on is compiled before the model is here, on ${name}`, options, async () => {
    await prefixWorker(server, code + WATCHED_GPU);
    const send = keepModel();
    await begin();
    await compiling();
    assert.equal(ended(MODEL), 0);
    const before = await compiled();
    assert.equal(new Set(before).size, before.length);
    assert.ok(before.some((kernel) => linear.test(kernel)), `${before}`);
    send();
    const dims = await page.evaluate(async () => (await (await loading).embed(["A cat sleeps."])).at(0).length);
    assert.equal(dims, 384);
    assert.deepEqual(await compiled(), before);
    assert.equal(await page.evaluate(() => gpu.filter(({ name }) => name === "requestAdapter").length), 1);
  });
}

test("a GPU is opened for auto while the model is on its way, and given back when the CPU is taken", options, async () => {
  const send = keepModel();
  await begin({ device: "auto" });
  await compiling();
  assert.equal(ended(MODEL), 0);
  send();
  assert.equal(await page.evaluate(async () => (await loading).info.device), "wasm");
  await destroyed();
});

test("no GPU is opened for the CPU", options, async () => {
  await begin({ device: "wasm" });
  await page.evaluate(() => loading);
  assert.deepEqual(await page.evaluate(() => gpu), []);
});

test("a GPU is given back when its model cannot be had, or is none", options, async () => {
  for (const [rule, code] of [
    [{ status: 404 }, "http"],
    [{ body: "no model ".repeat(100) }, "model-format"],
  ]) {
    const send = keepModel(rule);
    await page.evaluate(() => (gpu.length = 0));
    await begin();
    await compiling();
    send();
    assert.equal((await page.evaluate(() => failure(loading))).code, code);
    await destroyed();
  }
  server.rule(MODEL, undefined);
  await begin();
  assert.equal(await page.evaluate(async () => (await loading).info.device), "webgpu", "and the next load has one of its own");
});

test("an aborted load takes its GPU with it", options, async () => {
  const before = await gpuClients();
  keepModel();
  await begin();
  await compiling();
  assert.equal(await gpuClients(), before + 1);
  await page.evaluate(() => stop.abort());
  assert.equal((await page.evaluate(() => failure(loading))).name, "AbortError");
  const end = Date.now() + 10_000;
  while ((await gpuClients()) > before && Date.now() < end);
  assert.equal(await gpuClients(), before);
});

test("a device that was freed or has been used is refused, and the module goes on", options, async () => {
  const { errors, reason } = await page.evaluate(async (model) => {
    const { default: init, Engine, EngineDevice, ModelFile } = await import("/pkg/build/wasm/caselens.js");
    await init({ module_or_path: "/pkg/build/wasm/caselens_bg.wasm" });
    const bytes = new Uint8Array(await (await fetch(model)).arrayBuffer());
    const load = async (device) => {
      const file = new ModelFile(bytes.length, "model.gguf");
      file.push(bytes);
      return Engine.load(file, undefined, "", device);
    };
    const freed = await EngineDevice.open("webgpu");
    freed.free();
    const used = EngineDevice.cpu("a test");
    const engine = await load(used);
    const attempts = [() => freed.free(), () => load(freed), () => used.free(), () => load(used)];
    const errors = [];
    for (const attempt of attempts) {
      try {
        await attempt();
        errors.push(undefined);
      } catch (error) {
        errors.push(error.name);
      }
    }
    engine.free();
    return { errors, reason: (await load(EngineDevice.cpu("another"))).info().reason };
  }, MODEL);
  assert.deepEqual(errors, ["Error", "Error", "Error", "Error"], "no RuntimeError, which is a panic");
  assert.equal(reason, "another");
});

/** How many contexts the GPU process serves, as Chromium's memory dump tells. */
async function gpuClients() {
  const session = await browser.newBrowserCDPSession();
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  const traceConfig = { includedCategories: ["disabled-by-default-memory-infra"], excludedCategories: ["*"], memoryDumpConfig: { triggers: [] } };
  await session.send("Tracing.start", { traceConfig, transferMode: "ReportEvents" });
  await session.send("Tracing.requestMemoryDump", { levelOfDetail: "detailed" });
  await session.send("Tracing.end");
  await complete;
  await session.detach();
  const allocators = events.flatMap(({ args }) => Object.keys(args?.dumps?.allocators ?? {}));
  return new Set(allocators.filter((name) => /^gpu\/transfer_memory\/client_\d+$/.test(name))).size;
}
