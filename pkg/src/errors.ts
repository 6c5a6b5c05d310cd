// The one error of this package, and how it crosses from the worker to the page.

import { messageOf } from "./words.js";

export { inWords } from "./words.js";

/**
 * What went wrong, in a form that programs can match on. The codes are stable.
 *
 * Of the engine (this list and `ENGINE_CODES` are written from `src/error.rs`):
 * - `empty-text`: a sentence, condition or text is empty or white space.
 * - `invalid-text`: a text holds half of a surrogate pair.
 * - `text-too-long`: a text has more characters than are accepted, or more than the encoder reads where its end is not to be left out.
 * - `condition-too-long`: a condition leaves no room for the sentence.
 * - `invalid-argument`: an argument or option has the wrong type or value.
 * - `model-format`: the file is no model, or a damaged one.
 * - `unsupported-architecture`: the model is of a kind that is not supported.
 * - `tokenizer`: the model's tokenizer cannot be used.
 * - `head-format`: the file is no head, or a damaged one.
 * - `head-mismatch`: the head was made for another encoder.
 * - `bundle-format`: an exported folder's manifest or gallery is none, or a damaged one.
 * - `bundle-schema`: an exported folder has a version that is not read here.
 * - `bundle-mismatch`: a file of an exported folder is not the one that its manifest describes.
 * - `not-enough-memory`: there is no memory left for the model.
 * - `webgpu-unavailable`: WebGPU was asked for, and there is no adapter.
 * - `gpu-lost`: the GPU stopped working.
 * - `internal`: a fault of this library.
 *
 * Of the package:
 * - `network`: the server could not be reached.
 * - `http`: the server answered, but not with the file.
 * - `download-incomplete`: the file ended early.
 * - `integrity`: a file is not the one that `integrity` names.
 * - `file`: a file on this machine could not be read (Node and Deno).
 * - `unsupported`: there is no WebAssembly here, or none that this package can run.
 * - `worker`: the worker could not start or died.
 * - `disposed`: `dispose()` was called.
 * - `duplicate-id`: an item of an index is given twice, or is there already.
 * - `unknown-id`: an index has no item with this id.
 * - `index-format`: the bytes are no index, or a damaged one.
 * - `index-version`: an index is of a version of the format that is not read here.
 * - `index-mismatch`: an index, or embeddings, are of another model than is loaded.
 * - `index-condition`: an index, or embeddings, are of another condition than is asked for.
 * - `index-conflict`: what is stored under a name is newer than this index, or another one.
 * - `storage`: an index could not be stored, or not be read from where it is stored.
 * - `storage-full`: there is no room left to store an index.
 */
export type ErrorCode = (typeof ENGINE_CODES)[number] | (typeof OWN_CODES)[number];

const ENGINE_CODES = [
  "empty-text",
  "invalid-text",
  "text-too-long",
  "condition-too-long",
  "invalid-argument",
  "model-format",
  "unsupported-architecture",
  "tokenizer",
  "head-format",
  "head-mismatch",
  "bundle-format",
  "bundle-schema",
  "bundle-mismatch",
  "not-enough-memory",
  "webgpu-unavailable",
  "gpu-lost",
  "internal",
] as const;

/** What the package raises by itself. */
const OWN_CODES = [
  "network",
  "http",
  "download-incomplete",
  "integrity",
  "file",
  "unsupported",
  "worker",
  "disposed",
  "duplicate-id",
  "unknown-id",
  "index-format",
  "index-version",
  "index-mismatch",
  "index-condition",
  "index-conflict",
  "storage",
  "storage-full",
] as const;

/**
 * All of them; a page that only hears of errors bundles no list.
 *
 * @internal
 */
export const CODES = /* @__PURE__ */ ([] as ErrorCode[]).concat(ENGINE_CODES, OWN_CODES);

/** What to do about an error of the engine in JavaScript; the engine speaks of things, not of arguments. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  "invalid-text": "Clean it with `text.toWellFormed()` first.",
  "head-format": "npm has a model with its head as `caselens-csts`; for your own, `caselens train-head` makes one.",
  "head-mismatch": "npm has a model with its head as `caselens-csts`; for your own, `caselens train-head` makes one.",
  "bundle-format": "`caselens export` makes one.",
  "bundle-schema": "`caselens export` makes one.",
  "webgpu-unavailable": 'That is `device: "wasm"`.',
};

/**
 * Everything this package throws or rejects with, but for what a caller's own `onProgress` or `onWarning` throws, which rejects the
 * call as it is, and the reason of a `signal` that is aborted. The message says what happened and what to do about it.
 *
 * @example
 * ```ts
 * try {
 *   await lens.compare("A cat sleeps.", "", ["the animal"]);
 * } catch (error) {
 *   if (error instanceof CaseLensError && error.code === "empty-text") askAgain();
 *   else throw error;
 * }
 * ```
 */
export class CaseLensError extends Error {
  /** Always `"CaseLensError"`. */
  override readonly name = "CaseLensError";
  /** What went wrong; see {@link ErrorCode}. */
  readonly code: ErrorCode;
  /** Where one item of a list is at fault: its place, from 0, in the list that the call was given. */
  declare readonly index?: number;
  /** Where a file is at fault that was to be fetched: its URL. */
  declare readonly url?: string;
  /** `http` alone: the status that the server answered with. */
  declare readonly status?: number;

  /**
   * @param code what went wrong.
   * @param message the same in words, and what to do.
   * @param options `cause`: the error beneath; and the details `index`, `url` and `status`.
   */
  constructor(code: ErrorCode, message: string, options?: ErrorOptions & ErrorDetails) {
    super(message, options);
    this.code = code;
    Object.assign(this, detailsOf(options));
  }
}

/** What an error of some codes says besides, for programs. */
export interface ErrorDetails {
  /** See {@link CaseLensError.index}. */
  readonly index?: number | undefined;
  /** See {@link CaseLensError.url}. */
  readonly url?: string | undefined;
  /** See {@link CaseLensError.status}. */
  readonly status?: number | undefined;
}

/** The details that are there. */
function detailsOf({ index, url, status }: ErrorDetails = {}): ErrorDetails {
  return { ...(index !== undefined && { index }), ...(url !== undefined && { url }), ...(status !== undefined && { status }) };
}

/** The same error with other details, or without one that is undefined here. */
export function withDetails(error: CaseLensError, details: ErrorDetails, message = error.message): CaseLensError {
  return new CaseLensError(error.code, message, { ...(error.cause !== undefined && { cause: error.cause }), ...detailsOf(error), ...details });
}

/** An error as plain data, for `postMessage`. */
export interface ErrorData extends ErrorDetails {
  readonly code: ErrorCode;
  readonly message: string;
  readonly cause?: CauseData;
}

/** The error beneath: what of it can be sent to another thread, whatever it was. */
interface CauseData {
  readonly name: string;
  readonly message: string;
  /** Such as `"ENOENT"`. */
  readonly code?: string | number;
}

/** Gives anything that was thrown a code. What carries none of ours is a fault of this package. */
export function toCaseLensError(thrown: unknown): CaseLensError {
  if (thrown instanceof CaseLensError) return thrown;
  const message = messageOf(thrown);
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  if (CODES.includes(code as ErrorCode)) {
    const advice = ADVICE[code as ErrorCode];
    return new CaseLensError(code as ErrorCode, advice === undefined ? message : `${message} ${advice}`);
  }
  return new CaseLensError("internal", `caselens failed: ${message}. Load it again; if it fails again, please report it.`, {
    cause: thrown,
  });
}

export function toErrorData(thrown: unknown): ErrorData {
  const error = toCaseLensError(thrown);
  const { code, message, cause } = error;
  return { code, message, ...detailsOf(error), ...(cause !== undefined && { cause: toCause(cause) }) };
}

export function fromErrorData({ code, message, cause, ...details }: ErrorData): CaseLensError {
  return new CaseLensError(code, message, { ...details, ...(cause && { cause: fromCause(cause) }) });
}

function toCause(cause: unknown): CauseData {
  const { name, code } = (typeof cause === "object" && cause !== null ? cause : {}) as { name?: unknown; code?: unknown };
  return {
    name: typeof name === "string" ? name : "Error",
    message: messageOf(cause),
    ...((typeof code === "string" || typeof code === "number") && { code }),
  };
}

function fromCause({ name, message, code }: CauseData): Error {
  return Object.assign(new Error(message), { ...(name !== "Error" && { name }), ...(code !== undefined && { code }) });
}
