// A model's files, without loading them: are they here, how large are they, away with them.

import type { FilesCall, FileState, LoadCall } from "../protocol.js";

/** What is known of all files of a model together. */
export interface FilesState {
  /** Whether all are kept. */
  readonly kept: boolean;
  /** In bytes; null where a server does not state it. */
  readonly size: number | null;
}

/**
 * Does with a model's files what is asked; bytes and files that were given are here.
 *
 * @param ask asks a worker about those that have a URL.
 */
export async function aboutFiles({ model, head, cache, request }: LoadCall, what: FilesCall["what"], ask: (call: FilesCall) => Promise<FileState[]>): Promise<FilesState> {
  const sources = [model, ...(head ? [head] : [])];
  const urls = sources.flatMap((source) => ("url" in source ? [source.url] : []));
  const given = sources.flatMap((source) => ("url" in source ? [] : [{ kept: true, size: "bytes" in source ? source.bytes.byteLength : source.blob.size }]));
  const files = [...given, ...(urls.length > 0 ? await ask({ method: "files", urls, what, cache, request }) : [])];
  const size = files.reduce<number | null>((sum, file) => (sum === null || file.size === null ? null : sum + file.size), 0);
  return { kept: files.every(({ kept }) => kept), size };
}
