// The package's five lines in one environment after another, from the packed tarballs of package and model: a Markdown table of which of
// them answer, with their versions. Fetches every tool from npm, and takes some ten minutes.
//
//     node matrix.mjs              # all
//     node matrix.mjs vite@5 bun   # those whose names begin so

import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { launch, ROOT, serve } from "./helpers.mjs";

const run = promisify(execFile);
const PAIR = `"She plays chess in the park", "He plays football in the park", ["the place", "the game"]`;
const ANSWER = /^the place: [45]\.\d of 5\nthe game: [12]\.\d of 5$/;
const COMPARE = `const lens = await CaseLens.load({ model });
  const results = await lens.compare(${PAIR});
  lens.dispose();
  const text = results.map(({ condition, rating }) => \`\${condition}: \${rating.toFixed(1)} of 5\`).join("\\n");`;
const IMPORT = `import { CaseLens } from "caselens";
import model from "caselens-csts";`;
const NODE = `${IMPORT}\n${COMPARE}\nconsole.log(text);\n`;
/** Without an await at the top, which not all tools let through. */
const PAGE = `${IMPORT}\nasync function main() {\n  ${COMPARE}\n  document.querySelector("output").textContent = text;\n}\nmain().catch((error) => (document.querySelector("output").textContent = String(error)));\n`;
const html = (script) => `<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>t</title><output></output>${script}</html>`;
const MODULE = html('<script type="module" src="./main.js"></script>');
/** A test of Jest's or Vitest's, in a page that is none. */
const JSDOM = (test) => `${test}${IMPORT}\ntest("answers", async () => {\n  ${COMPARE}\n  console.log(text);\n  expect(text).toMatch(${ANSWER});\n}, 60000);\n`;
const binary = (name) => `node_modules/.bin/${name}`;

/** Each: what is installed, the files, the commands, and then either what the last of them prints or the folder that is served. */
const environments = {
  "node": { files: { "main.mjs": NODE }, commands: [["node", "main.mjs"]] },
  "node, require": {
    files: { "main.cjs": `const { CaseLens } = require("caselens");\nconst { default: model } = require("caselens-csts");\n(async () => {\n  ${COMPARE}\n  console.log(text);\n})();\n` },
    commands: [["node", "main.cjs"]],
  },
  ...Object.fromEntries(["20.10.0", "22", "24"].map((version) => [`node@${version}`, { install: [`node@${version}`], files: { "main.mjs": NODE }, commands: [[binary("node"), "main.mjs"]] }])),
  "node@20.10.0, require": {
    install: ["node@20.10.0"],
    files: { "main.cjs": `const { CaseLens } = require("caselens");\nconst { default: model } = require("caselens-csts");\n(async () => {\n  ${COMPARE}\n  console.log(text);\n})();\n` },
    commands: [[binary("node"), "main.cjs"]],
  },
  "bun": { install: ["bun"], files: { "main.mjs": NODE }, commands: [["node", "node_modules/bun/install.js"], [binary("bun"), "main.mjs"]] },
  "deno": { install: ["@deno/linux-x64-glibc"], files: { "main.mjs": NODE }, commands: [["node_modules/@deno/linux-x64-glibc/deno", "run", "--allow-all", "--node-modules-dir=manual", "main.mjs"]] },
  "jest": {
    install: ["jest"],
    files: { "main.test.cjs": `const { CaseLens } = require("caselens");\nconst { default: model } = require("caselens-csts");\n${JSDOM("").replace(IMPORT, "")}`, "jest.config.cjs": `module.exports = { testMatch: ["**/*.test.cjs"] };\n` },
    commands: [["node", binary("jest"), "--silent=false"]],
    printed: /1 passed/,
  },
  "jest, jsdom": {
    install: ["jest", "jest-environment-jsdom"],
    files: { "main.test.cjs": `const { CaseLens } = require("caselens");\nconst { default: model } = require("caselens-csts");\n${JSDOM("").replace(IMPORT, "")}`, "jest.config.cjs": `module.exports = { testEnvironment: "jsdom", testEnvironmentOptions: { customExportConditions: ["node", "node-addons"] }, testMatch: ["**/*.test.cjs"] };\n` },
    commands: [["node", binary("jest"), "--silent=false"]],
    printed: /1 passed/,
  },
  "jest, ES modules": {
    install: ["jest", "jest-environment-jsdom"],
    files: { "main.test.mjs": JSDOM(""), "jest.config.mjs": `export default { testEnvironment: "jsdom", testEnvironmentOptions: { customExportConditions: ["node", "node-addons"] }, testMatch: ["**/*.test.mjs"], transform: {} };\n` },
    commands: [["node", "--experimental-vm-modules", binary("jest"), "--silent=false"]],
    printed: /1 passed/,
  },
  "vitest": {
    install: ["vitest", "jsdom"],
    files: { "main.test.mjs": JSDOM(`import { expect, test } from "vitest";\n`), "vitest.config.mjs": `export default { test: { environment: "jsdom" } };\n` },
    commands: [[binary("vitest"), "run"]],
    printed: /1 passed/,
  },
  ...Object.fromEntries(
    ["5", "6", "7", "8"].map((version) => [
      `vite@${version}`,
      { install: [`vite@${version}`], files: { "index.html": MODULE, "main.js": PAGE }, commands: [[binary("vite"), "build", "--base", "./"]], served: "dist" },
    ]),
  ),
  // What Vite 6 leaves to esbuild then, and nothing else does.
  "vite@6, es2022": {
    install: ["vite@6"],
    files: { "index.html": MODULE, "main.js": PAGE, "vite.config.js": `export default { build: { target: "es2022" } };\n` },
    commands: [[binary("vite"), "build", "--base", "./"]],
    served: "dist",
  },
  // Each published file, printed anew and minified.
  "swc": {
    install: ["@swc/core"],
    files: {
      "main.mjs": `import { execFileSync } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { transformFile } from "@swc/core";
const dist = "node_modules/caselens/dist/";
for (const file of (await readdir(dist)).filter((name) => name.endsWith(".js"))) {
  for (const minify of [false, true]) {
    const { code } = await transformFile(dist + file, { isModule: true, minify, jsc: { target: "es2022", ...(minify && { minify: { compress: true, mangle: true } }) } });
    await writeFile("printed.mjs", code);
    execFileSync(process.execPath, ["--check", "printed.mjs"]);
    if (minify) await writeFile(dist + file, code);
  }
}\n`,
      "answer.mjs": NODE,
    },
    commands: [["node", "main.mjs"], ["node", "answer.mjs"]],
  },
  // The example, bundled as Cloudflare's tools do it, in their runtime.
  "edge": {
    install: ["miniflare", "esbuild"],
    tool: "workerd",
    files: {
      "index.js": await readFile(path.join(ROOT, "pkg/examples/edge/index.js"), "utf8"),
      "main.mjs": `import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
const asModule = { name: "wasm", setup: ({ onResolve }) => onResolve({ filter: /\\.wasm$/ }, () => ({ path: "./caselens.wasm", external: true })) };
const { outputFiles } = await build({ entryPoints: ["index.js"], bundle: true, format: "esm", conditions: ["workerd", "worker", "browser"], plugins: [asModule], write: false });
const models = createServer(async ({ url }, response) => response.end(await readFile("node_modules/caselens-csts" + url)));
await new Promise((resolve) => models.listen(0, "127.0.0.1", resolve));
const edge = new Miniflare({
  modules: [
    { type: "ESModule", path: "index.mjs", contents: outputFiles[0].text },
    { type: "CompiledWasm", path: "caselens.wasm", contents: await readFile("node_modules/caselens/dist/wasm/caselens_bg.wasm") },
  ],
  compatibilityDate: /compatibility_date = "(.*)"/.exec(await readFile("wrangler.toml", "utf8"))[1],
  bindings: { MODEL: "http://127.0.0.1:" + models.address().port + "/caselens-csts-q4_0.gguf" },
});
const ask = async (...conditions) => {
  const query = new URLSearchParams([["sentence1", "She plays chess in the park"], ["sentence2", "He plays football in the park"], ...conditions.map((condition) => ["condition", condition])]);
  const answer = await edge.dispatchFetch("http://localhost/?" + query);
  return answer.json();
};
// The first two at once, while the model is on its way; the last when it is there, in a request of its own.
const [[place], [game]] = await Promise.all([ask("the place"), ask("the game")]);
const again = await ask("the place", "the game");
const refused = await ask(" ");
if (JSON.stringify(again) !== JSON.stringify([place, game]) || refused.code !== "empty-text") throw new Error(JSON.stringify([place, game, again, refused]));
console.log(again.map(({ condition, rating }) => condition + ": " + rating.toFixed(1) + " of 5").join("\\n"));
await edge.dispose();
models.close();
`,
      "wrangler.toml": await readFile(path.join(ROOT, "pkg/examples/edge/wrangler.toml"), "utf8"),
    },
    commands: [["node", "main.mjs"]],
  },
  "webpack@5": {
    install: ["webpack@5", "webpack-cli"],
    files: { "src/index.js": PAGE, "dist/index.html": html('<script src="main.js"></script>') },
    commands: [[binary("webpack"), "--mode", "production"]],
    served: "dist",
  },
  "parcel@2": { install: ["parcel@2"], files: { "index.html": MODULE, "main.js": PAGE }, commands: [[binary("parcel"), "build", "index.html", "--public-url", "./"]], served: "dist" },
  "rspack": {
    install: ["@rspack/core", "@rspack/cli"],
    files: { "src/index.js": PAGE, "dist/index.html": html('<script src="main.js"></script>') },
    commands: [[binary("rspack"), "build", "--mode", "production"]],
    served: "dist",
  },
  ...Object.fromEntries(
    ["14", "15", "16"].map((version) => [
      `next@${version}`,
      {
        install: [`next@${version}`, ...(version === "14" ? ["react@18", "react-dom@18"] : ["react@19", "react-dom@19"])],
        files: {
          "app/layout.js": `export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html>; }\n`,
          "app/page.js": `"use client";\nimport { useEffect, useState } from "react";\n${IMPORT}\nexport default function Page() {\n  const [shown, show] = useState("");\n  useEffect(() => void (async () => {\n  ${COMPARE}\n  show(text);\n})().catch((error) => show(String(error))), []);\n  return <output style={{ whiteSpace: "pre" }}>{shown}</output>;\n}\n`,
          // Version 14 minifies the worker as a script where the page is rendered on the server, unless it leaves the package out there.
          "next.config.mjs": `export default { output: "export"${version === "14" ? ', experimental: { serverComponentsExternalPackages: ["caselens", "caselens-csts"] }' : ""} };\n`,
        },
        commands: [[binary("next"), "build"]],
        served: "out",
        atRoot: true,
      },
    ]),
  ),
};

const wanted = process.argv.slice(2);
const chosen = Object.entries(environments).filter(([name]) => wanted.length === 0 || wanted.some((one) => name.startsWith(one)));
const folder = await mkdtemp(path.join(tmpdir(), "caselens-matrix-"));
const browser = await launch();
const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", CI: "1", NO_COLOR: "1", PARCEL_WORKERS: "1" };

async function packed(of) {
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: path.join(ROOT, of) });
  return path.join(folder, stdout.trim().split("\n").at(-1));
}

/** What the page says, served under a path of its own. */
async function answer(root, atRoot) {
  const base = atRoot ? "/" : "/app/";
  const server = await serve({ mounts: { [base]: root } });
  const page = await (await browser.newContext()).newPage();
  try {
    await page.goto(`${server.origin}${base}`);
    await page.waitForFunction(() => document.querySelector("output")?.textContent, undefined, { timeout: 60_000 });
    return await page.textContent("output");
  } finally {
    await page.context().close();
    await server.close();
  }
}

/** Runs a command, and gives what it printed. */
function printed([command, ...args], cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
    const late = setTimeout(() => child.kill(), 240_000);
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(late);
      if (code === 0) resolve(text);
      else reject(new Error(`${command} ${args.join(" ")} ended with ${code}:\n${text.slice(-1500)}`));
    });
  });
}

async function tried({ install = [], tool = install[0]?.replace(/(.)@[\d.]+$/, "$1"), files, commands, printed: expected = ANSWER, served, atRoot }, tarballs) {
  const root = await mkdtemp(path.join(folder, "project-"));
  await writeFile(path.join(root, "package.json"), JSON.stringify({ name: "tried", private: true, type: "module" }));
  await run("npm", ["install", "--silent", "--no-audit", "--no-fund", ...tarballs, ...install], { cwd: root });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
  let said = "";
  for (const command of commands) said = await printed(command, root);
  if (served) said = await answer(path.join(root, served), atRoot);
  if (!(served ? ANSWER : expected).test(said.trim())) throw new Error(`it said ${said}`);
  const { version } = tool ? JSON.parse(await readFile(path.join(root, "node_modules", tool, "package.json"), "utf8")) : { version: process.version.slice(1) };
  await rm(root, { recursive: true, force: true });
  return version;
}

try {
  const tarballs = [await packed("pkg"), await packed("models/caselens-csts")];
  console.log("| environment | version | answers |\n|---|---|---|");
  for (const [name, environment] of chosen) {
    const found = await tried(environment, tarballs).then((version) => `${version} | yes`, (error) => `| no: ${String(error.message).replace(/\s+/g, " ").slice(-300)}`);
    console.log(`| ${name} | ${found} |`);
  }
} finally {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
}
