// What a machine lacks is an error that says so, and never a promise that waits for ever.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, test } from "node:test";
import { CaseLensError } from "../build/errors.js";
import { startWebWorker } from "../build/page/start.js";
import { instructions, isTrap } from "../build/worker/support.js";
import { Session } from "../build/worker/session.js";

const { WebAssembly, Worker } = globalThis;
afterEach(() => Object.assign(globalThis, { WebAssembly, Worker }));

/** WebAssembly as another machine has it. */
const pretend = (changes) => (globalThis.WebAssembly = changes && { ...Object.fromEntries(Object.getOwnPropertyNames(WebAssembly).map((name) => [name, WebAssembly[name]])), ...changes });

test("this machine has SIMD, and takes the one build or the other", () => {
  assert.ok(["simd128", "relaxed-simd"].includes(instructions()));
  // The probes are valid modules, or not, for their instructions alone.
  const probes = [];
  pretend({ validate: (bytes) => probes.push(bytes) });
  instructions();
  assert.equal(probes.length, 2);
  assert.ok(WebAssembly.validate(probes[0]));
});

for (const [name, changes, pattern] of [
  ["no WebAssembly", undefined, /There is no WebAssembly here.*Lockdown Mode/],
  ["no SIMD", { validate: () => false }, /has no SIMD.*Safari 16\.4/],
  ["a policy against it", { Module: class { constructor() { throw new EvalError("blocked by CSP"); } } }, /Content-Security-Policy.*'wasm-unsafe-eval'/],
]) {
  test(`${name} is told as what it is, and what to do`, async () => {
    pretend(changes);
    assert.throws(instructions, (error) => {
      assert.ok(error instanceof CaseLensError);
      assert.equal(error.code, "unsupported");
      assert.match(error.message, pattern);
      return true;
    });
    assert.equal(isTrap(new Error("another")), false);
    const posted = [];
    const session = new Session({ boot: async () => instructions(), openCache: async () => ({}), download: async () => {}, post: (message) => posted.push(message) });
    session.receive({ type: "call", id: 1, call: { method: "load", model: { url: "https://example.org/m" }, device: "auto", cache: "none", request: { headers: {}, timeout: 1000 } } });
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(posted.flatMap(({ error }) => error?.code ?? []), ["unsupported"]);
  });
}

test("Node without WebAssembly rejects", { timeout: 60_000 }, async () => {
  const script = 'import { CaseLens } from "caselens"; await CaseLens.load({ model: "package.json" }).catch(({ code, message }) => console.log(code, message));';
  const cwd = fileURLToPath(new URL("../", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--jitless", "--input-type=module", "--eval", script], { cwd });
  assert.match(stdout, /^unsupported There is no WebAssembly here/);
});

test("a page that requires Trusted Types is told of them, any other of worker-src", async () => {
  const thrown = [new TypeError("This document requires 'TrustedScriptURL' assignment."), new DOMException("denied", "SecurityError")];
  for (const [i, pattern] of [/Trusted Types/, /worker-src/].entries()) {
    globalThis.Worker = class {
      constructor() {
        throw thrown[i];
      }
    };
    await assert.rejects(startWebWorker(), { code: "worker", message: pattern, cause: thrown[i] });
  }
});
