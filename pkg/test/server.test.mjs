// Where there are neither web workers nor Node's own entry (edge runtimes, or a bundler that took the browser's): importing
// must be harmless, loading must say why it fails.

import assert from "node:assert/strict";
import test from "node:test";
import { CaseLens, CaseLensError, Encoder } from "../dist/index.js";

test("loading rejects with a reason", async () => {
  for (const load of [CaseLens.load(), Encoder.load({ model: new Uint8Array(4) })]) {
    await assert.rejects(load, (error) => {
      assert.ok(error instanceof CaseLensError && error instanceof Error);
      assert.equal(error.name, "CaseLensError");
      assert.equal(error.code, "worker");
      assert.match(error.message, /no web workers here.*`worker: false`.*"caselens\/inline"/);
      return true;
    });
  }
});

test("an aborted signal is seen before anything else starts", async () => {
  const reason = new Error("changed my mind");
  await assert.rejects(CaseLens.load({ signal: AbortSignal.abort(reason) }), (error) => error === reason);
});

test("wrong options reject, they do not throw", async () => {
  for (const options of [{ device: "cuda" }, { cache: "folder" }]) {
    await assert.rejects(CaseLens.load(options), { code: "invalid-argument" });
  }
});

test("the element's module is harmless where there are no elements", async () => {
  const { CaseLensElement } = await import("caselens/element");
  assert.equal(typeof CaseLensElement, "function");
});
