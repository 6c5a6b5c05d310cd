import assert from "node:assert/strict";
import test from "node:test";
import { CaseLensError } from "../build/errors.js";
import { Session } from "../build/worker/session.js";

const MANIFEST = "https://example.org/site/bundle/manifest.json";
const ITEMS = [{ sentence1: "a", sentence2: "b", condition: "c", similarity: 0.5, rating: 3 }];

/** What the session answers to a gallery's call, with `files` on the server. */
async function ask(files, Gallery) {
  const asked = [];
  const answer = new Promise((resolve) => {
    const session = new Session({
      boot: async () => ({ Gallery }),
      openCache: async () => assert.fail("a gallery is not kept"),
      download: async (url, { role }, sink) => {
        asked.push([url, role]);
        if (!files[url]) throw new CaseLensError("http", `The ${role} was not found at ${url}.`);
        await sink.begin(null);
        sink.push(files[url]);
        return { fromCache: false, kept: Promise.resolve() };
      },
      post: (message) => resolve(message),
    });
    session.receive({ type: "call", id: 0, call: { method: "gallery", manifest: MANIFEST } });
  });
  return { asked, answer: await answer };
}

class Gallery {
  constructor(manifest) {
    if (manifest !== "{}") throw Object.assign(new Error("another version"), { code: "bundle-schema" });
  }
  info() {
    return { encoder: "large", dim: 512, licences: ["MIT"], files: ["g.head", "g.gallery"] };
  }
  async answers(head, embeddings) {
    assert.deepEqual([[...head], [...embeddings]], [[1], [2]]);
    return ITEMS;
  }
}

const text = (s) => new TextEncoder().encode(s);
const whole = {
  [MANIFEST]: text("{}"),
  "https://example.org/site/bundle/g.head": new Uint8Array([1]),
  "https://example.org/site/bundle/g.gallery": new Uint8Array([2]),
};

test("the files of a gallery lie beside its manifest", async () => {
  const { asked, answer } = await ask(whole, Gallery);
  assert.equal(answer.type, "done");
  assert.deepEqual(answer.value, { encoder: "large", dims: 512, licenses: ["MIT"], items: ITEMS });
  assert.deepEqual(asked.map(([, role]) => role), ["manifest", "head", "gallery"]);
});

test("a gallery that cannot be read is a typed error", async () => {
  const another = await ask({ ...whole, [MANIFEST]: text("{...}") }, Gallery);
  assert.equal(another.answer.error.code, "bundle-schema");
  const { "https://example.org/site/bundle/g.gallery": _, ...part } = whole;
  const missing = await ask(part, Gallery);
  assert.equal(missing.answer.error.code, "http");
});
