import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CaseLensError } from "../build/errors.js";
import { Session } from "../build/worker/session.js";
import { engineError, fakeWasm } from "./helpers.mjs";

const MODEL = "https://example.org/model.gguf";
const HEAD = "https://example.org/head.safetensors";

/** A session with doubles around it; `call` sends one and waits for its answer. */
function open({ behave, download, boot, openCache, cached = new Map() } = {}) {
  const wasm = fakeWasm(behave);
  const messages = [];
  const waiting = new Map();
  const downloads = [];
  const cache = { drop: async (url) => void cached.delete(url) };
  const session = new Session({
    boot: boot ?? (async () => wasm),
    openCache: async () => (await openCache?.()) ?? cache,
    download: async (url, options, sink) => {
      downloads.push(url);
      const kept = cached.get(url);
      const bytes = kept ?? (await download?.(url, options)) ?? new Uint8Array(4);
      await sink.begin(bytes.byteLength);
      sink.push(bytes);
      cached.set(url, bytes);
      return { fromCache: kept !== undefined, kept: Promise.resolve(cached.kept) };
    },
    post: (message) => {
      messages.push(message);
      if (message.type === "done" || message.type === "failed") waiting.get(message.id)(message);
    },
  });
  let nextId = 0;
  const send = (call) => {
    const id = nextId++;
    const answer = new Promise((resolve) => waiting.set(id, resolve));
    session.receive({ type: "call", id, call });
    return { id, answer };
  };
  const call = (body) => send(body).answer;
  const load = (options) =>
    call({ method: "load", model: { url: MODEL }, head: { url: HEAD }, device: "auto", request: { headers: {}, timeout: 1000 }, ...options });
  return { session, wasm, messages, downloads, cached, send, call, load };
}

const texts = (n) => Array.from({ length: n }, (_, i) => `text ${i}`);
const encode = (n) => ({ method: "encode", texts: texts(n), pooling: "mean", normalize: true, dtype: "float32" });
const compare = (n) => ({ method: "compare", sentence1: "a", sentence2: "b", conditions: texts(n), attention: false });

test("load answers with the engine's info, rises to 1 and keeps both files", async () => {
  const { load, messages, cached } = open();
  const { type, value } = await load();
  assert.equal(type, "done");
  assert.equal(value.device, "webgpu");
  assert.deepEqual([...cached.keys()].sort(), [HEAD, MODEL]);
  const progress = messages.filter((m) => m.type === "progress").map((m) => m.progress);
  assert.equal(progress.at(-1).progress, 1);
  assert.equal(progress.filter((p) => p.progress === 1).length, 1);
  const told = messages.filter((m) => m.type !== "kept");
  assert.equal(told.at(-2).type, "progress", "the last event comes just before the answer");
});

test("the answer does not wait for the cache, and the page hears when the files are kept", async () => {
  const cached = new Map();
  let keep;
  cached.kept = new Promise((resolve) => (keep = resolve));
  const { load, call, messages } = open({ cached });
  assert.equal((await load()).type, "done");
  assert.equal((await call(encode(2))).type, "done");
  const kept = () => messages.filter((m) => m.type === "kept").length;
  await sleep(1);
  assert.equal(kept(), 0);
  keep();
  await sleep(1);
  assert.equal(kept(), 1);
});

test("a model goes into the module piece by piece, after its size", async () => {
  const model = Uint8Array.from({ length: 2.5 * (1 << 20) }, (_, i) => (i >> 12) % 251);
  const pushed = [];
  const { load, wasm } = open({
    behave: (method, [chunk, file]) => {
      if (method === "push") pushed.push([chunk.byteLength, file.size]);
    },
    download: (url) => (url === MODEL ? model : undefined),
  });
  const { value } = await load();
  assert.equal(value.bytes, model.byteLength + 4);
  assert.deepEqual(pushed, [[1 << 20, model.byteLength], [1 << 20, model.byteLength], [1 << 19, model.byteLength]]);
  assert.deepEqual(wasm.engines[0].model, model);
});

test("what was downloaded and is kept nowhere is handed on where that is asked, once the CPU computes", async () => {
  const brought = ({ messages }) => messages.find(({ type }) => type === "brought");
  const own = open({ download: (url) => (url === MODEL ? Uint8Array.of(1, 2, 3) : Uint8Array.of(4)) });
  await own.load({ device: "wasm", handOn: true });
  assert.deepEqual(brought(own), { type: "brought", model: Uint8Array.of(1, 2, 3), head: Uint8Array.of(4) });
  assert.deepEqual(own.wasm.engines[0].model, Uint8Array.of(1, 2, 3), "the engine has it as well");
  for (const [name, options, setting] of [
    ["it is not asked", { device: "wasm" }],
    ["the GPU computes", { device: "webgpu", handOn: true }],
    ["it is kept", { device: "wasm", handOn: true }, { openCache: async () => ({ keeps: true }) }],
    ["it was given", { device: "wasm", handOn: true, model: { bytes: new Uint8Array(4) }, head: { bytes: new Uint8Array(4) } }],
  ]) {
    const other = open(setting);
    assert.equal((await other.load(options)).type, "done", name);
    assert.equal(brought(other), undefined, name);
  }
});

test("blobs are read in the worker, and one that is gone is an error of its own", async () => {
  const { load, wasm } = open();
  assert.equal((await load({ model: { blob: new Blob([Uint8Array.of(1, 2)]) }, head: { blob: new Blob([Uint8Array.of(3)]) }, device: "wasm" })).type, "done");
  assert.deepEqual(wasm.engines[0].model, Uint8Array.of(1, 2));
  const gone = Object.assign(new Blob(["x"]), {
    stream: () => new ReadableStream({ pull: (controller) => controller.error(new DOMException("it changed", "NotReadableError")) }),
  });
  const { error } = await open().load({ model: { blob: gone }, device: "wasm" });
  assert.deepEqual([error.code, /could not be read.*it changed.*choose it again/.test(error.message)], ["file", true]);
});

test("where neither file can be had, the model is what the error speaks of", async () => {
  const missing = (file) => Promise.reject(new CaseLensError("http", `no ${file}`));
  const { load } = open({ download: (url) => (url === HEAD ? missing("head") : sleep(30).then(() => missing("model"))) });
  assert.equal((await load()).error.message, "no model");
  const { load: other } = open({ download: (url) => (url === HEAD ? missing("head") : sleep(30)) });
  assert.equal((await other()).error.message, "no head");
});

test("the module's own fault is an error, while the files are on their way", async () => {
  const session = open();
  session.wasm.ModelFile = class {
    constructor() {
      throw new WebAssembly.RuntimeError("unreachable");
    }
  };
  assert.equal((await session.load()).error.code, "internal");
  assert.equal((await session.call(encode(1))).error.code, "internal");
});

test("the model comes while the module is on its way, and goes into it then", async () => {
  let start;
  const booted = new Promise((resolve) => (start = resolve));
  const pieces = [];
  const wasm = fakeWasm((what, [piece]) => what === "push" && pieces.push(piece.byteLength));
  const { load, cached } = open({ boot: () => booted.then(() => wasm) });
  const loaded = load();
  await sleep(1);
  assert.deepEqual([...cached.keys()].sort(), [HEAD, MODEL]);
  assert.deepEqual(pieces, []);
  start();
  assert.equal((await loaded).type, "done");
  assert.deepEqual(pieces, [4]);
});

test("a module that cannot start is an error of its own, also before anything waits for it", async (context) => {
  const unhandled = context.mock.fn();
  process.on("unhandledRejection", unhandled);
  const session = open({
    boot: async () => {
      throw new CaseLensError("http", "there is no module");
    },
    openCache: () => sleep(10),
  });
  assert.equal((await session.load()).error.code, "http");
  process.off("unhandledRejection", unhandled);
  assert.equal(unhandled.mock.callCount(), 0);
});

test("long calls are cut into chunks and put together in order", async () => {
  const { load, call, wasm } = open();
  await load();
  const rows = (await call(encode(70))).value;
  assert.deepEqual([rows.length, rows.dims, rows.dtype], [70, 2, "float32"]);
  assert.deepEqual([...rows.data], texts(70).flatMap((text) => [text.length, 0]));
  const results = (await call(compare(20))).value;
  assert.deepEqual(results.map((r) => r.condition), texts(20));
  const conditions = texts(33).map((t, i) => (i % 2 ? t : undefined));
  const items = { method: "embed", sentences: texts(33), conditions, dims: 1, dtype: "int8" };
  assert.equal((await call(items)).value.length, 33);
  assert.deepEqual(wasm.engines[0].calls.at(-1).slice(1), [texts(33).slice(32), conditions.slice(32), 1, "int8", 32]);
  const sizes = wasm.engines[0].calls.map(([method, ...args]) => [method, (method === "compare" ? args[2] : args[0]).length]);
  assert.deepEqual(sizes, [
    ["encode", 32], ["encode", 32], ["encode", 6],
    ["compare", 8], ["compare", 8], ["compare", 4],
    ["embed", 32], ["embed", 1],
  ]);
  const none = (await call({ ...encode(0), dtype: "int8" })).value;
  assert.deepEqual([none.length, none.dims, none.data.length, none.scales.length], [0, 2, 0, 0]);
});

test("vectors are grouped once for each count, and an abort is heard in between", async () => {
  const { load, call, send, session, wasm, messages } = open();
  await load();
  const group = { method: "group", data: new Float32Array(12), dims: 2, counts: [2, 3] };
  const { value } = await call(group);
  assert.deepEqual(value.map(({ silhouette }) => silhouette), [1 / 2, 1 / 3]);
  assert.deepEqual([...value[1].labels], [0, 1, 2, 0, 1, 2]);
  const before = wasm.engines[0].calls.length;
  const long = send({ ...group, counts: Array(50).fill(2) });
  session.receive({ type: "abort", id: long.id });
  const { value: points } = await call({ method: "plane", data: group.data, dims: 2, previous: undefined });
  assert.equal(points.length, 12);
  assert.ok(wasm.engines[0].calls.length - before < 5);
  assert.ok(!messages.some(({ id }) => id === long.id));
});

test("a short call has its turn after a chunk or two of a long one, and long ones take turns", async () => {
  const { load, call, send, wasm } = open({ behave: (method) => (method === "load" ? undefined : new Promise(setImmediate).then(() => undefined)) });
  await load({ device: "wasm" });
  const { calls } = wasm.engines[0];
  const until = async (count) => {
    while (calls.length < count) await new Promise(setImmediate);
  };
  const long = send(encode(10_000));
  await until(5);
  const before = calls.length;
  assert.equal((await call(compare(1))).type, "done");
  const between = calls.slice(before).findIndex(([method]) => method === "compare");
  assert.ok(between >= 0 && between <= 2, `after ${between} more chunks`);

  const other = send({ ...encode(64), pooling: "cls" });
  const at = calls.length;
  await other.answer;
  const order = calls.slice(at).map(([, , pooling]) => pooling);
  assert.ok(order.length <= 6, `two chunks of the one, and no more than four of the other: ${order}`);
  assert.equal((await long.answer).value.length, 10_000);
});

test("on the CPU a chunk is of so many characters that nobody waits long for it; on the GPU it is of more", async () => {
  const list = [...texts(40), "x".repeat(5000), ...Array(10).fill("y".repeat(250))];
  for (const [device, expected] of [["wasm", [32, 8, 1, 2, 2, 2, 2, 2]], ["webgpu", [32, 12, 7]]]) {
    const { load, call, wasm } = open();
    await load({ device });
    assert.equal((await call({ ...encode(0), texts: list })).value.length, list.length);
    assert.deepEqual(wasm.engines[0].calls.map(([, texts]) => texts.length), expected, device);
    assert.deepEqual(wasm.engines[0].calls.flatMap(([, texts]) => texts), list);
  }
});

test("calls wait for each other", async () => {
  const { load, call } = open({ behave: async (method) => (method === "load" ? undefined : void (await sleep(5))) });
  await load();
  const answers = await Promise.all([call(encode(40)), call(compare(9)), call({ method: "tokenize", text: "abc" })]);
  assert.deepEqual(answers.map(({ type }) => type), ["done", "done", "done"]);
});

test("an abort stops what is left of a call, and only that call", async () => {
  const { load, send, call, session, wasm, messages } = open({ behave: async (m) => (m === "load" ? undefined : void (await sleep(2))) });
  await load();
  const first = send(encode(32 * 50));
  const second = send(encode(32 * 50));
  await sleep(10);
  session.receive({ type: "abort", id: first.id });
  session.receive({ type: "abort", id: second.id });
  assert.equal((await call(compare(1))).type, "done");
  assert.ok(wasm.engines[0].calls.length < 20, `${wasm.engines[0].calls.length} engine calls`);
  assert.ok(!messages.some((m) => m.id === first.id || m.id === second.id), "nobody waits for an aborted call");
});

test("an engine error keeps its code, and the engine goes on", async () => {
  const { load, call } = open({
    behave: (method, [sentence1]) => {
      if (method === "compare" && sentence1 === "") throw engineError("empty-text", "sentence1 is empty.");
    },
  });
  await load();
  const failed = await call({ ...compare(1), sentence1: "" });
  assert.deepEqual([failed.error.code, failed.error.message], ["empty-text", "sentence1 is empty."]);
  assert.equal((await call(compare(1))).type, "done");
});

test("an error without a known code is internal", async () => {
  for (const thrown of [engineError("strange"), new Error("x"), "text", undefined, null]) {
    const { load } = open({
      behave: () => {
        throw thrown;
      },
    });
    assert.equal((await load()).error.code, "internal");
  }
});

test("a panic in a call makes every later call fail at once", async () => {
  const { load, call } = open({
    behave: (method) => {
      if (method === "encode") throw new WebAssembly.RuntimeError("unreachable");
    },
  });
  await load();
  const answers = await Promise.all([call(encode(1)), call(compare(1)), call({ method: "tokenize", text: "a" })]);
  assert.deepEqual(answers.map(({ error }) => error?.code), ["internal", "internal", "internal"]);
  assert.deepEqual(answers[0].error.cause, { name: "RuntimeError", message: "unreachable" });
});

test("a panic inside a Rust future, whose promise then never settles, does not hang", async () => {
  const { load, call, session } = open({ behave: (method) => (method === "encode" ? new Promise(() => {}) : undefined) });
  await load();
  const hanging = call(encode(1));
  const next = call(compare(1));
  await sleep(5);
  session.fail(new WebAssembly.RuntimeError("unreachable"));
  assert.equal((await hanging).error.code, "internal");
  assert.equal((await next).error.code, "internal");
});

test("auto leaves a lost GPU, says so, and does the call again", async () => {
  const { load, call, wasm, messages, downloads } = open({
    behave: (method, _, engine) => {
      if (method === "encode" && engine.device === "webgpu" && engine.calls.length === 2) throw engineError("gpu-lost", "device lost");
    },
  });
  await load();
  const { value } = await call(encode(40));
  assert.equal(value.length, 40);
  assert.deepEqual(wasm.engines.map(({ device, freed }) => [device, freed]), [["webgpu", true], ["wasm", false]]);
  const { info } = messages.find((m) => m.type === "info");
  assert.equal(info.device, "wasm");
  assert.match(info.reason, /GPU was lost.*device lost/);
  assert.ok(messages.findIndex((m) => m.type === "info") < messages.findIndex((m) => m.type === "done" && m.value === value));
  assert.equal(downloads.length, 4, "the files were read again, from the cache");
});

test("auto leaves a lost GPU also when the files came as bytes", async () => {
  const { load, call, wasm } = open({
    behave: (method, _, engine) => {
      if (method === "encode" && engine.device === "webgpu") throw engineError("gpu-lost");
    },
  });
  await load({ model: { bytes: new Uint8Array(5) }, head: { bytes: new Uint8Array(3) } });
  assert.equal((await call(encode(1))).type, "done");
  assert.equal(wasm.engines[1].info().bytes, 8);
});

test("auto leaves a GPU that is lost while loading", async () => {
  const { load } = open({
    behave: (method, args) => {
      if (method === "load" && args[2] !== "wasm") throw engineError("gpu-lost");
    },
  });
  const { value } = await load();
  assert.equal(value.device, "wasm");
  assert.match(value.reason, /GPU was lost/);
});

test("the device is opened while the files are on their way", async () => {
  let arrive;
  const arriving = new Promise((resolve) => (arrive = resolve));
  const { load, wasm } = open({ download: () => arriving });
  const answer = load({ device: "webgpu" });
  await sleep(10);
  assert.deepEqual(wasm.devices.map(({ device, state }) => [device, state]), [["webgpu", "open"]]);
  arrive();
  assert.equal((await answer).type, "done");
  assert.deepEqual(wasm.devices.map(({ state }) => state), ["taken"]);
});

test("a GPU that was asked for and is not there is said while the files are on their way", async () => {
  const { load } = open({
    behave: (method) => {
      if (method === "open") throw engineError("webgpu-unavailable");
    },
    download: () => new Promise(() => {}),
  });
  assert.equal((await load({ device: "webgpu" })).error.code, "webgpu-unavailable");
});

test("a device that no engine takes is given back, also where it opens late", async () => {
  for (const late of [0, 20]) {
    const { load, wasm } = open({
      behave: (method) => (method === "open" ? sleep(late) : undefined),
      download: () => sleep(10).then(() => Promise.reject(new CaseLensError("http", "no file"))),
    });
    assert.equal((await load()).error.code, "http");
    await sleep(2 * late);
    assert.deepEqual(wasm.devices.map(({ state }) => state), ["freed"]);
  }
});

test("a load that is tried again, with files that are new or on the CPU, has a device of its own each time", async () => {
  const cached = new Map([[MODEL, new Uint8Array(1)], [HEAD, new Uint8Array(1)]]);
  const { load, wasm } = open({
    cached,
    behave: (method, [model, , device]) => {
      if (method !== "load") return;
      if (model.byteLength === 1) throw engineError("head-mismatch");
      if (device === "auto") throw engineError("gpu-lost");
    },
  });
  assert.equal((await load()).value.device, "wasm");
  assert.deepEqual(wasm.devices.map(({ device, state }) => [device, state]), [["auto", "taken"], ["auto", "taken"], ["wasm", "taken"]]);
});

test("when the files cannot be read again after a loss, a later call tries once more", async () => {
  let online = true;
  const { load, call, cached } = open({
    behave: (method, _, engine) => {
      if (method === "encode" && engine.device === "webgpu") throw engineError("gpu-lost");
    },
    download: () => {
      if (!online) throw new CaseLensError("network", "offline");
    },
  });
  await load();
  cached.clear();
  online = false;
  assert.equal((await call(encode(1))).error.code, "network");
  assert.equal((await call(encode(1))).error.code, "network");
  online = true;
  assert.equal((await call(encode(1))).type, "done");
});

test("a GPU that was asked for is not left", async () => {
  const { load, call, wasm } = open({
    behave: (method) => {
      if (method === "encode") throw engineError("gpu-lost");
    },
  });
  await load({ device: "webgpu" });
  assert.equal((await call(encode(1))).error.code, "gpu-lost");
  assert.equal(wasm.engines.length, 1);
});

test("files that the engine refuses are not kept", async () => {
  const { load, cached } = open({
    behave: (method) => {
      if (method === "load") throw engineError("model-format");
    },
  });
  assert.equal((await load()).error.code, "model-format");
  assert.equal(cached.size, 0);
});

test("kept files that the engine refuses are fetched once more", async () => {
  const cached = new Map([[MODEL, new Uint8Array(1)], [HEAD, new Uint8Array(1)]]);
  const { load, downloads } = open({
    cached,
    behave: (method, [model]) => {
      if (method === "load" && model.byteLength === 1) throw engineError("head-mismatch");
    },
  });
  assert.equal((await load()).type, "done");
  assert.equal(downloads.length, 4);
  assert.equal(cached.get(MODEL).byteLength, 4);
});

test("errors and warnings name what the caller gave: an item of its list, or the one text that is none", async () => {
  const { load, call, messages } = open({
    behave: (method, args) => {
      if (method !== "embed" && method !== "encode") return undefined;
      const [texts, at] = [args[0], args.at(-1)];
      const bad = texts.indexOf("bad");
      if (bad >= 0) throw engineError("empty-text", `${method === "embed" ? "sentence" : "text"} ${at + bad + 1} is empty.`);
      const worse = texts.indexOf("worse");
      if (worse >= 0) throw engineError("condition-too-long", `condition ${at + worse + 1} takes 600 tokens.`);
      return { data: new Float32Array(2 * texts.length), count: texts.length, dims: 2, warnings: [], truncated: Uint32Array.from(texts, (text) => (text === "long" ? 3 : 0)) };
    },
  });
  await load();
  const many = (text) => Array.from({ length: 70 }, (_, i) => (i === 65 ? text : "a dog"));
  const embed = (sentences, rest) => ({ method: "embed", sentences, conditions: sentences.map(() => "c"), dtype: "float32", ...rest });
  const said = async (asked) => {
    const { error } = await call(asked);
    return [error.message, error.index];
  };
  assert.deepEqual(await said(embed(many("bad"))), ["texts[65] is empty.", 65]);
  assert.deepEqual(await said({ ...encode(1), texts: many("bad") }), ["texts[65] is empty.", 65]);
  assert.deepEqual(await said(embed(many("worse"))), ["the condition of texts[65] takes 600 tokens.", 65]);
  assert.deepEqual(await said(embed(["bad"], { named: "query" })), ["query is empty.", undefined]);
  assert.deepEqual(await said(embed(["long"], { named: "query", onTruncate: "error" })), ["query is longer than the encoder reads. Split it, or let its end be left out: `onTruncate` says so.", undefined]);
  await call(embed(["long"], { named: "query" }));
  const warnings = messages.flatMap((m) => (m.type === "warning" ? [m.message] : []));
  assert.deepEqual(warnings, ["query is longer than the encoder reads: its last 3 tokens were left out."]);
});

test("texts are numbered as in the call, not as in the chunk, and warnings are said once", async () => {
  const { load, call, messages } = open({
    behave: (method, [texts, , , , , first]) => {
      if (method !== "encode") return undefined;
      const bad = texts.indexOf("text 69");
      if (bad >= 0) throw engineError("empty-text", `text ${first + bad + 1} is empty.`);
      const warnings = [`Text ${first + 2} is long.`, "Something is so."];
      return { data: new Float32Array(2 * texts.length), count: texts.length, dims: 2, warnings };
    },
  });
  await load();
  const { error } = await call(encode(70));
  assert.deepEqual([error.message, error.index], ["texts[69] is empty.", 69]);
  await call(encode(60));
  const warnings = messages.flatMap((m) => (m.type === "warning" ? [m.message] : []));
  assert.deepEqual(warnings, ["Text 2 is long.", "Something is so.", "Text 34 is long."]);
});

test("the item that the engine refuses is found by its place, from 0, in the call and in a part of one", async () => {
  const behave = (method, [a, b, c]) => {
    const conditions = { embed: b, compare: c }[method] ?? [];
    if (method === "compare" && a === "") throw engineError("empty-text", "sentence 1 is empty.");
    const bad = conditions.findIndex((condition) => condition === "long");
    if (bad >= 0) throw engineError("condition-too-long", "a condition takes 600 tokens.");
  };
  const { load, call, wasm } = open({ behave });
  await load();
  const list = texts(100).with(77, "long").with(90, "long");
  const embed = { method: "embed", sentences: texts(100), conditions: list, dtype: "float32" };
  assert.equal((await call(embed)).error.index, 77);
  assert.equal((await call({ ...embed, first: 200 })).error.index, 277);
  assert.equal((await call({ ...compare(0), conditions: list })).error.index, 77);
  const calls = wasm.engines[0].calls.length;
  const { error } = await call({ ...compare(20), sentence1: "" });
  assert.deepEqual([error.code, error.index], ["empty-text", undefined], "no condition is at fault");
  assert.ok(wasm.engines[0].calls.length - calls <= 2);
});

test("every chunk is told how much comes before it, in the call that it is a part of too", async () => {
  const { load, call, wasm } = open();
  await load();
  const firsts = () => wasm.engines[0].calls.splice(0).map(([method, ...args]) => (method === "compare" ? args[3] : args.at(-1)));
  await call(encode(70));
  assert.deepEqual(firsts(), [0, 32, 64]);
  await call({ ...encode(40), first: 64 });
  assert.deepEqual(firsts(), [64, 96]);
  await call({ method: "embed", sentences: texts(40), conditions: texts(40), dtype: "float32", first: 8 });
  assert.deepEqual(firsts(), [8, 40]);
  await call({ ...compare(17), first: 8 });
  assert.deepEqual(firsts(), [8, 16, 24]);
});

test("the sentences alone are read once a call, and not where their similarity is known", async () => {
  const { load, call, wasm } = open();
  await load();
  const known = () => wasm.engines[0].calls.splice(0).map(([, , , , , unconditional]) => unconditional);
  const { value } = await call(compare(20));
  assert.deepEqual(known(), [undefined, 0.25, 0.25]);
  assert.deepEqual(new Set(value.map(({ unconditional }) => unconditional)), new Set([0.25]));
  await call(compare(1));
  assert.deepEqual(known(), [undefined], "another call has other sentences");
  await call({ ...compare(9), unconditional: 0 });
  assert.deepEqual(known(), [0, 0]);
});

test("where conditions looked is told where it is asked for", async () => {
  const { load, call } = open();
  await load();
  assert.ok((await call(compare(9))).value.every((result) => !("readings" in result)));
  const { value } = await call({ ...compare(9), attention: true });
  assert.deepEqual(value.map(({ readings }) => readings), Array(9).fill([[], []]));
});

test("texts whose end was left out are told by their numbers, and in words", async () => {
  const { load, call, messages } = open({
    behave: (method, [texts]) => {
      if (method !== "encode") return undefined;
      const truncated = texts.includes("text 33") ? Uint32Array.from(texts, (text) => (text === "text 33" ? 12 : 0)) : undefined;
      return { data: new Float32Array(2 * texts.length), count: texts.length, dims: 2, truncated, warnings: [] };
    },
  });
  await load();
  const { value } = await call(encode(70));
  assert.deepEqual([...value.truncated], texts(70).map((text) => (text === "text 33" ? 12 : 0)));
  assert.ok(!("unknown" in value), "nothing is said of what there is none of");
  const warnings = messages.flatMap((m) => (m.type === "warning" ? [m.message] : []));
  assert.deepEqual(warnings, ["texts[33] is longer than the encoder reads: its last 12 tokens were left out."]);
});

test("a text that is too long is warned of, passed over or refused, as the call says", async () => {
  const { load, call, messages } = open({
    behave: (method, [texts, , conditions]) => {
      if (method === "compare") return { results: conditions.map((condition) => ({ condition, truncated: true })), warnings: ["Something is so."] };
      if (method !== "encode") return undefined;
      const truncated = Uint32Array.from(texts, (text) => (text === "text 33" ? 12 : 0));
      return { data: new Float32Array(2 * texts.length), count: texts.length, dims: 2, truncated, warnings: [] };
    },
  });
  await load();
  const warnings = () => messages.splice(0).flatMap((m) => (m.type === "warning" ? [m.message] : []));
  warnings();
  for (const body of [encode(70), compare(9)]) {
    const ignored = await call({ ...body, onTruncate: "ignore" });
    assert.equal(ignored.type, "done");
    assert.deepEqual(warnings(), body.method === "compare" ? ["Something is so."] : []);
    await call({ ...body, onTruncate: "warn" });
    assert.match(warnings()[0], /is longer than the encoder reads: its .* left out\.$/);
    const { error } = await call({ ...body, onTruncate: "error" });
    assert.deepEqual([error.code, error.index], ["text-too-long", body.method === "compare" ? undefined : 33]);
    assert.deepEqual(warnings(), []);
  }
});

test("warnings reach the page", async () => {
  const { load, call, messages } = open({
    behave: (method) => (method === "encode" ? { data: new Float32Array(2), count: 1, dims: 2, warnings: ["texts[0] was cut"] } : undefined),
  });
  await load();
  await call(encode(1));
  assert.deepEqual(messages.filter((m) => m.type === "warning"), [{ type: "warning", id: 1, message: "texts[0] was cut" }]);
});

test("languages are told by their codes", async () => {
  const { load, call } = open();
  await load();
  assert.deepEqual((await call({ method: "languages", texts: ["der Hund", "a dog"] })).value, ["de", ""]);
});
