import assert from "node:assert/strict";
import test from "node:test";
import { CaseLensError } from "../build/errors.js";
import { defaultThreads } from "../build/api/options.js";
import { Pool } from "../build/page/pool.js";

const texts = (n) => Array.from({ length: n }, (_, i) => `text ${i}`);
const encode = (n) => ({ method: "encode", texts: texts(n), pooling: "mean", normalize: true, dtype: "float32" });
/** What the fake worker makes of texts: their numbers, and those of their conditions. */
const numbered = (texts, conditions = []) => {
  const number = (text) => (text === undefined ? -1 : Number(text.slice(5)));
  const data = Float32Array.from(texts.flatMap((text, i) => [number(text), number(conditions[i])]));
  return { dtype: "float32", data, length: texts.length, dims: 2 };
};
const failed = (code, message = code) => new CaseLensError(code, message);
const turn = () => new Promise((resolve) => setTimeout(resolve));

/** A worker without a worker: answers texts with their numbers. `behave(call)` may throw or wait first. */
class FakeWorker {
  calls = [];
  closed = undefined;
  kept = Promise.resolve();
  constructor(behave = () => {}, device = "wasm") {
    this.behave = behave;
    this.info = { device, adapter: null, instructions: "fake", weights: "q8_0", dims: 2, model: "fake", bytes: 1, reason: "asked for" };
  }
  async call(call, signal) {
    this.calls.push(call);
    const aborted = new Promise((_, reject) => {
      if (signal?.aborted) reject(signal.reason);
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
    aborted.catch(() => {});
    await Promise.race([this.behave(call), aborted]);
    if (call.method === "embed") return numbered(call.sentences, call.conditions);
    if (call.method === "group") return call.counts.map((count) => ({ silhouette: count }));
    if (call.method === "compare") return call.conditions.map((condition) => ({ condition, unconditional: call.unconditional ?? 0.25 }));
    return numbered(call.texts);
  }
  close(error) {
    this.closed = error;
  }
}

/** A pool of three; the workers besides the first start when `start` gives them. */
function open({ first = new FakeWorker(turn), others = [new FakeWorker(turn), new FakeWorker(turn)], start } = {}) {
  const warnings = [];
  let next = 0;
  const starting = start ?? (async () => others[next++]);
  const pool = new Pool(first, 3, starting, (message) => warnings.push(message));
  return { pool, first, others, warnings };
}

test("a long call is shared out, and its results come in order", async () => {
  const { pool, first, others } = open();
  assert.deepEqual(await pool.call(encode(300), undefined), numbered(texts(300)));
  for (const worker of [first, ...others]) assert.ok(worker.calls.length >= 2, "every worker took part");
  const sizes = [first, ...others].flatMap((w) => w.calls.map((c) => c.texts.length));
  assert.deepEqual(sizes.sort((a, b) => b - a), [...Array(9).fill(32), 12]);

  const conditions = texts(50).map((t, i) => (i % 2 ? t : undefined));
  const embedded = await pool.call({ method: "embed", sentences: texts(50), conditions }, undefined);
  assert.deepEqual(embedded, numbered(texts(50), conditions));
  for (const { calls } of [first, ...others]) {
    for (const { texts: part, sentences = part, first } of calls) assert.equal(sentences[0], `text ${first}`);
  }
  const counts = [2, 3, 4, 5];
  const grouped = await pool.call({ method: "group", data: new Float32Array(8), dims: 2, counts }, undefined);
  assert.deepEqual(grouped.map(({ silhouette }) => silhouette), counts);
});

test("of a comparison that is shared out one part alone reads the sentences without a condition", async () => {
  const { pool, first, others } = open();
  const compare = { method: "compare", sentence1: "a", sentence2: "b", conditions: texts(20), attention: false };
  const compared = await pool.call(compare, undefined);
  assert.deepEqual(compared, texts(20).map((condition) => ({ condition, unconditional: 0.25 })));
  const parts = [first, ...others].flatMap(({ calls }) => calls).sort((a, b) => a.first - b.first);
  assert.deepEqual(parts.map((part) => part.first), [0, 4, 8, 12, 16]);
  assert.deepEqual(parts.map(({ unconditional }) => unconditional === undefined), [true, false, false, false, false]);
  for (const part of parts) assert.deepEqual(part.conditions, texts(20).slice(part.first, part.first + 4));
});

test("further workers start once the first one's files are kept", async () => {
  const first = new FakeWorker(turn);
  let keep;
  first.kept = new Promise((resolve) => (keep = resolve));
  const { pool, others } = open({ first });
  assert.deepEqual(await pool.call(encode(300), undefined), numbered(texts(300)), "the first one works alone meanwhile");
  assert.deepEqual(others.map(({ calls }) => calls.length), [0, 0]);
  keep();
  await turn();
  await pool.call(encode(300), undefined);
  assert.ok(others.every(({ calls }) => calls.length > 0));
});

/** A pool whose first worker has died, with what is started in its place. */
function died(revive) {
  const first = new FakeWorker(turn);
  const places = [];
  const start = async (_, place) => {
    places.push(place);
    return revive();
  };
  const opened = open({ first, start });
  Object.assign(first, { lost: true, call: async () => assert.fail("it is dead") });
  return { ...opened, places };
}

test("after the first worker died the next call starts another, once, and goes on there", async () => {
  const second = new FakeWorker(turn, "webgpu");
  const { pool, places } = died(async () => (await turn(), second));
  const both = await Promise.all([pool.call(encode(2), undefined), pool.call(encode(3), undefined)]);
  assert.deepEqual(both, [numbered(texts(2)), numbered(texts(3))]);
  assert.deepEqual(places, ["first"]);
  assert.equal(pool.info.device, "webgpu", "what runs is what is told");
  pool.close(failed("disposed"));
  assert.equal(second.closed.code, "disposed");
});

test("where no other starts, the call says why, and the next one tries again", async () => {
  let there = false;
  const { pool, places } = died(() => (there ? new FakeWorker(turn) : Promise.reject(failed("network"))));
  await assert.rejects(pool.call(encode(2), undefined), { code: "network" });
  there = true;
  assert.deepEqual(await pool.call(encode(2), undefined), numbered(texts(2)));
  assert.equal(places.length, 2);
});

test("a call that waits for another worker can be aborted, and ends with the pool", async () => {
  const never = new Promise(() => {});
  const { pool } = died(() => never);
  const controller = new AbortController();
  const waiting = pool.call(encode(2), controller.signal);
  controller.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  const closing = died(() => new Promise((_, reject) => setTimeout(() => reject(new DOMException("over", "AbortError")), 5)));
  const call = closing.pool.call(encode(2), undefined);
  closing.pool.close(failed("disposed"));
  await assert.rejects(call, { code: "disposed" });
  await assert.rejects(closing.pool.call(encode(2), undefined), { code: "disposed" });
});

test("short calls, and calls on the GPU, stay with the first worker and start no other", async () => {
  const start = async () => assert.fail("no other worker is needed");
  const { pool, first } = open({ start });
  await pool.call(encode(16), undefined);
  assert.equal(pool.info.threads, 3);
  const gpu = open({ first: new FakeWorker(turn, "webgpu"), start });
  await gpu.pool.call(encode(300), undefined);
  assert.equal(gpu.pool.info.threads, 1);
  assert.equal(first.calls.length + gpu.first.calls.length, 2);
});

test("who asks is told the share that is done, also where one worker does it all", async () => {
  for (const workers of [{}, { first: new FakeWorker(turn, "webgpu"), start: async () => assert.fail("no other worker") }]) {
    const shares = [];
    const result = await open(workers).pool.call(encode(300), undefined, (share) => shares.push(share));
    assert.deepEqual(result, numbered(texts(300)));
    assert.deepEqual(shares, Array.from({ length: 10 }, (_, i) => (i + 1) / 10));
  }
});

test("what the caller's progress function throws rejects the call, and leaves the workers alone", async () => {
  const mine = new TypeError("bar is undefined");
  // Told of a part of any worker, of the last part, and where one worker does it all.
  for (const [at, workers] of [[0.1, {}], [1, {}], [0.1, { first: new FakeWorker(turn, "webgpu") }]]) {
    const { pool, first, others, warnings } = open(workers);
    let told = 0;
    const onPart = (share) => {
      if (share < at) return;
      told++;
      throw mine;
    };
    await assert.rejects(pool.call(encode(300), undefined, onPart), (error) => error === mine);
    for (let i = 0; i < 20; i++) await turn();
    assert.equal(told, 1);
    assert.deepEqual([first, ...others].map(({ closed }) => closed), [undefined, undefined, undefined]);
    assert.deepEqual(warnings, []);
    assert.deepEqual(await pool.call(encode(300), undefined), numbered(texts(300)), "the pool goes on as before");
    const sizes = [first, ...others].flatMap(({ calls }) => calls.map((call) => call.texts.length));
    assert.ok(at === 1 || sizes.length < 20, `what was left was not begun (${sizes})`);
  }
});

test("the first worker does not wait for others that take long to start", async () => {
  const { pool, first } = open({ start: () => new Promise(() => {}) });
  assert.deepEqual(await pool.call(encode(100), undefined), numbered(texts(100)));
  assert.equal(first.calls.length, 6);
});

test("a call of one chunk is shared out too", async () => {
  const { pool, first, others } = open();
  assert.deepEqual(await pool.call(encode(32), undefined), numbered(texts(32)));
  const sizes = [first, ...others].map((w) => w.calls.reduce((n, c) => n + c.texts.length, 0));
  assert.equal(Math.max(...sizes), 16, `${sizes} of 32 texts in parts of 8`);
});

test("of several errors the first one is told, counted in the call", async () => {
  const behave = async (call) => {
    await turn();
    const at = call.texts.findIndex((t) => ["text 70", "text 40"].includes(t));
    if (at >= 0) throw failed("empty-text", `Text ${call.first + at + 1} is empty.`);
  };
  const workers = [0, 1, 2].map(() => new FakeWorker(behave));
  const { pool } = open({ first: workers[0], others: workers.slice(1) });
  await assert.rejects(pool.call(encode(3000), undefined), { code: "empty-text", message: "Text 41 is empty." });
  const calls = workers.reduce((n, w) => n + w.calls.length, 0);
  assert.ok(calls < 10, `the rest was not begun (${calls})`);
});

test("an aborted call is rejected at once, and nothing more is begun", async () => {
  const forever = () => new Promise(() => {});
  const workers = [0, 1, 2].map(() => new FakeWorker(forever));
  const { pool } = open({ first: workers[0], others: workers.slice(1) });
  const controller = new AbortController();
  const call = pool.call(encode(300), controller.signal);
  await turn();
  const reason = new Error("enough");
  controller.abort(reason);
  const isReason = (error) => error === reason;
  await assert.rejects(call, isReason);
  assert.deepEqual(workers.map((w) => w.calls.length), [1, 1, 1]);
  await assert.rejects(pool.call(encode(300), controller.signal), isReason);
});

test("what a worker's warning makes the caller throw rejects the call, and is no fault of the worker", async () => {
  const mine = new TypeError("my own");
  const second = new FakeWorker(async () => {
    await turn();
    throw mine;
  });
  const { pool, warnings } = open({ others: [second, new FakeWorker(turn)] });
  await assert.rejects(pool.call(encode(300), undefined), (error) => error === mine);
  assert.equal(second.closed, undefined);
  assert.deepEqual(warnings, []);
});

test("a warning that belongs to no call, and makes the caller throw, does not end the process", async (context) => {
  const told = context.mock.method(console, "error", () => {});
  const mine = new Error("my own");
  const first = new FakeWorker(turn);
  const onWarning = () => {
    throw mine;
  };
  const pool = new Pool(first, 3, async () => Promise.reject(failed("not-enough-memory", "No memory.")), onWarning);
  assert.deepEqual(await pool.call(encode(100), undefined), numbered(texts(100)));
  assert.deepEqual(told.mock.calls.map((call) => call.arguments), [[mine], [mine]]);
});

test("what a worker leaves behind that breaks down is done by the others", async () => {
  const broken = new FakeWorker(async () => {
    await turn();
    throw failed("internal");
  });
  const { pool, first } = open({ others: [broken, new FakeWorker(turn)] });
  assert.deepEqual(await pool.call(encode(300), undefined), numbered(texts(300)));
  assert.equal(broken.closed.code, "worker");
  await pool.call(encode(300), undefined);
  assert.equal(broken.calls.length, 1, "it is not asked again");

  // All the others, while the first has nothing left to do.
  const late = () => new FakeWorker(() => new Promise((_, reject) => setTimeout(() => reject(failed("worker")), 30)));
  const few = open({ others: [late(), late()] });
  assert.deepEqual(await few.pool.call(encode(90), undefined), numbered(texts(90)));

  const worst = open({ first: new FakeWorker(async () => Promise.reject(failed("internal"))) });
  await assert.rejects(worst.pool.call(encode(300), undefined), { code: "internal" });
  assert.ok(first.calls.length > 0);
});

test("a worker that cannot be started is warned of once, and missed by nobody", async () => {
  const { pool, warnings } = open({ start: async () => Promise.reject(failed("out-of-memory", "No memory.")) });
  assert.deepEqual(await pool.call(encode(100), undefined), numbered(texts(100)));
  assert.deepEqual(await pool.call(encode(100), undefined), numbered(texts(100)));
  assert.equal(warnings.length, 2);
  assert.match(warnings[0], /long calls take longer: No memory\./);
});

test("closing ends every worker, those that start too", async () => {
  let closing;
  const second = new FakeWorker();
  let started = 0;
  const start = (signal) => {
    closing = signal;
    return started++ ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))) : Promise.resolve(second);
  };
  const { pool, first, warnings } = open({ start });
  await pool.call(encode(100), undefined);
  pool.close(failed("disposed"));
  await turn();
  assert.equal(first.closed.code, "disposed");
  assert.equal(second.closed.code, "disposed");
  assert.ok(closing.aborted);
  assert.deepEqual(warnings, []);
});

test("by default a processor is left to the page, and small devices get few workers", () => {
  assert.equal(defaultThreads(undefined), 1);
  assert.equal(defaultThreads({ hardwareConcurrency: 1 }), 1);
  assert.equal(defaultThreads({ hardwareConcurrency: 4 }), 3);
  assert.equal(defaultThreads({ hardwareConcurrency: 64, deviceMemory: 8 }), 8);
  assert.equal(defaultThreads({ hardwareConcurrency: 8, deviceMemory: 4 }), 2);
});

test("what an engine may refuse is asked of it before any text of a long call is read", async () => {
  const refuse = (bad) => (call) => {
    const all = [...(call.texts ?? call.sentences ?? []), ...(call.conditions ?? [])];
    if (all.some((text) => bad(text ?? ""))) throw failed("empty-text");
  };
  const asked = async (bad, call, threads = 3) => {
    const first = new FakeWorker(refuse(bad));
    const pool = new Pool(first, threads, async () => new FakeWorker(), assert.fail);
    await assert.rejects(pool.call(call, undefined), { code: "empty-text" });
    return first.calls.map(({ first, ahead, texts, sentences, conditions }) => [first, ahead, (texts ?? sentences ?? conditions).length]);
  };
  const one = (place) => [[place, true, 1]];
  for (const unseen of ["\u200b", "\u00ad \u2060", "\u0301", "\ue000", "\ufffd"]) {
    const list = texts(300).with(299, unseen);
    for (const threads of [1, 3]) assert.deepEqual(await asked((text) => text === unseen, { ...encode(300), texts: list }, threads), one(299));
    assert.deepEqual(await asked((text) => text === unseen, { ...encode(300), texts: list, first: 1000 }), one(1299), "its place in the whole");
  }
  const embed = { method: "embed", sentences: texts(40), dtype: "float32" };
  const conditions = texts(40).with(33, "very ".repeat(1000));
  assert.deepEqual(await asked((text) => text.length > 1000, { ...embed, conditions }), one(33), "the longest condition");
  const sentences = texts(40).with(21, "word ".repeat(1000));
  const long = (text) => text.length > 1000;
  assert.deepEqual(await asked(long, { ...embed, sentences, conditions: Array(40), onTruncate: "error" }), one(21), "no end is to be left out");
  const { pool, first } = open();
  await pool.call({ ...embed, sentences, conditions: Array(40) }, undefined);
  assert.ok(first.calls.every(({ ahead }) => !ahead), "it may be, elsewhere");
  assert.deepEqual(await asked((text) => text === "\u200b", { method: "compare", sentence1: "a", sentence2: "b", conditions: texts(9).with(8, "\u200b") }), one(8));
});

test("a text that looks empty and is read all the same is told of once", async () => {
  const { pool, first } = open();
  const list = texts(40).with(5, "\ue000").with(7, "\ue000");
  assert.equal((await pool.call({ ...encode(40), texts: list }, undefined)).length, 40);
  assert.equal(first.calls.filter(({ ahead }) => ahead).length, 1, "of some that are alike, one is looked at");
});
