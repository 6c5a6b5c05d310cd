/**
 * The same package for Node and Deno: work runs in `worker_threads`, and files can be read from disk.
 *
 * @packageDocumentation
 */

import { nodePlatform } from "./node/platform.js";
import { usePlatform } from "./platform.js";

usePlatform(nodePlatform);

export * from "./index.js";
