/**
 * The engine in the calling thread, for places that have no workers and import nothing later, such as service workers.
 *
 * @example
 * ```ts
 * import { CaseLens } from "caselens";
 * import { inThisThread } from "caselens/inline";
 *
 * const lens = await CaseLens.load({ model, worker: inThisThread });
 * ```
 *
 * @module caselens/inline
 */

import * as more from "./more.js";
import type { WorkerLike } from "./types.js";
import { Here } from "./worker/here.js";
import { browserOutside } from "./worker/outside.js";

/**
 * The option `worker` of `load`, as `false` is, without an import while the program runs. A long call gives way to other work between
 * its parts, and nothing is shared out.
 */
export const inThisThread: {
  (): WorkerLike;
  /** It is alone: other threads could not help it. */
  readonly threads: 1;
} = Object.assign(() => new Here(browserOutside), { threads: 1, more } as const);
