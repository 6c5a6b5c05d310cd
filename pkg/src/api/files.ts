// A model's files, without loading them: are they here, how large are they, away with them.

import { Client } from "../page/client.js";
import type { FilesCall, FileState } from "../protocol.js";
import { type LoadOptions, loadRequest } from "./options.js";

/** Does with a model's files what is asked; bytes and files that were given are here. */
async function about(what: FilesCall["what"], options: LoadOptions | undefined, withHead: boolean): Promise<FileState[]> {
  const { call, events, signal } = await loadRequest(options, withHead);
  const sources = [call.model, ...(call.head ? [call.head] : [])];
  const urls = sources.flatMap((source) => ("url" in source ? [source.url] : []));
  const given = sources.flatMap((source) => ("url" in source ? [] : [{ kept: true, size: "bytes" in source ? source.bytes.byteLength : source.blob.size }]));
  const { cache, request } = call;
  const found = urls.length > 0 ? await Client.once({ method: "files", urls, what, cache, request }, signal, events) : [];
  return [...given, ...found];
}

/** Whether all files are kept. */
export async function areKept(options: LoadOptions | undefined, withHead: boolean): Promise<boolean> {
  return (await about("look", options, withHead)).every(({ kept }) => kept);
}

/** The size of all files together, in bytes; null where a server does not state one. */
export async function sizeOf(options: LoadOptions | undefined, withHead: boolean): Promise<number | null> {
  const sizes = (await about("measure", options, withHead)).map(({ size }) => size);
  return sizes.reduce((sum, size) => (sum === null || size === null ? null : sum + size), 0);
}

/** Forgets all files. */
export async function forget(options: LoadOptions | undefined, withHead: boolean): Promise<void> {
  await about("drop", options, withHead);
}
