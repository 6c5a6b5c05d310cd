// How many groups texts form, and whether they form any. k-means cuts anything into groups, and any cut has a silhouette: so the same is
// done with clouds of points that have none, and what counts is by how much the texts' silhouette is above theirs, as with the gap
// statistic (Tibshirani et al., 2001). The clouds are drawn from one normal distribution with the texts' own mean and covariance, as
// SigClust has it (Liu et al., 2008). Loaded when there are first groups.

import type { CaseLens, Embeddings } from "caselens";
import { nextTask } from "../turn";
import { mulberry32 } from "./sample";

/** Texts that are judged by, and points of a cloud, at most. */
export const mostPoints = 150;
/** Clouds that are looked at. */
export const clouds = 4;
/** Fewer texts than this form groups by chance alone. */
export const leastTexts = 12;
/** Numbers of groups that are tried where none is asked for. */
export const tried = [2, 3, 4, 5, 6, 8, 10, 12] as const;

/** Mean silhouettes by one number of groups. */
export interface Trial {
  readonly groups: number;
  readonly own: number;
  readonly clouds: readonly number[];
}

/** What the silhouettes tell. */
export interface Verdict {
  /** `few`: too few texts to tell. `none`: no more than clouds without groups give. `some`: a little more. `clear`: far more. */
  readonly kind: "few" | "none" | "some" | "clear";
  /** The silhouette of the texts, and the mean one of the clouds, by that number of groups. */
  readonly own: number;
  readonly without: number;
}

/** Standard deviations that groups are above the clouds, at least, and how much in any case. */
const beyond = 3.5;
const least = 0.03;
/** How much of the way from the clouds to 1 is far. */
const clearly = 0.25;
/** Share of the greatest distance that is as good: fewer groups are easier to take in. */
const asGood = 0.9;

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** The number of groups that stands out most from the clouds, and what is to be said of it; undefined where nothing was tried. */
export function judged(trials: readonly Trial[]): { readonly groups: number; readonly verdict: Verdict } | undefined {
  const all = trials.map(({ groups, own, clouds }) => ({ groups, own, without: mean(clouds), gap: own - mean(clouds) }));
  const most = Math.max(...all.map(({ gap }) => gap));
  const best = all.find(({ gap }) => gap >= asGood * most) ?? all.find(({ gap }) => gap === most);
  if (!best) return undefined;
  // One spread for all numbers of groups: a few clouds tell little of each.
  const variances = trials.map(({ clouds }) => clouds.reduce((sum, value) => sum + (value - mean(clouds)) ** 2, 0) / Math.max(1, clouds.length - 1));
  if (best.gap < Math.max(least, beyond * Math.sqrt(mean(variances)))) {
    // Where no number of groups stands out, that of the tightest ones is as good as any.
    const tightest = Math.max(...all.map(({ own }) => own));
    const { groups, own, without } = all.find(({ own }) => own >= asGood * tightest) ?? best;
    return { groups, verdict: { kind: "none", own, without } };
  }
  const { groups, own, without, gap } = best;
  return { groups, verdict: { kind: gap < clearly * (1 - without) ? "some" : "clear", own, without } };
}

/** Up to so many of the numbers 0 to `count` − 1, evenly spread. */
export const spread = (count: number, most: number): number[] =>
  Array.from({ length: Math.min(count, most) }, (_, i) => Math.floor((i * count) / Math.min(count, most)));

/**
 * Rows of unit length, drawn from a normal distribution that has the mean and the covariance of `rows`: a sum of the rows, less their
 * mean, with normal weights has just that covariance.
 *
 * @param rows `[texts, dims]`
 * @returns `[points, dims]`
 */
export async function cloud(rows: Float32Array, dims: number, points: number, seed: number, pause: () => Promise<void>): Promise<Float32Array> {
  const random = mulberry32(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const count = rows.length / dims;
  const places = Array.from({ length: count }, (_, i) => i * dims);
  const mean = new Float64Array(dims);
  for (const at of places) for (let d = 0; d < dims; d++) mean[d] = (mean[d] as number) + (rows[at + d] as number) / places.length;
  const drawn = new Float32Array(points * dims);
  const point = new Float64Array(dims);
  for (let i = 0; i < points; i++) {
    point.fill(0);
    let sum = 0;
    for (const at of places) {
      const weight = normal();
      sum += weight;
      for (let d = 0; d < dims; d++) point[d] = (point[d] as number) + weight * (rows[at + d] as number);
    }
    let square = 0;
    const scale = 1 / Math.sqrt(places.length);
    for (let d = 0; d < dims; d++) {
      point[d] = (mean[d] as number) + scale * ((point[d] as number) - sum * (mean[d] as number));
      square += (point[d] as number) ** 2;
    }
    const length = Math.sqrt(square) || 1;
    for (let d = 0; d < dims; d++) drawn[i * dims + d] = (point[d] as number) / length;
    // A point is some hundred thousand products: less than a millisecond.
    if (i % 20 === 19) await pause();
  }
  return drawn;
}

/** How the judging is to be done. */
export interface Judging {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((now: { readonly progress: number }) => void) | undefined;
}

/**
 * How many groups to make, undefined for as many as the package thinks right, and what is to be said of them. Texts that say nothing about
 * the condition are left out of it.
 *
 * @param wanted how many are asked for, if so many are
 */
export async function judge(
  by: Pick<CaseLens, "cluster" | "info">,
  embeddings: Embeddings<"float32">,
  wanted: number | undefined,
  { signal, onProgress }: Judging = {},
): Promise<readonly [number | undefined, Verdict | undefined]> {
  const threshold = by.info.mentioned?.threshold ?? 0;
  // NaN is of a text without a condition.
  const said = Array.from({ length: embeddings.length }, (_, i) => i).filter((i) => !((embeddings.mentioned?.[i] ?? 1) < threshold));
  if (said.length < leastTexts || wanted === 1) return [wanted, { kind: "few", own: 0, without: 0 }];
  const places = spread(said.length, mostPoints);
  const texts = embeddings.select(places.map((place) => said[place] as number));
  const { dims, length } = texts;
  const counts = wanted === undefined ? tried.filter((count) => count <= Math.max(2, Math.sqrt(said.length))) : [Math.min(wanted, length)];
  const names = places.map(String);
  const total = counts.length * (1 + clouds);
  const trials: Trial[] = counts.map((groups) => ({ groups, own: 0, clouds: [] }));
  let done = 0;
  for (let seed = 0; seed <= clouds; seed++) {
    const data = (seed === 0 ? texts.data : await cloud(texts.data, dims, length, seed, nextTask)) as Float32Array<ArrayBuffer>;
    for (const [i, { groups, own, clouds }] of trials.entries()) {
      const { silhouette } = await by.cluster(names, { embeddings: { dtype: "float32", data, length, dims } as Embeddings<"float32">, groups, signal });
      trials[i] = seed === 0 ? { groups, own: silhouette, clouds } : { groups, own, clouds: [...clouds, silhouette] };
      onProgress?.({ progress: ++done / total });
    }
  }
  const found = judged(trials);
  return [wanted ?? found?.groups, found?.verdict];
}
