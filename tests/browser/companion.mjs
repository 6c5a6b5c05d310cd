// The companion program, for what it prints and for files that it makes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { COMPANION, ROOT } from "./helpers.mjs";

/** What the companion prints. */
export function companion(args, input = "") {
  const { status, stdout, stderr, error } = spawnSync(COMPANION, args, { input, encoding: "utf8" });
  assert.ok(!error, `${COMPANION} could not be started: ${error}. Build it: cargo build --release`);
  assert.equal(status, 0, stderr);
  return stdout;
}

/** Writes `tiny.gguf` and `tiny.head`, a tiny encoder with a head of two layers, into a folder. */
export async function tinyLens(folder) {
  const [encoder, data] = [path.join(ROOT, "tests/fixtures/bert-tiny"), path.join(folder, "toy.csv")];
  const row = (_, i) => `a dog by river ${i},a cat by river ${i % 3},${i % 2 ? "the place" : "the animal"},${1 + (i % 5)}`;
  await writeFile(data, ["sentence1,sentence2,condition,label", ...Array.from({ length: 40 }, row), ""].join("\n"));
  companion(["quantize", "--model", encoder, "--output", path.join(folder, "tiny.gguf")]);
  const shape = ["--hidden", "32", "--dims", "16", "--epochs", "2", "--cache", path.join(folder, "cache")];
  companion(["train-head", "--model", encoder, "--data", data, "--output", path.join(folder, "tiny.head"), ...shape, "--json"]);
}
