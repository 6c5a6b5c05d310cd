// The engine in the calling thread of Node or Deno.

import { nodeOutside } from "./node/outside.js";
import type { WorkerLike } from "./types.js";
import { Here } from "./worker/here.js";

/** As in `inline.ts`. */
export const inThisThread: { (): WorkerLike; readonly threads: 1 } = Object.assign(() => new Here(nodeOutside), { threads: 1 } as const);
