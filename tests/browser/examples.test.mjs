// The package as its users install it: packed, unpacked into node_modules, and used by the projects of pkg/examples, with each
// tool's own defaults.

import assert from "node:assert/strict";
import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build, createServer, preview } from "vite";
import webpack from "webpack";
import { HEAD_FILE, launch, MODEL_FILE, MODELS, ROOT, serve, visit } from "./helpers.mjs";

const run = promisify(execFile);
const options = { timeout: 180_000 };
/** What every example says. */
const ANSWER = /^the place: 4\.\d of 5\nthe game: [12]\.\d of 5\n?$/;
/** The same in German. */
const ANTWORT = /^the place: 4,\d von 5\nthe game: [12],\d von 5$/;
let folder;
let dist;
let browser;

before(async () => {
  browser = await launch();
  folder = await mkdtemp(path.join(tmpdir(), "caselens-examples-"));
  await cp(path.join(ROOT, "pkg/examples"), folder, { recursive: true });
  for (const [name, source] of [["caselens", "pkg"], ["caselens-csts", "models/caselens-csts"]]) {
    const installed = path.join(folder, "node_modules", name);
    await mkdir(installed, { recursive: true });
    const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder, path.join(ROOT, source)], { encoding: "utf8" });
    execFileSync("tar", ["-xzf", path.join(folder, packed.trim().split("\n").at(-1)), "-C", installed, "--strip-components=1"]);
  }
  dist = path.join(folder, "node_modules/caselens/dist");
  await symlink(path.join(ROOT, "tests/browser/node_modules/esbuild"), path.join(folder, "node_modules/esbuild"));
}, options);
after(async () => {
  await browser?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Opens a page of an example and waits for its answer. */
async function assertAnswers(url, answer = ANSWER) {
  const page = await visit(await browser.newContext(), url);
  await page
    .waitForFunction(() => document.querySelector("output")?.textContent.endsWith(" 5"), undefined, { timeout: 60_000 })
    .catch((error) => assert.fail(`${error.message}\n${page.problems.join("\n")}`));
  assert.match(await page.textContent("output"), answer);
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

/** Serves folders until `use` is done. */
async function served(mounts, use, headers) {
  const server = await serve({ mounts, headers });
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

test("Vite, developing and built", options, async () => {
  const root = path.join(folder, "vite");
  await cp(MODELS, path.join(root, "public/models"), { recursive: true, filter: (file) => !path.basename(file).startsWith("all-") });
  await cp(path.join(folder, "node_modules/caselens"), path.join(root, "node_modules/caselens"), { recursive: true });
  const config = { root, configFile: false, logLevel: "error" };
  const server = await createServer({ ...config, server: { host: "127.0.0.1", port: 0, hmr: false } });
  await server.listen();
  try {
    await assertAnswers(`http://127.0.0.1:${server.httpServer.address().port}/`);
  } finally {
    await server.close();
  }
  await build(config);
  const assets = await readdir(path.join(root, "dist/assets"));
  assert.equal(assets.filter((name) => name.endsWith(".wasm")).length, 2, assets.join(" "));
  const built = await preview({ ...config, preview: { host: "127.0.0.1", port: 0 } });
  try {
    await assertAnswers(`http://127.0.0.1:${built.httpServer.address().port}/`);
  } finally {
    await built.close();
  }
});

test("webpack", options, async () => {
  const context = path.join(folder, "webpack");
  const { default: config } = await import(pathToFileURL(path.join(context, "webpack.config.js")).href);
  const compiler = webpack({ ...config, context });
  const stats = await promisify(compiler.run.bind(compiler))();
  await promisify(compiler.close.bind(compiler))();
  const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
  assert.deepEqual([errors, warnings], [[], []]);
  await served({ "/app/": path.join(context, "public"), "/app/models/": MODELS }, ({ origin }) => assertAnswers(`${origin}/app/`));
});

/** The README's first lines, for a page. */
const FIVE_LINES = `import { CaseLens } from "caselens";
import model from "caselens-csts";

async function answer() {
  const lens = await CaseLens.load({ model });
  const results = await lens.compare("She plays chess in the park", "He plays football in the park", ["the place", "the game"]);
  lens.dispose();
  return results.map(({ condition, rating }) => condition + ": " + rating.toFixed(1) + " of 5").join("\\n");
}
answer().then((text) => (document.querySelector("output").textContent = text));
`;
const page = (script) => `<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>t</title><output></output>${script}</html>`;

/** Serves what a bundler made, which has to hold the model's two files. */
async function assertBundled(root) {
  const names = (await readdir(root, { recursive: true })).filter((name) => /\.(gguf|safetensors)$/.test(name));
  assert.equal(names.length, 2, names.join(" "));
  await served({ "/app/": root }, async (server) => {
    await assertAnswers(`${server.origin}/app/`);
    assert.equal(server.count(`/models/${MODEL_FILE}`), 0);
  });
}

test("the model of npm, bundled by Vite", options, async () => {
  const root = path.join(folder, "five-vite");
  await mkdir(root);
  await writeFile(path.join(root, "index.html"), page('<script type="module" src="./main.js"></script>'));
  await writeFile(path.join(root, "main.js"), FIVE_LINES);
  await build({ root, base: "./", configFile: false, logLevel: "error" });
  await assertBundled(path.join(root, "dist"));
});

test("the model of npm, bundled by webpack", options, async () => {
  const context = path.join(folder, "five-webpack");
  await mkdir(path.join(context, "dist"), { recursive: true });
  await writeFile(path.join(context, "main.js"), FIVE_LINES);
  await writeFile(path.join(context, "dist/index.html"), page('<script src="main.js"></script>'));
  const compiler = webpack({ mode: "production", context, entry: "./main.js", output: { path: path.join(context, "dist"), filename: "main.js" } });
  const stats = await promisify(compiler.run.bind(compiler))();
  await promisify(compiler.close.bind(compiler))();
  assert.deepEqual(stats.toJson({ all: false, errors: true }).errors, []);
  await assertBundled(path.join(context, "dist"));
});

test("esbuild, with the package outside the bundle", options, async () => {
  await run(process.execPath, [path.join(folder, "esbuild/build.mjs")]);
  await served({ "/app/": path.join(folder, "esbuild/out"), "/app/models/": MODELS }, ({ origin }) => assertAnswers(`${origin}/app/`));
});

test("a script tag, with the package beside the page", options, () =>
  served({ "/app/": path.join(folder, "cdn"), "/app/caselens/": dist, "/app/models/": MODELS }, ({ origin }) => assertAnswers(`${origin}/app/`)));

test("the element, in a page of another language", options, () =>
  served({ "/app/": path.join(folder, "element"), "/app/caselens/": dist, "/app/models/": MODELS }, ({ origin }) => assertAnswers(`${origin}/app/`, ANTWORT)));

test("a script tag, with the package and the model on another origin", options, () =>
  served(
    { "/caselens/": dist },
    (cdn) =>
      served({}, async (site) => {
        const page = await (await browser.newContext()).newPage();
        await page.goto(site.blank);
        const load = (entry, options) =>
          page.evaluate(
            async ([entry, options]) => {
              const { CaseLens } = await import(entry);
              const lens = await CaseLens.load({ device: "wasm", threads: 2, ...options }).catch((error) => error);
              if (lens instanceof Error) return `${lens.code}: ${lens.message}`;
              const conditions = Array.from({ length: 12 }, (_, i) => `the place ${i}`);
              const { length } = await lens.compare("She plays chess", "He plays football", conditions);
              lens.dispose();
              return length;
            },
            [entry, options],
          );
        const options = { model: `${cdn.origin}/models/${MODEL_FILE}` };
        assert.equal(await load(`${cdn.origin}/caselens/index.js`, options), 12);
        assert.ok(cdn.count("/caselens/worker.js") > 0);

        cdn.rule("/caselens/worker.js", { status: 404 });
        const fresh = `${cdn.origin}/caselens/index.js`;
        assert.match(await load(fresh, options), /^worker: .*stopped.*blob: and http.* in worker-src/, "a worker that is not there does not hang");
        await page.context().close();
      }),
    { "Access-Control-Allow-Origin": "*", "Cache-Control": "no-store" },
  ));

test("package and model from another origin, under the policy that the README names", options, () =>
  served(
    { "/caselens/": dist, "/caselens-csts/": path.join(folder, "node_modules/caselens-csts") },
    async (cdn) => {
      const texts = [];
      const answer = (workers) =>
        served(
          {},
          async (site) => {
            const page = await (await browser.newContext()).newPage();
            await page.goto(site.blank);
            const text = await page.evaluate(async (origin) => {
              const [{ CaseLens }, { default: model }] = await Promise.all([import(`${origin}/caselens/index.js`), import(`${origin}/caselens-csts/index.js`)]);
              try {
                const lens = await CaseLens.load({ model, threads: 2 });
                const results = await lens.compare("She plays chess in the park", "He plays football in the park", ["the place", "the game"]);
                const { length } = await lens.embed(Array(40).fill("A cat sleeps."));
                const index = await lens.index();
                lens.dispose();
                return [...results.map(({ condition, rating }) => `${condition}: ${rating.toFixed(1)} of 5`), length, index.size].join("\n");
              } catch ({ code, message }) {
                return `${code}: ${message}`;
              }
            }, cdn.origin);
            await page.context().close();
            texts.push(text);
          },
          { "Content-Security-Policy": `default-src 'none'; script-src 'self' 'wasm-unsafe-eval' ${cdn.origin}; worker-src ${workers}; connect-src ${cdn.origin}` },
        );
      for (const workers of [`blob: ${cdn.origin}`, cdn.origin, "blob:"]) await answer(workers);
      assert.match(texts[0], /^the place: 4\.\d of 5\nthe game: [12]\.\d of 5\n40\n0$/);
      for (const text of texts.slice(1)) assert.match(text, /^worker: .*worker-src/, "both are needed");
    },
    { "Access-Control-Allow-Origin": "*" },
  ));

test("a worker of one's own", options, () =>
  served({ "/app/": path.join(folder, "worker"), "/app/caselens/": dist, "/app/models/": MODELS }, ({ origin }) => assertAnswers(`${origin}/app/`)));

test("Next.js, built and served", options, async () => {
  // Below the folder whose node_modules have Next.js: it follows no links out of its project.
  const root = await mkdtemp(path.join(ROOT, "tests/browser/next-"));
  const next = path.join(ROOT, "tests/browser/node_modules/next/dist/bin/next");
  const settings = { cwd: root, env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" } };
  let server;
  try {
    await cp(path.join(folder, "next"), root, { recursive: true });
    await cp(path.join(folder, "node_modules/caselens"), path.join(root, "node_modules/caselens"), { recursive: true });
    for (const name of [MODEL_FILE, HEAD_FILE]) await cp(path.join(MODELS, name), path.join(root, "public/models", name));
    await run(process.execPath, [next, "build"], settings);
    server = spawn(process.execPath, [next, "start", "--hostname", "127.0.0.1", "--port", "0"], settings);
    const origin = await new Promise((resolve, reject) => {
      let output = "";
      server.stdout.on("data", (chunk) => {
        output += chunk;
        if (output.includes("Ready")) resolve(/http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]);
      });
      server.once("exit", () => reject(new Error(output)));
    });
    await assertAnswers(`${origin}/`);
    const answer = await fetch(`${origin}/api/compare?sentence1=a+dog&sentence2=a+cat&condition=the+animal`);
    assert.deepEqual([answer.status, (await answer.json())[0].condition], [200, "the animal"]);
  } finally {
    server?.kill();
    await rm(root, { recursive: true, force: true });
  }
});

test("Next.js: the server's code imports the package and touches no browser", options, async () => {
  // The import of a component that is rendered on the server, and of the browser's entry, which bundlers may take there.
  for (const entry of ["caselens", "caselens/package.json"]) createRequire(path.join(folder, "next/app/comparison.js")).resolve(entry);
  const script = `
    for (const name of ["window", "document", "Worker", "caches", "location"])
      Object.defineProperty(globalThis, name, { get() { throw new Error("touched " + name); } });
    const { CaseLens } = await import("caselens");
    await import(${JSON.stringify(pathToFileURL(path.join(dist, "index.js")).href)});
    console.log(typeof CaseLens.load);`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: path.join(folder, "next") });
  assert.equal(stdout, "function\n");

  // The route is a web handler: it answers without Next.js.
  await mkdir(path.join(folder, "next/public"), { recursive: true });
  await symlink(MODELS, path.join(folder, "next/public/models"));
  const request = `
    import { GET } from "./app/api/compare/route.js";
    const get = async (query) => { const answer = await GET(new Request("http://localhost/api/compare?" + query)); return [answer.status, await answer.json()]; };
    console.log(JSON.stringify([await get("sentence1=a+dog&sentence2=a+cat&condition=the+animal"), await get("condition=c")]));`;
  const answers = JSON.parse((await run(process.execPath, ["--input-type=module", "--eval", request], { cwd: path.join(folder, "next") })).stdout);
  assert.deepEqual([answers[0][0], answers[0][1].length, answers[0][1][0].condition], [200, 1, "the animal"]);
  assert.deepEqual([answers[1][0], answers[1][1].code], [400, "empty-text"]);
});

test("Node, with the model that npm has and with one by its path", options, async () => {
  for (const model of [[], [path.join(MODELS, MODEL_FILE)]]) {
    const { stdout, stderr } = await run(process.execPath, ["compare.mjs", ...model], { cwd: path.join(folder, "node") });
    assert.match(stdout, ANSWER);
    assert.equal(stderr, "");
  }
});

// npm has Deno for this platform as a package; elsewhere it is whichever is installed.
const bundled = path.join(ROOT, "tests/browser/node_modules/@deno/linux-x64-glibc/deno");
const deno = existsSync(bundled) ? bundled : "deno";
const noDeno = spawnSync(deno, ["--version"]).error ? "Deno is not installed" : options.skip;

test("Deno", { ...options, skip: noDeno }, async (t) => {
  // With what was packed in place of what is published.
  const config = path.join(folder, "deno/deno.json");
  await writeFile(config, JSON.stringify({ nodeModulesDir: "manual" }));
  const permissions = ["--no-prompt", "--allow-read", "--allow-env", "--allow-sys"];
  const compare = (device) =>
    run(deno, ["run", "--config", config, ...permissions, "compare.ts", path.join(MODELS, MODEL_FILE), device], {
      cwd: path.join(folder, "deno"),
      env: { ...process.env, NO_COLOR: "1" },
    });
  assert.match((await compare("wasm")).stdout, ANSWER);
  const onGpu = await compare("webgpu").catch((error) => error);
  if (/webgpu-unavailable/.test(onGpu.stderr) && process.env.CASELENS_REQUIRE_GPU !== "1") t.diagnostic("There is no GPU: WebGPU was left out.");
  else assert.match(onGpu.stdout, ANSWER, onGpu.stderr);
});
