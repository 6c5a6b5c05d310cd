import { cp } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = import.meta.dirname ?? path.dirname(fileURLToPath(import.meta.url));
const out = path.join(here, "out");

await build({ entryPoints: [path.join(here, "main.js")], bundle: true, format: "esm", outdir: out, external: ["caselens"] });
await cp(path.join(here, "index.html"), path.join(out, "index.html"));
// The package as it is: index.html's import map leads to it.
await cp(path.dirname(fileURLToPath(import.meta.resolve("caselens"))), path.join(out, "caselens"), { recursive: true });
