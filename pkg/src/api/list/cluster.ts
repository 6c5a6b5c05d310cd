// Groups: texts that are alike under a condition, gathered, named by their most central text, and laid out as a map. Texts that say
// nothing about the condition are a group by themselves: what they have in common is no answer to it.

import type { Grouping } from "../../types.js";
import { checkInteger, checkOptions, invalid } from "../check.js";
import type { Embeddings } from "../embeddings.js";
import { arrayOf } from "../../realm.js";
import { type Calls, embedAll, type ListOptions, listRequest, saying } from "./options.js";

/** Options of `cluster`. */
export interface ClusterOptions extends ListOptions<Embeddings<"float32">> {
  /**
   * How many groups to make; fewer come back where fewer of the texts are distinct.
   *
   * @defaultValue the smallest number, from 2 to √texts and at most 12, whose mean silhouette by cosine distance (Rousseeuw,
   * 1987) is within a twentieth of the highest one
   */
  groups?: number | undefined;
  /**
   * The `points` of an earlier call for the same texts in the same order: the map is turned, and mirrored, to lie as close
   * to it as it can (orthogonal Procrustes), so that points can glide from one condition's map to the next one's.
   */
  previous?: Float32Array | undefined;
}

/** A text in its group. */
export interface Member {
  /** Its place in the list. */
  readonly index: number;
  /** The text itself. */
  readonly text: string;
  /** Cosine similarity to the group's center, −1 to 1. */
  readonly similarity: number;
}

/** Texts that are alike. */
export interface Group {
  /** Place in the list of the most central member, which stands for the group. */
  readonly center: number;
  /** All members, the most central first. */
  readonly members: readonly Member[];
  /** Present for the group of the texts that say nothing about the condition, as far as the head tells. */
  readonly unmentioned?: true;
}

/** A list in groups. */
export interface Clustering {
  /** The largest group first; a group of texts that say nothing about the condition comes last, and is none of those asked for. */
  readonly groups: readonly Group[];
  /** For each text, the place of its group in `groups`. */
  readonly labels: Uint32Array;
  /** Mean silhouette of the groups by cosine distance, −1 to 1; 0 where there is one group. */
  readonly silhouette: number;
  /** For each text its x and y: the first two principal components of the embeddings. `[texts, 2]` */
  readonly points: Float32Array;
  /** The texts' embeddings under the condition: for `search`, or another number of groups. */
  readonly embeddings: Embeddings<"float32">;
}

/** The largest number of groups that is tried where none is given. */
const MOST = 12;
/** Silhouettes above this share of the highest one are as good: fewer groups are easier to take in. */
const AS_GOOD = 0.95;
/** Share of the progress for reading the texts. */
const READING = 0.9;

export async function cluster(calls: Calls, list: readonly string[], value: ClusterOptions | undefined): Promise<Clustering> {
  const { texts, condition, embeddings: given, signal, onTruncate, onProgress } = listRequest(calls, list, value);
  const { groups, previous: before } = checkOptions<ClusterOptions>(value);
  if (texts.length === 0) throw invalid("texts is empty: give at least one text to group.");
  const wanted = checkInteger("groups", groups, 1, texts.length);
  if (given && given.dtype !== "float32") throw invalid(`embeddings to be grouped must be float32, not ${given.dtype}.`);
  const previous = arrayOf(Float32Array, before);
  if (before !== undefined && previous?.length !== 2 * texts.length) {
    throw invalid(`previous must be the points of an earlier call for these ${texts.length} texts.`);
  }

  const reading = given ? 0 : READING;
  const read = (share: number): void => onProgress?.({ phase: "embed", progress: reading * share });
  const embeddings = given ?? (await embedAll<"float32">(calls, texts, condition, { onTruncate }, signal, read));
  const { data, dims } = embeddings;
  const grouped = (share: number): void =>
    onProgress?.({ phase: "group", progress: reading + (0.99 - reading) * share });
  const says = saying(calls, embeddings);
  const places = (said: boolean): number[] => texts.flatMap((_, index) => (says[index] === said ? [index] : []));
  const [said, unsaid] = [places(true), places(false)];
  const groupings =
    said.length > 0 ? await calls.call({ method: "group", ...rowsOf(embeddings, said), counts: counts(wanted, said.length) }, signal, grouped) : [];
  const [apart] = unsaid.length > 0 ? await calls.call({ method: "group", ...rowsOf(embeddings, unsaid), counts: [1] }, signal) : [];
  const points = await calls.call({ method: "plane", data, dims, previous }, signal);
  const clear = clearest(groupings);
  const found: Group[] = clear ? gathered(texts, said, clear) : [];
  if (apart) found.push(...gathered(texts, unsaid, apart).map((group) => ({ ...group, unmentioned: true as const })));
  const labels = new Uint32Array(texts.length);
  for (const [label, { members }] of found.entries()) for (const { index } of members) labels[index] = label;
  onProgress?.({ phase: "group", progress: 1 });
  return { groups: found, labels, silhouette: clear?.silhouette ?? 0, points, embeddings };
}

/** Some rows of embeddings, one after the other; all of them as they are. */
function rowsOf(embeddings: Embeddings<"float32">, places: readonly number[]): { data: Float32Array; dims: number } {
  const { data, dims } = places.length === embeddings.length ? embeddings : embeddings.select(places);
  return { data, dims };
}

/** The numbers of groups to try. */
const counts = (wanted: number | undefined, texts: number): number[] =>
  wanted === undefined ? candidates(texts) : [Math.min(wanted, texts)];

/** Numbers of groups worth trying: a silhouette needs two groups, and fewer groups than texts. */
function candidates(texts: number): number[] {
  const most = Math.min(MOST, Math.max(2, Math.floor(Math.sqrt(texts))), texts - 1);
  return most < 2 ? [1] : Array.from({ length: most - 1 }, (_, i) => i + 2);
}

/** The first of the groupings, from few groups to many, whose silhouette is as good as any; undefined where there is none. */
function clearest(groupings: readonly Grouping[]): Grouping | undefined {
  const best = Math.max(...groupings.map(({ silhouette }) => silhouette));
  return groupings.find(({ silhouette }) => silhouette >= AS_GOOD * best) ?? groupings.at(-1);
}

/** The groups of the texts at these places. */
function gathered(texts: readonly string[], places: readonly number[], { labels, centrality }: Grouping): Group[] {
  const groups: Member[][] = [];
  labels.forEach((label, at) => {
    const index = places[at] as number;
    (groups[label] ??= []).push({ index, text: texts[index] as string, similarity: centrality[at] as number });
  });
  return groups.map((members) => {
    members.sort((a, b) => b.similarity - a.similarity || a.index - b.index);
    return { center: (members[0] as Member).index, members };
  });
}
