// Indexes where a browser keeps them: in IndexedDB, for the next visit, and for two tabs at once.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, MODEL_FILE, openPage, serve } from "./helpers.mjs";

const options = { timeout: 240_000 };
const TEXTS = ["She plays chess in the park.", "He plays football in the park.", "It rains in Bergen."];
let server;
let browser;
let context;
/** Two tabs of one visitor, each with a lens. */
let tabs;
before(async () => {
  server = await serve();
  browser = await launch();
  context = await browser.newContext();
  tabs = [await openPage(browser, server, { context }), await openPage(browser, server, { context })];
  for (const tab of tabs) {
    await tab.evaluate(async ({ model, texts }) => {
      window.texts = texts;
      window.lens = await caselens.CaseLens.load({ model, device: "wasm", threads: 1 });
    }, { model: `/models/${MODEL_FILE}`, texts: TEXTS });
  }
}, options);
after(async () => {
  await browser?.close();
  await server?.close();
});

test("what is needed for indexes is loaded when the first one is asked for", options, async () => {
  assert.equal(server.count("/pkg/dist/text-index.js"), 0);
  await tabs[0].evaluate(async () => void (await lens.index()));
  assert.equal(server.count("/pkg/dist/text-index.js"), 1);
});

test("an index is there again in another tab, and finds what it found", options, async () => {
  const found = await tabs[0].evaluate(async () => {
    const index = await lens.index({ condition: "the place" });
    await index.add(texts.map((text, id) => ({ id, text, metadata: { id } })));
    await index.store("notes");
    return index.search("They walk in a garden.");
  });
  assert.equal(found.length, 3);
  const again = await tabs[1].evaluate(async () => {
    window.opened = await lens.openIndex("notes", { condition: "the place" });
    return opened.search("They walk in a garden.");
  });
  assert.deepEqual(again, found);
  assert.equal(await tabs[1].evaluate(async () => lens.openIndex("nothing")), undefined);
});

test("of two tabs, the one that comes late is refused, and nothing is lost", options, async () => {
  await tabs[0].evaluate(async () => {
    window.opened = await lens.openIndex("notes");
    await opened.add([{ id: "first", text: "A cat sleeps on the sofa." }]);
    await opened.store("notes");
  });
  const late = await tabs[1].evaluate(async () => {
    await opened.add([{ id: "second", text: "A dog sleeps on the sofa." }]);
    return { ...(await failure(opened.store("notes"))), size: opened.size };
  });
  assert.deepEqual([late.code, late.typed, late.size], ["index-conflict", true, 4]);
  const stored = await tabs[1].evaluate(async () => {
    const newer = await lens.openIndex("notes");
    await newer.add([opened.get("second")]);
    await newer.store("notes");
    return [newer.revision, Array.from(newer, ({ id }) => id)];
  });
  assert.deepEqual(stored, [3, [0, 1, 2, "first", "second"]]);
});

test("where the storage is full, what was stored stays, and the error says so", options, async () => {
  const refused = await tabs[0].evaluate(async () => {
    const index = await lens.openIndex("notes");
    await index.remove([0]);
    // What IndexedDB does with a transaction that finds no room.
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function () {
      throw new DOMException("no room", "QuotaExceededError");
    };
    const { code, typed } = await failure(index.store("notes"));
    IDBObjectStore.prototype.put = function (...args) {
      const request = put.apply(this, args);
      this.transaction.abort();
      return request;
    };
    const broken = await failure(index.store("notes"));
    IDBObjectStore.prototype.put = put;
    const { size, revision } = await lens.openIndex("notes");
    await index.store("notes");
    return { codes: [code, broken.code], typed: typed && broken.typed, size, revision, after: (await lens.openIndex("notes")).size };
  });
  assert.deepEqual(refused, { codes: ["storage-full", "storage"], typed: true, size: 5, revision: 3, after: 4 });
});

test("a forgotten index is gone; a page without IndexedDB is told", options, async () => {
  const left = await tabs[0].evaluate(async () => {
    await caselens.CaseLens.deleteIndex("notes");
    const gone = await lens.openIndex("notes");
    Object.defineProperty(window, "indexedDB", { value: undefined });
    return [gone === undefined, await failure((await lens.index()).store("notes"))];
  });
  assert.deepEqual([left[0], left[1].code, left[1].typed], [true, "storage", true]);
});
