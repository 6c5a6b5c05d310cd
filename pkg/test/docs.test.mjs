// Every exported name, member and option has a comment, and every link in them leads somewhere: typedoc refuses others.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";

const DOCS = fileURLToPath(new URL("../docs", import.meta.url));

test("what is exported is documented", { timeout: 120_000 }, async () => {
  assert.ok(existsSync(`${DOCS}/node_modules/typedoc`), "typedoc is missing: npm ci --prefix pkg/docs");
  const said = await new Promise((resolve) => {
    execFile("npm", ["run", "--silent", "check"], { cwd: DOCS }, (error, stdout, stderr) => resolve({ failed: error !== null, text: stdout + stderr }));
  });
  assert.ok(!said.failed, said.text);
});
