// Makes what the page shows of its examples until the model is there, and what it says of pairs that the model gets wrong:
// www/src/state/stored.json, by the encoder that ships.
//
//     node answers.mjs

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { HEAD_FILE, MODEL_FILE, MODELS, ROOT } from "./helpers.mjs";
import { pageModules } from "./pageModules.mjs";

export const STORED = path.join(ROOT, "www/src/state/stored.json");

/** The beginning of a file's SHA-256, by which the page knows that the answers are this encoder's. */
const markOf = async (name) => createHash("sha256").update(await readFile(path.join(MODELS, name))).digest("hex").slice(0, 16);

/** What the encoder that ships says of the examples and the failures, as stored.json has it. */
export async function answers() {
  const { CaseLens } = await import("../../pkg/dist/node.js");
  const { modules, remove } = await pageModules(["state/examples", "state/failures", "state/words"]);
  const lens = await CaseLens.load({ model: path.join(MODELS, MODEL_FILE), device: "wasm" });
  try {
    const hundredths = (number) => Math.round(100 * number);
    const sharesOf = (sentence, readings) => modules.words.attended(sentence, readings, 0).pieces.flatMap(({ share }) => (share === undefined ? [] : [hundredths(share)]));
    const examples = [];
    for (const { sentences, conditions } of modules.examples.examples) {
      const found = await lens.compare(...sentences, conditions, { attention: true });
      examples.push({
        unconditional: Math.round(10_000 * found[0].unconditional),
        answers: found.map(({ similarity, rating, mentioned, readings }) => ({
          similarity: Math.round(10_000 * similarity),
          rating: hundredths(rating),
          mentioned: mentioned.map(hundredths),
          shares: sentences.map((sentence, i) => sharesOf(sentence, readings[i])),
        })),
      });
    }
    const failures = [];
    for (const { sentences, condition } of modules.failures.failures) {
      const [{ similarity }] = await lens.compare(...sentences, [condition]);
      failures.push(Math.round(10_000 * similarity));
    }
    return { encoder: await markOf(MODEL_FILE), head: await markOf(HEAD_FILE), threshold: hundredths(lens.info.mentioned.threshold), examples, failures };
  } finally {
    lens.dispose();
    await remove();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await writeFile(STORED, `${JSON.stringify(await answers())}\n`);
