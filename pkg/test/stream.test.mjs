// Embeddings of texts that come one after the other, a batch at a time. The engine is a double.

import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { CaseLens } from "../build/api/caselens.js";
import { Encoder } from "../build/api/encoder.js";
import { withoutThreads } from "./helpers.mjs";

const texts = (n) => Array.from({ length: n }, (_, i) => `text ${i}`);

/** A lens and an encoder with engines that are doubles; `read` is how many texts reached one. */
async function open({ behave, ...options } = {}) {
  const wasm = withoutThreads(behave);
  const given = { model: "m.gguf", device: "wasm", threads: 1, ...options };
  const [lens, encoder] = [await CaseLens.load(given), await Encoder.load(given)];
  return { lens, encoder, wasm, read: () => wasm.engines.flatMap(({ calls }) => calls).reduce((sum, [, texts]) => sum + texts.length, 0) };
}

/** Texts that are counted as they are taken; `ends` is called where nobody wants the rest. */
function counted(n, ends = () => {}) {
  const source = { taken: 0 };
  source.texts = (async function* () {
    try {
      for (const text of texts(n)) {
        source.taken++;
        yield text;
      }
    } finally {
      ends();
    }
  })();
  return source;
}

async function all(stream) {
  const batches = [];
  for await (const batch of stream) batches.push(batch);
  return batches;
}

test("batches come in the order of the texts, and are what embed gives", async () => {
  for (const threads of [1, 3]) {
    const { lens, encoder } = await open({ threads });
    const list = Array.from({ length: 250 }, (_, i) => "x".repeat(1 + (i % 7)));
    for (const [what, options] of [[encoder, undefined], [lens, { condition: "c", dtype: "float32" }], [lens, { batchSize: 60 }]]) {
      const batches = await all(what.embedStream(list, options));
      const size = options?.batchSize ?? 32 * threads;
      assert.deepEqual(batches.map(({ index, texts }) => [index, texts.length]), Array.from({ length: Math.ceil(250 / size) }, (_, i) => [i * size, Math.min(size, 250 - i * size)]));
      assert.deepEqual(batches.flatMap(({ texts }) => texts), list);
      const [first, ...rest] = batches.map(({ embeddings }) => embeddings);
      const { batchSize, ...embedOptions } = options ?? {};
      assert.deepEqual(first.concat(...rest), await what.embed(list, embedOptions));
      assert.equal(first.condition, options?.condition ?? null);
    }
  }
});

test("texts are whatever can be iterated over: a list, a set, a generator, the lines of a file", async () => {
  const { lens, encoder } = await open();
  const lines = () => createInterface({ input: createReadStream(new URL(import.meta.url)) });
  const filled = async function* () {
    for await (const line of lines()) if (line.trim()) yield line;
  };
  const [count, first] = [(await Array.fromAsync?.(filled()))?.length, "// Embeddings of texts that come one after the other, a batch at a time. The engine is a double."];
  const read = await all(encoder.embedStream(filled()));
  assert.equal(read[0].texts[0], first);
  if (count) assert.equal(read.flatMap(({ texts }) => texts).length, count);
  for (const some of [new Set(["a", "b"]), ["a", "b"].values(), ReadableStream.from(["a", "b"])]) {
    assert.deepEqual((await all(lens.embedStream(some))).map(({ texts }) => texts), [["a", "b"]]);
  }
  assert.deepEqual(await all(lens.embedStream([])), []);
  const pairs = [{ sentence: "a", condition: "c" }, "b"];
  const [{ texts, embeddings }] = await all(lens.embedStream(pairs, { condition: "d" }));
  assert.deepEqual([texts, embeddings.condition], [pairs, undefined]);
});

test("while a batch is looked at the next is read, and no more", async () => {
  const { encoder, read } = await open();
  const source = counted(10_000);
  const stream = encoder.embedStream(source.texts, { batchSize: 10 });
  for (let given = 1; given <= 20; given++) {
    await stream.next();
    for (let i = 0; i < 50; i++) await turn();
    assert.ok(source.taken <= 10 * (given + 1), `${source.taken} texts taken when ${10 * given} were given`);
    assert.ok(read() <= 10 * (given + 1));
  }
  await stream.return();
});

test("who leaves the loop ends the reading and the work", async () => {
  const { lens, read } = await open();
  let ended = 0;
  const source = counted(10_000, () => ended++);
  for await (const { index } of lens.embedStream(source.texts, { batchSize: 10 })) if (index === 20) break;
  for (let i = 0; i < 50; i++) await turn();
  assert.equal(ended, 1, "the source is closed");
  const done = [source.taken, read()];
  assert.ok(source.taken <= 41, `${source.taken} taken`);
  for (let i = 0; i < 50; i++) await turn();
  assert.deepEqual([source.taken, read()], done, "and nothing goes on");
  assert.equal((await lens.embed(["a"])).length, 1);
});

test("who leaves while the next text is awaited does not wait for it", { timeout: 5000 }, async () => {
  const { encoder } = await open();
  const slow = async function* () {
    yield* texts(5);
    await new Promise(() => {});
  };
  for await (const { texts } of encoder.embedStream(slow(), { batchSize: 5 })) {
    assert.equal(texts.length, 5, "a batch that is done is given while the next is being read");
    break;
  }
});

test("an aborted stream throws the signal's reason, also while texts are awaited, and leaves no listener", { timeout: 5000 }, async () => {
  const { encoder } = await open();
  const never = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
  const aborted = AbortSignal.abort("before");
  await assert.rejects(all(encoder.embedStream(["a"], { signal: aborted })), (error) => error === "before");
  for (const source of [never, counted(10_000).texts]) {
    const controller = new AbortController();
    const running = all(encoder.embedStream(source, { signal: controller.signal }));
    setImmediate(() => controller.abort("enough"));
    await assert.rejects(running, (error) => error === "enough");
  }
  const { signal } = new AbortController();
  let listeners = 0;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...args) => (listeners++, add(...args));
  signal.removeEventListener = (...args) => (listeners--, remove(...args));
  await all(encoder.embedStream(texts(100), { signal }));
  assert.equal(listeners, 0);
});

test("a text that is at fault is told by its place among all, after the batches before it", async () => {
  for (const threads of [1, 3]) {
    const { lens, encoder } = await open({ threads });
    const list = texts(100).with(57, " ");
    for (const stream of [lens.embedStream(list, { batchSize: 20 }), encoder.embedStream(list, { batchSize: 20 })]) {
      const given = [];
      const reading = (async () => {
        for await (const { index } of stream) given.push(index);
      })();
      await assert.rejects(reading, { code: "empty-text", index: 57, message: /^texts\[57\]/ });
      assert.deepEqual(given, [0, 20]);
    }
    const odd = (i) => texts(i + 1).with(i, { sentence: 7 });
    await assert.rejects(all(lens.embedStream(odd(40), { batchSize: 20 })), { index: 40, message: /^texts\[40\]\.sentence/ });
  }
  // What only the engine finds.
  const behave = (method, [texts]) => {
    if (texts?.includes?.("text 57")) throw Object.assign(new Error(`text ${texts.indexOf("text 57") + 1} is empty`), { code: "empty-text" });
  };
  for (const threads of [1, 3]) {
    const { encoder } = await open({ threads, behave });
    await assert.rejects(all(encoder.embedStream(texts(100), { batchSize: 40 })), { code: "empty-text", index: 57 });
  }
});

test("what the source throws comes after the batches before it", async () => {
  const { encoder } = await open();
  const mine = new Error("the disk is gone");
  const source = async function* () {
    yield* texts(25);
    throw mine;
  };
  const given = [];
  const reading = (async () => {
    for await (const { index } of encoder.embedStream(source(), { batchSize: 10 })) given.push(index);
  })();
  await assert.rejects(reading, (error) => error === mine);
  assert.deepEqual(given, [0, 10]);
});

test("what is no list, and options that mean nothing, are refused; a lens that is disposed of ends the loop", async () => {
  const { lens, encoder } = await open();
  for (const what of [lens, encoder]) {
    for (const wrong of ["one text", 7, null, undefined, {}]) await assert.rejects(all(what.embedStream(wrong)), { code: "invalid-argument", message: /^texts must be/ });
    for (const options of [{ batchSize: 0 }, { batchSize: "3" }, { signal: 7 }, { dtype: "float16" }]) {
      await assert.rejects(async () => all(what.embedStream(["a"], options)), { code: "invalid-argument" });
    }
    const stream = what.embedStream(texts(100), { batchSize: 10 });
    await stream.next();
    what.dispose();
    await assert.rejects(all(stream), { code: "disposed" });
  }
  await assert.rejects(all((await open()).encoder.embedStream(["a"], { condition: "c" })), { message: /load a CaseLens/ });
});
