// Makes the published files of what tsc left in build/: one for each thread, so that a page without a bundler waits for a
// few files and not for dozens, one after the other.
//
// They are written as people read them, with maps to the sources: an uncaught error shows a line and not the whole file, a
// debugger leads to TypeScript, and bundlers see the expressions that they look for. Who bundles minifies anyway.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));

/** The element uses the classes of the page's one `index.js`: two copies of an error would be two classes. */
const ONE_INDEX = {
  name: "one-index",
  setup: ({ onResolve }) => onResolve({ filter: /\/index\.js$/ }, ({ kind }) => (kind === "entry-point" ? undefined : { path: "./index.js", external: true })),
};

/**
 * What not every page needs is imported when somebody first asks for it: indexes, and `more.js`. Each is a file of its own, which uses the
 * classes of the entry that it is imported by and holds all else that it needs. Of those two modules it may import nothing but what the
 * entry exports.
 */
const own = (files, entry) => ({
  name: "own",
  setup: ({ onResolve }) => {
    for (const [module, file] of Object.entries(files)) {
      onResolve({ filter: new RegExp(`/${module}\\.js$`) }, ({ kind, importer }) => (kind === "dynamic-import" || /\/inline\.js$/.test(importer) ? { path: `./${file}.js`, external: true } : undefined));
    }
    if (entry) onResolve({ filter: /\/(errors|embeddings)\.js$/ }, () => ({ path: `./${entry}.js`, external: true }));
  },
});
const PAGE = { open: "text-index", more: "more" };
const NODE = { open: "node-text-index", more: "node-more" };

/** The engine for this thread is imported when it is asked for: a file of its own, as the workers are. */
const OWN_INLINE = {
  name: "own-inline",
  setup: ({ onResolve }) => onResolve({ filter: /\/(node-)?inline\.js$/ }, ({ kind, path }) => (kind === "dynamic-import" ? { path: `./${path.split("/").at(-1)}`, external: true } : undefined)),
};

/** wasm-bindgen writes the same text beside both modules, as long as it names nothing that depends on the instructions. */
const SAME = (await readFile("build/wasm/caselens.js")).equals(await readFile("build/wasm/relaxed/caselens.js"));
const ONE_GLUE = {
  name: "one-glue",
  setup: ({ onResolve }) => SAME && onResolve({ filter: /\/wasm\/relaxed\/caselens\.js$/ }, () => ({ path: path.resolve("build/wasm/caselens.js") })),
};

const common = { bundle: true, format: "esm", target: "es2022", outdir: "dist", sourcemap: true, logLevel: "warning" };
await build({ ...common, entryPoints: ["build/index.js", "build/worker.js", "build/inline.js", "build/langchain.js", "build/ai.js"], plugins: [OWN_INLINE, ONE_GLUE, own(PAGE)] });
await build({ ...common, entryPoints: { "text-index": "build/api/index/open.js", more: "build/more.js" }, plugins: [own(PAGE, "index")] });
await build({ ...common, entryPoints: ["build/element.js"], plugins: [ONE_INDEX] });
await build({ ...common, entryPoints: ["build/node.js", "build/node-worker.js", "build/node-inline.js"], platform: "node", plugins: [OWN_INLINE, ONE_GLUE, own(NODE)] });
await build({ ...common, entryPoints: { "node-text-index": "build/api/index/open.js", "node-more": "build/more.js" }, platform: "node", plugins: [own(NODE, "node")] });

// The same for CommonJS, such as Node before 20.19 and what Jest makes of tests: in one file, since an import while it runs is none of theirs. Its worker
// is the other's.
const ITS_URL = { define: { "import.meta.url": "itsUrl" }, banner: { js: 'const itsUrl = require("node:url").pathToFileURL(__filename).href;' } };
// Beside one another, classes of the same name would get others.
const commonJs = { ...common, keepNames: true, format: "cjs", platform: "node", outExtension: { ".js": ".cjs" } };
await build({ ...commonJs, ...ITS_URL, entryPoints: ["build/node.js"], plugins: [ONE_GLUE] });
await build({ ...commonJs, entryPoints: ["build/langchain.js", "build/ai.js"] });

/** What an entry's types share with those of `index.d.ts`, which names all of them. */
const SHARED_TYPES = {
  name: "shared-types",
  resolveId: (source, importer) => (importer && /\/(index|types|errors)\.js$/.test(source) ? { id: "./index.js", external: true } : undefined),
};
for (const [entry, plugins] of [["index", []], ...["element", "inline", "langchain", "ai"].map((entry) => [entry, [SHARED_TYPES]])]) {
  const types = await rollup({ input: `build/types/${entry}.d.ts`, plugins: [...plugins, dts()] });
  await types.write({ file: `dist/${entry}.d.ts` });
  if (["index", "langchain", "ai"].includes(entry)) {
    await writeFile(`dist/${entry}.d.cts`, (await readFile(`dist/${entry}.d.ts`, "utf8")).replace(/(?<=["'])\.\/index\.js(?=["'])/g, "./index.cjs"));
  }
}

/** A module that says which of the two it is, in a section of its own: who is given one has to know. */
function named(wasm, instructions) {
  const section = [..."caselens"].map((letter) => letter.charCodeAt(0));
  const content = [section.length, ...section, ...Buffer.from(instructions)];
  return Buffer.concat([wasm, Buffer.from([0, content.length, ...content])]);
}

for (const [folder, instructions] of [["wasm", "simd128"], ["wasm/relaxed", "relaxed-simd"]]) {
  await mkdir(`dist/${folder}`, { recursive: true });
  await writeFile(`dist/${folder}/caselens_bg.wasm`, named(await readFile(`build/${folder}/caselens_bg.wasm`), instructions));
}
