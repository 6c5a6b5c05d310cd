// Tells the page which encoders lie beside it, where, and the figures of their model card.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "vite";
import { figuresOf } from "./card";

/** By the names that links have for them. The small one ships; the published encoder of CASE is made by build.sh. */
const FILES = {
  small: { model: "models/caselens-csts-q4_0.gguf", head: "models/caselens-csts.head.safetensors" },
  large: { model: "models/caselens-csts-large-q4_0.gguf", head: "models/caselens-csts-large.head.safetensors" },
  case: { model: "models/case-minilm-q4_0.gguf", head: "models/case-minilm.head.safetensors" },
};
const CARD = "models/README.md";

/**
 * Defines `__ENCODERS__`: the files' URLs, which change with their contents. The package keeps a file under its URL and does not
 * ask for it again: by another one a visitor who comes back gets what is new. And what the model card says of them: the page
 * has no figures of its own. An encoder whose files are not there is not offered.
 */
export const encoders = (): Plugin => ({
  name: "caselens-encoders",
  config: ({ root = ".", publicDir = "public" }) => {
    const folder = path.resolve(root, publicDir || "public");
    const isThere = (file: string) => existsSync(path.join(folder, file));
    const versioned = (file: string) =>
      isThere(file) ? `${file}?v=${createHash("sha256").update(readFileSync(path.join(folder, file))).digest("hex").slice(0, 8)}` : file;
    const card = readFileSync(path.join(folder, CARD), "utf8");
    const offered = Object.entries(FILES)
      // A site may be given what ships after it is built.
      .filter(([id, { model, head }]) => id === "small" || (isThere(model) && isThere(head)))
      .map(([id, { model, head }]) => [id, { model: versioned(model), head: versioned(head), figures: figuresOf(card, id) }]);
    return { define: { __ENCODERS__: JSON.stringify(Object.fromEntries(offered)) } };
  },
});
