// An engine in the calling thread, behind what looks like a worker: for places that have none, such as service workers and the edge.

import { CaseLensError } from "../errors.js";
import type { FromWorker, ToWorker, WasmSource } from "../protocol.js";
import type { Module } from "./engine.js";
import { type Outside, Session } from "./session.js";
import { isTrap } from "./support.js";

/** There is one WebAssembly module in a thread: after it broke down, none that is loaded later can use it. */
let wrecked = false;

/** As a `Worker`, of this package's messages alone. What is posted is not copied: both sides leave alone what they were given. */
export class Here {
  onmessage: ((event: { readonly data: FromWorker }) => unknown) | null = null;
  onerror: ((event: ErrorEvent) => unknown) | null = null;
  onmessageerror: (() => unknown) | null = null;
  readonly #session: Session;
  #ended = false;

  /** @param outside the world as a worker of this place has it. */
  constructor(outside: Omit<Outside, "post">) {
    this.#session = new Session({
      ...outside,
      boot: (wasm) => boot(outside, wasm),
      post: (message) => queueMicrotask(() => this.#ended || this.onmessage?.({ data: message })),
    });
    // What breaks in a Rust future is thrown outside of every call.
    globalThis.addEventListener?.("error", this.#onError);
    globalThis.addEventListener?.("unhandledrejection", this.#onError);
  }

  postMessage(message: ToWorker): void {
    queueMicrotask(() => this.#session.receive(message));
  }

  /** Ends the calls that wait; the engine's memory is free once the step that runs is over. */
  terminate(): void {
    this.#ended = true;
    globalThis.removeEventListener?.("error", this.#onError);
    globalThis.removeEventListener?.("unhandledrejection", this.#onError);
    wrecked ||= this.#session.broken;
    this.#session.close();
  }

  readonly #onError = (event: Partial<ErrorEvent & PromiseRejectionEvent>): void => {
    const thrown = event.error ?? event.reason;
    if (isTrap(thrown)) this.#session.fail(thrown);
  };
}

function boot(outside: Omit<Outside, "post">, wasm: WasmSource | undefined): Promise<Module> {
  if (!wrecked) return outside.boot(wasm);
  return Promise.reject(new CaseLensError("internal", "The WebAssembly module of this thread broke down before and cannot start again in it. Reload the page or start the process anew, or let workers do the work."));
}
