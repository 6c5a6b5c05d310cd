// Tells the page where the encoder and the head that ship lie.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "vite";

const FILES = { model: "models/caselens-csts-q4_0.gguf", head: "models/caselens-csts.head.safetensors" };

/**
 * Defines `__SHIPPED__`: the files' URLs, which change with their contents. The package keeps a file under its URL and does not
 * ask for it again: by another one a visitor who comes back gets what is new.
 */
export const shipped = (): Plugin => ({
  name: "caselens-shipped",
  config: ({ root = ".", publicDir = "public" }) => {
    const versioned = (file: string) => {
      const there = path.resolve(root, publicDir || "public", file);
      // A site may be given its files after it is built.
      if (!existsSync(there)) return file;
      return `${file}?v=${createHash("sha256").update(readFileSync(there)).digest("hex").slice(0, 8)}`;
    };
    return { define: { __SHIPPED__: JSON.stringify({ model: versioned(FILES.model), head: versioned(FILES.head) }) } };
  },
});
