// Tells the page where the encoder and the head that ship lie, and the figures of their model card.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "vite";
import { figuresOf } from "./card";

const FILES = { model: "models/caselens-csts-q4_0.gguf", head: "models/caselens-csts.head.safetensors" };
const CARD = "models/README.md";

/**
 * Defines `__SHIPPED__`: the files' URLs, which change with their contents. The package keeps a file under its URL and does not
 * ask for it again: by another one a visitor who comes back gets what is new. And what the model card says of them: the page
 * has no figures of its own.
 */
export const shipped = (): Plugin => ({
  name: "caselens-shipped",
  config: ({ root = ".", publicDir = "public" }) => {
    const folder = path.resolve(root, publicDir || "public");
    const versioned = (file: string) => {
      const there = path.join(folder, file);
      // A site may be given its files after it is built.
      if (!existsSync(there)) return file;
      return `${file}?v=${createHash("sha256").update(readFileSync(there)).digest("hex").slice(0, 8)}`;
    };
    const figures = figuresOf(readFileSync(path.join(folder, CARD), "utf8"));
    return { define: { __SHIPPED__: JSON.stringify({ model: versioned(FILES.model), head: versioned(FILES.head) }), __FIGURES__: JSON.stringify(figures) } };
  },
});
