// The README's figures of size, memory and speed: what is downloaded, and what loading and comparing take in a real browser.
//
//     node measure.mjs [--devices wasm,webgpu] [--rounds 9] [--starts 5] [--model FILE]
//
// WebGPU runs on Chromium's software adapter here, whose speed says nothing about a GPU's.

import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants } from "node:zlib";
import { launch, MODEL_FILE, MODELS, openPage, prefixWorker, ROOT, serve, WATCHED_MEMORY, wasmMemory } from "./helpers.mjs";

const { values } = parseArgs({
  options: {
    devices: { type: "string", default: "wasm,webgpu" },
    rounds: { type: "string", default: "9" },
    starts: { type: "string", default: "5" },
    model: { type: "string", default: MODEL_FILE },
  },
});

const SENTENCES = ["She plays chess in the park.", "He plays football in the park."];
const CONDITIONS = ["the place", "the game", "the person"];
/** Seconds that the encoder is on its way in a slow start. */
const SLOW = 3;

const file = values.model;
const headFile = file.replace(/-q\d_\d\.gguf$/, ".head.safetensors");
const { size } = statSync(path.join(MODELS, file));

const dist = path.join(ROOT, "pkg/dist");
const scripts = ["index.js", "worker.js"].map((name) => path.join(dist, name));
const downloads = {
  "wasm module": [path.join(dist, "wasm/relaxed/caselens_bg.wasm")],
  "the same, simd128": [path.join(dist, "wasm/caselens_bg.wasm")],
  "package (js)": scripts,
  encoder: [path.join(MODELS, file)],
  head: [path.join(MODELS, headFile)],
};
for (const [name, files] of Object.entries(downloads)) {
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  // Files are compressed one by one, as servers do.
  const packed = files.reduce((sum, file) => sum + brotliCompressSync(readFileSync(file), {
    params: { [constants.BROTLI_PARAM_QUALITY]: bytes > 10e6 ? 5 : 11 },
  }).byteLength, 0);
  console.log(`${name.padEnd(17)} ${kilobytes(bytes)} kB, brotli ${kilobytes(packed)} kB`);
}

const server = await serve();
await prefixWorker(server, WATCHED_MEMORY);
try {
  for (const device of values.devices.split(",")) {
    const browser = await launch({ webgpu: device === "webgpu" });
    try {
      const page = await openPage(browser, server);
      const load = await page.evaluate(
        async ({ device, ...files }) => {
          const { CaseLens } = await import("/pkg/dist/index.js");
          const [model, head] = [files.file, files.headFile].map((name) => new URL(`/models/${name}`, location.href));
          const started = performance.now();
          window.lens = await CaseLens.load({ device, model, head });
          return performance.now() - started;
        },
        { device, file, headFile },
      );
      const memory = await wasmMemory(page);
      const times = await page.evaluate(
        async ({ sentences, conditions, rounds }) => {
          const times = [];
          for (let i = 0; i < rounds; i++) {
            const started = performance.now();
            await lens.compare(...sentences, conditions);
            times.push(performance.now() - started);
          }
          lens.dispose();
          return times;
        },
        // A software GPU takes seconds a round.
        { sentences: SENTENCES, conditions: CONDITIONS, rounds: device === "webgpu" ? 3 : Number(values.rounds) },
      );
      console.log(
        `${device.padEnd(14)} loads in ${load.toFixed(0)} ms from a local server; one comparison under three conditions ` +
          `${median(times).toFixed(0)} ms (median of ${times.length}; the first ${times[0].toFixed(0)} ms)`,
      );
      console.log(`${"".padEnd(14)} loading takes ${(memory / 1e6).toFixed(1)} MB of wasm memory, ${(memory / size).toFixed(2)} times the encoder`);
    } finally {
      await browser.close();
    }
    for (const [how, rule] of [["", undefined], [`, of which the encoder is on its way for ${SLOW} s`, { rate: size / SLOW }]]) {
      server.rule(`/models/${file}`, rule);
      const times = [];
      for (let i = 0; i < Number(values.starts); i++) times.push(await start(device));
      server.rule(`/models/${file}`, undefined);
      const all = times.map((time) => time.toFixed(0)).join(", ");
      console.log(`${"".padEnd(14)} a new browser has its first embedding after ${median(times).toFixed(0)} ms${how} (median of ${all})`);
    }
  }
} finally {
  await server.close();
}

/** Milliseconds from `load` to the first embedding, in a browser that has kept nothing. */
async function start(device) {
  const browser = await launch({ webgpu: device === "webgpu" });
  try {
    const page = await openPage(browser, server);
    return await page.evaluate(
      async ({ device, file, text }) => {
        const started = performance.now();
        const encoder = await caselens.Encoder.load({ device, model: `/models/${file}` });
        await encoder.embed([text]);
        return performance.now() - started;
      },
      { device, file, text: SENTENCES[0] },
    );
  } finally {
    await browser.close();
  }
}

function median(times) {
  return times.toSorted((a, b) => a - b)[times.length >> 1];
}

function kilobytes(bytes) {
  return (bytes / 1000).toFixed(0).padStart(6);
}
