// On a server there are no workers: importing must be harmless, loading must say why it fails.

import assert from "node:assert/strict";
import test from "node:test";
import { CaseLens, CaseLensError, Encoder } from "caselens";
import * as entry from "../dist/index.js";

test("the package's name leads to the built entry", () => {
  assert.equal(CaseLens, entry.CaseLens);
  assert.deepEqual(Object.keys(entry).sort(), ["CaseLens", "CaseLensError", "Encoder"]);
});

test("loading rejects with a reason", async () => {
  for (const load of [CaseLens.load(), Encoder.load({ model: new Uint8Array(4) })]) {
    await assert.rejects(load, (error) => {
      assert.ok(error instanceof CaseLensError && error instanceof Error);
      assert.equal(error.name, "CaseLensError");
      assert.equal(error.code, "worker");
      assert.match(error.message, /browser/);
      return true;
    });
  }
});

test("an aborted signal is seen before anything else starts", async () => {
  const reason = new Error("changed my mind");
  await assert.rejects(CaseLens.load({ signal: AbortSignal.abort(reason) }), { code: "aborted", cause: reason });
});

test("wrong options reject, they do not throw", async () => {
  await assert.rejects(CaseLens.load({ device: "cuda" }), { code: "invalid-argument" });
});
