// Files from servers that fall silent, break off or are reached through the caller's own `fetch`. No doubles but the servers.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Requests } from "../build/more/requests.js";
import { NO_CACHE } from "../build/worker/cache.js";
import { download, Whole } from "../build/worker/download.js";
import { fetchThrough } from "../build/worker/requests.js";
import { recordingMeter } from "./helpers.mjs";

const FILE = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 7) % 251);
let seen;
/** Answers one request after the other, the last of them all that follow. */
let answers;
const server = createServer((request, response) => {
  seen.push(request.headers);
  const answer = answers.length > 1 ? answers.shift() : answers[0];
  answer(request, response);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}/model.gguf`;
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => (seen = []));

const start = ({ headers }) => Number(/bytes=(\d+)-/.exec(headers.range)?.[1] ?? 0);
/** An answer from where the request asks for it, of `length` bytes; then the connection `ends`, breaks or falls silent. */
const part =
  (length, ends = (response) => response.destroy(), headers = { etag: '"1"' }) =>
  (request, response) => {
    const from = start(request);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.setHeader("content-length", FILE.length - from);
    if (from > 0) response.writeHead(206, { "content-range": `bytes ${from}-${FILE.length - 1}/${FILE.length}` });
    response.write(FILE.subarray(from, from + length), () => ends(response));
  };
const whole = (headers) => part(FILE.length, (response) => response.end(), headers);
const silence = () => {};

async function get({ timeout = 10_000, headers = {}, fetch = globalThis.fetch } = {}) {
  const sink = new Whole();
  await download(url, { role: "model", cache: NO_CACHE, meter: recordingMeter(), request: { fetch, headers, timeout } }, sink);
  return sink.bytes();
}
const same = (bytes) => assert.ok(Buffer.from(FILE).equals(bytes), `${bytes.length} bytes`);

test("where a connection breaks, the rest of the file is asked for", async () => {
  answers = [part(100_000), part(50_000), whole()];
  same(await get());
  assert.deepEqual(seen.map(({ range }) => /^bytes=\d+-$/.test(range)), [false, true, true]);
});

test("a server that falls silent in the midst of a file is asked for the rest", async () => {
  answers = [part(100_000, silence), whole({ etag: '"1"' })];
  same(await get({ timeout: 800 }));
  assert.deepEqual(seen.map(({ range }) => range), [undefined, "bytes=100000-"]);
});

test("a file without a version, or of another one, is not put together", async () => {
  const incomplete = { code: "download-incomplete", message: /broke off after 100000 bytes/ };
  answers = [part(100_000, undefined, {})];
  await assert.rejects(get(), incomplete);
  assert.equal(seen.length, 1, "what it is a part of cannot be known");
  answers = [part(100_000, undefined, { etag: 'W/"1"' })];
  await assert.rejects(get(), incomplete);
  answers = [part(100_000), whole({ etag: '"2"' })];
  await assert.rejects(get(), incomplete);
  answers = [part(100_000, undefined, { "last-modified": "Mon, 30 Nov 2026 00:00:00 GMT" }), whole({ "last-modified": "Tue, 01 Dec 2026 00:00:00 GMT" })];
  await assert.rejects(get(), incomplete);
});

test("a server that sends all of it again, or another part, is not believed", async () => {
  const again = (_, response) => response.writeHead(200, { etag: '"1"' }).end(FILE);
  const other = (_, response) => response.writeHead(206, { etag: '"1"', "content-range": "bytes 5-9/300000" }).end(FILE.subarray(5, 10));
  for (const answer of [again, other]) {
    answers = [part(100_000), answer];
    await assert.rejects(get(), { code: "download-incomplete" });
  }
});

test("what never comes back is given up after three more requests", { timeout: 30_000 }, async () => {
  answers = [part(100_000), (request) => request.socket.destroy()];
  await assert.rejects(get(), { code: "download-incomplete", message: /broke off after 100000 bytes/ });
  assert.equal(seen.length, 4);
});

test("a server that never answers is an error after the time that was given", async () => {
  answers = [silence];
  await assert.rejects(get({ timeout: 60 }), { code: "network", message: /sent nothing for 0\.06 s.*`timeout`/ });
});

test("the time a file waits for its sink does not count", async () => {
  answers = [whole()];
  class Slow extends Whole {
    async begin() {
      await sleep(1500);
      super.begin();
    }
  }
  const sink = new Slow();
  await download(url, { role: "model", cache: NO_CACHE, meter: recordingMeter(), request: { fetch, headers: {}, timeout: 1000 } }, sink);
  same(sink.bytes());
});

test("headers come with each request, that for the rest too", async () => {
  answers = [part(100_000), whole()];
  same(await get({ headers: { authorization: "Bearer 7" } }));
  assert.deepEqual(seen.map(({ authorization }) => authorization), ["Bearer 7", "Bearer 7"]);
});

test("the caller's own fetch answers on the page's side, chunk by chunk as they are wanted", async () => {
  const calls = [];
  let pulled = 0;
  const own = async (...call) => {
    calls.push(call);
    const body = new ReadableStream({
      pull(controller) {
        const chunk = FILE.subarray(pulled * 1000, ++pulled * 1000);
        if (chunk.length > 0) controller.enqueue(chunk);
        else controller.close();
      },
    });
    return new Response(body, { headers: { "content-length": String(FILE.length) } });
  };
  const requests = new Requests(own);
  const fetch = fetchThrough(requests.port);
  same(await get({ fetch, headers: { "x-own": "1" } }));
  assert.equal(calls[0][0], url);
  assert.equal(calls[0][1].headers["x-own"], "1");
  assert.ok(FILE.every((byte, i) => byte === (i * 7) % 251), "the caller's bytes stay the caller's");

  pulled = 0;
  const response = await fetch(url, {});
  assert.equal(response.headers.get("content-length"), String(FILE.length));
  await sleep(20);
  assert.ok(pulled <= 3, `${pulled} chunks before anyone read`);
  const body = response.body.getReader();
  await body.read();
  requests.close();
  await sleep(20);
  assert.ok(calls.at(-1)[1].signal.aborted, "what is left of a request is left");
});

test("what the caller's own fetch answers or throws is told as a server's", async () => {
  const through = (own) => get({ fetch: fetchThrough(new Requests(own).port) });
  await assert.rejects(through(async () => new Response("no", { status: 403 })), { code: "http", message: /HTTP 403/ });
  await assert.rejects(
    through(async () => {
      throw new Error("not logged in");
    }),
    (error) => error.code === "network" && error.cause.message === "not logged in",
  );
});
