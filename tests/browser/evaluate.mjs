// Scores a C-STS file in a real browser: the package computes the similarities, the companion the metrics.

import { spawnSync } from "node:child_process";
import { createReadStream, existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { parse } from "csv-parse";
import { COMPANION, HEAD_FILE, launch, MODEL_FILE, MODELS, openPage, serve } from "./helpers.mjs";

const USAGE = `Scores the rows of a C-STS file with the npm package in headless Chromium.

  node evaluate.mjs --data FILE.csv --device wasm|webgpu [--limit N] [--model FILE|URL] [--head FILE|URL] [--json]

  --data    CSV with the columns sentence1, sentence2, condition, label
  --device  where the browser computes; webgpu is a software GPU here, and slow
  --limit   the first N rows alone
  --model   the encoder [default: what ships with the demo]
  --head    its head [default: what ships with the demo]
  --json    print what \`caselens evaluate --json\` prints, with "device" and "seconds" added

The companion is target/release/caselens; CASELENS names another one.`;

/** Comparisons handed to the page at a time, for the progress line. */
const BATCH = 8;

class UsageError extends Error {}

async function main() {
  const { data, device, limit, model, head, json } = options();
  const rows = await readRows(data, limit);
  const groups = groupByPair(rows);

  const started = performance.now();
  const similarities = await scoreInBrowser(groups, rows.length, { device, model, head });
  const seconds = (performance.now() - started) / 1000;

  const report = await evaluate(similarities, { data, limit, head });
  const result = { ...report, device, seconds: Math.round(seconds * 10) / 10 };
  if (json) console.log(JSON.stringify(result));
  else console.log(result);
}

function options() {
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        data: { type: "string" },
        device: { type: "string" },
        limit: { type: "string" },
        model: { type: "string" },
        head: { type: "string" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const { data, device, limit } = values;
  if (!data) throw new UsageError("--data FILE.csv is missing.");
  if (!existsSync(data)) throw new UsageError(`There is no file ${data}.`);
  if (device !== "wasm" && device !== "webgpu") throw new UsageError('--device must be "wasm" or "webgpu".');
  if (limit !== undefined && !/^[1-9]\d*$/.test(limit)) throw new UsageError("--limit must be a positive whole number.");
  return { ...values, limit: limit === undefined ? undefined : Number(limit) };
}

/** The first `limit` data rows, those without a valid label included: similarities are one a row. */
async function readRows(file, limit) {
  const rows = [];
  const parser = createReadStream(file).pipe(parse({ columns: true, bom: true, ...(limit && { to: limit }) }));
  for await (const row of parser) {
    for (const column of ["sentence1", "sentence2", "condition", "label"]) {
      if (row[column] === undefined) throw new UsageError(`${file} has no column \`${column}\`.`);
    }
    rows.push(row);
  }
  return rows;
}

/** Consecutive rows about the same two sentences become one comparison. Rows labelled −1 (invalid) are passed over. */
function groupByPair(rows) {
  const groups = [];
  for (const [index, { sentence1, sentence2, condition, label }] of rows.entries()) {
    if (Number(label) === -1) continue;
    let group = groups.at(-1);
    if (group?.sentence1 !== sentence1 || group.sentence2 !== sentence2) {
      group = { sentence1, sentence2, conditions: [], rows: [] };
      groups.push(group);
    }
    group.conditions.push(condition);
    group.rows.push(index);
  }
  return groups;
}

/** One similarity a row; 0 for rows that were passed over, which the companion leaves out. */
async function scoreInBrowser(groups, count, { device, model, head }) {
  const [modelUrl, modelMount] = place(model ?? path.join(MODELS, MODEL_FILE), "/model/");
  const [headUrl, headMount] = place(head ?? path.join(MODELS, HEAD_FILE), "/head/");
  const server = await serve({ mounts: { ...modelMount, ...headMount } });
  const browser = await launch({ webgpu: device === "webgpu" });
  try {
    const page = await openPage(browser, server);
    await page.evaluate(
      async (options) => {
        window.lens = await caselens.CaseLens.load(options);
      },
      { model: modelUrl, head: headUrl, device },
    );
    const similarities = new Array(count).fill(0);
    const total = groups.reduce((sum, { rows }) => sum + rows.length, 0);
    const started = performance.now();
    let done = 0;
    for (let at = 0; at < groups.length; at += BATCH) {
      const batch = groups.slice(at, at + BATCH);
      const answers = await page.evaluate(
        (batch) =>
          Promise.all(
            batch.map(async ({ sentence1, sentence2, conditions }) =>
              (await lens.compare(sentence1, sentence2, conditions)).map(({ similarity }) => similarity),
            ),
          ),
        batch,
      );
      for (const [i, { rows }] of batch.entries()) {
        for (const [j, row] of rows.entries()) similarities[row] = answers[i][j];
        done += rows.length;
      }
      const perSecond = done / ((performance.now() - started) / 1000);
      progress(`${done} of ${total} rows, ${perSecond.toFixed(1)} a second`);
    }
    progress();
    return similarities;
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Where the page finds a file: its URL, and the folder to serve for it. */
function place(file, prefix) {
  if (/^https?:/.test(file)) return [file, {}];
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}. \`./build.sh\` makes what ships with the demo.`);
  return [prefix + encodeURIComponent(path.basename(file)), { [prefix]: path.dirname(path.resolve(file)) }];
}

/** The companion's report on the similarities. */
async function evaluate(similarities, { data, limit, head }) {
  const folder = await mkdtemp(path.join(tmpdir(), "caselens-evaluate-"));
  try {
    const file = path.join(folder, "similarities.jsonl");
    await writeFile(file, similarities.map((similarity) => `${JSON.stringify({ similarity })}\n`).join(""));
    const args = ["evaluate", "--data", data, "--similarities", file, "--json"];
    if (limit) args.push("--limit", String(limit));
    if (head && !/^https?:/.test(head)) args.push("--head", head); // for the condition-only baseline that it carries
    const { status, stdout, stderr, error } = spawnSync(COMPANION, args, { encoding: "utf8" });
    if (error) throw new UsageError(`${COMPANION} could not be started (${error.code}). Build it: cargo build --release`);
    if (status !== 0) throw new UsageError(stderr.trim());
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Rewrites the progress line; ends it when there is nothing to say. */
function progress(text) {
  if (!process.stderr.isTTY) return text && process.stderr.write(`${text}\n`);
  process.stderr.write(text ? `\r\x1b[K${text}` : "\n");
}

main().catch((error) => {
  console.error(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : error);
  process.exit(error instanceof UsageError ? 2 : 1);
});
