import { fileURLToPath } from "node:url";

export default {
  mode: "production",
  output: { path: fileURLToPath(new URL("public", import.meta.url)) }, // beside index.html
  performance: { hints: false }, // the wasm module is larger than what webpack recommends for a page's first download
};
