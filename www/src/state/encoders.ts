// The encoders that this page can load: what ships, a larger one, and CASE as published. The build says which of them lie beside it.

import { computed, signal } from "@preact/signals";

const ids = ["small", "large", "case"] as const;
export type EncoderId = (typeof ids)[number];

/** How well an encoder agrees with people, as the model card has it. */
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

/** An encoder with its head: their URLs, which change with their contents, their SHA-256 where the build knew the files, and its figures. */
export interface OfferedEncoder {
  readonly model: string;
  readonly integrity?: string;
  readonly head: string;
  readonly headIntegrity?: string;
  readonly figures: Figures;
}

/** By their names; the small one is always there. */
export type Offered = Readonly<{ small: OfferedEncoder } & Partial<Record<Exclude<EncoderId, "small">, OfferedEncoder>>>;

/** The build looks for the files, and reads the figures from their card. */
declare const __ENCODERS__: Offered;

/** Those that can be chosen, in the order in which they are shown. */
export const offered: readonly EncoderId[] = ids.filter((id) => __ENCODERS__[id] !== undefined);

export const isOffered = (value: unknown): value is EncoderId => (offered as readonly unknown[]).includes(value);

export const encoderOf = (id: EncoderId): OfferedEncoder => __ENCODERS__[id] ?? __ENCODERS__.small;

/** The one that is to answer, by the address or the reader's choice. */
export const chosenEncoder = signal<EncoderId>("small");

/** Where the package keeps files. */
const CACHE = "caselens-v1";

/** Runs on the package's cache; undefined where there is none: plain http has none, and in a sandboxed frame asking throws. */
async function inCache<T>(work: (cache: Cache) => Promise<T>): Promise<T | undefined> {
  try {
    return typeof caches === "undefined" ? undefined : await work(await caches.open(CACHE));
  } catch {
    return undefined;
  }
}

const address = (file: string): URL => new URL(file, document.baseURI);

/** Its files, as the package loads them. */
export function filesOf(id: EncoderId): Pick<OfferedEncoder, "model" | "integrity" | "head" | "headIntegrity"> {
  const { figures: _, ...files } = encoderOf(id);
  return files;
}

/** Lets go of what is kept of an encoder: it is downloaded the next time. */
export async function drop(id: EncoderId): Promise<void> {
  const { model, head } = encoderOf(id);
  await inCache((cache) => Promise.all([model, head].map((file) => cache.delete(address(file)))));
}

/** Whether an encoder's files are kept on this device, so that loading it downloads nothing. */
export async function isKept(id: EncoderId): Promise<boolean> {
  const { model, head } = encoderOf(id);
  const found = await inCache((cache) => Promise.all([model, head].map((file) => cache.match(address(file)))));
  return found !== undefined && found.every((response) => response !== undefined);
}

const keptNow = signal<ReadonlySet<EncoderId>>(new Set());
/** The encoders that are kept, as far as was last looked. */
export const kept = computed(() => keptNow.value);

export async function lookForKept(): Promise<void> {
  const found = await Promise.all(offered.map(async (id) => ((await isKept(id)) ? [id] : [])));
  const next = new Set(found.flat());
  if ([...next].join() !== [...keptNow.peek()].join()) keptNow.value = next;
}

/** Lets go of files that were kept for an earlier build of this page. Nothing depends on it. */
export async function forgetEarlier(): Promise<void> {
  const now = offered.flatMap((id) => [encoderOf(id).model, encoderOf(id).head]).map(address);
  await inCache(async (cache) => {
    for (const { url } of await cache.keys()) {
      const there = new URL(url);
      const earlier = (file: URL) => file.origin === there.origin && file.pathname === there.pathname && file.search !== there.search;
      if (now.some(earlier)) await cache.delete(url);
    }
  });
}
