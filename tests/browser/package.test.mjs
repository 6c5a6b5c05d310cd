// The package in a real browser, on both devices, against other people's numbers and the companion's.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { companion, tinyLens } from "./companion.mjs";
import {
  BASE_FILE,
  cosine,
  EMOJI,
  HEAD_FILE,
  launch,
  MODEL_FILE,
  MODELS,
  NO_RELAXED_SIMD,
  openPage,
  prefixWorker,
  readJson,
  readSafetensors,
  ROOT,
  row,
  serve,
  STOPPED_CLOCK,
} from "./helpers.mjs";

const FIXTURES = path.join(ROOT, "tests/fixtures");
const MODEL = `/models/${MODEL_FILE}`;
/** The encoder that other people's numbers are of. */
const BASE = `/models/${BASE_FILE}`;
/** Cosine between 8-bit and 32-bit embeddings of the same text; relaxed SIMD has seven bits for activations beside q8_0. */
const SAME = 0.998;
const SAME_IN_SEVEN_BITS = 0.996;
const PAIR = ["A woman plays the guitar on a stage.", "A man plays the guitar in his kitchen."];
const CONDITIONS = ["the instrument", "the person", "the place"];
const options = { timeout: 240_000 };

let server;
/** A tiny encoder with a head of two layers: what ships has none. */
let tiny;
before(async () => {
  tiny = await mkdtemp(path.join(tmpdir(), "caselens-tiny-"));
  await tinyLens(tiny);
  server = await serve({ mounts: { "/tiny/": tiny } });
}, options);
after(async () => {
  await server?.close();
  if (tiny) await rm(tiny, { recursive: true, force: true });
});

/** What each device answered to the same comparison. */
const compared = {};

for (const [device, instructions] of [
  ["wasm", "relaxed-simd"],
  ["wasm", "simd128"],
  ["webgpu", null],
]) {
  describe(`on ${device}${instructions ? `, ${instructions}` : ""}`, { concurrency: false }, () => {
    const same = instructions === "relaxed-simd" ? SAME_IN_SEVEN_BITS : SAME;
    let browser;
    let page;
    before(async () => {
      if (instructions === "simd128") await prefixWorker(server, NO_RELAXED_SIMD);
      browser = await launch({ webgpu: device === "webgpu" });
      page = await openPage(browser, server);
      await page.evaluate(
        async ([model, base, device]) => {
          window.encoder = await caselens.Encoder.load({ model: base, device });
          window.lens = await caselens.CaseLens.load({ model, device });
        },
        [MODEL, BASE, device],
      );
    }, options);
    after(() => {
      server.reset();
      return browser?.close();
    });

    /** `Encoder.embed` in the page. */
    const embed = (texts, options) =>
      page.evaluate(
        async ([texts, options]) => Array.from(await encoder.embed(texts, options), (row) => Array.from(row)),
        [texts, options],
      );

    test("info says what is loaded and where it runs", async () => {
      const [bare, full] = await page.evaluate(() => [encoder.info, lens.info]);
      for (const info of [bare, full]) {
        assert.equal(info.device, device);
        assert.equal(typeof info.adapter, device === "webgpu" ? "string" : "object");
        // What is timed is told behind a comma.
        assert.equal(info.instructions?.replace(/, 16-bit sums$/, "") ?? null, instructions);
        assert.match(info.model, /MiniLM/i);
        assert.equal(info.dims, 384);
        assert.ok(info.reason.length > 0);
      }
      assert.deepEqual([bare.weights, full.weights], ["q8_0", "q4_0"]);
      const size = (file) => statSync(path.join(MODELS, file)).size;
      assert.equal(bare.bytes, size(BASE_FILE));
      assert.equal(full.bytes, size(MODEL_FILE) + size(HEAD_FILE));
      assert.ok(size(MODEL_FILE) <= 14e6, "what ships is small");
    });

    test("embeddings are those of sentence-transformers", options, async () => {
      const { texts } = await readJson(path.join(FIXTURES, "minilm/sentence.json"));
      const { embeddings } = await readSafetensors(path.join(FIXTURES, "minilm/sentence.safetensors"));
      const rows = await embed(texts);
      assert.equal(rows.length, texts.length);
      for (const [i, ours] of rows.entries()) {
        if (EMOJI.test(texts[i])) continue;
        assert.equal(ours.length, 384);
        assert.ok(Math.abs(Math.hypot(...ours) - 1) < 1e-4, "unit length");
        const agreement = cosine(ours, row(embeddings, i));
        assert.ok(agreement >= same, `cosine ${agreement} for ${JSON.stringify(texts[i].slice(0, 40))}`);
      }
    });

    test("cls pooling gives the first token's state, mean pooling the mean, at their own length", options, async () => {
      const inputs = await readJson(path.join(FIXTURES, "minilm/hidden.json"));
      const hidden = await readSafetensors(path.join(FIXTURES, "minilm/hidden.safetensors"));
      const single = inputs.flatMap(({ a, b }, n) => (b === null && !EMOJI.test(a) ? [{ text: a, n }] : []));
      assert.ok(single.length > 0);
      const texts = single.map(({ text }) => text);
      const cls = await embed(texts, { pooling: "cls", normalize: false });
      const mean = await embed(texts, { pooling: "mean", normalize: false });
      for (const [i, { n }] of single.entries()) {
        const first = hidden[`positions.${n}`].data.indexOf(0);
        for (const [ours, theirs] of [
          [cls[i], row(hidden[`rows.${n}`], first)],
          [mean[i], hidden[`mean.${n}`].data],
        ]) {
          assert.ok(cosine(ours, theirs) >= same, `cosine ${cosine(ours, theirs)}`);
          assert.ok(Math.abs(Math.hypot(...ours) / Math.hypot(...theirs) - 1) < 0.02, "length");
        }
      }
      const [unit] = await embed(texts.slice(0, 1), { pooling: "cls" });
      assert.ok(Math.abs(Math.hypot(...unit) - 1) < 1e-4);
    });

    test("an explanation ends with what compare gives, and its switches change it", options, async () => {
      const [first, second] = PAIR;
      const { compared, looked, explained, subtracted, bare, refused } = await page.evaluate(
        async ([pair, condition]) => {
          const [compared] = await lens.compare(...pair, [condition]);
          const [looked] = await lens.compare(...pair, [condition], { attention: true });
          const explained = await lens.explain(...pair, `${condition}.`);
          return {
            compared,
            looked,
            explained,
            subtracted: await lens.explain(...pair, condition, { subtract: true, pooling: "condition" }),
            bare: await lens.explain(...pair),
            refused: await failure(lens.explain(...pair, condition, { head: true })),
          };
        },
        [PAIR, CONDITIONS[0]],
      );
      const near = (a, b) => assert.ok(Math.abs(a - b) <= (device === "wasm" ? 0 : 1e-5), `${a}, ${b}`);
      near(explained.similarity, compared.similarity);
      near(explained.rating, compared.rating);
      near(explained.steps[0].cosine, compared.unconditional);
      assert.deepEqual(explained.usual, { orders: ["condition-sentence"], pooling: "all", subtract: false, head: false });
      assert.deepEqual(explained.recipe, explained.usual);
      assert.deepEqual(explained.steps.map(({ name }) => name), ["plain", "joint"]);
      assert.deepEqual(subtracted.steps.map(({ name }) => name), ["plain", "joint", "offset"]);
      assert.equal(Object.keys(subtracted.conditionAlone).length, 384);
      assert.notEqual(subtracted.similarity, explained.similarity);
      assert.deepEqual([bare.condition, bare.recipe, bare.steps.length], [null, null, 1]);
      assert.equal(refused.code, "invalid-argument");

      const [reading] = explained.readings[0];
      const text = ({ part, start, end }) => (part === "condition" ? explained.condition : first).slice(start, end);
      assert.deepEqual(reading.tokens.map(text), ["", "the", "instrument", "", "A", "woman", "plays", "the", "guitar", "on", "a", "stage", ".", ""]);
      assert.deepEqual(reading.tokens.map(({ word }) => word), [undefined, 0, 1, undefined, 0, 1, 2, 3, 4, 5, 6, 7, 8, undefined]);
      assert.deepEqual([reading.attention.length, reading.attention[0].length], [6, 2]);
      for (const row of reading.attention.flat()) near(Math.round(Object.values(row).reduce((sum, weight) => sum + weight) * 1e5), 1e5);
      assert.ok(explained.readings[1][0].tokens.length > second.split(" ").length);

      const { readings, ...rest } = looked;
      assert.deepEqual(Object.keys(rest), Object.keys(compared));
      near(rest.similarity, compared.similarity);
      for (const [at, [read]] of readings.entries()) {
        const { attention, ...same } = explained.readings[at][0];
        assert.deepEqual({ ...read, attention: undefined }, { ...same, attention: undefined });
        assert.equal(read.attention.length, 1, "the last layer alone");
        const weights = (layer) => layer.flatMap((row) => Object.values(row));
        weights(read.attention[0]).forEach((weight, i) => near(weight, weights(attention.at(-1))[i]));
        assert.equal(weights(read.attention[0]).length, weights(attention.at(-1)).length);
      }
    });

    test("an embedding does not depend on what is embedded with it", options, async () => {
      const [alone] = await embed([PAIR[0]]);
      const [, among] = await embed(["dog", PAIR[0], PAIR[1]]);
      assert.ok(cosine(alone, among) > 0.9999);
    });

    test("compare answers as promised, and as the companion", options, async () => {
      const results = await page.evaluate(([pair, conditions]) => lens.compare(...pair, conditions), [PAIR, CONDITIONS]);
      compared[device] = results;
      assert.deepEqual(results.map(({ condition }) => condition), CONDITIONS);
      for (const result of results) {
        const { advice, ...rest } = result;
        assert.deepEqual(advice, result.condition === "the person" ? ["vague"] : undefined);
        assert.deepEqual(Object.keys(rest).sort(), ["condition", "mentioned", "rating", "similarity", "unconditional"]);
        assert.ok(result.similarity >= -1 && result.similarity <= 1);
        assert.ok(result.rating >= 1 && result.rating <= 5);
        assert.equal(result.unconditional, results[0].unconditional);
      }
      // The companion multiplies bytes, as wasm does; a software GPU computes with numbers.
      const tolerance = device === "webgpu" ? 0.02 : 0.01;
      for (const [i, theirs] of companionScores().entries()) {
        for (const field of ["similarity", "unconditional"]) {
          const difference = Math.abs(results[i][field] - theirs[field]);
          assert.ok(difference <= tolerance, `${field} under "${theirs.condition}": ${results[i][field]} here, ${theirs[field]} there`);
        }
        assert.ok(Math.abs(results[i].rating - theirs.rating) <= 4 * tolerance + 0.01, `${results[i].rating} here, ${theirs.rating} there`);
      }
    });

    test("a head with layers answers as the companion", options, async () => {
      const files = { model: "/tiny/tiny.gguf", head: "/tiny/tiny.head" };
      const [results, dim] = await page.evaluate(
        async ([options, pair, conditions]) => {
          const lens = await caselens.CaseLens.load(options);
          const results = await lens.compare(...pair, conditions);
          lens.dispose();
          return [results, lens.info.dims];
        },
        [{ ...files, device }, PAIR, CONDITIONS],
      );
      assert.equal(dim, 16);
      const expected = companionScores(path.join(tiny, "tiny.gguf"), path.join(tiny, "tiny.head"));
      const tolerance = same === SAME ? 0.01 : 0.03;
      for (const [i, { similarity }] of expected.entries()) assert.ok(Math.abs(results[i].similarity - similarity) <= tolerance);
    });

    test("embed gives the vectors that compare compares", options, async () => {
      const { rows, results, dim } = await page.evaluate(
        async ([[a, b], [condition]]) => ({
          rows: Array.from(
            await lens.embed([
              { sentence: a, condition },
              { sentence: b, condition },
              { sentence: a },
              { sentence: b, condition: undefined },
            ]),
            (row) => Array.from(row),
          ),
          results: await lens.compare(a, b, [condition]),
          dim: lens.info.dims,
        }),
        [PAIR, CONDITIONS],
      );
      assert.equal(rows[0].length, dim);
      for (const vector of rows) assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-4, "unit length");
      assert.ok(Math.abs(cosine(rows[0], rows[1]) - results[0].similarity) < 2e-3);
      assert.ok(Math.abs(cosine(rows[2], rows[3]) - results[0].unconditional) < 2e-3);
    });

    test("a condition changes the result", () => {
      const [instrument, person] = compared[device];
      assert.ok(instrument.similarity > person.similarity, "the same instrument, another person");
    });

    if (device === "wasm") {
      test("tokens are those of Hugging Face tokenizers", options, async () => {
        const { cases } = await readJson(path.join(FIXTURES, "tokens.json"));
        const texts = cases.map(({ text, repeat, times }) => text ?? repeat.repeat(times));
        const ids = await page.evaluate(
          async (texts) => (await Promise.all(texts.map((text) => encoder.tokenize(text)))).map((row) => Array.from(row)),
          texts,
        );
        assert.ok(cases.length > 200);
        for (const [i, { minilm }] of cases.entries()) {
          if (EMOJI.test(texts[i])) continue;
          const named = JSON.stringify(texts[i].slice(0, 60));
          if (Array.isArray(minilm)) assert.deepEqual(ids[i], minilm, named);
          else {
            assert.equal(ids[i].length, minilm.count, named);
            assert.equal(sha256(Uint32Array.from(ids[i])), minilm.sha256, named);
          }
        }
      });

      test("without an adapter, auto takes the CPU and says why", options, async () => {
        const info = await page.evaluate(async (model) => {
          const encoder = await caselens.Encoder.load({ model });
          encoder.dispose();
          return encoder.info;
        }, MODEL);
        assert.equal(info.device, "wasm");
        assert.match(info.reason, /adapter|WebGPU/i);
      });
    } else {
      /** What `auto` chose; with `code` at the beginning of its worker. */
      const auto = async (code) => {
        if (code) await prefixWorker(server, code);
        const fresh = await openPage(browser, server); // in a context whose cache has no worker
        const info = await fresh.evaluate(async (model) => {
          const encoder = await caselens.Encoder.load({ model, device: "auto" });
          encoder.dispose();
          return encoder.info;
        }, MODEL);
        await fresh.context().close();
        server.reset();
        return info;
      };

      test("auto takes an adapter that is not slower than the CPU, and says why", options, async () => {
        const info = await auto(STOPPED_CLOCK);
        assert.equal(info.device, "webgpu");
        assert.match(info.reason, /0 ms/);
      });

      test("auto leaves a software adapter for the faster CPU, and says why", options, async () => {
        const info = await auto();
        assert.equal(info.device, "wasm");
        assert.match(info.reason, /faster: \d+ texts take \d+ ms on the CPU and \d+ ms on WebGPU/);
      });
    }

    test("nothing was complained about", () => assert.deepEqual(page.problems, []));
  });
}

test("several workers give what one gives, and start when there is something to share", options, async () => {
  const browser = await launch();
  try {
    const page = await openPage(browser, server);
    const load = (threads) =>
      page.evaluate(async (threads) => {
        const bytes = new Uint8Array(await (await fetch("/tiny/tiny.gguf")).arrayBuffer());
        window.encoder = await caselens.Encoder.load({ model: bytes, device: "wasm", threads });
        return encoder.info.threads;
      }, threads);
    const embed = () =>
      page.evaluate(async () => {
        const texts = Array.from({ length: 300 }, (_, i) => `a dog by river ${i} `.repeat(1 + (i % 7)));
        return Array.from(await encoder.embed(texts), (row) => Array.from(row));
      });
    assert.equal(await load(1), 1);
    const one = await embed();
    assert.equal(page.workers().length, 1);

    assert.equal(await load(3), 3);
    assert.equal(page.workers().length, 2, "one worker each");
    assert.deepEqual(await embed(), one);
    for (let i = 0; i < 100 && page.workers().length < 4; i++) await page.waitForTimeout(20);
    assert.equal(page.workers().length, 4);
    assert.deepEqual(await embed(), one);
    await page.evaluate(() => encoder.dispose());
    for (let i = 0; i < 100 && page.workers().length > 1; i++) await page.waitForTimeout(20);
    assert.equal(page.workers().length, 1, "the first encoder's");
    assert.deepEqual(page.problems, []);
  } finally {
    await browser.close();
  }
});

test("both devices give the same numbers", () => {
  assert.ok(compared.wasm && compared.webgpu, "both have answered");
  for (const [i, onCpu] of compared.wasm.entries()) {
    for (const field of ["similarity", "unconditional"]) {
      const difference = Math.abs(onCpu[field] - compared.webgpu[i][field]);
      assert.ok(difference <= 0.01, `${field} under "${onCpu.condition}" differs by ${difference}`);
    }
  }
});

/** What `caselens score` says about the pair. */
function companionScores(model = path.join(MODELS, MODEL_FILE), head = path.join(MODELS, HEAD_FILE)) {
  const input = CONDITIONS.map((condition) => JSON.stringify({ sentence1: PAIR[0], sentence2: PAIR[1], condition })).join("\n");
  const lines = companion(["score", "--json", "--model", model, "--head", head], `${input}\n`).trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

function sha256(ids) {
  return createHash("sha256").update(new Uint8Array(ids.buffer)).digest("hex");
}
