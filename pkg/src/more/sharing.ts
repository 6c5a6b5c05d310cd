// A long call in parts, which several workers do.

import { COMPARE_CHUNK, EMBED_CHUNK, joined, partSize } from "../chunks.js";
import { CaseLensError } from "../errors.js";
import type { Call, CompareCall, EmbedCall, EncodeCall, GroupCall, Results } from "../protocol.js";
import type { Comparison, EmbeddingsData } from "../types.js";

/** Calls about lists. */
export type Listed = CompareCall | EmbedCall | EncodeCall | GroupCall;

/** What does a call. */
export interface Caller {
  call<C extends Call>(call: C, signal: AbortSignal | undefined): Promise<Results[C["method"]]>;
}

/** A call about a list, in calls about parts of it. */
interface Shared {
  readonly parts: readonly Call[];
  /** Makes one result of those of the parts. */
  readonly join: (results: unknown[]) => unknown;
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

/** Who does a call. */
interface Workers<W extends Caller> {
  readonly first: W;
  /** Those that are there, or on their way; undefined where one cannot be had. */
  readonly others: readonly Promise<W | undefined>[];
  /** Told which of the others broke down. */
  forget(i: number, worker: W): void;
}

/**
 * Does a call in parts, each by whoever has nothing else to do.
 *
 * @param onPart told the share of the call that is done, after each part. What it throws rejects the call.
 */
export async function shareOut<C extends Listed, W extends Caller>(
  call: C,
  threads: number,
  { first, others, forget }: Workers<W>,
  signal: AbortSignal | undefined,
  onPart: ((share: number) => void) | undefined,
): Promise<Results[C["method"]]> {
  const shared = share(call, threads);
  const results = await new Promise<unknown[]>((resolve, reject) => {
    const work = new Work(shared, signal, onPart, resolve, reject);
    void work.doWith(first, true);
    for (const [i, other] of others.entries()) {
      void other.then(async (worker) => {
        if (!worker || (await work.doWith(worker, false))) return;
        // It broke down, and is not asked again.
        forget(i, worker);
        void work.doWith(first, true);
      });
    }
  });
  return shared.join(results) as Results[C["method"]];
}

/** A call in parts. */
function share(call: Listed, threads: number): Shared {
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
