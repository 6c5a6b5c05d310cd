// Whether memory stays where it is and nothing hangs when the same is done over and over: short in the tests, and for as long as
// `SOAK=1 node --test soak.test.mjs` takes (two hours) by hand.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { tinyLens } from "./companion.mjs";
import { launch, MODEL_FILE, openPage, prefixWorker, serve, STOPPED_CLOCK, WATCHED_MEMORY, wasmMemory } from "./helpers.mjs";

const LONG = process.env.SOAK === "1";
/** Comparisons of two sentences. */
const COMPARISONS = LONG ? 100_000 : 600;
const LOADS = LONG ? 200 : 10;
const MODEL = `/models/${MODEL_FILE}`;
/** What each device loads: software WebGPU takes half a second for a comparison by what ships, and a tiny encoder asks the same of it. */
const LOADED = {
  wasm: { model: MODEL, device: "wasm" },
  webgpu: { model: "/tiny/tiny.gguf", head: "/tiny/tiny.head", device: "webgpu" },
};
/** Bytes by which a module's memory may grow, however long it works: holes between what is kept. */
const SLACK = 2 ** 20;
/** Megabytes by which all of Chromium may differ between two times: its own caches come and go. */
const NOISE = 60;
const options = { timeout: LONG ? 4 * 3600_000 : 300_000 };

let folder;
let server;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "caselens-soak-"));
  await tinyLens(folder);
  server = await serve({ mounts: { "/tiny/": folder } });
  await prefixWorker(server, STOPPED_CLOCK + WATCHED_MEMORY);
}, options);
after(async () => {
  await server?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Opens a browser for a test, and closes it. */
async function browsing(webgpu, work) {
  const browser = await launch({ webgpu, args: ["--js-flags=--expose-gc"] });
  try {
    await work(browser);
  } finally {
    await browser.close();
  }
}

/** Megabytes that all of a browser's processes hold, after rubbish was collected in a page. */
async function held(browser, page) {
  await page.evaluate(async () => {
    for (let i = 0; i < 3; i++) {
      gc();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const pages = async ({ id }) => Number((await readFile(`/proc/${id}/statm`, "utf8")).split(" ")[1]);
  // Some minutes after its start Chromium looks at the GPU for a language model of its own, in a process of 100 MB.
  const own = processInfo.filter(({ type }) => !type.startsWith("on_device_model"));
  const sizes = await Promise.all(own.map(pages));
  return (sizes.reduce((sum, size) => sum + size, 0) * 4096) / 1e6;
}

/** Makes `count` comparisons, from the `from`-th on, 1, 2, 4, 8 or 16 conditions a call, and gives how many answers were no numbers from -1 to 1. */
const compare = (page, from, count) =>
  page.evaluate(
    async ([from, to]) => {
      let wrong = 0;
      for (let i = from, call = 0; i < to; call++) {
        const conditions = Array.from({ length: Math.min(2 ** (call % 5), to - i) }, (_, n) => `${["the place", "the animal"][n % 2]} ${n}`);
        const answers = await lens.compare(`A dog runs by river ${i}.`, `A cat waits near house ${i % 7}.`, conditions);
        if (answers.length !== conditions.length) throw new Error(`${answers.length} answers to ${conditions.length} conditions`);
        wrong += answers.filter(({ similarity }) => !(Math.abs(similarity) <= 1.0001)).length;
        i += conditions.length;
      }
      return wrong;
    },
    [from, from + count],
  );

for (const device of ["wasm", "webgpu"]) {
  test(`${COMPARISONS} comparisons on ${device} leave memory as it was`, options, (t) =>
    browsing(device === "webgpu", async (browser) => {
      const page = await openPage(browser, server);
      await page.evaluate(async (loaded) => void (window.lens = await caselens.CaseLens.load(loaded)), LOADED[device]);
      const warm = Math.ceil(COMPARISONS / 5);
      // The longest first: what they need is there then.
      assert.equal(await compare(page, COMPARISONS - warm, warm), 0);
      const module = await wasmMemory(page);
      const browserBefore = await held(browser, page);
      assert.equal(await compare(page, 0, COMPARISONS - warm), 0);
      const more = (await wasmMemory(page)) - module;
      const grown = (await held(browser, page)) - browserBefore;
      t.diagnostic(`module ${(module / 1e6).toFixed(1)} MB, grown by ${more} bytes; browser ${browserBefore.toFixed(0)} MB, grown by ${grown.toFixed(1)} MB`);
      assert.ok(more <= SLACK, `the module's memory has grown by ${more} bytes`);
      assert.ok(grown < NOISE, `the browser has grown by ${grown.toFixed(0)} MB`);
      assert.deepEqual(page.problems, []);
    }));
}

for (const device of ["wasm", "webgpu"]) {
  test(`a lens that is loaded and disposed ${LOADS} times leaves nothing on ${device}`, options, (t) =>
    browsing(device === "webgpu", async (browser) => {
      const page = await openPage(browser, server);
      const loadAndDispose = (times) =>
        page.evaluate(
          async ([loaded, times]) => {
            for (let i = 0; i < times; i++) {
              const lens = await caselens.CaseLens.load(loaded);
              await lens.compare("A dog runs.", "A cat runs.", ["the animal"]);
              lens.dispose();
              // And one that is not here yet.
              const stop = new AbortController();
              const loading = caselens.CaseLens.load({ ...loaded, signal: stop.signal });
              loading.catch(() => {});
              await new Promise((resolve) => setTimeout(resolve, i % 20));
              stop.abort();
              await loading.then((lens) => lens.dispose(), () => {});
            }
          },
          [LOADED[device], times],
        );
      await loadAndDispose(Math.ceil(LOADS / 5));
      const before = await held(browser, page);
      await loadAndDispose(LOADS - Math.ceil(LOADS / 5));
      const grown = (await held(browser, page)) - before;
      t.diagnostic(`browser ${before.toFixed(0)} MB, grown by ${grown.toFixed(1)} MB`);
      assert.ok(grown < NOISE, `the browser has grown by ${grown.toFixed(0)} MB`);
      assert.equal(page.workers().length, 0, "workers are left");
      assert.deepEqual(page.problems, []);
    }));
}

test("a GPU that is lost in the middle of grouping: the groups are there all the same", options, () =>
  browsing(true, async (browser) => {
    const page = await openPage(browser, server);
    await page.evaluate(async (model) => void (window.lens = await caselens.CaseLens.load({ model, device: "auto" })), MODEL);
    assert.equal(await page.evaluate(() => lens.info.device), "webgpu");
    const grouped = page.evaluate(async () => {
      const texts = Array.from({ length: 60 }, (_, i) => `${["A dog", "A cat", "A horse"][i % 3]} rests near house ${i}.`);
      const { groups } = await lens.cluster(texts, { condition: "the animal", groups: 3 });
      return { texts: groups.flatMap(({ members }) => members).length, device: lens.info.device };
    });
    await page.waitForTimeout(300);
    const session = await browser.newBrowserCDPSession();
    await session.send("Browser.crashGpuProcess").catch(() => {});
    assert.deepEqual(await grouped, { texts: 60, device: "wasm" });
  }));

test("two tabs compare at the same time, and answer alike", options, () =>
  browsing(false, async (browser) => {
    const context = await browser.newContext();
    const pages = await Promise.all([0, 1].map(() => openPage(browser, server, { context })));
    const answers = await Promise.all(
      pages.map((page) =>
        page.evaluate(
          async ([model, times]) => {
            const lens = await caselens.CaseLens.load({ model, device: "wasm" });
            const answers = [];
            for (let i = 0; i < times; i++) {
              const [{ similarity }] = await lens.compare(`A dog runs by river ${i}.`, "A cat sleeps.", ["the animal"]);
              answers.push(similarity);
            }
            lens.dispose();
            return answers;
          },
          [MODEL, LONG ? 5_000 : 40],
        ),
      ),
    );
    assert.deepEqual(answers[0], answers[1]);
    for (const page of pages) assert.deepEqual(page.problems, []);
  }));
