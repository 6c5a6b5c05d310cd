// What `load` takes, and how it becomes a call of the worker.

import type { ClientEvents } from "../page/client.js";
import { bring, more } from "../page/more.js";
import { platform } from "../page/platform.js";
import type { LoadCall, Source, WasmSource } from "../protocol.js";
import { classOf } from "../realm.js";
import type { Device, Fetch, Progress, WasmModule, WorkerLike } from "../types.js";
import { checkChoice, checkFunction, checkInteger, checkOptions, checkSignal, invalid } from "./check.js";

/**
 * A file: its URL, its bytes (copied; yours stay usable), or a `Blob`, `File` or `Response` that holds them. A string is resolved against the page's base URL; in Node and Deno
 * it is a URL (`https:`, `file:`, …) or the path of a file, resolved against the working directory. `hf://owner/name/file` is a file on
 * the Hugging Face hub, `hf://owner/name@revision/file` one of a revision ({@link EncoderLoadOptions.hub}).
 */
export type FileSource = string | URL | ArrayBuffer | Uint8Array | Blob | Response;

/** A file of a model that comes as a package. */
export interface PackagedFile {
  /** Where it lies. */
  readonly url: string | URL;
  /** Its SHA-256, which what is read is checked against. */
  readonly sha256?: string | undefined;
}

/**
 * A model that comes as a package: what `import model from "caselens-csts"` gives.
 *
 * @example
 * ```ts
 * import { CaseLens } from "caselens";
 * import model from "caselens-csts";
 *
 * const lens = await CaseLens.load({ model });
 * ```
 */
export interface PackagedModel {
  /** The encoder. */
  readonly model: PackagedFile;
  /** The head that belongs to it. */
  readonly head?: PackagedFile | undefined;
}

/** Where the engine runs and where it comes from. */
export interface EngineOptions {
  /**
   * `false` runs the engine in the calling thread, for places that have no workers: service workers, the edge, the background of an
   * extension. A long call gives way to other work between its parts, and `threads` is 1. Where nothing can be imported while the program
   * runs (service workers that are not bundled), `import { inThisThread } from "caselens/inline"` is the same.
   *
   * A function starts workers in the package's place, one each time it is called: of `caselens/dist/worker.js`, as a module; in Node of
   * `caselens/dist/node-worker.js`. For pages that require Trusted Types, and for bundlers that do not find the worker by themselves.
   *
   * @defaultValue workers of the package
   */
  worker?: false | (() => WorkerLike) | undefined;
  /**
   * The package's WebAssembly module, where it is not found beside the worker or cannot be compiled here: its URL, its bytes, or a
   * `WebAssembly.Module`. There are two, `caselens/dist/wasm/caselens_bg.wasm` for all machines and
   * `caselens/dist/wasm/relaxed/caselens_bg.wasm` for those with relaxed SIMD.
   *
   * @defaultValue the one that this machine computes best with, from beside the worker
   */
  wasm?: FileSource | WasmModule | undefined;
}

/** Options of `Encoder.load`. All but `model` are optional. */
export interface EncoderLoadOptions extends EngineOptions {
  /**
   * The encoder: a model that comes as a package (`import model from "caselens-csts"`), or a GGUF file of BERT, RoBERTa, XLM-RoBERTa or
   * MPNet, as `caselens quantize` writes it, or as llama.cpp's converter does (f32, f16, bf16, q8_0 and q4_0; not MPNet). On the
   * CPU f16 is read in 8 bits: such a file is larger than one in q8_0, and its embeddings are no closer.
   *
   * A file that is kept ({@link EncoderLoadOptions.cache}) is kept under its full URL, and not asked for again: publish a
   * changed model under another name, or change the URL's query (`model.gguf?v=2`).
   */
  model: PackagedModel | FileSource;
  /**
   * Where to run. `"webgpu"` and `"wasm"` (the CPU) insist: without an adapter, `"webgpu"` fails with `webgpu-unavailable`,
   * and does not wait for the model. A GPU is opened, and compiles its kernels, while the model is on its way.
   *
   * `"auto"` takes WebGPU when there is an adapter whose result on a probe agrees with the CPU's and which is faster than the
   * CPU, by timing both, else the CPU; and goes on with the CPU when the GPU is lost later. In Node and Deno it takes the CPU.
   *
   * @defaultValue `"auto"`
   */
  device?: "auto" | Device | undefined;
  /**
   * On the CPU: how many workers share out a long call, more than 16 texts or 4 conditions, 1 to 32. Each holds the model by
   * itself (about twice its file's size); they start when there is first something to share. A worker's memory grows as calls need it, and
   * is given back by `dispose`, not before.
   *
   * @defaultValue one for each processor but one, at most 8; at most 2 where the device has 4 GB of memory or less
   */
  threads?: number | undefined;
  /**
   * Whether files from `http:` and `https:` URLs are kept for the next time: in browsers in Cache Storage; in Node and Deno in a
   * folder, the one that is named, or with `true` `caselens` in the user's own for caches (`~/.cache`, `~/Library/Caches`,
   * `%LOCALAPPDATA%`). It is made where it does not exist. A browser has no folders: there `{ folder }` is `true`.
   *
   * @defaultValue `true` in browsers, `false` in Node and Deno
   */
  cache?:
    | boolean
    | {
        /** Its path. */
        readonly folder: string;
      }
    | undefined;
  /**
   * The SHA-256 of the model: hexadecimal digits, or `"sha256-…"` in Base64 as in HTML. A file that is another is refused (`integrity`),
   * also one that was kept: that one is fetched anew. It is computed as the file comes, in browsers at about 100 MB a second; a file that was
   * checked before it was kept is not checked each time there.
   */
  integrity?: string | undefined;
  /**
   * How long a server may send nothing, in ms, before the file is given up (`network`, or `download-incomplete` in its midst). Where a
   * connection breaks or falls silent in the midst of a file, the rest is asked for three times, as far as the server can send parts
   * (`Range`) and says which version of the file they are of (`ETag` or `Last-Modified`).
   *
   * @defaultValue `30000`
   */
  timeout?: number | undefined;
  /**
   * The hub of `hf://` names: a mirror, or a server of your own with the hub's paths (`/owner/name/resolve/revision/file`).
   *
   * @defaultValue `"https://huggingface.co"`
   */
  hub?: string | URL | undefined;
  /** Headers of the requests for the model and the head, such as `Authorization`. */
  headers?: Readonly<Record<string, string>> | Iterable<readonly [string, string]> | undefined;
  /**
   * Fetches the model and the head in place of the global `fetch`: for files behind a login, from a bundle, through a proxy. It is
   * called where you call `load`, with a URL, headers and a `signal`, and its body is read as it comes. What it gives is kept as any
   * download is ({@link EncoderLoadOptions.cache}).
   */
  fetch?: Fetch | undefined;
  /** Told how loading goes: rising from 0 to 1, which is reached once, just before `load` is fulfilled. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Told what is worth knowing and does not stop the work: a text that was cut, a cache that cannot be used. What it throws
   * rejects the call that it is told of.
   *
   * @defaultValue `console.warn`
   */
  onWarning?: ((message: string) => void) | undefined;
  /**
   * Aborts the loading, not what is done with the model later: the download stops, the worker ends, and `load` rejects with the
   * signal's `reason`.
   */
  signal?: AbortSignal | undefined;
}

/** Options of `CaseLens.load`. All are optional. */
export interface LoadOptions extends Omit<EncoderLoadOptions, "model"> {
  /**
   * The encoder; see {@link EncoderLoadOptions.model}.
   *
   * @defaultValue `"models/caselens-csts-q4_0.gguf"`, beside the page; in Node and Deno in the working directory
   */
  model?: PackagedModel | FileSource | undefined;
  /**
   * The head of this encoder, as `caselens train-head` writes it: how embeddings are made, and the layers on top of them where it
   * has any. A head for another encoder is refused (`head-mismatch`).
   *
   * @defaultValue the one that comes with the model; `"caselens-csts.head.safetensors"` beside a file
   */
  head?: FileSource | undefined;
  /** The SHA-256 of the head, as {@link EncoderLoadOptions.integrity} is the model's. */
  headIntegrity?: string | undefined;
}

const DEFAULT_MODEL = "models/caselens-csts-q4_0.gguf";
const DEFAULT_HEAD = "caselens-csts.head.safetensors";
const DEVICES = ["auto", "webgpu", "wasm"] as const;
const MOST_THREADS = 32;
const DEFAULT_TIMEOUT = 30_000;
/** What a timer can wait, in ms. */
const MOST_PATIENCE = 2 ** 31 - 1;

/** Load options, checked and with every default filled in. */
export interface LoadRequest {
  readonly call: LoadCall;
  readonly threads: number;
  readonly events: ClientEvents;
  readonly signal: AbortSignal | undefined;
}

/**
 * What `Encoder.load` takes.
 *
 * @param base the URL that relative URLs belong to.
 * @throws CaseLensError `invalid-argument`.
 */
export async function encoderRequest(value: EncoderLoadOptions | undefined, base = platform().base()): Promise<LoadRequest> {
  const options = checkOptions<EncoderLoadOptions>(value);
  if (options.model === undefined) throw invalid("An Encoder needs to be told its `model`: a GGUF file's URL, or a package such as `caselens-csts`.");
  return requestOf(options, options.model, base);
}

/** What both take. */
async function requestOf(options: LoadOptions, given: PackagedModel | FileSource, base: string): Promise<LoadRequest> {
  const onWarning = checkFunction("onWarning", options.onWarning) ?? ((message) => console.warn(message));
  const onProgress = checkFunction("onProgress", options.onProgress);
  const signal = checkSignal(options.signal);
  const device = checkChoice("device", options.device, DEVICES, "auto");
  const { start, alone, wasm } = await engineRequest(options, base);
  const { hub, headers } = options;
  const { url, sha256 } = isPackaged(given) ? given.model : { url: given, sha256: undefined };
  const model = await withSha256(await toSource("model", url, base, hub), "integrity", options.integrity ?? sha256);
  const wanted = checkInteger("threads", options.threads, 1, MOST_THREADS) ?? defaultThreads(platform().hardware());
  const threads = alone ? 1 : wanted;
  const cache = platform().cache(options.cache);
  if (cache === undefined) throw invalid('cache must be true, false or { folder: "path" }.');
  const timeout = checkInteger("timeout", options.timeout, 1, MOST_PATIENCE) ?? DEFAULT_TIMEOUT;
  const events = { onProgress, onWarning, fetch: checkFunction("fetch", options.fetch), start };
  const request = { headers: headers === undefined ? {} : (await more()).headersOf(headers), timeout };
  return { call: { method: "load", model, device, cache, request, ...wasm }, threads, events, signal };
}

/** What `CaseLens.load` takes: the same, and a head. Both have a place where they are looked for. */
export async function lensRequest(value: LoadOptions | undefined, base = platform().base()): Promise<LoadRequest> {
  const options = checkOptions<LoadOptions>(value);
  const { model = DEFAULT_MODEL, head: given, headIntegrity, hub } = options;
  const request = await requestOf(options, model, base);
  const own = given === undefined && isPackaged(model) ? model.head : undefined;
  const file = own?.url ?? given;
  const source = file === undefined ? defaultHead(request.call.model, base) : await toSource("head", file, base, hub);
  const head = await withSha256(source, "headIntegrity", headIntegrity ?? own?.sha256);
  return { ...request, call: { ...request.call, head } };
}

/** What the options say of the engine: `alone` is one that other workers cannot help. */
export async function engineRequest(
  { worker, wasm }: EngineOptions,
  base = platform().base(),
): Promise<{ start: ClientEvents["start"]; alone: boolean; wasm: { wasm?: WasmSource } }> {
  if (worker !== undefined && worker !== false && typeof worker !== "function") {
    throw invalid("worker must be false, for the engine in this thread, or a function that starts a worker.");
  }
  if (worker && "more" in worker) bring(worker.more as typeof import("../more.js"));
  const start = worker === false ? () => platform().startHere() : worker && (() => platform().portOf(worker()));
  const alone = worker === false || (worker !== undefined && "threads" in worker);
  return { start, alone, wasm: wasm === undefined ? {} : { wasm: await toSource("wasm", wasm as FileSource, base) } };
}

/** Whether a model is named by its package's files. */
function isPackaged(value: unknown): value is PackagedModel {
  const file = (value as Partial<PackagedModel> | null)?.model;
  return typeof value === "object" && typeof file === "object" && file !== null && "url" in file;
}

/** The default head: beside the model, or beside the default model when the model has no place that others can be beside. */
function defaultHead(model: Source, base: string): Source {
  const placed = "url" in model && hasPlace(model.url) ? model.url : toUrl("head", DEFAULT_MODEL, base);
  return { url: new URL(DEFAULT_HEAD, placed).href };
}

/** Whether something can lie beside a URL: `chrome-extension:` and `app:` have places as `https:` has, `blob:` and `data:` have none. */
function hasPlace(url: string): boolean {
  try {
    return new URL(".", url) !== undefined;
  } catch {
    return false;
  }
}

/** Workers where the page does not say; one processor is left to the page. Not every browser tells the memory, in GB. */
export function defaultThreads(device: { hardwareConcurrency?: number; deviceMemory?: number } | undefined): number {
  const most = (device?.deviceMemory ?? 8) <= 4 ? 2 : 8;
  return Math.max(1, Math.min((device?.hardwareConcurrency ?? 1) - 1, most));
}

/** Where a file comes from. What is no URL of a server or a file is seldom, and is looked at by code that is loaded for it. */
async function toSource(what: string, value: FileSource, base: string, hub?: string | URL): Promise<Source> {
  if (classOf(value) === "URL") return { url: (value as URL).href };
  if (typeof value !== "string") return (await more()).sourceOf(what, value) as Promise<Source>;
  return { url: toUrl(what, value.startsWith("hf://") ? (await more()).onHub(what, value, hub) : value, base) };
}

function toUrl(what: string, name: string, base: string): string {
  try {
    return platform().resolve(name, base);
  } catch {
    throw invalid(`${what} is not a URL: "${name}".`);
  }
}

async function withSha256(source: Source, what: string, value: string | undefined): Promise<Source> {
  if (value === undefined) return source;
  return { ...source, sha256: /^[0-9a-f]{64}$/.test(value) ? value : (await more()).digestOf(what, value) };
}
