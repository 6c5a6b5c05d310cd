// What not every page needs: a file of its own when it is published, which is loaded by the call that first needs it.

export { lookAhead } from "./more/ahead.js";
export { batches } from "./more/batches.js";
export { aboutFiles, type FilesState } from "./more/files.js";
export { onHub } from "./more/hub.js";
export { Requests } from "./more/requests.js";
export { type Listed, shareOut } from "./more/sharing.js";
export { digestOf, headersOf, sourceOf } from "./more/sources.js";
export { whyNotStarted } from "./more/unstarted.js";
