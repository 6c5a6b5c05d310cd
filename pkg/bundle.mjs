// Makes the published files of what tsc left in build/: one for each thread, so that a page without a bundler waits for a
// few files and not for dozens, one after the other.
//
// They are written as people read them, with maps to the sources: an uncaught error shows a line and not the whole file, a
// debugger leads to TypeScript, and bundlers see the expressions that they look for. Who bundles minifies anyway.

import { cp } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));

/** The element uses the classes of the page's one `index.js`: two copies of an error would be two classes. */
const ONE_INDEX = {
  name: "one-index",
  setup: ({ onResolve }) => onResolve({ filter: /\/index\.js$/ }, ({ kind }) => (kind === "entry-point" ? undefined : { path: "./index.js", external: true })),
};

const common = { bundle: true, format: "esm", target: "es2022", outdir: "dist", sourcemap: true, logLevel: "warning" };
await build({ ...common, entryPoints: ["build/index.js", "build/worker.js"] });
await build({ ...common, entryPoints: ["build/element.js"], plugins: [ONE_INDEX] });
await build({ ...common, entryPoints: ["build/node.js", "build/node-worker.js"], platform: "node" });

for (const folder of ["wasm", "wasm/relaxed"]) {
  for (const file of ["caselens_bg.wasm", "caselens.d.ts"]) await cp(`build/${folder}/${file}`, `dist/${folder}/${file}`, { preserveTimestamps: true });
}
