// What is known of a model's files without loading them, in Node: no doubles but the server, and no engine is started.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { CaseLens, Encoder } from "caselens";
import { FolderCache, readOrDownload } from "../build/node/files.js";
import { Whole } from "../build/worker/download.js";
import { recordingMeter } from "./helpers.mjs";

const SIZES = { "/m/model.gguf": 1000, "/m/caselens-csts.head.safetensors": 24 };
let folder;
let server;
let origin;
const requests = [];

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "caselens-files-"));
  server = createServer(({ method, url, headers }, response) => {
    requests.push([method, url, headers["x-own"]]);
    const size = SIZES[url];
    if (size === undefined) return response.writeHead(404).end();
    response.setHeader("content-length", size);
    response.end(method === "HEAD" ? undefined : Buffer.alloc(size));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
});
after(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Keeps a file as `load` keeps it. */
async function keep(url) {
  const cache = await FolderCache.open(folder, assert.fail);
  await (await readOrDownload(url, { role: "model", cache, meter: recordingMeter() }, new Whole())).kept;
}

test("files that are not kept are measured by asking their server, and nothing is loaded", async () => {
  const options = { model: `${origin}/m/model.gguf`, cache: { folder }, headers: { "x-own": "1" } };
  assert.equal(await CaseLens.isCached(options), false);
  assert.deepEqual(requests, []);
  assert.equal(await CaseLens.size(options), 1024);
  assert.equal(await Encoder.size(options), 1000);
  assert.deepEqual(new Set(requests.map(([method, , own]) => `${method} ${own}`)), new Set(["HEAD 1"]));
  await assert.rejects(CaseLens.size({ model: `${origin}/nowhere.gguf` }), { code: "http", message: /HTTP 404/ });
});

test("kept files are told, measured without their server, and forgotten", async () => {
  const options = { model: `${origin}/m/model.gguf`, cache: { folder } };
  await keep(options.model);
  assert.equal(await Encoder.isCached(options), true);
  assert.equal(await CaseLens.isCached(options), false, "its head is not");
  await keep(`${origin}/m/caselens-csts.head.safetensors`);
  assert.equal(await CaseLens.isCached(options), true);
  assert.equal(await CaseLens.isCached({ ...options, cache: false }), false, "in another place");
  requests.length = 0;
  assert.equal(await CaseLens.size(options), 1024);
  assert.deepEqual(requests, []);
  await CaseLens.delete(options);
  assert.equal(await Encoder.isCached(options), false);
});

test("the caller's own fetch is asked for sizes, too", async () => {
  const asked = [];
  const own = async (url, { method }) => {
    asked.push([method, new URL(url).pathname]);
    return new Response(null, { headers: { "content-length": "7" } });
  };
  assert.equal(await Encoder.size({ model: "https://example.org/m.gguf", fetch: own }), 7);
  assert.deepEqual(asked, [["HEAD", "/m.gguf"]]);
});

test("what lies on disk or was given is here", async () => {
  const file = path.join(folder, "on disk.gguf");
  await writeFile(file, Buffer.alloc(11));
  assert.deepEqual([await Encoder.isCached({ model: file }), await Encoder.size({ model: file })], [true, 11]);
  const bytes = await readFile(file);
  assert.deepEqual([await CaseLens.isCached({ model: bytes, head: bytes }), await CaseLens.size({ model: bytes, head: bytes })], [true, 22]);
  await assert.rejects(Encoder.size({ model: path.join(folder, "nowhere.gguf") }), { code: "file" });
});
