// Starting the worker, from any static server and through bundlers.

import { CaseLensError, inWords } from "../errors.js";
import { watchPolicy } from "../policy.js";
import type { ToWorker } from "../protocol.js";
import type { WorkerLike } from "../types.js";
import { more } from "./more.js";
import type { WorkerPort } from "./port.js";

/** A browser's worker. */
export class WebWorkerPort implements WorkerPort {
  readonly #worker: Pick<Worker, "postMessage" | "terminate" | "onmessage" | "onerror" | "onmessageerror">;
  readonly #unloaded: string;
  readonly #isRefused: ReturnType<typeof watchPolicy> | undefined;

  /**
   * @param isRefused what listens to the page's policy since before the worker was started.
   * @param unloaded why its script may not have loaded, in words; browsers do not say.
   */
  constructor(worker: WorkerLike, isRefused?: ReturnType<typeof watchPolicy>, unloaded = "its script could not be loaded") {
    this.#worker = worker as Worker;
    this.#isRefused = isRefused;
    this.#unloaded = unloaded;
  }

  listen({ message, failed }: Parameters<WorkerPort["listen"]>[0]): void {
    this.#worker.onmessage = (event) => message(event.data);
    this.#worker.onerror = async (event) => {
      event.preventDefault();
      if (event.message) return failed(`it failed (${event.message})`);
      if (await this.#isRefused?.(({ effectiveDirective }) => effectiveDirective === "worker-src")) failed("a Content-Security-Policy forbids its script", ALLOW);
      else failed(this.#unloaded);
    };
    this.#worker.onmessageerror = () => failed("a message from it could not be read");
  }

  post(message: ToWorker, transfer: Transferable[]): void {
    this.#worker.postMessage(message, transfer);
  }

  end(): void {
    this.#worker.terminate();
  }
}

/** What to do about a policy that forbids a worker. */
const ALLOW = "Allow it in `worker-src`: 'self', or blob: and the other origin.";
/** What to do without workers. */
const WITHOUT =
  "`worker: false` runs the engine in this thread; in a service worker, `worker: inThisThread` of \"caselens/inline\" does.";

/**
 * The engine in this thread.
 *
 * @throws CaseLensError `worker` when it cannot be imported.
 */
export async function startHere(): Promise<WebWorkerPort> {
  try {
    const { inThisThread } = await import("../inline.js");
    return new WebWorkerPort(inThisThread());
  } catch (cause) {
    throw new CaseLensError("worker", `The engine could not be imported into this thread: ${inWords(cause)}. A service worker takes \`worker: inThisThread\` of "caselens/inline".`, { cause });
  }
}

/** @throws CaseLensError `worker` when there are no workers here, or the page may not start this one. */
export async function startWebWorker(): Promise<WebWorkerPort> {
  if (typeof Worker === "undefined") {
    throw new CaseLensError("worker", `There are no web workers here. ${WITHOUT}`);
  }
  const isRefused = watchPolicy();
  try {
    // Vite 7 and older copy a package's modules to node_modules/.vite/deps while developing, and leave the worker behind.
    const copied = /^(.*\/node_modules\/)\.vite\/deps[^/]*\//.exec(here);
    if (copied) return new WebWorkerPort(new Worker(new URL(`${copied[1]}caselens/dist/worker.js`), { type: "module" }), isRefused);
    if (isForeign(here)) return startForeign(new URL("./worker.js", here));
    // Bundlers look for this expression as it stands here, in the package's `dist/index.js`: the worker lies beside that.
    return new WebWorkerPort(new Worker(new URL("./worker.js", import.meta.url), { type: "module" }), isRefused);
  } catch (cause) {
    throw await notStarted(cause);
  }
}

/** The error for a worker that the page may not start. */
async function notStarted(cause: unknown): Promise<CaseLensError> {
  const why = await more().then(({ whyNotStarted }) => whyNotStarted(cause, here, WITHOUT), inWords);
  return new CaseLensError("worker", `The worker of caselens could not be started. ${why}`, { cause });
}

/** Where this module lies. A variable: what stands in an expression beside `new URL` is for bundlers. */
const here = import.meta.url;

/** Whether this module comes from another origin than the page. */
function isForeign(url: string): boolean {
  const { origin, protocol } = new URL(url);
  return /^https?:$/.test(protocol) && origin !== globalThis.location?.origin;
}

/** A worker has to come from the page's own origin; what it imports need not. */
function startForeign(url: URL): WebWorkerPort {
  const script = URL.createObjectURL(new Blob([`import ${JSON.stringify(url.href)};`], { type: "text/javascript" }));
  const worker = new Worker(script, { type: "module" });
  // Not before it has been read.
  worker.addEventListener("message", () => URL.revokeObjectURL(script), { once: true });
  worker.addEventListener("error", () => URL.revokeObjectURL(script), { once: true });
  return new WebWorkerPort(worker, undefined, `its script could not be loaded from ${url.href}: a Content-Security-Policy has to allow blob: and ${url.origin} in worker-src`);
}
