// What is dropped and not disposed of, and what is made without `load`.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { CaseLens, Encoder, Gallery } from "caselens";

const PACKAGE = fileURLToPath(new URL("../", import.meta.url));

test("without load there is nothing, and that is said", () => {
  for (const Class of [CaseLens, Encoder, Gallery]) {
    assert.throws(() => new Class(), { name: "CaseLensError", code: "invalid-argument", message: /await …load\(options\)/ });
  }
});

test("the workers of what was dropped end, but not in the midst of a call, nor under an index", { timeout: 120_000 }, async () => {
  const script = `
    import { Worker } from "node:worker_threads";
    import { Encoder } from "caselens";
    let alive = 0;
    const worker = () => {
      const thread = new Worker(new URL(import.meta.resolve("caselens/dist/node-worker.js")), { execArgv: [] });
      alive++;
      thread.once("exit", () => alive--);
      return thread;
    };
    const load = () => Encoder.load({ model: "../tests/fixtures/converted/bert.gguf", threads: 1, worker });
    const collected = async () => {
      for (let i = 0; i < 20; i++) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return alive;
    };
    // The object is garbage as soon as the call has begun.
    const { length } = await load().then(async (encoder) => {
      const call = encoder.embed(Array(300).fill("a dog by the river"));
      encoder = undefined;
      await collected();
      return call;
    });
    const afterCall = await collected();
    let index = await (async () => (await load()).index())();
    const underIndex = await collected();
    await index.add([{ id: 1, text: "a dog" }]);
    index = undefined;
    console.log(JSON.stringify({ length, afterCall, underIndex, afterIndex: await collected() }));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", "--input-type=module", "--eval", script], { cwd: PACKAGE });
  assert.deepEqual(JSON.parse(stdout), { length: 300, afterCall: 0, underIndex: 1, afterIndex: 0 });
});
