// What a session is tied to in a browser, in a worker and in any other thread.

import { BrowserCache, NO_CACHE } from "./cache.js";
import { checkAnswer, download, reached } from "./download.js";
import { ENGINE, startEngine } from "./engine.js";
import { statedByServer } from "./kept.js";
import type { Outside } from "./session.js";

export const browserOutside: Omit<Outside, "post"> = {
  boot: (wasm) => startEngine(fetchEngine, wasm),
  openCache: async (place, warn) => (place === "none" ? NO_CACHE : BrowserCache.open(warn)),
  download,
  sizeOf: statedByServer,
};

async function fetchEngine({ href }: URL): Promise<Response> {
  const response = await reached(href, ENGINE, () => fetch(href));
  checkAnswer(response, href, ENGINE, "Serve the whole `dist` folder of the package.");
  return response;
}
