// One model in several workers: on the CPU a long call is shared out among them, part by part.
//
// Each worker holds the model by itself, so that no SharedArrayBuffer, and no cross-origin isolation of the page, is needed.
// The others start when there is first something to share; until they are ready the first one works alone.

import { COMPARE_CHUNK, EMBED_CHUNK } from "../chunks.js";
import { CaseLensError, inWords } from "../errors.js";
import type { Listed } from "../more.js";
import type { Call, LoadCall, Results, Source } from "../protocol.js";
import type { Info } from "../types.js";
import { type ClientEvents, Client, warnAside } from "./client.js";
import { more } from "./more.js";

/** What a pool needs of a worker. */
export type Caller = Pick<Client, "info" | "kept" | "call" | "close"> & Partial<Pick<Client, "lost">>;

/** Starts one more worker with the same model: on the CPU, or where the first one ran, to take its place. */
export type Start = (signal: AbortSignal, place: "further" | "first") => Promise<Caller>;

/** Ends the workers of pools that were dropped and not closed, once there is one. Places on the edge may have no such thing, and no workers either. */
let dropped: FinalizationRegistry<Set<Caller>> | undefined;

function endDropped(workers: Set<Caller>): void {
  for (const worker of workers) worker.close(new CaseLensError("disposed", "It was dropped."));
}

export class Pool {
  #first: Caller;
  /** All workers, for {@link dropped}. */
  readonly #workers = new Set<Caller>();
  /** Another first worker on its way, after that one died. */
  #reviving: Promise<void> | undefined;
  #closed: { readonly why: CaseLensError } | undefined;
  readonly #threads: number;
  readonly #start: Start;
  readonly #warn: (message: string) => void;
  /** Workers besides the first, once they are wanted. */
  #others: Promise<Caller | undefined>[] | undefined;
  readonly #closing = new AbortController();
  /** Calls being done. */
  #busy = 0;

  /** @param threads workers at most, the first among them. */
  constructor(first: Caller, threads: number, start: Start, warn: (message: string) => void) {
    this.#first = first;
    this.#threads = threads;
    this.#start = start;
    this.#warn = warn;
    this.#workers.add(first);
    if (globalThis.FinalizationRegistry) (dropped ??= new FinalizationRegistry(endDropped)).register(this, this.#workers);
  }

  /** Loads a model in a first worker. */
  static async load(
    call: LoadCall,
    threads: number,
    events: ClientEvents,
    signal: AbortSignal | undefined,
  ): Promise<Pool> {
    // The first worker takes the bytes it is given: what the others will need, or another in its place, is copied before.
    const several = threads > 1 && call.device !== "webgpu";
    const kept = copied(call);
    const first = await Client.load({ ...call, handOn: several }, events, signal);
    let wanted = threads - 1;
    const start: Start = async (closing, place) => {
      // What is to be said of loading these files, the first worker has said.
      let loaded = false;
      const onWarning = (message: string): void => {
        if (loaded) events.onWarning(message);
      };
      const files = copied({ ...kept, ...first.brought });
      if (place === "further" && --wanted === 0) first.brought = {};
      const client = await Client.load({ ...files, device: place === "first" ? call.device : "wasm" }, { ...events, onProgress: undefined, onWarning }, closing);
      loaded = true;
      return client;
    };
    return new Pool(first, several ? threads : 1, start, events.onWarning);
  }

  /** What is loaded. */
  get info(): Info {
    const { info } = this.#first;
    return { ...info, threads: info.device === "wasm" ? this.#threads : 1 };
  }

  /** Whether it was closed: every call is rejected. */
  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /**
   * Does a call; rejects at once when `signal` is aborted.
   *
   * @param onPart told the share of a long call that is done, above 0 and at most 1, after each part. What it throws rejects the call.
   */
  async call<C extends Call>(
    call: C,
    signal: AbortSignal | undefined,
    onPart?: (share: number) => void,
  ): Promise<Results[C["method"]]> {
    // What is written here afterwards keeps the pool until then, though nobody else may have it.
    try {
      this.#busy++;
      return await this.#do(call, signal, onPart);
    } finally {
      this.#busy--;
    }
  }

  async #do<C extends Call>(call: C, signal: AbortSignal | undefined, onPart: ((share: number) => void) | undefined): Promise<Results[C["method"]]> {
    const ready = this.#ready(signal);
    if (ready) await ready;
    const { threads } = this.info;
    if (!isLong(call) || this.#closing.signal.aborted || signal?.aborted) return this.#first.call(call, signal);
    const { lookAhead, shareOut } = await more();
    await lookAhead(call, this.#first, signal);
    if (threads === 1 && !onPart) return this.#first.call(call, signal);
    if (threads > 1) this.#others ??= Array.from({ length: this.#threads - 1 }, () => this.#further());
    const others = (threads > 1 && this.#others) || [];
    return shareOut(call, threads, { first: this.#first, others, forget: (i, worker) => this.#forget(i, worker as Caller) }, signal, onPart);
  }

  /** Ends all workers at once. Calls that wait, and all later ones, are rejected with `error`. */
  close(error: CaseLensError): void {
    this.#closed ??= { why: error };
    for (const worker of this.#workers) worker.close(error);
    this.#closing.abort();
  }

  /**
   * What to wait for before a call: undefined while the first worker lives, else another one in its place.
   *
   * @throws what the pool was closed with, or as loading does.
   */
  #ready(signal: AbortSignal | undefined): Promise<unknown> | undefined {
    if (!this.#first.lost) return undefined;
    if (this.#closed) throw this.#closed.why;
    this.#reviving ??= this.#another("first")
      .then((worker) => {
        this.#workers.delete(this.#first);
        this.#first = worker;
      })
      .catch((error: unknown) => {
        throw this.#closed?.why ?? error;
      })
      .finally(() => (this.#reviving = undefined));
    return Promise.race([this.#reviving, aborted(signal)]);
  }

  /** One more worker, unless all are to end. */
  async #another(place: Parameters<Start>[1]): Promise<Caller> {
    const worker = await this.#start(this.#closing.signal, place);
    this.#workers.add(worker);
    if (this.#closed) worker.close(this.#closed.why);
    return worker;
  }

  /** One more worker; undefined where it cannot be had, which is no reason to fail. */
  async #further(): Promise<Caller | undefined> {
    try {
      await this.#first.kept; // not to download it once more
      return await this.#another("further");
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        warnAside(this.#warn, `A further worker could not be started, so long calls take longer: ${inWords(error)}`);
      }
      return undefined;
    }
  }

  #forget(i: number, worker: Caller): void {
    worker.close(new CaseLensError("worker", "This worker broke down."));
    this.#workers.delete(worker);
    if (this.#others) this.#others[i] = Promise.resolve(undefined);
  }
}

/** Rejects when a signal is aborted. */
function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** Whether a call is worth sharing out: its list is longer than half of what a worker does at a time. */
function isLong(call: Call): call is Listed {
  const { method } = call;
  if (method === "compare") return call.conditions.length > COMPARE_CHUNK / 2;
  if (method === "group") return call.counts.length > 1;
  const texts = method === "embed" ? call.sentences : method === "encode" ? call.texts : [];
  return texts.length > EMBED_CHUNK / 2;
}

/** The same call with bytes of its own. */
function copied(call: LoadCall): LoadCall {
  const copy = (source: Source): Source => ("bytes" in source ? { bytes: source.bytes.slice() } : source);
  return { ...call, model: copy(call.model), ...(call.head && { head: copy(call.head) }) };
}
