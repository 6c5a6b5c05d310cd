// The model's files, by URLs that Node, Deno, bundlers and CDNs understand. Written by `pack.mjs`.

// Vite 7 and older copy a package's modules to node_modules/.vite/deps while developing, and leave its other files behind.
const copied = /^(.*\/node_modules\/)\.vite\/deps[^/]*\//.exec(import.meta.url);
const placed = (url, name) => (copied ? new URL(`${copied[1]}caselens-csts-large/${name}`) : url);

// Bundlers look for `new URL` as it stands here.
export default {
  name: "caselens-csts-large",
  dtype: "q4_0",
  model: {
    url: placed(new URL("./caselens-csts-large-q4_0.gguf", import.meta.url), "caselens-csts-large-q4_0.gguf"),
    bytes: 62880960,
    sha256: "62874dc7e0f2a0ccd66e44663d4aa0c127fd31ef6dd4bf24c1ad043eaccf4339",
  },
  head: {
    url: placed(new URL("./caselens-csts-large.head.safetensors", import.meta.url), "caselens-csts-large.head.safetensors"),
    bytes: 3210,
    sha256: "9f699dfa7bc82869b74d9608ac5073f1454d3ecb7a4f5c5c9e8f657041962a86",
  },
};
