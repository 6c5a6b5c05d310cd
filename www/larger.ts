// Tells the page whether a larger model's answers lie beside it, so that it asks for them only where there are some.

import { existsSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "vite";

/** Defines `__LARGER__`: whether the folder of public files holds what `caselens export --gallery` wrote, as bundle/. */
export const larger = (): Plugin => ({
  name: "caselens-larger",
  config: ({ root = ".", publicDir = "public" }) => {
    const there = publicDir !== false && existsSync(path.resolve(root, publicDir, "bundle/manifest.json"));
    return { define: { __LARGER__: JSON.stringify(there) } };
  },
});
