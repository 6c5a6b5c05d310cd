import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import { runInNewContext } from "node:vm";
import { checkText, checkTexts } from "../build/api/check.js";
import { encoderRequest, lensRequest } from "../build/api/options.js";

const BASE = "https://example.org/app/page.html?q=1";
const model = "https://example.org/app/models/caselens-csts-q4_0.gguf";
const head = "https://example.org/app/models/caselens-csts.head.safetensors";
const sources = async (options, withHead = true) => {
  const { call } = await (withHead ? lensRequest : encoderRequest)(options, BASE);
  return [call.model, call.head];
};
const invalid = { name: "CaseLensError", code: "invalid-argument" };

test("defaults lie beside the page", async () => {
  assert.deepEqual(await sources(undefined), [{ url: model }, { url: head }]);
  assert.equal((await lensRequest(undefined, BASE)).call.device, "auto");
  assert.equal("head" in (await encoderRequest({ model }, BASE)).call, false);
});

test("an encoder alone has to be named: the model of this package is none for plain embeddings", async () => {
  for (const options of [undefined, {}, { device: "wasm" }, { model: undefined }]) {
    await assert.rejects(encoderRequest(options, BASE), { ...invalid, message: /`model`.*`caselens-csts`/ });
  }
});

test("the default head lies beside the model", async () => {
  const [, beside] = await sources({ model: "https://cdn.example.net/v2/other.gguf?v=3" });
  assert.deepEqual(beside, { url: "https://cdn.example.net/v2/caselens-csts.head.safetensors" });
});

test("the default head lies beside the default model when the model has no place", async () => {
  assert.deepEqual((await sources({ model: new Uint8Array(4) }))[1], { url: head });
  assert.deepEqual((await sources({ model: "blob:https://example.org/1234" }))[1], { url: head });
});

test("the default head lies beside the model wherever there is a beside", async () => {
  for (const scheme of ["chrome-extension://abc", "moz-extension://abc", "app://localhost", "capacitor://localhost", "tauri://localhost", "file://"]) {
    assert.deepEqual((await sources({ model: `${scheme}/assets/m.gguf` }))[1], { url: `${scheme}/assets/caselens-csts.head.safetensors` });
  }
  assert.deepEqual((await sources({ model: "data:application/octet-stream;base64,AAAA" }))[1], { url: head });
});

test("what a file has to be is its SHA-256, as digits or as HTML writes it", async () => {
  const digits = createHash("sha256").update("a").digest("hex");
  for (const integrity of [digits, digits.toUpperCase(), `sha256-${Buffer.from(digits, "hex").toString("base64")}`]) {
    assert.deepEqual(await sources({ model, integrity, headIntegrity: integrity }), [{ url: model, sha256: digits }, { url: head, sha256: digits }]);
  }
  for (const wrong of [{ integrity: "sha256-" }, { integrity: digits.slice(1) }, { integrity: `sha384-${digits}` }, { headIntegrity: 7 }]) {
    await assert.rejects(sources(wrong), invalid, JSON.stringify(wrong));
  }
});

test("a model's package names both files and their SHA-256, of which each may be another", async () => {
  const sha256 = "0".repeat(64);
  const packaged = { name: "m", model: { url: new URL("https://example.org/m.gguf"), sha256 }, head: { url: "https://example.org/h", sha256 } };
  const [own, ownHead] = [{ url: "https://example.org/m.gguf", sha256 }, { url: "https://example.org/h", sha256 }];
  assert.deepEqual(await sources({ model: packaged }), [own, ownHead]);
  assert.deepEqual(await sources({ model: packaged }, false), [own, undefined]);
  assert.deepEqual(await sources({ model: packaged, head }), [own, { url: head }]);
  assert.deepEqual((await sources({ model: packaged, integrity: "1".repeat(64) }))[0].sha256, "1".repeat(64));
  assert.deepEqual(await sources({ model: { model: { url: model } } }), [{ url: model }, { url: head }]);
});

test("URLs and bytes of another realm are taken as one's own", async () => {
  const other = runInNewContext("({ bytes: Uint8Array.of(1, 2, 3).subarray(1), buffer: Uint8Array.of(4).buffer })");
  const [{ bytes }, { bytes: fromBuffer }] = await sources({ model: other.bytes, head: other.buffer });
  assert.deepEqual([bytes, fromBuffer], [Uint8Array.of(2, 3), Uint8Array.of(4)]);
});

test("URLs are strings or URL objects, relative to the page", async () => {
  assert.deepEqual(await sources({ model: "../m.gguf", head: new URL("https://example.net/h") }), [
    { url: "https://example.org/m.gguf" },
    { url: "https://example.net/h" },
  ]);
});

test("hf:// names a file on the hub, or on another that is named", async () => {
  const named = (model, options) => sources({ model, ...options }).then(([{ url }, beside]) => [url, beside.url]);
  const hub = "https://huggingface.co/BAAI/bge-small/resolve";
  assert.deepEqual(await named("hf://BAAI/bge-small/q8 0/m.gguf"), [`${hub}/main/q8%200/m.gguf`, `${hub}/main/q8%200/caselens-csts.head.safetensors`]);
  assert.equal((await named("hf://BAAI/bge-small@v1.5/m.gguf"))[0], `${hub}/v1.5/m.gguf`);
  for (const mirror of ["https://hub.example.net/", new URL("https://hub.example.net")]) {
    assert.equal((await named("hf://a/b/m.gguf", { hub: mirror }))[0], "https://hub.example.net/a/b/resolve/main/m.gguf");
  }
  assert.equal((await named("hf://a/b/m.gguf", { hub: "/mirror" }))[0], "https://example.org/mirror/a/b/resolve/main/m.gguf");
  assert.deepEqual((await sources({ head: "hf://a/b/h.safetensors" }))[1], { url: "https://huggingface.co/a/b/resolve/main/h.safetensors" });
  for (const model of ["hf://a", "hf://a/b", "hf://a/b/", "hf:///b/c", "hf://a/b@/c"]) {
    await assert.rejects(sources({ model }), { ...invalid, message: /hf:\/\/owner\/name\/file/ }, model);
  }
  await assert.rejects(sources({ model: "hf://a/b/c", hub: 5 }), { ...invalid, message: /hub/ });
});

test("bytes are copied, and only the part that was given", async () => {
  const whole = Uint8Array.from([0, 1, 2, 3, 4, 5]);
  const [{ bytes }, { bytes: fromBuffer }] = await sources({ model: whole.subarray(2, 4), head: whole.buffer });
  assert.deepEqual(bytes, Uint8Array.from([2, 3]));
  assert.equal(bytes.buffer.byteLength, 2);
  assert.notEqual(fromBuffer.buffer, whole.buffer);
  assert.equal(fromBuffer.byteLength, 6);
});

test("headers become plain data, and a server has half a minute", async () => {
  const asked = async (options) => (await lensRequest(options, BASE)).call.request;
  assert.deepEqual(await asked({}), { headers: {}, timeout: 30_000 });
  for (const headers of [{ Authorization: "Bearer 7" }, [["Authorization", "Bearer 7"]], new Headers({ authorization: "Bearer 7" })]) {
    assert.deepEqual(await asked({ headers, timeout: 5 }), { headers: { authorization: "Bearer 7" }, timeout: 5 });
  }
});

test("a Blob, a File and a Response hold a file", async () => {
  const blob = new Blob(["model"]);
  const file = new File(["head"], "h");
  const given = await sources({ model: blob, head: file });
  assert.deepEqual([given[0].blob === blob, given[1].blob === file], [true, true]);
  const [{ blob: body }] = await sources({ model: new Response("answered") });
  assert.equal(await body.text(), "answered");
  await assert.rejects(sources({ model: new Response("no", { status: 404 }) }), { code: "http", message: /as model.*HTTP 404/ });
});

test("files are kept where the option says, which is the same everywhere", async () => {
  const place = async (cache) => (await lensRequest({ cache }, BASE)).call.cache;
  assert.deepEqual([await place(undefined), await place(true), await place(false), await place({ folder: "a" })], ["browser", "browser", "none", "browser"]);
  for (const cache of ["a folder", {}, { folder: "" }, { folder: 7 }]) await assert.rejects(place(cache), { ...invalid, message: /\{ folder: "path" \}/ });
});

test("wrong options are refused", async () => {
  for (const options of [
    null,
    7,
    { model: 7 },
    { model: null, head: {} },
    { model: { model: null } },
    { model: { model: { url: 7 } } },
    { model: "https://[" },
    { device: "cuda" },
    { device: null },
    { threads: 0 },
    { threads: 1.5 },
    { threads: 33 },
    { threads: "2" },
    { cache: null },
    { cache: "a folder" },
    { timeout: 0 },
    { timeout: Infinity },
    { headers: { "a header": "1" } },
    { fetch: "fetch" },
    { onProgress: "loud" },
    { onWarning: 1 },
    { signal: {} },
    { signal: null },
  ]) {
    await assert.rejects(lensRequest(options, BASE), invalid, JSON.stringify(options));
  }
});

test("a page without a place of its own needs absolute URLs", async () => {
  await assert.rejects(lensRequest({ model: new Uint8Array(4) }, "about:blank"), invalid);
  assert.ok((await lensRequest({ model: new Uint8Array(4), head: "https://example.org/h" }, "about:blank")).call);
});

test("lone surrogates are found with their position", async () => {
  for (const [text, position] of [
    ["\uD83D", 0],
    ["ab\uDE00", 2],
    ["😀\uD83D", 2],
    ["a\uDE00\uD83D", 1],
  ]) {
    assert.throws(() => checkText("sentence1", text), (error) => {
      assert.equal(error.code, "invalid-text");
      assert.match(error.message, new RegExp(`^sentence1 .*position ${position}\\)`));
      return true;
    });
  }
  for (const text of ["", "plain", "😀😀", "\u{10FFFF}", "\uFFFD"]) assert.equal(checkText("x", text), text);
});

test("a list names the item that is wrong", () => {
  assert.throws(() => checkTexts("conditions", ["a", "\uD800"]), { code: "invalid-text", message: /^conditions\[1\] /, index: 1 });
  assert.throws(() => checkTexts("conditions", ["a", 7]), { ...invalid, message: /^conditions\[1\] must be a string/, index: 1 });
  assert.throws(() => checkTexts("conditions", ["a", , "b"]), { ...invalid, message: /^conditions\[1\] / });
  assert.throws(() => checkTexts("conditions", "a"), invalid);
});

test("a text that is empty or too long is refused with its place", () => {
  for (const blank of ["", " \n\t", "\u00a0\u2003", "\u0085"]) {
    assert.throws(() => checkTexts("texts", ["a", "b", blank]), { code: "empty-text", message: /^texts\[2\] is empty/, index: 2 });
  }
  const long = "x".repeat(50_001);
  assert.throws(() => checkTexts("texts", [long]), { code: "text-too-long", message: /^texts\[0\] has 50001 characters; at most 50000/, index: 0 });
  // Characters and not UTF-16 units are counted.
  assert.equal(checkTexts("texts", ["😀".repeat(50_000)]).length, 1);
  assert.throws(() => checkTexts("texts", ["😀".repeat(50_001)]), { code: "text-too-long", message: /50001 characters/ });
});

test("bytes that were handed over to another thread are told", async () => {
  const given = () => new Uint8Array(16);
  const gone = (value) => {
    structuredClone(value.buffer ?? value, { transfer: [value.buffer ?? value] });
    return value;
  };
  for (const option of ["model", "head", "wasm"]) {
    for (const value of [gone(given()), gone(given().buffer)]) {
      await assert.rejects(lensRequest({ model: given(), [option]: value }, "https://example.org/"), {
        name: "CaseLensError",
        code: "invalid-argument",
        message: new RegExp(`^${option} has no bytes any more`),
      });
    }
  }
});
