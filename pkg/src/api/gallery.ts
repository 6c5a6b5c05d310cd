// Gallery: answers of a model that no browser runs, from a folder that `caselens export --gallery` wrote.

import { Client } from "../page/client.js";
import { platform } from "../page/platform.js";
import type { GalleryData, GalleryItem } from "../types.js";
import { checkMade, checkOptions, checkSignal, invalid } from "./check.js";
import { type EngineOptions, engineRequest } from "./options.js";

/** Options of `Gallery.load`. */
export interface GalleryLoadOptions extends EngineOptions {
  /** Aborts the loading, which rejects with the signal's `reason`. */
  signal?: AbortSignal | undefined;
}

/** How alike two sentences are under a condition. */
export type GalleryAnswer = Pick<GalleryItem, "similarity" | "rating">;

/**
 * Chosen pairs under conditions, and what a model says to them that is too large for a browser. Its embeddings of them are
 * stored, and its trained projection is applied to them here.
 *
 * @example
 * ```ts
 * const gallery = await Gallery.load("bundle/");
 * for (const [i, { sentence1, sentence2, condition }] of gallery.items.entries()) {
 *   const [own] = await lens.compare(sentence1, sentence2, [condition]);
 *   console.log(condition, gallery.encoder, gallery.compare(i).rating, "here", own?.rating);
 * }
 * ```
 */
export class Gallery {
  readonly #data: GalleryData;

  private constructor(data: GalleryData) {
    checkMade(data);
    this.#data = data;
  }

  /**
   * Reads a gallery in a worker of its own, which ends when it is done.
   *
   * @param url of the exported folder or of its manifest.json; relative to the page, in Node and Deno a path or a URL.
   * @throws {@link CaseLensError} `bundle-schema` for a folder of another version, `bundle-mismatch` where a file is not the
   * one that the manifest describes, `download-incomplete` where it ended early, `bundle-format`, `head-format`,
   * `head-mismatch`, `network`, `http`, `file`, `invalid-argument` or `worker`.
   */
  static async load(url: string | URL, options?: GalleryLoadOptions): Promise<Gallery> {
    const { signal, ...engine } = checkOptions<GalleryLoadOptions>(options);
    const { start, wasm } = await engineRequest(engine);
    return galleryOf(await Client.once({ method: "gallery", manifest: manifestUrl(url), ...wasm }, checkSignal(signal), { start }));
  }

  /** The name of the encoder that made the embeddings. */
  get encoder(): string {
    return this.#data.encoder;
  }

  /** Numbers of an embedding behind the projection. */
  get dims(): number {
    return this.#data.dims;
  }

  /** Under which licenses encoder, head and texts may be used: a line for each. */
  get licenses(): readonly string[] {
    return this.#data.licenses;
  }

  /** The pairs with their conditions and answers. */
  get items(): readonly GalleryItem[] {
    return this.#data.items;
  }

  /**
   * What the model says to an item.
   *
   * @throws {@link CaseLensError} `invalid-argument` where there is no such item.
   */
  compare(index: number): GalleryAnswer {
    const item = this.#data.items[index];
    if (!item) throw invalid(`index must be a whole number from 0 to ${this.#data.items.length - 1}, not ${index}.`);
    return { similarity: item.similarity, rating: item.rating };
  }
}

/** The manifest of a folder, or the one that was named itself. */
function manifestUrl(url: string | URL): string {
  let found: URL;
  try {
    found = new URL(typeof url === "string" ? platform().resolve(url, platform().base()) : url);
  } catch {
    throw invalid(`url is not a URL: "${url}".`);
  }
  if (found.pathname.endsWith(".json")) return found.href;
  if (!found.pathname.endsWith("/")) found.pathname += "/";
  return new URL("manifest.json", found).href;
}

// Outside of the class: one that names itself in its body has another name in a bundle (`_Gallery`), which consoles show.
const galleryOf = (data: GalleryData): Gallery => new (Gallery as unknown as new (data: GalleryData) => Gallery)(data);
