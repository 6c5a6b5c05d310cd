/**
 * The same package for Node and Deno: work runs in `worker_threads`, and files can be read from disk.
 *
 * @packageDocumentation
 */

import { Worker } from "node:worker_threads";
import { nodePlatform } from "./node/platform.js";
import { usePlatform } from "./page/platform.js";

// Bundlers look for this expression as it stands here. Options of the process, such as `--input-type`, are not for a thread.
usePlatform(
  nodePlatform(
    () => new Worker(new URL("./node-worker.js", import.meta.url), { execArgv: [] }),
    async () => (await import("./node-inline.js")).inThisThread(),
  ),
);

export * from "./index.js";
