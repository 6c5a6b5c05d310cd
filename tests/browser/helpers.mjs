// What every browser test needs: a real Chromium (`launch`) and a small static server (`serve`) that can
// also misbehave on request, so that slow, cut, missing and dropped downloads are tested for real.

import { createHash } from "node:crypto";
import { readFileSync, existsSync, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, open, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

/** The repository's root folder. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Folder of the encoder and the head that ship. */
export const MODELS = path.join(ROOT, "www/public/models");
export const MODEL_FILE = "caselens-csts-q4_0.gguf";
export const HEAD_FILE = "caselens-csts.head.safetensors";
/** In texts that encoders are given otherwise than other programs do: emoji are read by their names. */
export const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u;
/** all-MiniLM-L6-v2 as published, in the same folder: `./build.sh setup` makes it. */
export const BASE_FILE = "all-MiniLM-L6-v2-q8_0.gguf";
/** The companion program. `CASELENS` names another one. */
export const COMPANION = process.env.CASELENS ?? path.join(ROOT, "target/release/caselens");

/** Switches of a Chromium that does nothing by itself. */
export const QUIET = [
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** Chromium's software WebGPU adapter: exact enough to test with, far too slow to time. */
const SOFTWARE_WEBGPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

/**
 * Starts a headless Chromium: `CHROMIUM_PATH`, else /usr/bin/chromium.
 * @param {{ webgpu?: boolean, args?: string[] }} options `webgpu` gives the browser a software GPU; without it there is none.
 * @returns {Promise<import("playwright-core").Browser>} close it in `after()`.
 */
export async function launch({ webgpu = false, args = [] } = {}) {
  const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(`No browser at ${executablePath}. Install Chromium (apt-get install chromium) or set CHROMIUM_PATH.`);
  }
  return chromium.launch({
    executablePath,
    args: ["--no-sandbox", ...QUIET, ...(webgpu ? SOFTWARE_WEBGPU : []), ...args],
  });
}

/**
 * A head's file with what tells mentions in it, and no layers: the probability of everything is 1 / (1 + e^-`bias`), if there are no weights.
 * @param {Buffer} head safetensors
 * @param {number} dims numbers of an embedding
 * @param {number} bias
 * @param {(d: number) => number} weight of each number of an embedding
 */
export function mentioning(head, dims, bias, weight = () => 0) {
  const { __metadata__ } = JSON.parse(head.subarray(8, 8 + Number(head.readBigUInt64LE())).toString());
  const numbers = Float32Array.from({ length: dims + 1 }, (_, d) => (d < dims ? weight(d) : bias));
  const tensor = (shape, from) => ({ dtype: "F32", shape: [shape], data_offsets: [4 * from, 4 * (from + shape)] });
  return safetensors({ __metadata__, "mentioned.weight": tensor(dims, 0), "mentioned.bias": tensor(1, dims) }, Buffer.from(numbers.buffer));
}

/** A head's file without what tells mentions, whose long texts are cut. It has no layers. */
export function withoutMentions(head) {
  const { __metadata__: described } = JSON.parse(head.subarray(8, 8 + Number(head.readBigUInt64LE())).toString());
  const { mentioned, ...rest } = JSON.parse(described["caselens.head"]);
  return safetensors({ __metadata__: { "caselens.head": JSON.stringify(rest) } }, Buffer.alloc(0));
}

/**
 * The built demo as a build with these models would be: a copy of it, which says of each file what it holds. The page refuses every
 * other file under such a name.
 * @param {Record<string, Buffer>} models by their names
 * @returns {Promise<string>} its folder
 */
async function siteWith(models) {
  const [dist, site] = [path.join(ROOT, "www/dist"), await mkdtemp(path.join(tmpdir(), "caselens-site-"))];
  const left = new Set(["models", "api"]);
  await cp(dist, site, { recursive: true, filter: (file) => !left.has(path.relative(dist, file)) });
  await mkdir(path.join(site, "models"));
  const sumOf = (bytes) => createHash("sha256").update(bytes).digest("hex");
  const sums = [];
  for (const name of await readdir(path.join(dist, "models"))) {
    const there = path.join(dist, "models", name);
    if (models[name]) sums.push([sumOf(await readFile(there)), sumOf(models[name])]);
    else await symlink(there, path.join(site, "models", name));
  }
  for (const [name, bytes] of Object.entries(models)) await writeFile(path.join(site, "models", name), bytes);
  for (const name of await readdir(path.join(site, "assets"))) {
    if (!name.endsWith(".js")) continue;
    const file = path.join(site, "assets", name);
    const code = await readFile(file, "utf8");
    const changed = sums.reduce((text, [was, is]) => text.replaceAll(was, is).replaceAll(`?v=${was.slice(0, 8)}`, `?v=${is.slice(0, 8)}`), code);
    if (changed !== code) await writeFile(file, changed);
  }
  return site;
}

function safetensors(header, data) {
  let json = JSON.stringify(header);
  json = json.padEnd(8 * Math.ceil(Buffer.byteLength(json) / 8));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(Buffer.byteLength(json)));
  return Buffer.concat([size, Buffer.from(json), data]);
}

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
};

/** A page with nothing on it: the place from which tests import the package. */
const BLANK = '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>blank</title>';

/**
 * How the server treats a path from now on. All fields are optional and can be combined.
 * @typedef {object} Rule
 * @property {number} [status] answer with this status and no file.
 * @property {number} [delay] wait this many ms before the first byte.
 * @property {Promise<void>} [until] wait for this before the first byte.
 * @property {number} [rate] send at most this many bytes a second.
 * @property {number} [cut] send only this many bytes under the full Content-Length, then break the connection.
 * @property {boolean} [drop] break the connection before any answer.
 * @property {Buffer | string} [body] send this in place of the file.
 * @property {boolean} [chunked] send no Content-Length.
 * @property {Record<string, string>} [headers] added to, or replacing, the usual headers.
 */

/**
 * Serves folders on 127.0.0.1. The first mount that matches a path's beginning wins; `/blank.html` is always there,
 * and by default the package lies under `/pkg/` and the models under `/models/`.
 *
 * @param {{ mounts?: Record<string, string>, fallback?: string, port?: number, headers?: Record<string, string> }} options
 *   `mounts` maps URL prefixes to folders and is added to the default ones; `fallback` is a file answered with
 *   status 200 for every path that does not exist, as servers of single-page apps do; `headers` go with every file.
 */
export async function serve({ mounts = {}, fallback, port = 0, headers = {} } = {}) {
  const folders = Object.entries({
    "/pkg/": path.join(ROOT, "pkg"),
    "/models/": MODELS,
    "/fixtures/": path.join(ROOT, "tests/fixtures"),
    ...mounts,
  }).sort(([a], [b]) => b.length - a.length);
  /** Folders that were made for it. */
  const sites = [];
  /** `finished`: all was sent; `left`: the browser broke off before. @type {{ method: string, path: string, finished: boolean, left: boolean }[]} */
  const requests = [];
  /** @type {Map<string, Rule>} */
  const rules = new Map();

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const entry = { method: request.method ?? "GET", path: url.pathname, finished: false, left: false };
    requests.push(entry);
    response.on("finish", () => (entry.finished = true));
    response.on("close", () => (entry.left = !entry.finished));
    answer(url, request, response).catch(() => response.destroy());
  });

  async function answer(url, request, response) {
    const rule = rules.get(url.pathname) ?? {};
    if (rule.drop) return response.destroy();
    if (rule.delay) await pause(rule.delay);
    await rule.until;
    if (rule.status) return response.writeHead(rule.status, { "Content-Type": "text/plain" }).end(`status ${rule.status}`);

    let file = locate(folders, decodeURIComponent(url.pathname));
    let body = rule.body === undefined ? undefined : Buffer.from(rule.body);
    if (url.pathname === "/blank.html") body ??= Buffer.from(BLANK);
    if (!body && !file && fallback) file = fallback;
    if (!body && !file) return response.writeHead(404, { "Content-Type": "text/plain" }).end("not found");

    const size = body ? body.length : statSync(file).size;
    const type = TYPES[path.extname(file ?? url.pathname)] ?? "application/octet-stream";
    response.writeHead(200, {
      "Content-Type": type,
      // Code may be kept by the browser, so that a page that has run once runs with the server gone.
      "Cache-Control": type.includes("html") || type === "application/octet-stream" ? "no-store" : "max-age=3600",
      ...headers,
      ...(rule.chunked ? {} : { "Content-Length": size }),
      ...rule.headers,
    });
    if (request.method === "HEAD") return response.end();
    const end = Math.min(rule.cut ?? size, size);
    await pipeline(Readable.from(pieces(file, body, end, rule.rate)), response, { end: false });
    if (rule.cut !== undefined && rule.cut < size) {
      await pause(50); // lets what was written leave before the connection breaks
      return response.destroy();
    }
    response.end();
  }

  await new Promise((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    /** For example `http://127.0.0.1:40123`. */
    origin,
    /** A page with nothing on it. */
    blank: `${origin}/blank.html`,
    /** Every request since the start, or since `requests.length = 0`. */
    requests,
    /** How many requests a path has had. */
    count: (pathname) => requests.filter((request) => request.path === pathname).length,
    /** Sets how a path behaves; `undefined` makes it behave again. @param {string} pathname @param {Rule | undefined} rule */
    rule: (pathname, rule) => void (rule ? rules.set(pathname, rule) : rules.delete(pathname)),
    /** Serves, from now on, the demo as a build with these models would be. @param {string} prefix @param {Record<string, Buffer>} models */
    siteWith: async (prefix, models) => {
      const site = await siteWith(models);
      sites.push(site);
      folders.unshift([prefix, site]);
    },
    /** Forgets all rules and requests. */
    reset: () => {
      rules.clear();
      requests.length = 0;
    },
    /** Stops the server and breaks what is still open. */
    close: async () => {
      await new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      for (const site of sites) await rm(site, { recursive: true, force: true });
    },
  };
}

/** The file of a URL path, or undefined when there is none inside the mounted folders. */
function locate(folders, pathname) {
  for (const [prefix, folder] of folders) {
    if (!pathname.startsWith(prefix)) continue;
    let file = path.join(folder, path.normalize(`/${pathname.slice(prefix.length)}`));
    if (pathname.endsWith("/")) file = path.join(file, "index.html");
    return existsSync(file) && statSync(file).isFile() ? file : undefined;
  }
  return undefined;
}

/** The first `end` bytes of a body or a file, in pieces; at most `rate` bytes a second. */
async function* pieces(file, body, end, rate) {
  const step = rate ? Math.max(1, Math.round(rate / 20)) : 1 << 18;
  const handle = body ? undefined : await open(file);
  try {
    for (let at = 0; at < end; at += step) {
      const length = Math.min(step, end - at);
      yield body ? body.subarray(at, at + length) : (await handle.read(Buffer.allocUnsafe(length), 0, length, at)).buffer;
      if (rate) await pause(50);
    }
  } finally {
    await handle?.close();
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Opens an address in a page of its own. Console errors and crashes are kept in `page.problems`, warnings in `page.warnings`. */
export async function visit(context, address) {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.problems = [];
  page.warnings = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") page.problems.push(message.text());
    if (message.type() === "warning") page.warnings.push(message.text());
  });
  await page.goto(address);
  return page;
}

/**
 * Opens a blank page with the package in it: `window.caselens` is the module, `window.failure(promise)` waits for
 * a rejection and gives `{ code, message, name, cause, typed }`.
 */
export async function openPage(browser, server, { context } = {}) {
  const page = await visit(context ?? (await browser.newContext()), server.blank);
  await page.evaluate(async (entry) => {
    window.caselens = await import(entry);
    window.failure = async (promise) => {
      try {
        await promise;
      } catch (error) {
        return {
          code: error.code,
          message: error.message,
          name: error.name,
          cause: error.cause === undefined ? undefined : String(error.cause),
          typed: error instanceof window.caselens.CaseLensError,
        };
      }
      return { code: "no-error", message: "the promise was fulfilled" };
    };
  }, `${server.origin}/pkg/dist/index.js`);
  return page;
}

/**
 * From now on the worker of the package begins with these lines of JavaScript, for what no option can bring about.
 * @param {string} code
 */
export async function prefixWorker(server, code) {
  const worker = await readFile(path.join(ROOT, "pkg/dist/worker.js"), "utf8");
  server.rule("/pkg/dist/worker.js", { body: `${code}\n${worker}`, headers: { "Content-Type": "text/javascript", "Cache-Control": "no-store" } });
}
/** Before a clock that stands still every device is as fast as any other: `auto` takes even a software GPU then. */
export const STOPPED_CLOCK = "performance.now = () => 0;";
/** For {@link wasmMemory}: the worker answers with the size of its module's memory. */
export const WATCHED_MEMORY = `{
  const instantiate = WebAssembly.instantiateStreaming;
  WebAssembly.instantiateStreaming = async (...given) => {
    const made = await instantiate(...given);
    const channel = new BroadcastChannel("wasm memory");
    channel.onmessage = () => channel.postMessage(made.instance.exports.memory.buffer.byteLength);
    return made;
  };
}`;
/** Bytes of the memory of a module that is loaded in the page. It never shrinks: this is the most that was needed so far. */
export function wasmMemory(page) {
  return page.evaluate(() => new Promise((resolve) => {
    const channel = new BroadcastChannel("wasm memory");
    channel.onmessage = ({ data }) => {
      channel.close();
      resolve(data);
    };
    channel.postMessage("how much?");
  }));
}
/** For {@link watchGpu}: the worker tells what it asks of the GPU. */
export const WATCHED_GPU = `{
  const channel = new BroadcastChannel("gpu");
  const watched = { GPU: ["requestAdapter"], GPUDevice: ["createComputePipeline", "destroy"], GPUQueue: ["submit"] };
  for (const [type, methods] of Object.entries(watched)) {
    for (const name of methods) {
      const { prototype } = globalThis[type];
      const method = prototype[name];
      prototype[name] = function (...given) {
        channel.postMessage({ name, label: given[0]?.label });
        return method.apply(this, given);
      };
    }
  }
}`;
/** From now on `window.gpu` lists what workers ask of the GPU: methods, and the labels of what they make. */
export function watchGpu(page) {
  return page.evaluate(() => {
    window.gpu = [];
    new BroadcastChannel("gpu").onmessage = ({ data }) => gpu.push(data);
  });
}
/** For `page.evaluate`: what sticks out of the page, and lies in nothing that is made to scroll or to cut. */
export function stickingOut() {
  const overflow = (element) => getComputedStyle(element).overflowX;
  const isHeld = (element) => element !== document.body && (overflow(element) !== "visible" || isHeld(element.parentElement));
  const isOut = (element) => {
    const { left, right, width } = element.getBoundingClientRect();
    return width > 0 && (left < -1 || right > innerWidth + 1) && !isHeld(element.parentElement);
  };
  const shown = [...document.body.querySelectorAll("*")].filter((element) => element.checkVisibility());
  const named = (element) => `${element.localName}.${element.getAttribute("class") ?? ""}: ${element.textContent.trim().slice(0, 40)}`;
  return shown.filter(isOut).map(named);
}

/** Waits until a question to the page, which may take time, is answered with yes: `waitForFunction` takes its promise for one. */
export async function until(page, question, argument, patience = 60_000) {
  const end = Date.now() + patience;
  while (!(await page.evaluate(question, argument))) {
    if (Date.now() > end) throw new Error(`not in ${patience} ms: ${question}`);
    await page.waitForTimeout(50);
  }
}

/** A browser without relaxed SIMD. */
export const NO_RELAXED_SIMD = `{
  const { validate } = WebAssembly;
  const relaxedDot = "253,147,2"; // in the module that asks for it
  WebAssembly.validate = (bytes) => !bytes.join().includes(relaxedDot) && validate.call(WebAssembly, bytes);
}`;

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** What axe finds on a page, or in the part of it that a selector names, in words. A strict policy of the page is none for it. */
export async function violations(page, part = ":root") {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  return page.evaluate(async (part) => {
    const { violations } = await window.axe.run(part, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`));
  }, part);
}

/** A JSON file, parsed. */
export async function readJson(file) {
  return JSON.parse(await readFile(file, "utf8"));
}

/** The tensors of a safetensors file of f32 and u32 values: name → { shape, data }. */
export async function readSafetensors(file) {
  const bytes = await readFile(file);
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  const { __metadata__, ...tensors } = JSON.parse(bytes.subarray(8, start).toString());
  const entries = Object.entries(tensors).map(([name, { dtype, shape, data_offsets: [from, to] }]) => {
    const buffer = Uint8Array.from(bytes.subarray(start + from, start + to)).buffer;
    return [name, { shape, data: dtype === "U32" ? new Uint32Array(buffer) : new Float32Array(buffer) }];
  });
  return Object.fromEntries(entries);
}

/** Row `i` of a matrix read by {@link readSafetensors}. */
export function row({ shape, data }, i) {
  return data.subarray(i * shape[1], (i + 1) * shape[1]);
}

/** Cosine similarity of two vectors of any scale. */
export function cosine(a, b) {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    dot += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return dot / Math.sqrt(aa * bb);
}
