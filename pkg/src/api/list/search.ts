// Search: the texts of a list in the order of how alike they are to a query, under a condition; those that say nothing about it
// come last.

import { Slices } from "../../pause.js";
import type { EmbeddingType } from "../../types.js";
import { checkFilled, checkInteger, checkOptions } from "../check.js";
import type { Embeddings } from "../embeddings.js";
import { toldOfReading } from "../progress.js";
import { First } from "./first.js";
import { type Calls, embedAll, type ListOptions, listRequest, saying } from "./options.js";

/** Options of `search`. */
export interface SearchOptions extends ListOptions {
  /**
   * How many results to give at most; `texts.length` for all.
   *
   * @defaultValue 10
   */
  limit?: number | undefined;
}

/** A text that was found. */
export interface Hit {
  /** Its place in the list. */
  readonly index: number;
  /** The text itself. */
  readonly text: string;
  /** Cosine similarity to the query under the condition, −1 to 1. */
  readonly similarity: number;
  /** Present where the text says nothing about the condition, as far as the head tells: such texts come last. */
  readonly unmentioned?: true;
}

const LIMIT = 10;
/** Rows between two looks at the clock. */
const STEP = 64;

export async function search(
  calls: Calls,
  query: string,
  list: readonly string[],
  value: SearchOptions | undefined,
): Promise<Hit[]> {
  const { texts, condition, embeddings, signal, onTruncate, onProgress } = listRequest(calls, list, value);
  const limit = checkInteger("limit", checkOptions<SearchOptions>(value).limit, 1, Number.MAX_SAFE_INTEGER) ?? LIMIT;
  checkFilled("query", query);

  const form = { dims: embeddings?.dims, dtype: embeddings?.dtype, onTruncate, named: "query" };
  const asked = await embedAll<EmbeddingType>(calls, [query], condition, form, signal);
  const rows: Embeddings = embeddings ?? (await embedAll(calls, texts, condition, { onTruncate }, signal, toldOfReading(onProgress)));
  const similarities = new Float64Array(rows.length);
  const says = saying(calls, rows);
  const first = new First(limit, (a, b) => Number(says[b]) - Number(says[a]) || (similarities[b] as number) - (similarities[a] as number) || a - b);
  const slices = new Slices();
  for (let row = 0; row < rows.length; row++) {
    similarities[row] = rows.similarity(row, 0, asked);
    if (first.takes(row)) first.keep(row);
    if (row % STEP > 0 || !slices.over) continue;
    await slices.pause();
    if (signal?.aborted) throw signal.reason;
  }
  const hits = first.sorted().map((index): Hit => ({
    index,
    text: texts[index] as string,
    similarity: similarities[index] as number,
    ...(!says[index] && { unmentioned: true }),
  }));
  onProgress?.({ phase: "embed", progress: 1 });
  return hits;
}
