// What is known of files without loading them: whether they are kept, how large they are; and forgetting them.

import type { FilesCall, FileState } from "../protocol.js";
import type { FileCache } from "./cache.js";
import { checkAnswer, reached } from "./download.js";
import { ask, type RequestOptions, statedSize } from "./request.js";

/** Looks for the files in the cache, asks servers for their sizes, or drops them, as the call says. */
export async function lookAfter({ urls, what }: FilesCall, cache: FileCache, sizeOf: (url: string) => Promise<number | null>): Promise<FileState[]> {
  return Promise.all(
    urls.map(async (url): Promise<FileState> => {
      if (what === "drop") await cache.drop(url);
      const kept = await cache.read(url);
      if (kept) {
        if (kept.size === null) return { kept: true, size: (await kept.response.blob()).size };
        await kept.response.body?.cancel();
        return { kept: true, size: kept.size };
      }
      // What lies on this machine's disk is here.
      return { kept: url.startsWith("file:"), size: what === "measure" ? await sizeOf(url) : null };
    }),
  );
}

/**
 * The size of a file in bytes as its server states it; null where it does not.
 *
 * @throws CaseLensError `network` or `http`.
 */
export async function statedByServer(url: string, options: RequestOptions): Promise<number | null> {
  const { response } = await reached(url, "The file", () => ask(url, options, { method: "HEAD" }));
  if (response.status === 405 || response.status === 501) return null; // a server that answers no such question
  checkAnswer(response, url, "The file", "Check the URL.");
  return statedSize(response).size;
}
