// One model in several workers: on the CPU a long call is shared out among them, part by part.
//
// Each worker holds the model by itself, so that no SharedArrayBuffer, and no cross-origin isolation of the page, is needed.
// The others start when there is first something to share; until they are ready the first one works alone.

import { COMPARE_CHUNK, EMBED_CHUNK, joined, partSize } from "../chunks.js";
import { CaseLensError, inWords } from "../errors.js";
import type { Call, LoadCall, Results, Source } from "../protocol.js";
import type { Comparison, EmbeddingsData, Info } from "../types.js";
import { type ClientEvents, Client, warnAside } from "./client.js";

/** What a pool needs of a worker. */
export type Caller = Pick<Client, "info" | "kept" | "call" | "close"> & Partial<Pick<Client, "lost">>;

/** Starts one more worker with the same model: on the CPU, or where the first one ran, to take its place. */
export type Start = (signal: AbortSignal, place: "further" | "first") => Promise<Caller>;

/** A call about a list, in calls about parts of it. */
interface Shared {
  readonly parts: readonly Call[];
  /** Makes one result of those of the parts. */
  readonly join: (results: unknown[]) => unknown;
}

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
    const shared = threads > 1 || onPart ? share(call, threads) : undefined;
    if (!shared || shared.parts.length < 2 || this.#closing.signal.aborted || signal?.aborted) return this.#first.call(call, signal);
    if (threads > 1) this.#others ??= Array.from({ length: this.#threads - 1 }, () => this.#further());
    const results = await new Promise<unknown[]>((resolve, reject) => {
      const work = new Work(shared, signal, onPart, resolve, reject);
      void work.doWith(this.#first, true);
      for (const [i, other] of (threads > 1 ? (this.#others ?? []) : []).entries()) {
        void other.then(async (worker) => {
          if (!worker || (await work.doWith(worker, false))) return;
          // It broke down, and is not asked again.
          this.#forget(i, worker);
          void work.doWith(this.#first, true);
        });
      }
    });
    return shared.join(results) as Results[C["method"]];
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

/** A call that is being shared out. */
class Work {
  readonly #results: unknown[] = [];
  readonly #errors = new Map<number, CaseLensError>();
  readonly #again: number[] = [];
  #next = 0;
  #busy = 0;
  #done = 0;
  #ended = false;

  constructor(
    readonly shared: Shared,
    readonly signal: AbortSignal | undefined,
    readonly onPart: ((share: number) => void) | undefined,
    readonly resolve: (results: unknown[]) => void,
    readonly reject: (error: unknown) => void,
  ) {}

  /**
   * Lets a worker take part until nothing is left to take. False when the worker broke down: what it had taken is left to
   * the others, unless it is the last resort.
   */
  async doWith(worker: Caller, lastResort: boolean): Promise<boolean> {
    for (let i = this.#take(); i !== undefined; i = this.#take()) {
      this.#busy++;
      const error = await this.#do(worker, i);
      this.#busy--;
      const broken = error !== undefined && !lastResort && BROKEN.includes(error.code);
      if (broken) this.#again.push(i);
      else if (error) this.#errors.set(i, error);
      else this.#tell();
      this.#settle();
      if (broken) return false;
    }
    return true;
  }

  /** Does one part; gives the error of one that failed. */
  async #do(worker: Caller, i: number): Promise<CaseLensError | undefined> {
    try {
      this.#results[i] = await worker.call(this.shared.parts[i] as Call, this.signal);
      this.#done++;
      return undefined;
    } catch (thrown) {
      if (thrown instanceof CaseLensError && !this.signal?.aborted) return thrown;
      this.#end(thrown);
      return undefined;
    }
  }

  /** Tells how much is done. What the caller's own function throws is the end of the call, and no fault of a worker. */
  #tell(): void {
    if (this.#ended || this.signal?.aborted) return;
    try {
      this.onPart?.(this.#done / this.shared.parts.length);
    } catch (thrown) {
      this.#end(thrown);
    }
  }

  /** Ends the call, with what its caller threw or aborted it with. */
  #end(thrown: unknown): void {
    this.#ended = true;
    this.reject(thrown);
  }

  /** The next part: they are begun in order, so that of several errors the first one is told. */
  #take(): number | undefined {
    if (this.#ended || this.#errors.size > 0) return undefined;
    if (this.#again.length > 0) return this.#again.pop();
    return this.#next < this.shared.parts.length ? this.#next++ : undefined;
  }

  #settle(): void {
    if (this.#done === this.shared.parts.length) return this.resolve(this.#results);
    if (this.#errors.size === 0 || this.#busy > 0) return;
    this.reject(this.#errors.get(Math.min(...this.#errors.keys())));
  }
}

/** Errors of a worker and not of a call. */
const BROKEN: readonly string[] = ["worker", "internal"];

/** A call in parts; undefined where it has no list to share out. */
function share(call: Call, threads: number): Shared | undefined {
  const parts = <T>(
    items: readonly T[],
    chunk: number,
    part: (items: readonly T[], first: number) => Call,
    join: Shared["join"],
  ): Shared => {
    const size = partSize(items.length, chunk, threads);
    const count = Math.ceil(items.length / size);
    return { parts: Array.from({ length: count }, (_, i) => part(items.slice(i * size, (i + 1) * size), i * size)), join };
  };
  const lists = (results: unknown[]): unknown => results.flat();
  const start = "first" in call ? (call.first ?? 0) : 0;
  const embeddings = (results: unknown[]): EmbeddingsData => joined(results as EmbeddingsData[]);
  switch (call.method) {
    case "compare":
      return parts(
        call.conditions,
        COMPARE_CHUNK,
        (conditions, first) => ({ ...call, conditions, first, ...(first > 0 && { unconditional: UNKNOWN }) }),
        (results) => compared(results as Comparison[][]),
      );
    case "embed": {
      const items = call.sentences.map((sentence, i) => ({ sentence, condition: call.conditions[i] }));
      const part = (items: readonly { sentence: string; condition: string | undefined }[], first: number): Call => ({
        ...call,
        sentences: items.map(({ sentence }) => sentence),
        conditions: items.map(({ condition }) => condition),
        first: start + first,
      });
      return parts(items, EMBED_CHUNK, part, embeddings);
    }
    case "encode":
      return parts(call.texts, EMBED_CHUNK, (texts, first) => ({ ...call, texts, first: start + first }), embeddings);
    case "group":
      return parts(call.counts, 1, (counts) => ({ ...call, counts }), lists);
    default:
      return undefined;
  }
}

/**
 * Stands for the similarity without a condition in all parts of a comparison but the first, which computes it: who is given a
 * number does not read the sentences alone once more.
 */
const UNKNOWN = 0;

/** The comparisons of all parts, each with the number that the first part computed in the place of {@link UNKNOWN}. */
function compared(parts: readonly Comparison[][]): Comparison[] {
  const unconditional = parts[0]?.[0]?.unconditional ?? UNKNOWN;
  return parts.flat().map((comparison) => ({ ...comparison, unconditional }));
}

/** The same call with bytes of its own. */
function copied(call: LoadCall): LoadCall {
  const copy = (source: Source): Source => ("bytes" in source ? { bytes: source.bytes.slice() } : source);
  return { ...call, model: copy(call.model), ...(call.head && { head: copy(call.head) }) };
}
