// Where the package runs besides a page with a worker: service workers, shared workers, extensions, pages from disk; and what a
// Content-Security-Policy lets it do.

import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { HEAD_FILE, launch, MODEL_FILE, MODELS, openPage, QUIET, ROOT, serve, visit } from "./helpers.mjs";

const options = { timeout: 120_000 };
const DIST = path.join(ROOT, "pkg/dist");
const ANSWER = /^the place: 4\.\d of 5\nthe game: [12]\.\d of 5$/;
const PAIR = ["She plays chess in the park", "He plays football in the park", ["the place", "the game"]];
/** Code that answers, where `CaseLens` and `options` are there. */
const COMPARE = `const lens = await CaseLens.load(options);
  const results = await lens.compare(...${JSON.stringify(PAIR)});
  const text = results.map(({ condition, rating }) => \`\${condition}: \${rating.toFixed(1)} of 5\`).join("\\n");
  lens.dispose();`;
const JAVASCRIPT = { "Content-Type": "text/javascript", "Cache-Control": "no-store" };
const HTML = '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>t</title><output></output>';

let browser;
let server;
let model;
let folder;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "caselens-places-"));
  browser = await launch();
  server = await serve();
  model = `${server.origin}/models/${MODEL_FILE}`;
}, options);
after(async () => {
  await browser?.close();
  await server?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** A page with the package in it, and what it answers with options of `load`, or how it fails. */
async function answerIn(page, given) {
  return page.evaluate(
    async ([given, pair]) => {
      const { inThisThread } = await import("/pkg/dist/inline.js");
      const worker = { here: false, inThisThread }[given.worker];
      try {
        const lens = await caselens.CaseLens.load({ ...given, worker });
        const results = await lens.compare(...pair);
        lens.dispose();
        return results.map(({ condition, rating }) => `${condition}: ${rating.toFixed(1)} of 5`).join("\n");
      } catch ({ code, message }) {
        return { code, message };
      }
    },
    [given, PAIR],
  );
}

test("the page's own thread", options, async () => {
  const page = await openPage(browser, server);
  for (const worker of ["here", "inThisThread"]) assert.match(await answerIn(page, { model, worker }), ANSWER);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

/** Registers a service worker, and gives what it answers to `/app/answer`. */
async function serviceWorker(script, type) {
  server.rule("/app/sw.js", { body: script, headers: JAVASCRIPT });
  server.rule("/app/", { body: HTML, headers: { "Content-Type": "text/html" } });
  const page = await visit(await browser.newContext(), `${server.origin}/app/`);
  const answer = await page.evaluate(async (type) => {
    await navigator.serviceWorker.register("sw.js", { type });
    const { active } = await navigator.serviceWorker.ready;
    return new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data }) => resolve(data);
      active.postMessage("answer", [port2]);
    });
  }, type);
  await page.context().close();
  return answer;
}
const ON_MESSAGE = (options) => `
  const options = ${options};
  addEventListener("message", (event) => event.waitUntil((async () => {
    ${COMPARE}
    return text;
  })().catch(({ code, message }) => code + ": " + message).then((text) => event.ports[0].postMessage(text))));`;

test("a service worker that is a module, by inThisThread", options, async () => {
  const imports = `import { CaseLens } from "/pkg/dist/index.js"; import { inThisThread } from "/pkg/dist/inline.js";`;
  assert.match(await serviceWorker(imports + ON_MESSAGE(`{ model: "${model}", worker: inThisThread }`), "module"), ANSWER);
  // What cannot work says what does.
  for (const worker of ["undefined", "false"]) {
    assert.match(await serviceWorker(imports + ON_MESSAGE(`{ model: "${model}", worker: ${worker} }`), "module"), /^worker: .*inThisThread.*caselens\/inline/);
  }
});

test("a service worker has what other places load when they first need it", options, async () => {
  const imports = `import { CaseLens } from "/pkg/dist/index.js"; import { inThisThread } from "/pkg/dist/inline.js";`;
  const script = `addEventListener("message", (event) => event.waitUntil((async () => {
    let asked = 0;
    const fetched = (...request) => (asked++, fetch(...request));
    const options = { model: "${model}", worker: inThisThread, fetch: fetched, headers: { Accept: "*/*" } };
    const size = await CaseLens.size(options);
    const lens = await CaseLens.load(options);
    let told = 0;
    const { length } = await lens.embed(Array(40).fill("A cat sleeps."), { onProgress: () => told++ });
    const batches = [];
    for await (const { texts } of lens.embedStream(["A", "B", "C"], { batchSize: 2 })) batches.push(texts.length);
    lens.dispose();
    return [size > 1e7, asked > 1, length, told > 1, ...batches].join();
  })().catch(({ code, message }) => code + ": " + message).then((text) => event.ports[0].postMessage(text))));`;
  assert.equal(await serviceWorker(imports + script, "module"), "true,true,40,true,2,1");
});

test("a service worker that is one bundled script, with the module named", options, async () => {
  const contents = `import { CaseLens } from ${JSON.stringify(path.join(DIST, "index.js"))}; import { inThisThread } from ${JSON.stringify(path.join(DIST, "inline.js"))};
    ${ON_MESSAGE(`{ model: "${model}", worker: inThisThread, wasm: "${server.origin}/pkg/dist/wasm/caselens_bg.wasm" }`)}`;
  const { outputFiles } = await build({ stdin: { contents, resolveDir: ROOT }, bundle: true, format: "iife", write: false, logLevel: "error", external: ["./text-index.js"], logOverride: { "empty-import-meta": "silent" } });
  assert.match(await serviceWorker(outputFiles[0].text, "classic"), ANSWER);
});

test("a shared worker, by worker: false", options, async () => {
  const answer = async (worker) => {
    server.rule("/app/shared.js", {
      headers: JAVASCRIPT,
      body: `import { CaseLens } from "/pkg/dist/index.js";
        const options = { model: "${model}", worker: ${worker} };
        onconnect = async ({ ports: [port] }) => port.postMessage(await (async () => {
          ${COMPARE}
          return text;
        })().catch(({ code, message }) => code + ": " + message));`,
    });
    const page = await visit(await browser.newContext(), server.blank);
    const said = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const { port } = new SharedWorker("/app/shared.js", { type: "module" });
          port.onmessage = ({ data }) => resolve(data);
        }),
    );
    await page.context().close();
    return said;
  };
  assert.match(await answer("false"), ANSWER);
  assert.match(await answer("undefined"), /^worker: There are no web workers here\. `worker: false`/);
});

/** Chromium with an extension, made of the example. `change` gives its files anew. */
async function withExtension(name, change, use) {
  const at = path.join(folder, name);
  await cp(path.join(ROOT, "pkg/examples/extension"), at, { recursive: true });
  await cp(DIST, path.join(at, "caselens"), { recursive: true });
  await mkdir(path.join(at, "models"));
  for (const file of [MODEL_FILE, HEAD_FILE]) await cp(path.join(MODELS, file), path.join(at, "models", file));
  await change(at);
  const context = await chromium.launchPersistentContext(path.join(folder, `profile-${name}`), {
    executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
    headless: false, // the old headless mode has no extensions
    args: ["--headless=new", "--no-sandbox", ...QUIET, `--disable-extensions-except=${at}`, `--load-extension=${at}`],
  });
  try {
    server.rule("/app/", { body: HTML, headers: { "Content-Type": "text/html" } });
    await use(context);
  } finally {
    await context.close();
  }
}
async function shown(context) {
  const page = await context.newPage();
  await page.goto(`${server.origin}/app/`);
  await page.waitForFunction(() => document.querySelector("output")?.textContent, undefined, { timeout: 60_000 });
  return page.textContent("output");
}

test("the example of an extension: its background answers for the page's content script", options, async () => {
  await withExtension("background", async () => {}, async (context) => assert.match(await shown(context), ANSWER));
});

test("a content script by itself, by worker: false; without it the error names that", options, async () => {
  const change = async (at) => {
    const manifest = JSON.parse(await readFile(path.join(at, "manifest.json"), "utf8"));
    delete manifest.background;
    manifest.web_accessible_resources = [{ resources: ["caselens/*", "models/*"], matches: ["http://127.0.0.1/*"] }];
    await writeFile(path.join(at, "manifest.json"), JSON.stringify(manifest));
    const script = `(async () => {
      const { CaseLens } = await import(chrome.runtime.getURL("caselens/index.js"));
      const model = chrome.runtime.getURL("models/${MODEL_FILE}");
      const answer = async (options) => {
        ${COMPARE}
        return text;
      };
      const failed = await answer({ model }).catch(({ code, message }) => code + ": " + message);
      const answered = await answer({ model, worker: false, cache: false }).catch(({ code, message }) => code + ": " + message);
      document.querySelector("output").textContent = JSON.stringify({ failed, answered });
    })();`;
    await writeFile(path.join(at, "content.js"), script);
  };
  await withExtension("content", change, async (context) => {
    const { failed, answered } = JSON.parse(await shown(context));
    assert.match(failed, /^worker: .*`worker: false`/);
    assert.match(answered, ANSWER);
  });
});

test("a page from disk, where the browser lets its scripts read files as Electron does", options, async () => {
  const at = path.join(folder, "disk");
  await mkdir(at);
  await cp(DIST, path.join(at, "caselens"), { recursive: true });
  for (const file of [MODEL_FILE, HEAD_FILE]) await cp(path.join(MODELS, file), path.join(at, file));
  // Chromium's fetch knows no file: URLs, Electron's does: in its place the bytes are read here.
  const script = `import { CaseLens } from "./caselens/index.js";
    const read = (name) => new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("GET", name);
      request.responseType = "arraybuffer";
      request.onload = () => resolve(request.response);
      request.onerror = () => reject(new Error("could not read " + name));
      request.send();
    });
    (async () => {
      const [model, head, wasm] = await Promise.all(["${MODEL_FILE}", "${HEAD_FILE}", "caselens/wasm/caselens_bg.wasm"].map(read));
      const texts = [];
      for (const worker of [undefined, false]) {
        const options = { model, head, wasm, worker };
        ${COMPARE}
        texts.push(text);
      }
      return JSON.stringify(texts);
    })().catch(({ code, message }) => JSON.stringify([code + ": " + message])).then((text) => (document.querySelector("output").textContent = text));`;
  await writeFile(path.join(at, "index.html"), `${HTML}<script type="module">${script}</script>`);
  const lax = await launch({ args: ["--allow-file-access-from-files"] });
  try {
    const page = await visit(await lax.newContext(), pathToFileURL(path.join(at, "index.html")).href);
    await page.waitForFunction(() => document.querySelector("output")?.textContent);
    const texts = JSON.parse(await page.textContent("output"));
    assert.equal(texts.length, 2, texts[0]);
    for (const text of texts) assert.match(text, ANSWER);
  } finally {
    await lax.close();
  }
});

/** A page under a policy of its own, with the package in it. */
async function under(policy) {
  server.rule("/policy.html", { body: HTML, headers: { "Content-Type": "text/html", "Content-Security-Policy": policy } });
  const page = await visit(await browser.newContext(), `${server.origin}/policy.html`);
  await page.evaluate(async () => {
    window.caselens = await import("/pkg/dist/index.js");
  });
  return page;
}

test("a page that requires Trusted Types: told, and by a policy of its own it works", options, async () => {
  const page = await under("require-trusted-types-for 'script'; trusted-types mine");
  const [refused, text] = await page.evaluate(
    async ([model, pair]) => {
      const { CaseLens } = caselens;
      const refused = await CaseLens.load({ model }).catch(({ code, message }) => `${code}: ${message}`);
      const policy = trustedTypes.createPolicy("mine", { createScriptURL: (url) => url });
      const worker = () => new Worker(policy.createScriptURL("/pkg/dist/worker.js"), { type: "module" });
      const lens = await CaseLens.load({ model, worker });
      const results = await lens.compare(...pair);
      lens.dispose();
      return [refused, results.map(({ condition, rating }) => `${condition}: ${rating.toFixed(1)} of 5`).join("\n")];
    },
    [model, PAIR],
  );
  assert.match(refused, /^worker: .*Trusted Types/);
  assert.match(text, ANSWER);
  await page.context().close();
});

test("a worker whose policy forbids WebAssembly is unsupported, and told what to allow", options, async () => {
  server.rule("/pkg/dist/worker.js", { headers: { "Content-Security-Policy": "script-src 'self'", "Cache-Control": "no-store" } });
  const page = await openPage(browser, server);
  const { code, message } = await answerIn(page, { model });
  assert.equal(code, "unsupported", message);
  assert.match(message, /'wasm-unsafe-eval'/);
  server.rule("/pkg/dist/worker.js", undefined);
  await page.context().close();
});

test("a policy that forbids the page's own worker is told, and not the dist folder", options, async () => {
  const page = await under("script-src 'self' 'wasm-unsafe-eval'; worker-src 'none'");
  const { code, message } = await answerIn(page, { model });
  assert.equal(code, "worker", message);
  assert.match(message, /Content-Security-Policy.*worker-src.*'self'/);
  assert.doesNotMatch(message, /dist/);
  // The same without a policy is a file that is not there.
  const free = await openPage(browser, server);
  server.rule("/pkg/dist/worker.js", { status: 404 });
  assert.match((await answerIn(free, { model })).message, /dist/);
  server.rule("/pkg/dist/worker.js", undefined);
  await page.context().close();
  await free.context().close();
});

test("a refused connect-src is told apart from a server that sends no CORS headers", options, async () => {
  const other = await serve();
  const foreign = `${other.origin}/models/${MODEL_FILE}`;
  const page = await openPage(browser, server);
  assert.match((await answerIn(page, { model: foreign, worker: "here" })).message, /CORS/);
  const strict = await under("script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'");
  server.rule("/pkg/dist/worker.js", { headers: { "Content-Security-Policy": "connect-src 'self'", "Cache-Control": "no-store" } });
  for (const worker of ["here", undefined]) {
    const { code, message } = await answerIn(strict, { model: foreign, worker });
    assert.equal(code, "network");
    assert.match(message, new RegExp(`Content-Security-Policy.*${other.origin}.*connect-src`), `${worker}`);
    assert.doesNotMatch(message, /CORS/);
  }
  server.rule("/pkg/dist/worker.js", undefined);
  await page.context().close();
  await strict.context().close();
  await other.close();
});
