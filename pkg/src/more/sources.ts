// Forms of a file, and of what is said of it, that few callers use.

import { CaseLensError } from "../errors.js";
import type { WasmSource } from "../protocol.js";
import { bytesOf, classOf } from "../realm.js";
import { inWords } from "../words.js";

const invalid = (message: string): CaseLensError => new CaseLensError("invalid-argument", message);

/** What the caller holds: bytes, a file, a server's answer, or a compiled module where the file is one. */
export async function sourceOf(what: string, value: unknown): Promise<Exclude<WasmSource, { readonly url: string }>> {
  const kind = classOf(value);
  if (kind === "WebAssembly.Module" && what === "wasm") return { module: value as WebAssembly.Module };
  if (kind === "Blob" || kind === "File") return { blob: value as Blob };
  if (kind === "Response") return { blob: await bodyOf(what, value as Response) };
  const bytes = bytesOf(what, value);
  // A copy, because the bytes move to the worker and the caller's must not vanish.
  if (bytes) return { bytes: new Uint8Array(bytes) };
  throw invalid(`${what} must be a URL, an ArrayBuffer, a Uint8Array, a Blob or a Response${what === "model" ? ", or a model's package such as `caselens-csts`" : ""}.`);
}

/** What a server answered to the caller. */
async function bodyOf(what: string, response: Response): Promise<Blob> {
  const { ok, status } = response;
  const url = response.url || undefined; // one that the caller made has none
  if (!ok) throw new CaseLensError("http", `The answer that was given as ${what} holds no file (HTTP ${status}${url ? `, ${url}` : ""}).`, { url, status });
  return response.blob().catch((cause: unknown) => {
    throw new CaseLensError("download-incomplete", `The answer that was given as ${what} could not be read: ${inWords(cause)}.`, { cause, url });
  });
}

/** Headers as plain data, which the worker is sent. Node's own `Headers` needs WebAssembly, which may be missing: only who gives some needs it. */
export function headersOf(value: unknown): Record<string, string> {
  try {
    return Object.fromEntries(new Headers(value as HeadersInit));
  } catch (cause) {
    throw invalid(`headers must be names with their values: ${inWords(cause)}.`);
  }
}

/** A SHA-256 in hexadecimal digits. */
export function digestOf(what: string, value: unknown): string {
  const text = String(value);
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  const [, base64] = /^sha256-([\w+/]{43}=)$/.exec(text) ?? [];
  if (!base64) throw invalid(`${what} must be the 64 hexadecimal digits of a SHA-256, or "sha256-…" in Base64.`);
  return Array.from(atob(base64), (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}
