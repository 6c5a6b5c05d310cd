// The encoder and the head that ship, and what is left of earlier ones.

/** Their URLs, which change with their contents: the build says them. */
declare const __SHIPPED__: { readonly model: string; readonly head: string };

export const shipped = __SHIPPED__;

/** How well the model that ships agrees with people, as its card has it. */
export interface Figures {
  /** Megabytes of the download. */
  readonly megabytes: number;
  /** Pairs that the figures are of. */
  readonly rows: number;
  /** Spearman × 100 with people's ratings. */
  readonly spearman: number;
  /** Of 100 pairs rated differently under two conditions, those whose higher-rated condition gets the higher similarity. */
  readonly accuracy: number;
  /** Spearman × 100 where training had never seen the condition. */
  readonly unseen: number;
}

/** The build reads them from the card. */
declare const __FIGURES__: Figures;

export const figures = __FIGURES__;

/** Where the package keeps files. */
const CACHE = "caselens-v1";

/** Lets go of files that were kept for an earlier build of this page. Nothing depends on it: it may fail. */
export async function forgetEarlier(): Promise<void> {
  try {
    // Plain http has none; in a sandboxed frame asking for them throws.
    if (typeof caches === "undefined") return;
    const now = Object.values(shipped).map((file) => new URL(file, document.baseURI));
    const cache = await caches.open(CACHE);
    for (const { url } of await cache.keys()) {
      const kept = new URL(url);
      const earlier = (file: URL) => file.origin === kept.origin && file.pathname === kept.pathname && file.search !== kept.search;
      if (now.some(earlier)) await cache.delete(url);
    }
  } catch {
    // A storage that cannot be read holds nothing that is in the way.
  }
}
