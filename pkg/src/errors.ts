// The one error of this package, and how it crosses from the worker to the page.

/**
 * What went wrong, in a form that programs can match on. The codes are stable.
 *
 * Of the engine (this list and `ENGINE_CODES` are written from `src/error.rs`):
 * - `empty-text`: a sentence, condition or text is empty or white space.
 * - `invalid-text`: a text holds half of a surrogate pair.
 * - `text-too-long`: a text has more characters than are accepted.
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
 * - `aborted`: the call's `signal` was aborted; `cause` is the signal's reason.
 * - `disposed`: `dispose()` was called.
 */
export type ErrorCode = (typeof CODES)[number];

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
const OWN_CODES = ["network", "http", "download-incomplete", "integrity", "file", "unsupported", "worker", "aborted", "disposed"] as const;

/** @internal */
export const CODES = [...ENGINE_CODES, ...OWN_CODES] as const;

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
 * Everything this package throws or rejects with, but for what a caller's own `onProgress` throws, which rejects the call as it
 * is. The message says what happened and what to do about it.
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

  /**
   * @param code what went wrong.
   * @param message the same in words, and what to do.
   * @param options `cause`: the error beneath.
   */
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** An error as plain data, for `postMessage`. */
export interface ErrorData {
  readonly code: ErrorCode;
  readonly message: string;
  /** The cause in words. */
  readonly cause?: string;
}

/** Gives anything that was thrown a code. What carries none of ours is a fault of this package. */
export function toCaseLensError(thrown: unknown): CaseLensError {
  if (thrown instanceof CaseLensError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
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
  const { code, message, cause } = toCaseLensError(thrown);
  return cause === undefined ? { code, message } : { code, message, cause: String(cause) };
}

export function fromErrorData({ code, message, cause }: ErrorData): CaseLensError {
  return new CaseLensError(code, message, cause === undefined ? undefined : { cause: new Error(cause) });
}

/** What a browser or a file system threw, for a sentence that goes on with it. */
export function inWords(error: unknown): string {
  if (error instanceof Error && error.name === "QuotaExceededError") return "the browser's storage is full";
  return error instanceof Error ? error.message : String(error);
}
