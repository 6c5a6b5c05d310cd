// The page's side of one worker: numbers the calls, waits for their answers, and ends the worker.

import { CaseLensError, fromErrorData } from "../errors.js";
import type { Requests } from "../more/requests.js";
import type { Call, FromWorker, LoadCall, Results, ToWorker } from "../protocol.js";
import type { Fetch, LoadedInfo, Progress } from "../types.js";
import { more } from "./more.js";
import { platform } from "./platform.js";
import type { WorkerPort } from "./port.js";

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface ClientEvents {
  /** What the worker's requests are answered with; the worker sends them by itself where this is absent. */
  readonly fetch?: Fetch | undefined;
  /** Starts a worker; the platform's own where this is absent. */
  readonly start?: (() => WorkerPort | Promise<WorkerPort>) | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly onWarning: (message: string) => void;
}

export class Client {
  /** What is loaded. */
  info!: LoadedInfo;
  readonly #worker: WorkerPort;
  readonly #events: ClientEvents;
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;
  #keep!: () => void;
  /** Fulfilled when what the worker downloaded is in the cache, or cannot be: another worker finds it there. */
  readonly kept = new Promise<void>((resolve) => (this.#keep = resolve));
  /** Whether the worker stopped by itself. */
  lost = false;
  #requests: Requests | undefined;
  /** What it downloaded and is kept nowhere, in the form of a call's sources. */
  brought: Partial<Pick<LoadCall, "model" | "head">> = {};
  #closed: { readonly why: unknown } | undefined;

  private constructor(worker: WorkerPort, events: ClientEvents) {
    this.#worker = worker;
    this.#events = events;
    worker.listen({
      message: (message) => this.#receive(message),
      failed: (why, known = "The whole `dist` folder of the package has to be there; load again.") => {
        this.lost = true;
        this.#keep(); // nothing more is kept
        const remedy = this.info ? "Call again: another one starts." : known;
        this.close(new CaseLensError("worker", `The worker of caselens stopped: ${why}. ${remedy}`));
      },
    });
  }

  /**
   * Starts a worker and loads a model in it. When that fails or is aborted, the worker is gone.
   * @param call whose bytes are handed over to the worker.
   */
  static async load(call: LoadCall, events: ClientEvents, signal: AbortSignal | undefined): Promise<Client> {
    if (signal?.aborted) throw signal.reason;
    const client = await Client.#open(events);
    try {
      client.info = await client.#ask(call, signal, bytesOf(call));
      return client;
    } catch (error) {
      client.close(error);
      throw error;
    }
  }

  /** Does one call in a worker of its own, which ends with it. */
  static async once<C extends Call>(call: C, signal: AbortSignal | undefined, { fetch, start }: Pick<ClientEvents, "fetch" | "start"> = {}): Promise<Results[C["method"]]> {
    if (signal?.aborted) throw signal.reason;
    const client = await Client.#open({ onProgress: undefined, onWarning: () => {}, fetch, start });
    try {
      return await client.#ask(call, signal);
    } finally {
      client.close(new CaseLensError("disposed", "This worker has done its work."));
    }
  }

  static async #open(events: ClientEvents): Promise<Client> {
    return new Client(await (events.start ?? platform().startWorker)(), events);
  }

  /** Does a call that needs files, which the caller's own `fetch` gets where there is one. */
  async #ask<C extends Call>(call: C, signal: AbortSignal | undefined, transfer: Transferable[] = []): Promise<Results[C["method"]]> {
    const { fetch } = this.#events;
    if (!fetch || !("request" in call)) return this.call(call, signal, transfer);
    const { Requests } = await more();
    this.#requests = new Requests(fetch);
    const { port } = this.#requests;
    return this.call({ ...call, request: { ...call.request, port } }, signal, [...transfer, port]);
  }

  /** Does one call in the worker. Rejects at once when `signal` is aborted; the worker stops working on it soon after. */
  call<C extends Call>(
    call: C,
    signal: AbortSignal | undefined,
    transfer: Transferable[] = [],
  ): Promise<Results[C["method"]]> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(this.#closed.why);
      if (signal?.aborted) return reject(signal.reason);
      const id = this.#nextId++;
      const settle = () => {
        this.#pending.delete(id);
        signal?.removeEventListener("abort", onAbort);
      };
      const onAbort = () => {
        settle();
        this.#post({ type: "abort", id });
        reject((signal as AbortSignal).reason);
      };
      this.#pending.set(id, {
        resolve: (value) => {
          settle();
          resolve(value as Results[C["method"]]);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      signal?.addEventListener("abort", onAbort);
      this.#post({ type: "call", id, call }, transfer);
    });
  }

  /**
   * Ends the worker: at once, or, where a model is disposed of, when its files are kept. Calls that wait, and all later ones,
   * are rejected with `error`.
   */
  close(error: unknown): void {
    if (this.#closed) return;
    this.#closed = { why: error };
    this.#requests?.close();
    const disposed = this.info && error instanceof CaseLensError && error.code === "disposed";
    if (disposed) void this.kept.then(() => this.#worker.end());
    else this.#worker.end();
    for (const pending of [...this.#pending.values()]) pending.reject(error);
  }

  #post(message: ToWorker, transfer: Transferable[] = []): void {
    this.#worker.post(message, transfer);
  }

  #receive(message: FromWorker): void {
    // Also of a worker that is disposed of and only keeps its files yet.
    if (message.type === "kept") return this.#keep();
    if (message.type === "warning") return this.#warn(message.id, message.message);
    if (this.#closed) return;
    switch (message.type) {
      case "done":
        return this.#pending.get(message.id)?.resolve(message.value);
      case "failed":
        return this.#pending.get(message.id)?.reject(fromErrorData(message.error));
      case "brought":
        this.brought = { ...(message.model && { model: { bytes: message.model } }), ...(message.head && { head: { bytes: message.head } }) };
        return;
      case "info":
        this.info = message.info;
        return;
      case "progress":
        return this.#progress(message.progress);
    }
  }

  /** What the caller's own function throws rejects the call that it is told of. */
  #warn(id: number, message: string): void {
    const pending = this.#pending.get(id);
    if (!pending) return warnAside(this.#events.onWarning, message);
    try {
      this.#events.onWarning(message);
    } catch (thrown) {
      pending.reject(thrown);
      this.#post({ type: "abort", id });
    }
  }

  /** What the caller's own function throws ends the loading that it is told of. */
  #progress(progress: Progress): void {
    try {
      this.#events.onProgress?.(progress);
    } catch (thrown) {
      this.close(thrown);
    }
  }
}

/** Tells a warning of no call that waits: what the caller's own function throws then, there is nobody to be told of. */
export function warnAside(onWarning: (message: string) => void, message: string): void {
  try {
    onWarning(message);
  } catch (thrown) {
    console.error(thrown);
  }
}

function bytesOf({ model, head }: LoadCall): Transferable[] {
  return [model, head].flatMap((source) => (source && "bytes" in source ? [source.bytes.buffer] : []));
}
