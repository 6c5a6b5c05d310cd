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
    sha256: "2c38eb0afc9db1c99001c62dd24990ab478fbd3b277a913c985a03c31abcfbdc",
  },
  head: {
    url: placed(new URL("./caselens-csts.head.safetensors", import.meta.url), "caselens-csts.head.safetensors"),
    bytes: 12170,
    sha256: "a44527f987c8e2d70861361f033da4fd774fea761a6acdc517208398bad54ec6",
  },
};
