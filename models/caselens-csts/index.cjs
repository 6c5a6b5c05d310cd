// The model's files for CommonJS. Written by `pack.mjs`.

const { pathToFileURL } = require("node:url");

const placed = (name) => new URL(name, pathToFileURL(__filename));

Object.defineProperty(exports, "__esModule", { value: true });
exports.default = {
  name: "caselens-csts",
  dtype: "q4_0",
  model: {
    url: placed("./caselens-csts-q4_0.gguf"),
    bytes: 13722816,
    sha256: "2c38eb0afc9db1c99001c62dd24990ab478fbd3b277a913c985a03c31abcfbdc",
  },
  head: {
    url: placed("./caselens-csts.head.safetensors"),
    bytes: 12170,
    sha256: "a44527f987c8e2d70861361f033da4fd774fea761a6acdc517208398bad54ec6",
  },
};
