import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { BrowserCache } from "../build/worker/cache.js";
import { download, Whole } from "../build/worker/download.js";
import { statedSize } from "../build/worker/request.js";
import { FakeCaches, recordingMeter } from "./helpers.mjs";

const URL_ = "https://example.org/models/model.gguf";
const realFetch = globalThis.fetch;
let warnings;
let requests;
let storage;

beforeEach(() => {
  warnings = [];
  requests = [];
  storage = new FakeCaches();
  globalThis.caches = storage;
});
afterEach(() => {
  globalThis.fetch = realFetch;
  delete globalThis.caches;
});

function answerWith(make) {
  globalThis.fetch = async (url) => {
    requests.push(String(url));
    return make();
  };
}

/** A body in pieces of `step` bytes: 0, 1, 2, … */
function body(size, step = 7) {
  const bytes = Uint8Array.from({ length: size }, (_, i) => i % 256);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < size; at += step) controller.enqueue(bytes.slice(at, at + step));
      controller.close();
    },
  });
}

/** What a download told its sink: where files begin, and the chunks. */
class Recording extends Whole {
  seen = [];
  begin(size) {
    super.begin();
    this.seen.push(["begin", size]);
  }
  push(chunk) {
    super.push(chunk);
    this.seen.push(chunk.byteLength);
  }
}

async function get({ sink = new Recording(), ...options } = {}) {
  const cache = await BrowserCache.open((message) => warnings.push(message));
  const meter = recordingMeter();
  const { fromCache, kept } = await download(URL_, { role: "model", cache, meter, ...options }, sink);
  await kept;
  return { fromCache, bytes: sink.bytes(), seen: sink.seen, meter };
}

/** What is kept: the size that stands with it, and the bytes. */
async function kept(url = URL_) {
  const response = storage.entries.get(url)?.clone();
  return response && { size: response.headers.get("x-caselens-bytes"), bytes: new Uint8Array(await response.arrayBuffer()) };
}

const expected = (size) => Uint8Array.from({ length: size }, (_, i) => i % 256);
const rejectsWith = (code, pattern) => (error) => {
  assert.equal(error.name, "CaseLensError");
  assert.equal(error.code, code);
  assert.match(error.message, pattern);
  return true;
};

test("a file of known size is read whole", async () => {
  answerWith(() => new Response(body(1000), { headers: { "content-length": "1000" } }));
  const { bytes, fromCache, meter, seen } = await get();
  assert.deepEqual(bytes, expected(1000));
  assert.deepEqual(seen, [["begin", 1000], ...Array(142).fill(7), 6], "chunk by chunk, in order");
  assert.equal(fromCache, false);
  assert.deepEqual(await kept(), { size: "1000", bytes });
  assert.deepEqual(meter.seen[0], ["size", 1000]);
  assert.deepEqual(meter.seen.at(-1), ["at", 1000]);
});

test("a file of unknown size is read whole", async () => {
  answerWith(() => new Response(body(1000)));
  const { bytes, seen } = await get();
  assert.deepEqual(bytes, expected(1000));
  assert.deepEqual(seen[0], ["begin", null]);
  assert.deepEqual(await kept(), { size: null, bytes });
  assert.equal((await get()).fromCache, true);
});

test("the length of a compressed answer is not taken for the file's", async () => {
  answerWith(() => new Response(body(1000), { headers: { "content-length": "300", "content-encoding": "gzip" } }));
  const { bytes, meter, seen } = await get();
  assert.deepEqual(bytes, expected(1000));
  assert.deepEqual(meter.seen[0], ["size", null]);
  assert.deepEqual(seen[0], ["begin", null]);
});

test("a body longer than its stated length is read whole", async () => {
  answerWith(() => new Response(body(1000, 64), { headers: { "content-length": "300" } }));
  assert.deepEqual((await get()).bytes, expected(1000));
});

test("across origins a length is an estimate", () => {
  const response = { type: "cors", headers: new Headers({ "content-length": "300" }) };
  assert.deepEqual(statedSize(response), { size: 300, exact: false });
});

test("a short body is an error and is not kept", async () => {
  answerWith(() => new Response(body(500), { headers: { "content-length": "1000" } }));
  await assert.rejects(get(), rejectsWith("download-incomplete", /500 of 1000 bytes.*Load it again/));
  assert.equal(storage.entries.size, 0);
  assert.deepEqual(warnings, [], "which is no fault of the cache");
});

test("a body that breaks off is an error", async () => {
  answerWith(
    () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.error(new TypeError("network error"));
          },
        }),
      ),
  );
  await assert.rejects(get(), rejectsWith("download-incomplete", /broke off/));
  assert.equal(storage.entries.size, 0);
  assert.deepEqual(warnings, []);
});

test("what the sink says of a file is the error, the rest is not asked for, and nothing is kept", async () => {
  let left;
  answerWith(
    () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(100)),
          cancel: (reason) => void (left = reason),
        }),
      ),
  );
  const fault = new Error("no model");
  class Refusing extends Recording {
    push(chunk) {
      super.push(chunk);
      if (this.seen.length > 5) throw fault;
    }
  }
  await assert.rejects(get({ sink: new Refusing() }), (error) => error === fault);
  assert.equal(left, fault);
  assert.equal(storage.entries.size, 0);
  assert.deepEqual(warnings, []);
});

test("a file waits for the sink to begin, and the request does not", async () => {
  const order = [];
  answerWith(() => {
    order.push("request");
    return new Response(body(10));
  });
  class Slow extends Recording {
    async begin(size) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      order.push("begin");
      super.begin(size);
    }
    push(chunk) {
      order.push("push");
      super.push(chunk);
    }
  }
  await get({ sink: new Slow() });
  assert.deepEqual(order, ["request", "begin", "push", "push"]);
});

test("a download does not run far ahead of the cache, and waits for none that has stopped", async () => {
  const size = 32 << 20;
  for (const taken of [3 << 20, 0]) {
    let read = 0;
    let pushed = 0;
    let resume;
    const paused = new Promise((resolve) => (resume = resolve));
    const cache = {
      read: async () => undefined,
      keep: async (_, body) => {
        if (taken === 0) return; // for example because the storage is full
        const reader = body.getReader();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          if ((read += value.byteLength) === taken) await paused;
        }
      },
      drop: async () => {},
    };
    class Counting extends Recording {
      push(chunk) {
        pushed += chunk.byteLength;
      }
    }
    answerWith(() => new Response(new ReadableStream({
      start(controller) {
        for (let at = 0; at < size; at += 1 << 20) controller.enqueue(new Uint8Array(1 << 20));
        controller.close();
      },
    })));
    const loading = download(URL_, { role: "model", cache, meter: recordingMeter() }, new Counting());
    if (taken > 0) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.ok(pushed < taken + (11 << 20), `${pushed} bytes were pushed while the cache had taken ${taken}`);
      resume();
    }
    await (await loading).kept;
    assert.equal(pushed, size);
    if (taken > 0) assert.equal(read, size);
  }
});

test("an empty body is an error", async () => {
  answerWith(() => new Response(""));
  await assert.rejects(get(), rejectsWith("download-incomplete", /is empty/));
});

test("404 names the URL and where such a file comes from", async () => {
  answerWith(() => new Response("no", { status: 404 }));
  await assert.rejects(get(), rejectsWith("http", /not found at https:\/\/example.org\/models\/model.gguf \(HTTP 404\).*import model from "caselens-csts"/));
  await assert.rejects(get({ role: "head" }), rejectsWith("http", /beside the model.*`caselens-csts` has both/));
  await assert.rejects(get(), { url: URL_, status: 404 });
});

test("500 names the status", async () => {
  answerWith(() => new Response("no", { status: 503 }));
  await assert.rejects(get(), rejectsWith("http", /HTTP 503/));
});

test("a web page in place of a model is not found", async () => {
  answerWith(() => new Response("<!doctype html>", { headers: { "content-type": "text/html; charset=utf-8" } }));
  await assert.rejects(get(), rejectsWith("http", /answered with a web page/));
});

test("a server that cannot be reached is a network error with its cause", async () => {
  globalThis.fetch = async () => {
    throw new TypeError("Failed to fetch");
  };
  await assert.rejects(get(), (error) => {
    rejectsWith("network", /did not answer/)(error);
    return error.cause instanceof TypeError;
  });
});

test("a kept file is not asked for again", async () => {
  answerWith(() => new Response(body(1000), { headers: { "content-length": "1000" } }));
  await get();
  const second = await get();
  assert.equal(second.fromCache, true);
  assert.deepEqual(second.bytes, expected(1000));
  assert.equal(requests.length, 1);
  assert.deepEqual(warnings, []);
});

test("a kept file of the wrong size is dropped and fetched again", async () => {
  storage.entries.set(URL_, new Response(body(10), { headers: { "x-caselens-bytes": "1000" } }));
  answerWith(() => new Response(body(1000), { headers: { "content-length": "1000" } }));
  const { bytes, fromCache, seen } = await get();
  assert.equal(fromCache, false);
  assert.deepEqual(bytes, expected(1000));
  assert.deepEqual(seen.filter((what) => Array.isArray(what)), [["begin", 1000], ["begin", 1000]], "it begins anew");
  assert.deepEqual((await kept()).bytes, bytes);
});

test("a kept file that the sink refuses is dropped and fetched again", async () => {
  storage.entries.set(URL_, new Response(body(10)));
  answerWith(() => new Response(body(1000)));
  class Picky extends Recording {
    push(chunk) {
      super.push(chunk);
      if (this.seen.length === 2) throw new Error("an old one");
    }
  }
  const { bytes, fromCache } = await get({ sink: new Picky() });
  assert.equal(fromCache, false);
  assert.deepEqual(bytes, expected(1000));
  assert.deepEqual((await kept()).bytes, bytes);
});

test("a kept file of unknown size is taken as it is", async () => {
  storage.entries.set(URL_, new Response(body(10)));
  const { bytes, fromCache, seen } = await get();
  assert.equal(fromCache, true);
  assert.deepEqual(bytes, expected(10));
  assert.deepEqual(seen[0], ["begin", null]);
});

test("without Cache Storage there is one warning, and the file", async () => {
  delete globalThis.caches;
  answerWith(() => new Response(body(1000)));
  assert.deepEqual((await get()).bytes, expected(1000));
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /https/);
});

test("a full cache is one warning", async () => {
  storage.fail = new DOMException("Quota exceeded.", "QuotaExceededError");
  answerWith(() => new Response(body(1000)));
  const cache = await BrowserCache.open((message) => warnings.push(message));
  for (const _ of [1, 2]) assert.deepEqual((await get({ cache })).bytes, expected(1000));
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /storage is full/);
});

test("a cache that cannot be opened is one warning", async () => {
  storage.open = async () => {
    throw new DOMException("The operation is insecure.", "SecurityError");
  };
  answerWith(() => new Response(body(1000)));
  assert.equal((await get()).bytes.byteLength, 1000);
  assert.equal(warnings.length, 1);
});
