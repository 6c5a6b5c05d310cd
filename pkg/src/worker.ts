// The worker: everything heavy runs here, so that the page never waits. The session does the work; this file only
// ties it to the browser.

import type { FromWorker, ToWorker } from "./protocol.js";
import { browserOutside } from "./worker/outside.js";
import { Session } from "./worker/session.js";

/** The part of a worker's global scope that is used here (the DOM's own types describe a page). */
interface WorkerScope {
  postMessage(message: FromWorker, transfer: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToWorker>) => void): void;
  addEventListener(type: "error", listener: (event: ErrorEvent) => void): void;
  addEventListener(type: "unhandledrejection", listener: (event: PromiseRejectionEvent) => void): void;
}
const scope = globalThis as unknown as WorkerScope;

const session = new Session({ ...browserOutside, post: (message, transfer = []) => scope.postMessage(message, transfer) });

scope.addEventListener("message", (event) => session.receive(event.data));
scope.addEventListener("error", (event) => {
  event.preventDefault(); // the page hears of it as a rejected call
  session.fail(event.error ?? event.message);
});
scope.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  session.fail(event.reason);
});
