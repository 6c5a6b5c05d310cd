// Puts the files that ship beside index.js, and their sizes and SHA-256 into it: npm runs it before it packs. The files themselves
// are in the repository once, where the demo serves them.

import { createHash } from "node:crypto";
import { copyFile, readFile, writeFile } from "node:fs/promises";

const at = (file) => new URL(file, import.meta.url);
const SHIPPED = "../../www/public/models/";

let index = await readFile(at("index.js"), "utf8");
for (const file of ["caselens-csts-q4_0.gguf", "caselens-csts.head.safetensors"]) {
  await copyFile(at(`${SHIPPED}${file}`), at(file));
  const bytes = await readFile(at(file));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const entry = new RegExp(`("\\./${file.replaceAll(".", "\\.")}".*\\n\\s+bytes: )\\d+(,\\n\\s+sha256: ")[0-9a-f]*`);
  if (!entry.test(index)) throw new Error(`index.js has no entry for ${file}`);
  index = index.replace(entry, `$1${bytes.byteLength}$2${sha256}`);
}
await writeFile(at("index.js"), index);
await copyFile(at("../../LICENSE-APACHE"), at("LICENSE-APACHE"));
