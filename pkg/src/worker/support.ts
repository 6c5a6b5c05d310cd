// What WebAssembly can do here, where there is any: browsers in a hardened mode have none, a page's policy may forbid it.

import { CaseLensError } from "../errors.js";

/** The instructions that the module is built for: one build for each. */
export type Instructions = "simd128" | "relaxed-simd";

/** A module with nothing in it: what may not be compiled here is any module, not ours. */
const EMPTY = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]); // "\0asm", version 1

/** A module with one function that gives a v128, and the function's body. */
const withFunction = (...body: number[]): Uint8Array<ArrayBuffer> =>
  // prettier-ignore
  new Uint8Array([
    ...EMPTY,
    1, 5, 1, 96, 0, 1, 123, // one type: () -> v128
    3, 2, 1, 0, // one function of that type
    10, body.length + 4, 1, body.length + 2, 0, ...body, 11, // its code: no locals, the body, end
  ]);

const SPLAT = [65, 1, 253, 15]; // i32.const 1, i8x16.splat
const SIMD128 = withFunction(...SPLAT);
/** `i32x4.relaxed_dot_i8x16_i7x16_add_s` of three splats: valid where relaxed SIMD is. */
const RELAXED_SIMD = withFunction(...SPLAT, ...SPLAT, ...SPLAT, 253, 147, 2);

/**
 * The best instructions of this machine.
 *
 * @throws CaseLensError `unsupported` where no module of ours can run, with what to do about it.
 */
export function instructions(): Instructions {
  checkWebAssembly();
  if (!WebAssembly.validate(SIMD128)) {
    throw unsupported("This WebAssembly has no SIMD, which caselens computes with. Chrome 91, Firefox 89, Safari 16.4 and newer have it.");
  }
  try {
    new WebAssembly.Module(EMPTY);
  } catch (cause) {
    throw unsupported(
      "WebAssembly may not be compiled here. In a browser a Content-Security-Policy has to allow it: add 'wasm-unsafe-eval' to `script-src`, of the page and of what `worker.js` is served with.",
      cause,
    );
  }
  return WebAssembly.validate(RELAXED_SIMD) ? "relaxed-simd" : "simd128";
}

/** @throws CaseLensError `unsupported` where there is no WebAssembly at all. */
export function checkWebAssembly(): void {
  if (typeof WebAssembly === "object") return;
  throw unsupported(
    "There is no WebAssembly here, which caselens computes with. Browsers in a hardened mode, such as Lockdown Mode on iOS, have none, nor has Node with `--jitless`: make an exception for this site.",
  );
}

/** Whether an error is WebAssembly's own: after it, the module cannot be used any more. */
export function isTrap(error: unknown): boolean {
  return typeof WebAssembly === "object" && error instanceof WebAssembly.RuntimeError;
}

function unsupported(message: string, cause?: unknown): CaseLensError {
  return new CaseLensError("unsupported", message, { cause });
}
