// The worker thread: everything heavy runs here, so that Node's event loop stays free. The session does the work; this
// file only ties it to Node.

import { parentPort } from "node:worker_threads";
import { nodeOutside } from "./node/outside.js";
import { Session } from "./worker/session.js";

const port = parentPort;
if (!port) throw new Error("This is the worker of caselens. Import the package instead.");

const session = new Session({ ...nodeOutside, post: (message, transfer = []) => port.postMessage(message, transfer as never) });

port.on("message", (message) => session.receive(message));
process.on("uncaughtException", (error) => session.fail(error));
process.on("unhandledRejection", (reason) => session.fail(reason));
