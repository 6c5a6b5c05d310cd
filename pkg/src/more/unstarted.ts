// Why a page may not start its worker, as far as what was thrown tells.

import { inWords } from "../words.js";

/**
 * What to do about it, in words.
 *
 * @param here where the script that wanted to start it lies.
 * @param without what to do without workers.
 */
export function whyNotStarted(cause: unknown, here: string, without: string): string {
  if (/TrustedScriptURL/.test(inWords(cause))) {
    return "The page requires Trusted Types for scripts: give `worker: () => new Worker(policy.createScriptURL(url), { type: \"module\" })`, with the URL of `dist/worker.js`.";
  }
  if (!/^(https?|file):/.test(here)) return `A content script may not: ${without}`;
  return "Serve the `dist` folder of the package from the page's own origin, or from a server that allows other origins (CORS); a Content-Security-Policy has to allow it in `worker-src`.";
}
