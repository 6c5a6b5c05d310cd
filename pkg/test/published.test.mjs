// What npm would publish: exactly these files, resolvable by every tool, within the size that was promised.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, brotliCompressSync, gzipSync } from "node:zlib";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { build } from "esbuild";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const PKG = fileURLToPath(new URL("../", import.meta.url));
/** What a browser loads for most pages: their JavaScript and one of the two wasm modules, compressed with brotli. */
const BUDGET = 925_000;
/** Of that, the wasm module. */
const WASM = 900_000;
/** What is left of the JavaScript of page and worker when a bundler has minified it, compressed with brotli. */
const MINIFIED = 28_500;
/** What is left in the page, with gzip, where `Encoder` alone is imported. */
const ENCODER = 8_000;
/** What a page loads besides when it first asks for an index. */
const INDEX_BUDGET = 16_000;
/** What a page loads besides when it first does what not every page does, such as sharing out a long call. */
const MORE_BUDGET = 5_500;

let folder;
let tarball;
let files;
let manifest;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "caselens-pack-"));
  const said = execFileSync("npm", ["pack", "--json", "--silent", "--pack-destination", folder], { cwd: PKG, encoding: "utf8" });
  const [packed] = JSON.parse(said);
  tarball = await readFile(path.join(folder, packed.filename));
  files = packed.files.map((file) => file.path).sort();
  manifest = JSON.parse(await readFile(path.join(PKG, "package.json"), "utf8"));
});
after(() => rm(folder, { recursive: true, force: true }));

test("it holds what it needs and no more", async () => {
  const bundles = ["index", "text-index", "more", "element", "worker", "inline", "langchain", "ai", "node", "node-text-index", "node-more", "node-worker", "node-inline"].map((file) => `${file}.js`);
  const commonJs = ["node", "langchain", "ai"].map((file) => `${file}.cjs`);
  const types = [...["index", "element", "inline", "langchain", "ai"].map((file) => `${file}.d.ts`), ...["index", "langchain", "ai"].map((file) => `${file}.d.cts`)];
  const wasm = ["wasm", "wasm/relaxed"].map((at) => `${at}/caselens_bg.wasm`);
  const expected = [
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "THIRD-PARTY-NOTICES.txt",
    "package.json",
    ...[...bundles, ...commonJs].flatMap((file) => [file, `${file}.map`]).map((file) => `dist/${file}`),
    ...[...types, ...wasm].map((file) => `dist/${file}`),
  ];
  assert.deepEqual(files, expected.sort());
});

test("package.json says what a registry and its readers want to know", async () => {
  const fields = ["name", "description", "license", "keywords", "homepage", "bugs", "repository", "author", "engines", "exports", "main", "types", "sideEffects"];
  for (const field of fields) assert.ok(manifest[field], field);
  // What an old resolver reads, that knows no `exports`.
  for (const file of [manifest.main, manifest.types, ...Object.values(manifest.typesVersions["*"]).flat()]) assert.ok(files.includes(file.slice(2)), file);
  assert.equal(manifest.dependencies, undefined, "it depends on nothing");
  assert.match(manifest.version, /^\d+\.\d+\.\d+$/);
  // What runs when it is imported must survive bundlers that drop unused modules.
  for (const file of manifest.sideEffects) assert.ok(files.includes(file.slice(2)), file);
  const changes = await readFile(path.join(PKG, "CHANGELOG.md"), "utf8");
  const [, latest] = /^## \[(.+)\]/m.exec(changes);
  assert.equal(latest, manifest.version, "what this version does stands under its number");
});

test("worker and WebAssembly can be named, where a page or a bundler needs their URLs", () => {
  for (const file of ["worker.js", "node-worker.js", "wasm/caselens_bg.wasm", "wasm/relaxed/caselens_bg.wasm"]) {
    assert.equal(fileURLToPath(import.meta.resolve(`caselens/dist/${file}`)), path.join(PKG, "dist", file));
  }
});

test("its code is there to be read, and its maps hold the sources", async () => {
  for (const file of files.filter((file) => /\.c?js$/.test(file))) {
    const code = await readFile(path.join(PKG, file), "utf8");
    const lines = code.split("\n");
    assert.ok(code.length / lines.length < 100, `${file} has ${lines.length} lines of ${Math.round(code.length / lines.length)} characters`);
    assert.equal(lines.findLast((line) => line !== ""), `//# sourceMappingURL=${path.basename(file)}.map`);
    const map = JSON.parse(await readFile(path.join(PKG, `${file}.map`), "utf8"));
    const own = map.sources.filter((source) => source.startsWith("../src/"));
    assert.ok(own.length > 0, file);
    for (const [i, source] of map.sources.entries()) {
      if (own.includes(source)) assert.equal(map.sourcesContent[i], await readFile(path.join(PKG, "dist", source), "utf8"), source);
    }
  }
});

test("an uncaught error shows its message and a line of code, not a whole file", () => {
  const script = 'import { CaseLens } from "caselens"; await CaseLens.load({ model: "nowhere.gguf" });';
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: PKG, encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /CaseLensError: /);
  assert.ok(stderr.length < 3000, stderr);
});

test("consoles call its classes by their names", async () => {
  for (const entry of [await import("caselens"), createRequire(import.meta.url)("../dist/node.cjs"), await import("../dist/index.js")]) {
    for (const name of ["CaseLens", "Encoder", "Embeddings", "Gallery", "CaseLensError"]) assert.equal(entry[name].name, name);
  }
  for (const file of files.filter((file) => /\.js$/.test(file))) {
    const code = await readFile(path.join(PKG, file), "utf8");
    assert.ok(!/\b_Index\b/.test(code), file);
  }
});

test("publint finds nothing", async () => {
  const { messages, pkg } = await publint({ pkgDir: PKG, strict: true });
  assert.deepEqual(messages.map((message) => formatMessage(message, pkg)), []);
});

test("its types resolve as its code does, under every module resolution that knows ES modules", async () => {
  const { types, problems } = await checkPackage(createPackageFromTarballData(tarball), { excludeEntrypoints: [/^\.\/dist\//] });
  assert.equal(types.kind, "included");
  // Node 10's rules find all of it. Two have no form for `require`: the element is for pages, and in Node `worker: false` is what `inline` gives.
  const known = ["./element", "./inline"].map((entrypoint) => ({ kind: "CJSResolvesToESM", entrypoint, resolutionKind: "node16-cjs" }));
  assert.deepEqual(problems, known);
});

/** What a user writes, for pages and for Node alike. */
const USER = `
  import { CaseLens, Encoder, type Comparison, type Embeddings, type Index } from "caselens";
  import { inThisThread } from "caselens/inline";
  import { CaseLensEmbeddings } from "caselens/langchain";
  import { type EmbeddingModel, embeddingModel } from "caselens/ai";
  export const lens: Promise<CaseLens> = CaseLens.load({ model: new Blob([]), worker: inThisThread, fetch: (url, init) => fetch(url, init) });
  export const results: Promise<Comparison[]> = lens.then((lens) => lens.compare("a", "b", ["c"], { signal: new AbortController().signal }));
  export const rows: Promise<Embeddings<"float32">> = Encoder.load({ model: "m.gguf" }).then((encoder) => encoder.embed(["a"]));
  export const vectors: Promise<number[]> = lens.then((lens) => new CaseLensEmbeddings(lens, { condition: "c" }).embedQuery("a"));
  export const model: Promise<EmbeddingModel> = lens.then((lens) => embeddingModel(lens, { condition: "c" }));
  export const ids: Promise<(string | number)[]> = lens.then((lens) => lens.index<{ year: number }>()).then((index: Index<{ year: number }>) => [...index].map(({ id }) => id));`;
const ELEMENT = `
  import { CaseLensElement } from "caselens/element";
  export const element: CaseLensElement | null = document.querySelector("case-lens");`;
const DOM = { lib: ["es2022", "dom", "dom.iterable"], types: [] };
const NODE = { lib: ["es2022"], types: ["node"], typeRoots: [path.join(PKG, "node_modules/@types")] };
const OLD = "typescript-old";
/** Each: the compiler, what it knows of the world, how it looks for modules, what is compiled. */
const COMPILED = [
  ["TypeScript 4.9, a page", OLD, { ...DOM, module: "node16" }, "main.mts", USER + ELEMENT],
  ["TypeScript 5, a page", "typescript-5", { ...DOM, module: "esnext", moduleResolution: "bundler" }, "main.mts", USER + ELEMENT],
  ["TypeScript 5, Node without a DOM", "typescript-5", { ...NODE, module: "nodenext" }, "main.mts", USER],
  ["TypeScript 5, Node and CommonJS", "typescript-5", { ...NODE, module: "node16" }, "main.cts", USER.replace(/.*inline";|, worker: inThisThread/g, "")],
  ["TypeScript 5, as Node 10 looks for modules", "typescript-5", { ...DOM, module: "commonjs", moduleResolution: "node10", ignoreDeprecations: "5.0" }, "main.ts", USER + ELEMENT],
];

test("its types hold nothing of the inside", async () => {
  const types = await readFile(path.join(PKG, "dist/index.d.ts"), "utf8");
  for (const inside of ["LoadCall", "ToWorker", "class Pool", "class Client"]) assert.ok(!types.includes(inside), inside);
  assert.ok(!/^import /m.test(types), "it stands by itself");
});

for (const [name, compiler, world, file, code] of COMPILED) {
  test(`its types are right for ${name}, which checks them too`, { timeout: 240_000 }, async () => {
    const user = path.join(folder, name);
    await mkdir(path.join(user, "node_modules"), { recursive: true });
    await symlink(PKG, path.join(user, "node_modules/caselens"), "dir");
    await writeFile(path.join(user, file), code);
    const options = { strict: true, skipLibCheck: false, noEmit: true, target: "es2022", preserveSymlinks: true, ...world };
    await writeFile(path.join(user, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: [file] }));
    const { status, stdout } = spawnSync(process.execPath, [path.join(PKG, "node_modules", compiler, "lib/tsc.js"), "--project", user], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  });
}

test("who imports Encoder alone bundles nothing of CaseLens, of lists or of indexes", async () => {
  const stdin = { contents: 'export { Encoder } from "./dist/index.js";', resolveDir: PKG };
  const { outputFiles } = await build({ stdin, bundle: true, format: "esm", external: ["*/text-index.js", "*/inline.js", "*/more.js"], write: false });
  const code = outputFiles[0].text;
  for (const other of ["suggest", "explain", "IDBKeyRange", "indexedDB", "silhouette"]) assert.ok(!code.includes(other), other);
});

test("what a browser loads stays within its budget", { timeout: 240_000 }, async (context) => {
  const compress = promisify(brotliCompress);
  // Node's files are no part of a page's download, and the engine for the page's own thread comes in place of the worker.
  const loaded = files.filter((file) => /\.(js|wasm)$/.test(file) && !/^dist\/(node|inline)/.test(file));
  const sizes = await Promise.all(
    loaded.map(async (file) => ({ file, size: (await compress(await readFile(path.join(PKG, file)))).byteLength })),
  );
  for (const { file, size } of sizes) context.diagnostic(`${String(size).padStart(8)} ${file}`);
  const later = { "dist/text-index.js": INDEX_BUDGET, "dist/more.js": MORE_BUDGET };
  for (const [name, budget] of Object.entries(later)) {
    const { size } = sizes.find(({ file }) => file === name);
    assert.ok(size <= budget, `${size} bytes of ${name} are more than ${budget}`);
  }
  const isWasm = ({ file }) => file.endsWith(".wasm");
  const scripts = sizes.filter((entry) => !isWasm(entry) && !(entry.file in later)).reduce((sum, { size }) => sum + size, 0);
  const largest = Math.max(...sizes.filter(isWasm).map(({ size }) => size));
  assert.ok(largest <= WASM, `${largest} bytes of wasm are more than ${WASM}`);
  context.diagnostic(`${scripts + largest} of ${BUDGET} bytes`);
  assert.ok(scripts + largest <= BUDGET, `${scripts} bytes of JavaScript and ${largest} of wasm are more than ${BUDGET}`);
});

/** What a bundler makes of a module: minified, and without what nobody uses. */
async function bundled(contents) {
  const later = { name: "later", setup: ({ onResolve }) => onResolve({ filter: /\/(inline|more|text-index)\.js$/ }, ({ path }) => ({ path, external: true })) };
  const { outputFiles } = await build({ stdin: { contents, resolveDir: PKG }, bundle: true, minify: true, format: "esm", target: "es2022", write: false, plugins: [later] });
  return outputFiles[0].contents;
}

test("bundlers make little JavaScript of it, and leave out what is not imported", async (context) => {
  const [page, worker] = await Promise.all([bundled('export * from "./dist/index.js"'), bundled('import "./dist/worker.js"')]);
  const scripts = brotliCompressSync(page).byteLength + brotliCompressSync(worker).byteLength;
  context.diagnostic(`${scripts} of ${MINIFIED} bytes`);
  assert.ok(scripts <= MINIFIED, `${scripts} bytes are more than ${MINIFIED}`);

  const encoder = await bundled('export { Encoder } from "./dist/index.js"');
  const size = gzipSync(encoder).byteLength;
  context.diagnostic(`Encoder alone: ${size} of ${ENCODER} bytes`);
  assert.ok(size <= ENCODER, `${size} bytes are more than ${ENCODER}`);
  for (const call of ["compare", "group", "suggest"]) assert.ok(!new TextDecoder().decode(encoder).includes(`async ${call}(`), call);
});
