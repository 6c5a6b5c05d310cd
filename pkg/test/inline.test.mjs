// The engine in the calling thread, behind what looks like a worker. The module is a double; the messages and the pool are real.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CaseLensError } from "../build/errors.js";
import { lensRequest } from "../build/api/options.js";
import { Pool } from "../build/page/pool.js";
import { WebWorkerPort } from "../build/page/start.js";
import { inThisThread } from "../build/inline.js";
import { startEngine } from "../build/worker/engine.js";
import { Here } from "../build/worker/here.js";
import { fakeWasm } from "./helpers.mjs";

const bytes = () => ({ bytes: new Uint8Array(4) });
const disposed = new CaseLensError("disposed", "it was disposed of");

/** A lens' pool on an engine in this thread. */
async function open(behave) {
  const wasm = fakeWasm(behave);
  const given = [];
  const boot = async (module) => {
    given.push(module);
    return wasm;
  };
  const start = () => new WebWorkerPort(new Here({ boot, openCache: async () => ({ drop: async () => {} }) }));
  const events = { onProgress: undefined, onWarning: assert.fail, start };
  const call = { method: "load", model: bytes(), head: bytes(), device: "wasm", cache: "none", request: { headers: {}, timeout: 1000 }, wasm: { url: "https://example.org/m.wasm" } };
  return { pool: await Pool.load(call, 1, events, undefined), wasm, given };
}
const compare = (n) => ({ method: "compare", sentence1: "a", sentence2: "b", conditions: Array.from({ length: n }, (_, i) => `text ${i}`), attention: false });

test("it does calls, gives way between their parts, and takes the module that it is given", async () => {
  const { pool, given } = await open();
  let turns = 0;
  const timer = setInterval(() => turns++);
  assert.equal((await pool.call(compare(400), undefined)).length, 400);
  clearInterval(timer);
  assert.ok(turns > 1, `${turns} turns of the event loop`);
  assert.deepEqual(given, [{ url: "https://example.org/m.wasm" }]);
  pool.close(disposed);
});

test("an error and an abort are those of a worker", async () => {
  const { pool } = await open((method, [, , conditions]) => {
    if (method === "compare" && conditions.length === 1) throw Object.assign(new Error("empty"), { code: "empty-text" });
  });
  await assert.rejects(pool.call(compare(1), undefined), { code: "empty-text" });
  const controller = new AbortController();
  const call = pool.call(compare(400), controller.signal);
  controller.abort();
  await assert.rejects(call, { name: "AbortError" });
  assert.equal((await pool.call(compare(2), undefined)).length, 2, "it goes on");
  pool.close(disposed);
});

test("disposing frees the engine, and what waits is not done", async () => {
  const { pool, wasm } = await open(() => sleep(1));
  const waiting = [pool.call(compare(2), undefined), pool.call(compare(400), undefined)];
  await sleep(0);
  pool.close(disposed);
  for (const call of waiting) await assert.rejects(call, { code: "disposed" });
  await sleep(50);
  const [engine] = wasm.engines;
  assert.ok(engine.freed);
  assert.ok(engine.calls.length <= 2, `${engine.calls.length} steps`);
});

test("the option decides who does the work, and how many", async () => {
  const request = (options) => lensRequest({ threads: 4, ...options }, "https://example.org/");
  assert.equal((await request({})).threads, 4);
  assert.equal((await request({})).events.start, undefined);
  assert.equal((await request({ worker: false })).threads, 1);
  assert.equal((await request({ worker: inThisThread })).threads, 1);
  const worker = { postMessage() {}, terminate() {} };
  const own = await request({ worker: () => worker });
  assert.equal(own.threads, 4);
  own.events.start().listen({ message: assert.fail, failed: assert.fail });
  assert.equal(typeof worker.onmessage, "function", "the caller's worker is listened to");
  for (const wrong of [{ worker: true }, { worker: worker }, { worker: null }, { wasm: 7 }, { wasm: null }]) {
    await assert.rejects(request(wrong), { code: "invalid-argument" }, JSON.stringify(wrong));
  }
});

test("a module is taken by its URL, its bytes or as it is, and has to be ours", async () => {
  const call = async (wasm) => (await lensRequest({ wasm }, "https://example.org/app/")).call.wasm;
  const empty = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
  const module = new WebAssembly.Module(empty);
  assert.deepEqual(await call("caselens.wasm"), { url: "https://example.org/app/caselens.wasm" });
  assert.deepEqual(await call(empty), { bytes: empty });
  assert.equal((await call(module)).module, module);
  const refused = { code: "invalid-argument", message: /^wasm cannot be used.*caselens_bg\.wasm/ };
  for (const given of [{ module }, { bytes: empty }, { bytes: new Uint8Array(3) }]) await assert.rejects(startEngine(assert.fail, given), refused);
});

test("after the module of the thread broke down, loading again says so", async () => {
  const trap = new WebAssembly.RuntimeError("unreachable");
  const { pool } = await open((method) => {
    if (method === "compare") throw trap;
  });
  await assert.rejects(pool.call(compare(1), undefined), { code: "internal" });
  pool.close(disposed);
  await assert.rejects(open(), { code: "internal", message: /broke down before.*start the process anew/ });
});
