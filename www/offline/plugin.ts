// Writes the service worker: the page's own files with their hashes, once all of them are there.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "vite";

const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("base64");

interface Options {
  /** Folders whose files are not the page's own. */
  readonly left: readonly string[];
  /** Builds of one wasm module, the best first: a browser keeps the first that it can run. */
  readonly builds: readonly string[];
}

export function offline({ left, builds }: Options): Plugin {
  let out = "";
  return {
    name: "caselens-offline",
    apply: "build",
    configResolved: ({ root, build }) => {
      out = path.resolve(root, build.outDir);
    },
    writeBundle: {
      order: "post",
      sequential: true,
      handler() {
        const names = readdirSync(out, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => path.relative(out, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"))
          .filter((name) => name !== "sw.js" && !left.some((folder) => name.startsWith(folder)))
          .sort();
        const hashes = new Map(names.map((name) => [name, sha256(readFileSync(path.join(out, name)))]));
        const built = builds.map((file) => {
          const hash = sha256(readFileSync(file));
          const name = names.find((name) => hashes.get(name) === hash);
          if (!name) throw new Error(`${file} is not among the site's files.`);
          return name;
        });
        const files = JSON.stringify(Object.fromEntries(hashes));
        const worker = readFileSync(new URL("./worker.js", import.meta.url), "utf8").replace("__BUILDS__", () => JSON.stringify(built));
        const version = sha256(files + worker).slice(0, 16);
        writeFileSync(path.join(out, "sw.js"), worker.replace("__FILES__", () => files).replace("__VERSION__", () => version));
      },
    },
  };
}
