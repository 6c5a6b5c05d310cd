// The folder that downloads are kept in, in Node: what is read from it may be damaged, and may be left at any time.

import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { FolderCache, readOrDownload } from "../build/node/files.js";
import { Whole } from "../build/worker/download.js";
import { recordingMeter } from "./helpers.mjs";

const FILE = Uint8Array.from({ length: 5 << 20 }, (_, i) => (i >> 10) % 251);
let folder;
let server;
let url;
let requests = 0;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "caselens-folder-"));
  server = createServer((_, response) => {
    requests++;
    response.setHeader("content-length", FILE.byteLength);
    response.end(FILE);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${server.address().port}/model.gguf`;
});
after(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Takes a file that is whole, as a module takes a model: the first piece that is another ends it. */
class Strict extends Whole {
  #at = 0;
  begin() {
    this.#at = 0;
    super.begin();
  }
  push(chunk) {
    if (!Buffer.from(FILE.buffer, this.#at, chunk.byteLength).equals(chunk)) throw new Error("no model");
    this.#at += chunk.byteLength;
    super.push(chunk);
  }
}

async function get() {
  const cache = await FolderCache.open(folder, assert.fail);
  const sink = new Strict();
  const { fromCache, kept } = await readOrDownload(url, { role: "model", cache, meter: recordingMeter() }, sink);
  await kept;
  assert.ok(Buffer.from(FILE).equals(sink.bytes()));
  return fromCache;
}
const file = async () => path.join(folder, (await readdir(folder))[0]);

test("a kept file is read from the folder", async () => {
  assert.equal(await get(), false);
  assert.equal(await get(), true);
  assert.equal(requests, 1);
});

test("a damaged file is left where the damage shows, and fetched anew; the thread lives on", async () => {
  const before = requests;
  const whole = await readFile(await file());
  for (const at of [0, 1 << 20, (3 << 20) + 5]) {
    await writeFile(await file(), Buffer.from(whole).fill(255, at, at + 200));
    assert.equal(await get(), false, `damaged at ${at}`);
    assert.equal(await get(), true, "it is whole again");
  }
  assert.equal(requests, before + 3);
  // What a stream throws after it was left comes a little later.
  await new Promise((resolve) => setTimeout(resolve, 50));
});

test("a file that cannot be read is fetched anew", async () => {
  const before = requests;
  await rm(await file());
  const cache = await FolderCache.open(folder, assert.fail);
  assert.equal(await cache.read(url), undefined);
  assert.equal(await get(), false);
  assert.equal(requests, before + 1);
});

test("what killed processes left behind is swept once it is old, and nothing else", async () => {
  const uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
  const old = new Date(Date.now() - 25 * 60 * 60 * 1000);
  const names = { left: `0123456789abcdef-model.gguf.${uuid}.part`, fresh: `fedcba9876543210-model.gguf.${uuid}.part`, mine: "notes.part", whole: "0123456789abcdef-model.gguf" };
  for (const [what, name] of Object.entries(names)) {
    await writeFile(path.join(folder, name), "x");
    if (what !== "fresh") await utimes(path.join(folder, name), old, old);
  }
  await FolderCache.open(folder, assert.fail);
  const there = await readdir(folder);
  assert.deepEqual(Object.keys(names).filter((what) => there.includes(names[what])), ["fresh", "mine", "whole"]);
});
