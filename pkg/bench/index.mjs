// How long a search of 100,000 texts takes in Node, how long it keeps the event loop at a time, and how long it takes to store such an
// index and to open it again.
//
//     node pkg/bench/index.mjs [texts]        after ./build.sh package

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { CaseLens } from "caselens";
import { filled } from "./rows.mjs";

const COUNT = Number(process.argv[2] ?? 100_000);
const SEARCHES = 30;
const MODEL = fileURLToPath(new URL("../../www/public/models/caselens-csts-q4_0.gguf", import.meta.url));

/** Several times of `work` in ms: the middle and the least; and the middle of the processor's, which other programs do not lengthen. */
async function timed(times, work) {
  const taken = [];
  const computed = [];
  for (let i = 0; i < times; i++) {
    const [start, before] = [performance.now(), process.cpuUsage()];
    await work();
    const { user, system } = process.cpuUsage(before);
    taken.push(performance.now() - start);
    computed.push((user + system) / 1000);
  }
  for (const times of [taken, computed]) times.sort((a, b) => a - b);
  return { middle: taken[times >> 1], least: taken[0], processor: computed[times >> 1] };
}

/** The longest time for which the event loop did nothing else during `work`, in ms. */
async function longestHold(work) {
  let last = performance.now();
  let longest = 0;
  const look = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    timer = setImmediate(look);
  };
  let timer = setImmediate(look);
  await work();
  clearImmediate(timer);
  return Math.max(longest, performance.now() - last);
}

const ms = ({ middle, least, processor }) => `${middle.toFixed(1)} ms (least ${least.toFixed(1)}, processor ${processor.toFixed(1)})`;
const folder = await mkdtemp(path.join(tmpdir(), "caselens-bench-"));
const lens = await CaseLens.load({ model: MODEL, threads: 1 });
console.log(`${COUNT} texts, ${lens.info.dims} dimensions, Node ${process.version}`);
for (const dtype of ["float32", "int8", "binary"]) {
  const bytes = await filled(await lens.index({ condition: "the place", dtype }), COUNT);
  const index = await lens.loadIndex(bytes);
  const query = await lens.embed(["He reads on a bench under trees."], { condition: "the place", dtype });
  const search = () => index.search(query);
  await timed(5, search);
  const file = path.join(folder, dtype);
  console.log(`\n${dtype}, ${(bytes.length / 1e6).toFixed(1)} MB`);
  console.log(`  search by embedding           ${ms(await timed(SEARCHES, search))}`);
  console.log(`  search by text                ${ms(await timed(SEARCHES, () => index.search("He reads on a bench under trees.")))}`);
  console.log(`  search with a filter          ${ms(await timed(SEARCHES, () => index.search(query, { filter: ({ metadata }) => metadata.year === 2010 })))}`);
  console.log(`  longest hold of the thread    ${(await longestHold(search)).toFixed(1)} ms`);
  console.log(`  stored in a file              ${ms(await timed(3, () => index.store(file)))}`);
  console.log(`  opened again                  ${ms(await timed(5, () => lens.openIndex(file)))}`);
  console.log(`  longest hold, opening         ${(await longestHold(() => lens.openIndex(file))).toFixed(1)} ms`);
}
lens.dispose();
await rm(folder, { recursive: true });
