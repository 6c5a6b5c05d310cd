// Tells the page which encoders lie beside it, where, what is in their files, and the figures of their model card.

import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync } from "node:fs";
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

/** `OWN_ENCODER=FOLDER`: files that take the place of those in the public folder, by the same paths. */
const own = (): string | undefined => process.env.OWN_ENCODER || undefined;

/**
 * Defines `__ENCODERS__`: the files' URLs, which change with their contents. The package keeps a file under its URL and does not
 * ask for it again: by another one a visitor who comes back gets what is new. Their SHA-256, by which a file that was damaged on its
 * way is told and neither believed nor kept. And what the model card says of them: the page has no figures of its own. An encoder
 * whose files are not there is not offered.
 */
export const encoders = (): Plugin => ({
  name: "caselens-encoders",
  config: ({ root = ".", publicDir = "public" }) => {
    const folder = path.resolve(root, publicDir || "public");
    const placeOf = (file: string) => [own() ?? folder, folder].map((at) => path.join(at, file)).find(existsSync);
    const told = (file: string) => {
      const place = placeOf(file);
      const sha256 = place && createHash("sha256").update(readFileSync(place)).digest("hex");
      return { url: sha256 ? `${file}?v=${sha256.slice(0, 8)}` : file, sha256 };
    };
    const card = readFileSync(path.join(folder, CARD), "utf8");
    const offered = Object.entries(FILES)
      // A site may be given what ships after it is built: what that will be is not known then, and not checked.
      .filter(([id, { model, head }]) => id === "small" || (placeOf(model) && placeOf(head)))
      .map(([id, files]) => {
        const [model, head] = [told(files.model), told(files.head)];
        return [id, { model: model.url, integrity: model.sha256, head: head.url, headIntegrity: head.sha256, figures: figuresOf(card, id) }];
      });
    return { define: { __ENCODERS__: JSON.stringify(Object.fromEntries(offered)) } };
  },
  writeBundle: ({ dir = "dist" }) => {
    const from = own();
    if (from !== undefined) cpSync(from, dir, { recursive: true });
  },
});
