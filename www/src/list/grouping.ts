// The groups of what is typed, kept up to date: work that has gone stale is aborted, texts are read once a condition, and
// the last groups stay in place until new ones arrive. How many they are,
// and whether they are groups at all, is judged before.

import { batch, computed, effect, signal, untracked } from "@preact/signals";
import type { CaseLens, Clustering, Embeddings, Hit } from "caselens";
import { lens, noteDevice, overcome } from "../state/engine";
import { step } from "../state/history";
import { type Doubt, doubtOf } from "../state/said";
import { asProblem, isAbort, type Problem } from "../state/problem";
import { view } from "../state/route";
import { strings } from "../strings";
import { groupCount, lines, sought, through } from "./fields";
import { secondsLeft } from "./left";
import { givenNames, namesFor, renamed, settled } from "./names";
import type { Judging, Verdict } from "./verdict";

/** Groups, and what they are of. */
export interface Grouped extends Clustering {
  readonly lines: readonly string[];
  /** Empty for the texts as they are. */
  readonly condition: string;
  /** What sets each group apart, in words; empty where nothing was found. */
  readonly words: readonly string[];
  /** How many groups were asked for. */
  readonly wanted: number | undefined;
}

/** What was found. */
interface Found {
  readonly query: string;
  readonly among: Grouped;
  readonly hits: readonly Hit[];
}

const pauseMs = 300;
const maxHits = 20;
/** Embeddings that are kept, over all conditions: 1.5 kB each. Those of the latest condition are, however many they are. */
const maxKept = 20_000;

export const grouped = signal<Grouped | undefined>(undefined);
/** How far the work is, 0 to 1; undefined when nothing is being done. */
export const progress = signal<number | undefined>(undefined);
/** How many texts have been read, while they are. */
export const readSoFar = signal<number | undefined>(undefined);
/** Seconds that the work will still take, about; undefined while that cannot be told. */
export const left = signal<number | undefined>(undefined);
export const problem = signal<Problem | undefined>(undefined);
/** The work was stopped by the person. */
export const stopped = signal(false);
/** Undefined when nothing is looked for. */
export const found = signal<Found | undefined>(undefined);
/** The group that is pointed at, in the list or in the map's legend. */
export const pointedAt = signal<number | undefined>(undefined);
/** What was judged of the groups that are there; undefined until it is known. */
export const verdict = signal<Verdict | undefined>(undefined);

/** The names that people gave to the groups; undefined where they gave none. */
export const ownNames = computed(() => (grouped.value ? namesFor(grouped.value, givenNames.value) : []));
/** What the groups are called: as people named them, else by what sets them apart, else as their most central text. */
export const names = computed(() => {
  const now = grouped.value;
  return now ? now.groups.map((group, i) => nameOf(now, group, ownNames.value[i] ?? now.words[i])) : [];
});
const nameOf = ({ lines, condition }: Grouped, { unmentioned, center }: Clustering["groups"][number], name = ""): string =>
  unmentioned ? strings.list.groups.unmentioned(condition) : name || (lines[center] ?? "");

interface Foreign {
  /** How many texts. */
  readonly texts: number;
  /** Their languages, by ISO 639-1 codes. */
  readonly languages: readonly string[];
}
/** Of each of the grouped texts the language, if it is one that the model was not trained on; undefined until that is known. */
const languages = signal<readonly (string | null)[] | undefined>(undefined);
/** Fulfilled once the languages of the grouped texts are known, or will not be. */
let recognizing: Promise<void> = Promise.resolve();
/** What of the grouped texts is in languages that the model was not trained on; undefined where nothing is. */
export const foreign = computed((): Foreign | undefined => {
  const found = languages.value?.filter((language) => language !== null) ?? [];
  return found.length > 0 ? { texts: found.length, languages: [...new Set(found)] } : undefined;
});

/** What makes a text uncertain, by its place in the list. */
export interface Doubted {
  readonly language: string | null;
  /** How many of its pieces the encoder does not know. */
  readonly unknown: number;
  readonly truncated: boolean;
  readonly doubt: Doubt | undefined;
}
export function doubtedAt(index: number, of = grouped.value): Doubted {
  const language = (of?.lines === grouped.value?.lines && languages.value?.[index]) || null;
  const { unknown: pieces, truncated: left } = of?.embeddings ?? {};
  const [unknown, truncated] = [pieces?.[index] ?? 0, (left?.[index] ?? 0) > 0];
  return { language, unknown, truncated, doubt: doubtOf({ language: [language, null], unknown, ...(truncated ? { truncated } : {}) }) };
}
/** What is uncertain of every grouped text: languages are waited for. */
export async function doubtedNow(of: Grouped): Promise<readonly Doubted[]> {
  await recognizing;
  return of.lines.map((_, index) => doubtedAt(index, of));
}
/** How many of the grouped texts hold what the encoder does not know, and how many were not read to their ends. */
export const uncertain = computed(() => {
  const { unknown, truncated } = grouped.value?.embeddings ?? {};
  const some = (counts: Uint32Array | undefined): number => counts?.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0) ?? 0;
  return { unknown: some(unknown), cut: some(truncated) };
});

/** Names a group of those that are there; an empty name is none. */
export function rename(group: number, name: string): void {
  const now = grouped.peek();
  if (now) step(() => (givenNames.value = renamed(now, givenNames.peek(), group, name)));
}

/** The groups are those of what is asked now. */
export const upToDate = computed(() => {
  const now = grouped.value;
  return now?.lines === lines.value && now.condition === through.value && now.wanted === groupCount.value;
});
/** What the groups are while others are on their way (`waiting`) or where none will come (`earlier`), as a class. */
export const age = computed(() => (progress.value !== undefined ? "waiting" : upToDate.value ? "" : "earlier"));

/** Embeddings of the texts by condition, the oldest first. */
let kept: { readonly by: CaseLens; readonly lines: readonly string[]; readonly embeddings: Map<string, Embeddings<"float32">> } | undefined;
let running: AbortController | undefined;

const embeddingsOf = (by: CaseLens, texts: readonly string[]): Map<string, Embeddings<"float32">> => {
  if (kept?.by !== by || kept.lines !== texts) kept = { by, lines: texts, embeddings: new Map() };
  return kept.embeddings;
};

async function group(by: CaseLens, own: AbortController): Promise<void> {
  const [texts, condition, wanted] = [lines.peek(), through.peek(), groupCount.peek()];
  const known = embeddingsOf(by, texts);
  const before = grouped.peek();
  const begun = performance.now();
  const told = (from: number, to: number) => (now: { readonly progress: number }) => {
    if (running !== own) return;
    progress.value = from + (to - from) * now.progress;
    left.value = secondsLeft(performance.now() - begun, progress.value);
  };
  const options = { condition: condition || undefined, signal: own.signal };
  const toldOfReading = (now: { readonly progress: number }): void => {
    told(0, 0.85)(now);
    if (running === own) readSoFar.value = Math.floor(now.progress * texts.length);
  };
  try {
    const embeddings = known.get(condition) ?? (await by.embed(texts, { ...options, onProgress: toldOfReading }));
    if (running === own) readSoFar.value = undefined;
    const [count, judgement] = await judge(by, embeddings, wanted, { signal: own.signal, onProgress: told(0.85, 0.95) });
    const clustering = await by.cluster(texts, {
      ...options,
      groups: count === undefined ? undefined : Math.min(count, texts.length),
      previous: before?.lines === texts ? before.points : undefined,
      embeddings,
      onProgress: told(0.95, 1),
    });
    const words = await wordsOf(by, clustering, condition, own.signal);
    if (running !== own) return;
    known.delete(condition);
    known.set(condition, clustering.embeddings);
    for (const oldest of known.keys()) {
      if (known.size === 1 || known.size * texts.length <= maxKept) break;
      known.delete(oldest);
    }
    noteDevice();
    const now: Grouped = { ...clustering, lines: texts, condition, wanted, words };
    batch(() => {
      grouped.value = now;
      verdict.value = judgement;
      problem.value = undefined;
      progress.value = undefined;
      pointedAt.value = undefined;
    });
  } catch (error) {
    if (running !== own || isAbort(error)) return;
    progress.value = undefined;
    readSoFar.value = undefined;
    problem.value = overcome(error, by);
  }
}

/** What sets each group apart, in words. Without what finds it, groups go by their most central texts; without the encoder's word, by the texts' alone. */
async function wordsOf(by: CaseLens, clustering: Clustering, condition: string, signal: AbortSignal): Promise<string[]> {
  const [keywords, weighing] = await Promise.all([
    import("./keywords").then(({ keywords }) => keywords, () => undefined),
    import("./telling").then(({ weighing }) => weighing, () => undefined),
  ]);
  if (!keywords) return clustering.groups.map(() => "");
  const named = clustering.groups.filter(({ unmentioned }) => !unmentioned);
  const texts = named.map(({ members }) => members.map(({ text }) => text));
  const found = await keywords(texts, condition, { weigh: weighing?.(by, clustering, condition, signal) }).catch((error: unknown) => {
    if (isAbort(error)) throw error;
    return keywords(texts, condition);
  });
  return clustering.groups.map((group) => found[named.indexOf(group)]?.join(strings.list.groups.between) ?? "");
}

/**
 * How many groups to make, undefined for as many as the package thinks right, and what is to be said of them: undefined where that could not
 * be judged, without which groups are groups all the same.
 */
async function judge(by: CaseLens, embeddings: Embeddings<"float32">, wanted: number | undefined, options: Judging): Promise<readonly [number | undefined, Verdict | undefined]> {
  const judging = await import("./verdict").catch(() => undefined);
  return judging ? judging.judge(by, embeddings, wanted, options) : [wanted, undefined];
}

/** Groups what is typed, after `delay` milliseconds without another change. */
function schedule(delay: number): (() => void) | undefined {
  running?.abort();
  running = undefined;
  stopped.value = false;
  problem.value = undefined;
  progress.value = undefined;
  readSoFar.value = undefined;
  if (view.peek() !== "list") return undefined;
  if (lines.peek().length === 0) {
    grouped.value = undefined;
    return undefined;
  }
  const by = lens.peek();
  if (!by) return undefined;
  const own = new AbortController();
  running = own;
  progress.value = 0;
  left.value = undefined;
  const timer = setTimeout(() => void group(by, own), delay);
  return () => clearTimeout(timer);
}

export const groupAgain = (): void => void schedule(0);

/** Ends the work that is being done. */
export function stop(): void {
  running?.abort();
  running = undefined;
  progress.value = undefined;
  readSoFar.value = undefined;
  stopped.value = true;
}

async function find(by: CaseLens, among: Grouped, query: string, signal: AbortSignal): Promise<void> {
  try {
    const hits = await by.search(query, among.lines, {
      condition: among.condition || undefined,
      embeddings: among.embeddings,
      limit: maxHits,
      signal,
    });
    if (!signal.aborted) found.value = { query, among, hits };
  } catch (error) {
    if (signal.aborted || isAbort(error)) return;
    found.value = undefined;
    problem.value = asProblem(error);
  }
}

export function startGrouping(): void {
  let asked: readonly unknown[] = [];
  effect(() => {
    const now = [view.value, lens.value, lines.value, groupCount.value] as const;
    through.value;
    // What is typed waits for a pause; a click does not.
    const typed = now.every((value, i) => value === asked[i]) || now[2] !== asked[2];
    asked = now;
    return untracked(() => schedule(typed ? pauseMs : 0));
  });
  // Names of a link find their groups, and names keep up with texts that are edited.
  effect(() => {
    const [now, given] = [grouped.value, givenNames.value];
    if (now && upToDate.value) givenNames.value = settled(now, given);
  });
  effect(() => {
    const [by, texts] = [lens.value, grouped.value?.lines];
    let isCurrent = true;
    languages.value = undefined;
    if (!by || !texts) return undefined;
    recognizing = by.languages(texts).then(
      (all) => {
        if (isCurrent) languages.value = all;
      },
      () => {}, // it is asked again with the next lens
    );
    return () => void (isCurrent = false);
  });
  effect(() => {
    const [by, among, query] = [lens.value, grouped.value, sought.value];
    if (!by || !among || query === "" || view.value !== "list") {
      found.value = undefined;
      return undefined;
    }
    const own = new AbortController();
    const timer = setTimeout(() => void find(by, among, query, own.signal), 150);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  });
}
