// Lists in a real browser: searched, grouped and mapped under conditions; and conditions suggested.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { launch, MODEL_FILE, openPage, ROOT, serve } from "./helpers.mjs";

const options = { timeout: 240_000 };
let server;
let browser;
let page;
let captions;
before(async () => {
  captions = (await readFile(path.join(ROOT, "www/src/list/captions.txt"), "utf8")).trim().split("\n");
  server = await serve();
  browser = await launch();
  page = await openPage(browser, server);
  await page.evaluate(
    async ([model, captions]) => {
      window.lens = await caselens.CaseLens.load({ model, device: "wasm", threads: 2 });
      window.captions = captions;
    },
    [`/models/${MODEL_FILE}`, captions],
  );
}, options);
after(async () => {
  await browser?.close();
  await server?.close();
});

test("search finds what is alike under the condition", options, async () => {
  const [byAnimal, byPlace] = await page.evaluate(async () => {
    const query = "A dog lies on the beach.";
    const byAnimal = await lens.search(query, captions, { condition: "the animal", limit: 4 });
    return [byAnimal, await lens.search(query, captions, { condition: "the place", limit: 4 })];
  });
  const dogs = /dog|puppy/;
  assert.ok(byAnimal.filter(({ text }) => dogs.test(text)).length >= 3, JSON.stringify(byAnimal));
  assert.ok(byPlace.filter(({ text }) => /sea|surfer|beach|sand|shore|waves|net/.test(text)).length >= 3, JSON.stringify(byPlace));
  for (const { index, text } of byAnimal) assert.equal(captions[index], text);
});

test("groups and the map follow the condition, the same way every time", options, async () => {
  const { first, again, turned, grouped } = await page.evaluate(async () => {
    const condition = "the number of people";
    const plain = ({ groups, labels, points, silhouette }) => ({ groups, labels: [...labels], points: [...points], silhouette });
    const whole = await lens.cluster(captions, { condition });
    const again = await lens.cluster(captions, { condition, embeddings: whole.embeddings });
    const turned = await lens.cluster(captions, { condition, previous: whole.points.map((x, i) => (i % 2 ? -x : x)), groups: 2 });
    const grouped = await lens.cluster(captions, { condition, groups: 5, embeddings: whole.embeddings });
    return { first: plain(whole), again: plain(again), turned: plain(turned), grouped: grouped.groups.filter(({ unmentioned }) => !unmentioned).length };
  });
  assert.deepEqual(again, first);
  assert.equal(grouped, 5);
  // Captions of two people are one group, whatever the two do.
  const groupOf = (start) => first.labels[captions.findIndex((caption) => caption.startsWith(start))];
  assert.equal(groupOf("Two hikers"), groupOf("Two surgeons"));
  assert.notEqual(groupOf("Two hikers"), groupOf("A potter"));
  const sizes = first.groups.map(({ members }) => members.length);
  assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a));
  assert.equal(sizes.reduce((a, b) => a + b), captions.length);
  for (const [i, { center, members }] of first.groups.entries()) {
    assert.equal(members[0].index, center);
    for (const { index } of members) assert.equal(first.labels[index], i);
  }
  // Mirrored before, mirrored after.
  for (const [i, x] of turned.points.entries()) assert.ok(Math.abs(x - (i % 2 ? -first.points[i] : first.points[i])) < 1e-3);
});

test("a thousand texts are read in parts that can be aborted, and progress rises", options, async () => {
  const { seen, error, after, frames } = await page.evaluate(async () => {
    const texts = Array.from({ length: 1000 }, (_, i) => `${captions[i % captions.length]} ${i}`);
    const controller = new AbortController();
    const seen = [];
    const onProgress = ({ progress }) => {
      seen.push(progress);
      if (progress > 0.1) controller.abort();
    };
    const error = await failure(lens.cluster(texts, { condition: "the place", signal: controller.signal, onProgress }));
    const after = await lens.search("a", captions.slice(0, 3), {});

    // Vectors of a thousand texts are grouped without the page waiting for it.
    const data = Float32Array.from({ length: 1000 * 384 }, (_, i) => Math.sin(i * i));
    const embeddings = new caselens.Embeddings({ dtype: "float32", data, length: 1000, dims: 384 });
    let frames = 0;
    let counting = true;
    requestAnimationFrame(function count() {
      frames += 1;
      if (counting) requestAnimationFrame(count);
    });
    const { groups } = await lens.cluster(texts, { embeddings });
    counting = false;
    return { seen, error, after: after.length, frames: groups.length > 1 && frames };
  });
  assert.equal(error.name, "AbortError");
  assert.deepEqual(seen, [...seen].sort((a, b) => a - b));
  assert.equal(after, 3);
  assert.ok(frames > 0);
});

test("a search and suggestions say how far they are, and stop when they are aborted", options, async () => {
  const seen = await page.evaluate(async () => {
    const texts = Array.from({ length: 200 }, (_, i) => `${captions[i % captions.length]} ${i}`);
    const pair = ["She plays chess in the park", "He plays football in the park"];
    /** What is told of a call, and how it ends; `stopped` aborts it when it is first told of. */
    const told = async (call, stopped) => {
      const controller = new AbortController();
      const seen = [];
      const onProgress = ({ phase, progress }) => {
        seen.push(progress);
        if (phase !== "embed") seen.push(phase);
        if (stopped) controller.abort();
      };
      const { code, name } = await failure(call({ signal: controller.signal, onProgress }));
      return { ended: name ?? code, seen };
    };
    const search = (options) => lens.search("a dog", texts, options);
    const suggest = (options) => lens.suggest(...pair, options);
    return { whole: [await told(search), await told(suggest)], stopped: [await told(search, true), await told(suggest, true)] };
  });
  for (const { ended, seen: shares } of seen.whole) {
    assert.equal(ended, "no-error");
    assert.ok(shares.length > 2 && shares[0] > 0 && shares.at(-1) === 1, `${shares}`);
    assert.deepEqual(shares, [...new Set(shares)].sort((a, b) => a - b), "it rises, and is 1 once");
  }
  for (const { ended, seen: shares } of seen.stopped) {
    assert.equal(ended, "AbortError");
    assert.equal(shares.length, 1, "nothing is told of an aborted call");
    assert.ok(shares[0] < 1);
  }
});

test("suggestions tell apart what the sentences tell apart", options, async () => {
  const suggested = await page.evaluate(() =>
    lens.suggest("She plays chess in the park", "He plays football in the park", { conditions: ["the game"], limit: 10 }),
  );
  assert.ok(suggested.length > 5 && suggested.length <= 10, JSON.stringify(suggested));
  for (const unsaid of ["the weather", "the opinion", "the problem"]) assert.ok(!suggested.some(({ condition }) => condition === unsaid), unsaid);
  const place = suggested.find(({ condition }) => condition === "the place");
  assert.ok(place.similarity > 0.8, JSON.stringify(suggested));
  assert.ok(suggested.some(({ similarity }) => similarity < 0.3));
  const errors = await page.evaluate(() => Promise.all([failure(lens.suggest("", "b")), failure(lens.cluster([])), failure(lens.search("a", ["b", ""]))]));
  assert.deepEqual(errors.map(({ code, typed }) => [code, typed]), [["empty-text", true], ["invalid-argument", true], ["empty-text", true]]);
  assert.deepEqual(page.problems, []);
});
