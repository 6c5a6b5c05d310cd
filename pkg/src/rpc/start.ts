// Starting the worker, from any static server and through bundlers.

import { CaseLensError } from "../errors.js";

/** @throws CaseLensError `worker` when there are no workers here, or the page may not start this one. */
export function startWorker(): Worker {
  if (typeof Worker === "undefined") {
    throw new CaseLensError("worker", "caselens runs in a browser: there are no web workers here. Load it in a page.");
  }
  try {
    // Vite 7 and older copy a package's modules to node_modules/.vite/deps while developing, and leave the worker behind.
    const copied = /^(.*\/node_modules\/)\.vite\/deps[^/]*\//.exec(import.meta.url);
    if (copied) return new Worker(new URL(/* @vite-ignore */ `${copied[1]}caselens/dist/worker.js`), { type: "module" });
    // Bundlers look for this expression as it stands here.
    return new Worker(new URL("../worker.js", import.meta.url), { type: "module" });
  } catch (cause) {
    throw new CaseLensError(
      "worker",
      "The worker of caselens could not be started. Serve the `dist` folder of the package from the page's own origin.",
      { cause },
    );
  }
}
