import path from "node:path";
import { defineConfig } from "vite";
import { encoders } from "./encoders";
import { languages } from "./languages";
import { larger } from "./larger";
import { offline } from "./offline/plugin";
import { policy } from "./policy";
import { share } from "./share";

export default defineConfig({
  // Relative addresses: the built site works under any sub-path.
  base: "./",
  // The package starts its worker and finds its wasm by URLs relative to its own files, which
  // pre-bundling would move.
  optimizeDeps: { exclude: ["caselens"] },
  // In development the package is served from its own folder, next to this one.
  server: { fs: { allow: [".", "../pkg"] } },
  worker: { format: "es" },
  plugins: [
    policy(),
    languages(),
    larger(),
    share(),
    encoders(),
    offline({
      // The model is the package's to keep; the picture is for other sites; the engine for this thread is never asked for here.
      left: ["models/", "share.png", "assets/inline-"],
      builds: ["relaxed/caselens_bg.wasm", "caselens_bg.wasm"].map((file) => path.resolve(import.meta.dirname, "../pkg/dist/wasm", file)),
    }),
  ],
  build: { rollupOptions: { input: ["index.html", "speed.html", "unkept.html"].map((page) => path.resolve(import.meta.dirname, page)) } },
});
