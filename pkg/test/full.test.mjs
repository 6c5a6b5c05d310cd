// A disk that is full, a real one: an index that finds no room says so, and what was stored before is still there.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CaseLens } from "caselens";

const MODEL = fileURLToPath(new URL("../../www/public/models/caselens-csts-q4_0.gguf", import.meta.url));
const ITEMS = Array.from({ length: 40 }, (_, id) => ({ id, text: `a dog by river ${id}` }));

let folder;
/** Why there is no such disk; undefined where there is one. */
let missing = "only root may mount a disk";
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "caselens-full-"));
  if (process.getuid?.() !== 0) return;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "pipe" });
    missing = undefined;
  } catch (error) {
    missing = error.message;
  }
});
after(async () => {
  if (missing === undefined) execFileSync("umount", [folder]);
  await rm(folder, { recursive: true, force: true });
});

test("a full disk is storage-full, and what was stored before is still there", async (context) => {
  if (missing !== undefined) return context.skip(missing);
  const lens = await CaseLens.load({ model: MODEL, threads: 1 });
  const name = path.join(folder, "notes");
  const index = await lens.index({ dtype: "int8" });
  await index.add(ITEMS.slice(0, 2));
  await index.store(name);
  const large = await lens.index({ dtype: "float32" });
  await large.add(ITEMS);
  await assert.rejects(large.store(name, { overwrite: true }), ({ code, message, cause }) => {
    assert.equal(code, "storage-full");
    assert.match(message, /notes: ENOSPC.*What was stored before is still there/);
    assert.equal(cause.code, "ENOSPC");
    return true;
  });
  assert.deepEqual(await readdir(folder), ["notes"], "nothing half written is left");
  const opened = await lens.openIndex(name);
  assert.deepEqual([...opened].map(({ id }) => id), [0, 1]);
  await opened.add(ITEMS.slice(2, 3));
  await opened.store(name); // there is room for this one
  lens.dispose();
});
