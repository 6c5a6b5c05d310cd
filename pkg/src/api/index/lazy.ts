// Indexes are loaded where somebody first asks for one: who only compares or embeds does not wait for them.

import { CaseLensError } from "../../errors.js";
import { platform } from "../../page/platform.js";
import type { Calls } from "../list/options.js";
import type { Origin } from "./origin.js";

/** What makes, reads and forgets indexes. */
export async function indexes(): Promise<typeof import("./open.js")> {
  try {
    return await import("./open.js");
  } catch (cause) {
    throw new CaseLensError("network", "`text-index.js` could not be loaded. The whole `dist` folder of the package has to be there; try again.", { cause });
  }
}

/** What an index belongs to. */
export const originOf = (calls: Calls, kind: Origin["kind"]): Origin => ({ calls, kind, store: platform().indexes });
