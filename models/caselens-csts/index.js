// The model's files, by URLs that Node, Deno, bundlers and CDNs understand. Written by `pack.mjs`.

// Vite 7 and older copy a package's modules to node_modules/.vite/deps while developing, and leave its other files behind.
const copied = /^(.*\/node_modules\/)\.vite\/deps[^/]*\//.exec(import.meta.url);
const placed = (url, name) => (copied ? new URL(`${copied[1]}caselens-csts/${name}`) : url);

// Bundlers look for `new URL` as it stands here.
export default {
  name: "caselens-csts",
  dtype: "q4_0",
  model: {
    url: placed(new URL("./caselens-csts-q4_0.gguf", import.meta.url), "caselens-csts-q4_0.gguf"),
    bytes: 13722816,
    sha256: "fbdba091316532ef2740c6b108ddf8df059e6670e8aa036326e754d65ca2d768",
  },
  head: {
    url: placed(new URL("./caselens-csts.head.safetensors", import.meta.url), "caselens-csts.head.safetensors"),
    bytes: 9960,
    sha256: "aa6e37dbf61c9807497b732ea72ec8f0ef34bd3356f8b6d4de697f5a8477420a",
  },
};
