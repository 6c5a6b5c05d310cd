// Embeddings in their smaller forms, in a real browser: they say what the large ones say.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, MODEL_FILE, openPage, serve } from "./helpers.mjs";

const options = { timeout: 240_000 };
let server;
let browser;
let page;
before(async () => {
  server = await serve();
  browser = await launch();
  page = await openPage(browser, server);
  await page.evaluate(async (model) => {
    window.encoder = await caselens.Encoder.load({ model, device: "wasm", threads: 2 });
    window.lens = await caselens.CaseLens.load({ model, device: "wasm", threads: 1 });
  }, `/models/${MODEL_FILE}`);
}, options);
after(async () => {
  await browser?.close();
  await server?.close();
});

test("bytes, bits and fewer dimensions are those of the whole embeddings", options, async () => {
  const found = await page.evaluate(async () => {
    const texts = Array.from({ length: 40 }, (_, i) => `A ${["cat", "dog", "train", "chef"][i % 4]} waits at door ${i}.`);
    const get = async (options) => {
      const { data, scales, length: count, dims } = await encoder.embed(texts, options);
      return { data: [...data], scales: scales && [...scales], count, dims };
    };
    return [await get(), await get({ dtype: "int8" }), await get({ dtype: "binary" }), await get({ dims: 100 })];
  });
  const [whole, bytes, bits, short] = found;
  assert.deepEqual(found.map(({ count, dims }) => [count, dims]), [[40, 384], [40, 384], [40, 384], [40, 100]]);
  assert.equal(bits.data.length, (40 * 384) / 8);
  for (let i = 0; i < 40; i++) {
    const row = whole.data.slice(384 * i, 384 * (i + 1));
    const scale = Math.max(...row.map(Math.abs)) / 127;
    assert.ok(Math.abs(bytes.scales[i] - scale) < 1e-8);
    row.forEach((x, d) => assert.ok(Math.abs(bytes.data[384 * i + d] - x / scale) <= 0.501));
    row.forEach((x, d) => assert.equal((bits.data[48 * i + (d >> 3)] >> (7 - (d & 7))) & 1, x > 0 ? 1 : 0));
    const length = Math.hypot(...row.slice(0, 100));
    row.slice(0, 100).forEach((x, d) => assert.ok(Math.abs(short.data[100 * i + d] - x / length) < 1e-6));
  }
});

test("a lens gives its embeddings in every form, and compares them", options, async () => {
  const found = await page.evaluate(async () => {
    const condition = "the place";
    const items = ["She plays chess in the park", "He plays football in the park"].map((sentence) => ({ sentence, condition }));
    const [{ similarity }] = await lens.compare(items[0].sentence, items[1].sentence, [condition]);
    const forms = [{}, { dtype: "int8" }, { dims: 128 }, { dtype: "binary" }];
    const embedded = await Promise.all(forms.map((form) => lens.embed(items, form)));
    return [similarity, ...embedded.map((embeddings) => embeddings.similarity(0, 1))];
  });
  const [similarity, float32, int8, short, binary] = found;
  assert.ok(Math.abs(float32 - similarity) < 1e-4, `${found}`);
  assert.ok(Math.abs(int8 - similarity) < 5e-3, `${found}`);
  assert.ok(Math.abs(short - similarity) < 0.1 && Math.abs(binary - similarity) < 0.2, `${found}`);
});

test("a form that there is not is refused", options, async () => {
  const errors = await page.evaluate(() =>
    Promise.all([
      failure(encoder.embed(["a"], { dims: 385 })),
      failure(lens.embed([{ sentence: "a" }], { dims: 385 })),
      failure(encoder.embed(["a"], { dims: 0 })),
      failure(encoder.embed(["a"], { dtype: "float16" })),
    ]),
  );
  for (const error of errors) assert.ok(error.typed && error.code === "invalid-argument", JSON.stringify(error));
  assert.match(errors[0].message, /1 to 384/);
  assert.match(errors[1].message, /1 to 384/);
  assert.deepEqual(page.problems, []);
});
