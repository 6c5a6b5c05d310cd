// What the built site may load and run: its own files, and nothing of any other place. Written into its pages, since it is served by
// whatever serves static files. Without building, Vite's own scripts stand in the pages.

import type { Plugin } from "vite";

const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "img-src 'self' blob: data:", // pictures that are saved and shared are drawn here
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

export const policy = (): Plugin => ({
  name: "caselens-policy",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    // Behind the character set, which has to be among the first bytes, and before all else.
    handler: (html) => html.replace(/<meta charset="utf-8" ?\/?>/, (charset) => `${charset}\n    <meta http-equiv="Content-Security-Policy" content="${POLICY}" />`),
  },
});
