// Makes the package of a model: writes its index.js, index.cjs and their types, with the sizes and SHA-256 of the files that ship, and puts
// those beside them. npm runs it in the package's folder before it packs; by hand: `node models/pack.mjs models/caselens-csts`. The
// weights are in the repository once, where the demo serves them.

import { createHash } from "node:crypto";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const folder = path.resolve(process.argv[2] ?? ".");
const name = path.basename(folder);
const DTYPE = "q4_0";

async function entry(role, file) {
  const shipped = path.join(ROOT, "www/public/models", file);
  const bytes = await readFile(shipped);
  await copyFile(shipped, path.join(folder, file));
  return `  ${role}: {
    url: placed(new URL("./${file}", import.meta.url), "${file}"),
    bytes: ${bytes.byteLength},
    sha256: "${createHash("sha256").update(bytes).digest("hex")}",
  },`;
}

const files = [await entry("model", `${name}-${DTYPE}.gguf`), await entry("head", `${name}.head.safetensors`)];
const index = `// The model's files, by URLs that Node, Deno, bundlers and CDNs understand. Written by \`pack.mjs\`.

// Vite 7 and older copy a package's modules to node_modules/.vite/deps while developing, and leave its other files behind.
const copied = /^(.*\\/node_modules\\/)\\.vite\\/deps[^/]*\\//.exec(import.meta.url);
const placed = (url, name) => (copied ? new URL(\`\${copied[1]}${name}/\${name}\`) : url);

// Bundlers look for \`new URL\` as it stands here.
export default {
  name: "${name}",
  dtype: "${DTYPE}",
${files.join("\n")}
};
`;
/** For Node before 20.19, and for Jest. */
const commonJs = `// The model's files for CommonJS. Written by \`pack.mjs\`.

const { pathToFileURL } = require("node:url");

const placed = (name) => new URL(name, pathToFileURL(__filename));

Object.defineProperty(exports, "__esModule", { value: true });
exports.default = {
  name: "${name}",
  dtype: "${DTYPE}",
${files.join("\n").replaceAll(/placed\(.*, "(.*)"\)/g, 'placed("./$1")')}
};
`;

const types = `/** A file of the model. */
export interface ModelFile {
  /** Where it lies. */
  readonly url: URL;
  /** Its size in bytes. */
  readonly bytes: number;
  /** Its SHA-256, in hexadecimal digits. */
  readonly sha256: string;
}

/** The model, for \`CaseLens.load({ model })\` of the package \`caselens\`. */
declare const model: {
  /** The name of the model. */
  readonly name: "${name}";
  /** How the weights are stored. */
  readonly dtype: "${DTYPE}";
  /** The encoder. */
  readonly model: ModelFile;
  /** Its head: how embeddings are made of it. */
  readonly head: ModelFile;
};
export default model;
`;

await writeFile(path.join(folder, "index.js"), index);
await writeFile(path.join(folder, "index.cjs"), commonJs);
for (const file of ["index.d.ts", "index.d.cts"]) await writeFile(path.join(folder, file), types);
await copyFile(path.join(ROOT, "LICENSE-APACHE"), path.join(folder, "LICENSE-APACHE"));
