// The model's files for CommonJS. Written by `pack.mjs`.

const { pathToFileURL } = require("node:url");

const placed = (name) => new URL(name, pathToFileURL(__filename));

Object.defineProperty(exports, "__esModule", { value: true });
exports.default = {
  name: "caselens-csts-large",
  dtype: "q4_0",
  model: {
    url: placed("./caselens-csts-large-q4_0.gguf"),
    bytes: 62880960,
    sha256: "62874dc7e0f2a0ccd66e44663d4aa0c127fd31ef6dd4bf24c1ad043eaccf4339",
  },
  head: {
    url: placed("./caselens-csts-large.head.safetensors"),
    bytes: 3210,
    sha256: "9f699dfa7bc82869b74d9608ac5073f1454d3ecb7a4f5c5c9e8f657041962a86",
  },
};
