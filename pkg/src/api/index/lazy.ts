// Indexes are loaded where somebody first asks for one: who only compares or embeds does not wait for them.

import { loaded } from "../../page/more.js";
import { platform } from "../../page/platform.js";
import type { Calls } from "../list/options.js";
import type { Origin } from "./origin.js";

/** What makes, reads and forgets indexes. */
export const indexes = (): Promise<typeof import("./open.js")> => loaded("text-index", import("./open.js"));

/** What an index belongs to. */
export const originOf = (calls: Calls, kind: Origin["kind"]): Origin => ({ calls, kind, store: platform().indexes });
