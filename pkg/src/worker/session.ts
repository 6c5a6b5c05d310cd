// The worker's side of one loaded model: does the page's calls, in turns.
//
// It knows no browser: the wasm module, the files and the way back to the page are handed in, so that it can be
// tested without any of them.

import { CHARACTERS, chunksOf, COMPARE_CHUNK, EMBED_CHUNK, joined, noEmbeddings } from "../chunks.js";
import { CaseLensError, toCaseLensError, toErrorData, withDetails } from "../errors.js";
import { nextMacrotask } from "../pause.js";
import type { Call, CompareCall, EmbedCall, EncodeCall, FilesCall, FileState, FromWorker, GalleryCall, LoadCall, RequestForm, Results, Source, ToWorker, WasmSource } from "../protocol.js";
import type { CachePlace, Embedded, EmbeddingsData, GalleryData, Grouping, LoadedInfo } from "../types.js";
import type { Engine, ModelFile } from "../wasm/caselens.js";
import { type FileCache, NO_CACHE } from "./cache.js";
import { Both, type Download, type DownloadOptions, type FileRole, readBlob, type Sink, Whole } from "./download.js";
import type { Module } from "./engine.js";
import { Verified } from "./integrity.js";
import { lookAfter } from "./kept.js";
import { ProgressMeter } from "./progress.js";
import { DEFAULT_REQUEST, type RequestOptions } from "./request.js";
import { fetchThrough } from "./requests.js";
import { type Hash, Sha256 } from "./sha256.js";
import { isTrap } from "./support.js";
import { Turns } from "./turns.js";

/** The world outside the session. */
export interface Outside {
  /** Starts the wasm module. */
  boot(wasm?: WasmSource): Promise<Module>;
  openCache(place: CachePlace, warn: (message: string) => void): Promise<FileCache>;
  download(url: string, options: DownloadOptions, sink: Sink): Promise<Download>;
  /** The size of a file, in bytes, without reading it; null where it cannot be known. */
  sizeOf(url: string, request: RequestOptions): Promise<number | null>;
  /** Begins a SHA-256, where this place has one of its own. */
  sha256?(): Hash;
  post(message: FromWorker, transfer?: Transferable[]): void;
}

/** Bytes that the module copies at a time: while it takes them, they are in memory twice. */
const STEP = 1 << 20;

/** A model on its way into the module. What comes before the module does waits for it: a slow line brings both at the same time. */
class Model implements Sink {
  #module: Module | undefined;
  #file: ModelFile | undefined;
  #size: number | null = null;
  #waiting: Uint8Array[] = [];
  #begin!: () => void;
  /** Fulfilled once there is a file: from then on it can only break off. */
  readonly begun = new Promise<void>((resolve) => (this.#begin = resolve));

  /** @param name what errors call it. */
  constructor(
    wasm: Promise<Module>,
    readonly name: string,
  ) {
    // Whoever takes the file waits for the module too, and hears where it fails.
    wasm.then((module) => (this.#module = module), () => {});
  }

  begin(size: number | null): void {
    this.#file?.free();
    this.#file = undefined;
    this.#size = size;
    this.#waiting = [];
    this.#begin();
  }

  push(chunk: Uint8Array): void {
    this.#waiting.push(chunk);
    this.#pass();
  }

  /** The file in the module's memory, once both are there. */
  get file(): ModelFile {
    this.#pass();
    return this.#file as ModelFile;
  }

  #pass(): void {
    if (!this.#module) return;
    const file = (this.#file ??= new this.#module.ModelFile(this.#size ?? undefined, this.name));
    for (const chunk of this.#waiting) for (let at = 0; at < chunk.byteLength; at += STEP) file.push(chunk.subarray(at, at + STEP));
    this.#waiting = [];
  }
}

/** A call that is being done. */
interface Running {
  readonly id: number;
  /** Nobody waits for it any more. */
  stopped: boolean;
}

/** What the engine gives for a chunk of a call. */
interface Chunk<R> {
  readonly rows: readonly R[];
  readonly warnings: readonly string[];
  /** Texts whose end was left out. */
  readonly cuts: readonly Cut[];
}
interface Cut {
  /** The text, by its name in the call. */
  readonly what: string;
  readonly left: string;
  /** Its place, where it is one of a list. */
  readonly index?: number;
}

export class Session {
  readonly #outside: Outside;
  /** Calls that are not done yet, by their numbers, and which of them nobody waits for any more. */
  readonly #calls = new Map<number, Running>();
  readonly #turns = new Turns();
  #cache: Promise<FileCache> | undefined;
  #wasm: ReturnType<Outside["boot"]> | undefined;
  #loaded: LoadCall | undefined;
  #request = DEFAULT_REQUEST;
  #engine: Engine | undefined;
  #info: LoadedInfo | undefined;
  /** Set while there is no engine because the GPU was lost: why, in words. */
  #gpuLoss: string | undefined;
  #closed = false;
  #broken: CaseLensError | undefined;
  #break!: (error: CaseLensError) => void;
  /** Rejects when the wasm module breaks, which may leave the promise of the call that broke it pending for ever. */
  readonly #breaking = new Promise<never>((_, reject) => (this.#break = reject));

  constructor(outside: Outside) {
    this.#outside = outside;
    this.#breaking.catch(() => {});
  }

  /** Takes a message from the page. */
  receive(message: ToWorker): void {
    if (message.type === "call") return void this.#answer(message.id, message.call);
    const call = this.#calls.get(message.id);
    if (call) call.stopped = true;
  }

  /** Whether the wasm module cannot be used any more. */
  get broken(): boolean {
    return this.#broken !== undefined;
  }

  /** Ends what it does, where the thread goes on: once the step that runs is over, the engine's memory is free. */
  close(): void {
    this.#closed = true;
    for (const running of this.#calls.values()) running.stopped = true;
    void this.#turns.take(async () => this.#freeEngine());
  }

  /** Something threw outside of every call: in a Rust future this is a panic, after which the module is unusable. */
  fail(thrown: unknown): void {
    if (this.#broken) return;
    this.#broken = new CaseLensError(
      "internal",
      "caselens broke down and cannot go on. Dispose of it and load it again; if it happens again, please report it.",
      { cause: thrown },
    );
    this.#break(this.#broken);
  }

  async #answer(id: number, call: Call): Promise<void> {
    const running: Running = { id, stopped: this.#closed };
    this.#calls.set(id, running);
    try {
      if (this.#broken) throw this.#broken;
      const value = await Promise.race([this.#do(call, running), this.#breaking]);
      if (value !== undefined && !running.stopped) this.#outside.post({ type: "done", id, value }, transferable(value));
    } catch (error) {
      if (isTrap(error)) this.fail(error);
      if (!running.stopped) this.#outside.post({ type: "failed", id, error: toErrorData(this.#broken ?? error) });
    } finally {
      this.#calls.delete(id);
    }
  }

  /** Does one call; undefined when it was stopped on the way. */
  async #do(call: Call, running: Running): Promise<Results[Call["method"]] | undefined> {
    switch (call.method) {
      case "load":
        return this.#turns.take(async () => (running.stopped ? undefined : this.#load(call, running)));
      case "compare": {
        const { sentence1, sentence2, attention } = call;
        let { unconditional } = call;
        const lengthOf = (condition: string) => sentence1.length + sentence2.length + 2 * condition.length;
        return this.#chunked(call, call.conditions, COMPARE_CHUNK, lengthOf, running, async (engine, conditions, first) => {
          const { results, warnings } = await engine.compare(sentence1, sentence2, conditions, first, unconditional, attention);
          unconditional ??= results[0]?.unconditional; // the sentences alone are read once a call
          const isCut = results.some(({ truncated }) => truncated);
          return { rows: results, warnings, cuts: isCut ? [{ what: "A sentence", left: "its end was left out" }] : [] };
        });
      }
      case "embed": {
        const items = call.sentences.map((sentence, i) => ({ sentence, condition: call.conditions[i] }));
        const lengthOf = ({ sentence, condition = "" }: (typeof items)[number]) => sentence.length + condition.length;
        return this.#embedded(call, items, lengthOf, running, (engine, chunk, first) =>
          engine.embed(
            chunk.map(({ sentence }) => sentence),
            chunk.map(({ condition }) => condition),
            call.dims,
            call.dtype,
            first,
          ),
        );
      }
      case "encode":
        return this.#embedded(call, call.texts, (text) => text.length, running, (engine, texts, first) =>
          engine.encode(texts, call.pooling, call.normalize, call.dims, call.dtype, first),
        );
      case "explain": {
        const { sentence1, sentence2, condition, subtract, pooling, head } = call;
        return this.#run(running, (engine) => engine.explain(sentence1, sentence2, condition, subtract, pooling, head));
      }
      case "attention":
        return this.#run(running, (engine) => engine.attention(call.sentence, call.condition, call.layer));
      case "tokenize":
        return this.#run(running, async (engine) => engine.tokenize(call.text));
      case "languages":
        return this.#run(running, async (engine) => engine.languages([...call.texts]));
      case "peak":
        return this.#run(running, async (engine) => engine.peak() ?? null);
      case "group": {
        const groupings: Grouping[] = [];
        for (const [i, count] of call.counts.entries()) {
          if (i > 0) await nextMacrotask();
          const grouping = await this.#run(running, async (engine) => engine.group(call.data, call.dims, count));
          if (!grouping) return undefined;
          groupings.push(grouping);
        }
        return groupings;
      }
      case "plane":
        return this.#run(running, async (engine) => engine.plane(call.data, call.dims, call.previous));
      case "gallery":
        return this.#gallery(call);
      case "files":
        return this.#files(call);
    }
  }

  /** Embeds in chunks. */
  async #embedded<T>(
    call: EmbedCall | EncodeCall,
    items: readonly T[],
    lengthOf: (item: T) => number,
    running: Running,
    work: (engine: Engine, chunk: T[], first: number) => Promise<Embedded>,
  ): Promise<EmbeddingsData | undefined> {
    const { dims, dtype } = call;
    const parts = await this.#chunked(call, items, EMBED_CHUNK, lengthOf, running, async (engine, chunk, first) => {
      const { warnings, count, ...part } = await work(engine, chunk, first);
      const cuts = Array.from(part.truncated ?? [], (tokens, i): Cut[] =>
        tokens > 0 ? [{ ...itemOf(call, first + i), left: `its last ${tokens} tokens were left out` }] : [],
      );
      return { rows: [{ ...part, length: count, dtype }], warnings, cuts: cuts.flat() };
    });
    if (parts?.length === 0) return noEmbeddings(dtype, dims ?? this.#info?.dims ?? 0);
    return parts && joined(parts);
  }

  /** Does a long call in chunks, each told how much of the list comes before it, and says each of its warnings once. */
  async #chunked<T, R>(
    call: CompareCall | EmbedCall | EncodeCall,
    items: readonly T[],
    size: number,
    lengthOf: (item: T) => number,
    running: Running,
    work: (engine: Engine, chunk: T[], first: number) => Promise<Chunk<R>>,
  ): Promise<R[] | undefined> {
    const { first = 0, onTruncate = "warn" } = call;
    const warned = new Set<string>();
    const results: R[] = [];
    for (const { chunk, at } of chunksOf(items, size, CHARACTERS[this.#info?.device ?? "wasm"], lengthOf)) {
      if (at > 0) await nextMacrotask();
      const done = await this.#run(running, (engine) => work(engine, chunk, first + at)).catch(async (error: unknown) => {
        const place = await refusedPlace(error, chunk, (items) => this.#run(running, (engine) => work(engine, items, 0)));
        throw place === undefined ? error : ofItem(error, first + at + place, call);
      });
      if (!done) return undefined;
      results.push(...done.rows);
      for (const cut of done.cuts) {
        if (onTruncate === "error") throw tooLong(cut);
        if (onTruncate === "warn") warned.add(`${cut.what} is longer than the encoder reads: ${cut.left}.`);
      }
      for (const warning of done.warnings) warned.add(warning);
    }
    if (!call.ahead) this.#warn(warned, running);
    return results;
  }

  /** Uses the engine when it is this call's turn; undefined where it was stopped before. */
  #run<T>(running: Running, work: (engine: Engine) => Promise<T>): Promise<T | undefined> {
    return this.#turns.take(async () => {
      if (this.#broken) throw this.#broken;
      return running.stopped ? undefined : this.#use(work);
    });
  }

  /** Uses the engine. When the GPU is lost and the choice of device was ours, goes on with the CPU. */
  async #use<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
    if (this.#engine) {
      try {
        return await work(this.#engine);
      } catch (error) {
        if (this.#loaded?.device !== "auto" || !isGpuLoss(error)) throw error;
        this.#gpuLoss = toCaseLensError(error).message;
        this.#freeEngine();
      }
    }
    // Also after a first attempt to go on has failed, for example without a network.
    return work(await this.#goOnWithCpu());
  }

  async #goOnWithCpu(): Promise<Engine> {
    const engine = await this.#start(this.#loaded as LoadCall, new ProgressMeter(() => {}));
    this.#outside.post({ type: "info", info: this.#info as LoadedInfo });
    return engine;
  }

  #freeEngine(): void {
    try {
      this.#engine?.free();
    } catch {
      // Still borrowed by the call that failed: its memory stays with the worker.
    }
    this.#engine = undefined;
  }

  /** Its files belong together: none is taken from a cache without asking, where it may be older than another. */
  async #gallery({ manifest, wasm: given }: GalleryCall): Promise<GalleryData> {
    const meter = new ProgressMeter(() => {});
    const get = async (url: string, role: FileRole) => {
      const file = new Whole();
      await this.#outside.download(url, { role, cache: NO_CACHE, revalidate: true, meter: meter.part() }, file);
      return file.bytes();
    };
    const [wasm, json] = await Promise.all([this.#outside.boot(given), get(manifest, "manifest")]);
    const gallery = new wasm.Gallery(new TextDecoder().decode(json));
    const { encoder, dim, licences, files } = gallery.info();
    const [head, embeddings] = await Promise.all([
      get(new URL(files[0], manifest).href, "head"),
      get(new URL(files[1], manifest).href, "gallery"),
    ]);
    return { encoder, dims: dim, licenses: licences, items: await gallery.answers(head, embeddings) };
  }

  async #files(call: FilesCall): Promise<FileState[]> {
    const cache = await this.#outside.openCache(call.cache, () => {});
    const request = requestOptions(call.request);
    return lookAfter(call, cache, (url) => this.#outside.sizeOf(url, request));
  }

  async #load(call: LoadCall, running: Running): Promise<LoadedInfo> {
    this.#loaded = call;
    this.#request = requestOptions(call.request);
    const meter = new ProgressMeter((progress) => this.#outside.post({ type: "progress", progress }));
    this.#cache = this.#outside.openCache(call.cache, (message) => this.#warn([message], running));
    this.#wasm = this.#outside.boot(call.wasm);
    this.#wasm.catch(() => {}); // whoever waits for it hears of it, and nobody does yet

    try {
      await this.#start(call, meter);
    } catch (error) {
      if (call.device !== "auto" || !isGpuLoss(error)) throw error;
      this.#gpuLoss = toCaseLensError(error).message;
      await this.#start(call, meter);
    }
    // Bytes that came with the call are needed again only if the GPU can be lost and left.
    if (call.device !== "auto" || this.#info?.device === "wasm") this.#loaded = undefined;
    meter.ready();
    return this.#info as LoadedInfo;
  }

  /**
   * Gets all files of a model at the same time, opens the device meanwhile, and builds the engine. Files that turn out to be no
   * good are dropped from the cache; those that were kept may only be older than what is served now, and are got `again`.
   */
  async #start(call: LoadCall, meter: ProgressMeter, again = true): Promise<Engine> {
    const cache = await (this.#cache as Promise<FileCache>);
    const booting = this.#wasm as Promise<Module>;
    const downloads: (Download & { url: string })[] = [];
    const copies = new Map<FileRole, Whole>();
    const get = async (role: FileRole, source: Source, taker: Sink): Promise<void> => {
      const part = meter.part();
      const sink = this.#verified(role, source, taker);
      if ("url" in source) {
        const { url } = source;
        const options = { role, cache, meter: part, request: this.#request, sha256: source.sha256 };
        const copy = call.handOn && !cache.keeps && !url.startsWith("file:") ? new Whole() : undefined;
        downloads.push({ url, ...(await this.#outside.download(url, options, copy ? new Both(sink, copy) : sink)) });
        if (copy) copies.set(role, copy);
        return;
      }
      if ("blob" in source) return readBlob(role, source.blob, part, sink);
      const { byteLength } = source.bytes;
      part.size(byteLength);
      await sink.begin(byteLength);
      sink.push(source.bytes);
      sink.end?.();
      part.at(byteLength);
    };
    const model = new Model(booting, nameOf("model", call.model));
    const head = new Whole();
    const opening = booting.then(({ EngineDevice }) =>
      this.#gpuLoss === undefined ? EngineDevice.open(call.device) : EngineDevice.cpu(`the GPU was lost: ${this.#gpuLoss}`),
    );
    let engine: Engine;
    try {
      const fetching = get("model", call.model, model);
      const fetchingHead = call.head && get("head", call.head, head).catch(async (error: unknown) => {
        // Where the model cannot be had either, that is what to say.
        await Promise.race([fetching, model.begun]);
        throw error;
      });
      const files = Promise.all([fetching, fetchingHead]).then(() => meter.prepare());
      const ready = Promise.all([booting, opening, files]);
      // Without an engine nobody takes the device.
      ready.catch(() => opening.then((device) => device.free(), () => {}));
      const [wasm, device] = await ready;
      const headName = call.head ? nameOf("head", call.head) : "";
      engine = await wasm.Engine.load(model.file, call.head && head.bytes(), headName, device);
    } catch (thrown) {
      await Promise.all(downloads.map(({ kept }) => kept));
      if (!isFileFault(thrown)) throw thrown;
      const error = ofFile(thrown, call);
      const older = again ? downloads.filter(({ fromCache }) => fromCache) : [];
      for (const { url } of older.length > 0 ? older : downloads) await cache.drop(url);
      if (older.length === 0) throw error;
      return this.#start(call, meter, false);
    }
    this.#engine = engine;
    const { dim, dtype, ...info } = engine.info();
    this.#info = { ...info, dims: dim, weights: dtype };
    this.#gpuLoss = undefined;
    if (copies.size > 0 && this.#info.device === "wasm") this.#handOn(copies.get("model")?.bytes(), copies.get("head")?.bytes());
    void Promise.all(downloads.map(({ kept }) => kept)).then(() => this.#outside.post({ type: "kept" }));
    return engine;
  }

  #handOn(model: Uint8Array<ArrayBuffer> | undefined, head: Uint8Array<ArrayBuffer> | undefined): void {
    const files = { ...(model && { model }), ...(head && { head }) };
    this.#outside.post({ type: "brought", ...files }, Object.values(files).map(({ buffer }) => buffer));
  }

  /** The sink of a file, which has to be the right one to the bit where that is asked. */
  #verified(role: FileRole, source: Source, sink: Sink): Sink {
    if (source.sha256 === undefined) return sink;
    const what = `T${nameOf(role, source).slice(1)}`;
    return new Verified(sink, what, source.sha256, () => this.#outside.sha256?.() ?? new Sha256(), urlOf(source));
  }

  #warn(messages: Iterable<string>, { id }: Running): void {
    for (const message of messages) this.#outside.post({ type: "warning", id, message });
  }
}

function requestOptions({ headers, timeout, port }: RequestForm): RequestOptions {
  return { headers, timeout, fetch: port ? fetchThrough(port) : DEFAULT_REQUEST.fetch };
}

function isGpuLoss(error: unknown): boolean {
  return toCaseLensError(error).code === "gpu-lost";
}

/** Errors that one text is at fault for. */
const TEXT_FAULTS: readonly string[] = ["empty-text", "invalid-text", "text-too-long", "condition-too-long"];

/**
 * The place in a chunk of the first item that the engine refuses, which it names in words alone: halves of the chunk are tried.
 * Undefined where no item is at fault. The engine looks at all items before it reads any, so it costs a chunk at most.
 */
async function refusedPlace<T>(error: unknown, chunk: readonly T[], attempt: (items: T[]) => Promise<unknown>): Promise<number | undefined> {
  if (!TEXT_FAULTS.includes(toCaseLensError(error).code)) return undefined;
  const isRefused = (from: number, to: number): Promise<boolean> =>
    attempt(chunk.slice(from, to)).then(() => false, (error: unknown) => TEXT_FAULTS.includes(toCaseLensError(error).code));
  if (await isRefused(0, 0)) return undefined; // it is what all items are compared by
  let [from, to] = [0, chunk.length];
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (await isRefused(from, middle)) to = middle;
    else from = middle;
  }
  return from;
}

/** The error for a text whose end would be left out, where that was not to be. */
function tooLong({ what, index }: Cut): CaseLensError {
  const message = `${what} is longer than the encoder reads. Split it, or let its end be left out: \`onTruncate\` says so.`;
  return new CaseLensError("text-too-long", message, { index });
}

/** What an item of a call is for the caller: by name, and its place where it is one of a list. */
function itemOf({ method, named }: CompareCall | EmbedCall | EncodeCall, index: number): Pick<Cut, "what" | "index"> {
  return named === undefined ? { what: `${method === "compare" ? "conditions" : "texts"}[${index}]`, index } : { what: named };
}

/** The error of an item, by its place in the call. The engine counts from 1 in its words, programs count from 0. */
function ofItem(error: unknown, place: number, call: CompareCall | EmbedCall | EncodeCall): CaseLensError {
  const { what, index } = itemOf(call, place);
  const known = toCaseLensError(error);
  const message = known.message.replace(/^(text|sentence|condition) (\d+)\b/, (words, part, number) => {
    if (Number(number) !== place + 1) return words;
    return part === "condition" && call.method !== "compare" ? `the condition of ${what}` : what;
  });
  return withDetails(known, { index }, message);
}

const FILE_FAULTS: readonly string[] = ["model-format", "unsupported-architecture", "tokenizer", "head-format", "head-mismatch"];

/** Whether an error says that a file is the wrong one. */
function isFileFault(error: unknown): boolean {
  return FILE_FAULTS.includes(toCaseLensError(error).code);
}

const urlOf = (source: Source | undefined): string | undefined => (source && "url" in source ? source.url : undefined);

/** What errors call a file. */
function nameOf(role: FileRole, source: Source): string {
  const url = urlOf(source);
  return url === undefined ? `the ${role}` : `the ${role} from ${url}`;
}

/** The error for a file that is the wrong one, with its URL. */
function ofFile(thrown: unknown, { model, head }: LoadCall): CaseLensError {
  const error = toCaseLensError(thrown);
  return withDetails(error, { url: urlOf(error.code.startsWith("head-") ? head : model) });
}

/** The memory behind a result, to be handed over and not copied. */
function transferable(value: Results[Call["method"]]): Transferable[] {
  if (value === null) return [];
  const arrays = (Array.isArray(value) ? value : [value]).flatMap((part) => (ArrayBuffer.isView(part) ? [part] : Object.values(part)));
  return [...new Set(arrays.flatMap((array) => (ArrayBuffer.isView(array) ? [array.buffer as ArrayBuffer] : [])))];
}
