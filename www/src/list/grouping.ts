// The groups of what is typed, kept up to date: work that has gone stale is aborted, texts are read once a condition, and
// the last groups stay in place until new ones arrive.

import { batch, computed, effect, signal, untracked } from "@preact/signals";
import type { CaseLens, Clustering, Embeddings, Hit } from "caselens";
import { lens, noteDevice, overcome } from "../state/engine";
import { asProblem, isAbort, type Problem } from "../state/problem";
import { view } from "../state/route";
import { groupCount, lines, sought, through } from "./fields";

/** Groups, and what they are of. */
export interface Grouped extends Clustering {
  readonly lines: readonly string[];
  /** Empty for the texts as they are. */
  readonly condition: string;
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
export const problem = signal<Problem | undefined>(undefined);
/** The work was stopped by the person. */
export const stopped = signal(false);
/** Undefined when nothing is looked for. */
export const found = signal<Found | undefined>(undefined);
/** The group that is pointed at, on the map or in the list. */
export const pointedAt = signal<number | undefined>(undefined);

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
  try {
    const clustering = await by.cluster(texts, {
      condition: condition || undefined,
      groups: wanted === undefined ? undefined : Math.min(wanted, texts.length),
      previous: before?.lines === texts ? before.points : undefined,
      embeddings: known.get(condition),
      signal: own.signal,
      onProgress: (now) => {
        if (running === own) progress.value = now.progress;
      },
    });
    if (running !== own) return;
    known.delete(condition);
    known.set(condition, clustering.embeddings);
    for (const oldest of known.keys()) {
      if (known.size === 1 || known.size * texts.length <= maxKept) break;
      known.delete(oldest);
    }
    noteDevice();
    batch(() => {
      grouped.value = { ...clustering, lines: texts, condition, wanted };
      problem.value = undefined;
      progress.value = undefined;
      pointedAt.value = undefined;
    });
  } catch (error) {
    if (running !== own || isAbort(error)) return;
    progress.value = undefined;
    problem.value = overcome(error, by);
  }
}

/** Groups what is typed, after `delay` milliseconds without another change. */
function schedule(delay: number): (() => void) | undefined {
  running?.abort();
  running = undefined;
  stopped.value = false;
  problem.value = undefined;
  progress.value = undefined;
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
  const timer = setTimeout(() => void group(by, own), delay);
  return () => clearTimeout(timer);
}

export const groupAgain = (): void => void schedule(0);

/** Ends the work that is being done. */
export function stop(): void {
  running?.abort();
  running = undefined;
  progress.value = undefined;
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
