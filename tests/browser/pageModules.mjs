// The demo's own modules as plain functions, without a browser.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { ROOT } from "./helpers.mjs";

/**
 * Bundles modules of www/src, in English, and imports them.
 * @param {string[]} names such as `"tables/read"`
 * @returns {Promise<{ modules: Record<string, any>, remove: () => Promise<void> }>} the modules by the last part of their names
 */
export async function pageModules(names) {
  const folder = await mkdtemp(path.join(tmpdir(), "caselens-page-"));
  await build({
    entryPoints: ["strings", ...names].map((name) => path.join(ROOT, `www/src/${name}.ts`)),
    outbase: path.join(ROOT, "www/src"),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    banner: { js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);' },
    // The ready lists are Vite's to find.
    define: { "import.meta.glob": "Object" },
    logLevel: "warning",
  });
  const { loadWords } = await import(pathToFileURL(path.join(folder, "strings.mjs")));
  await loadWords();
  const imported = await Promise.all(names.map((name) => import(pathToFileURL(path.join(folder, `${name}.mjs`)))));
  const modules = Object.fromEntries(names.map((name, i) => [path.basename(name), imported[i]]));
  return { modules, remove: () => rm(folder, { recursive: true, force: true }) };
}
