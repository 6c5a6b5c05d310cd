// How much a term tells of a group, as the encoder reads it: terms are embedded under the condition that the texts were grouped by, and one
// tells most that lies at the middle of its group and far from the others'. "Shore" then stands for beaches and waves, under "the place".

import type { CaseLens, Clustering } from "caselens";
import { nextTask } from "../turn";
import { cosine, dot } from "../vectors";
import type { Weigh } from "./keywords";

/** How much lying close to another group as well takes from a term, by its cosine; chosen by eye on the lists of this page. */
const elsewhere = 0.5;
/** What each further word takes: of a word and a pair with it that say the same the word is the better name. */
const furtherWord = 0.03;
/** Texts whose numbers are added up before the page has its turn. */
const turn = 2000;

/** Weighs terms of a clustering's groups, those without what is not mentioned, in their order. Rejects where the encoder fails. */
export function weighing(by: Pick<CaseLens, "embed">, clustering: Clustering, condition: string, signal: AbortSignal): Weigh {
  return async (terms) => {
    const all = [...new Set(terms.flat())];
    if (all.length === 0) return terms.map(() => []);
    const [read, middles] = [await by.embed(condition ? all.map((sentence) => ({ sentence, condition })) : all, { signal }), await middlesOf(clustering)];
    const cosines = new Map(all.map((term, i) => [term, middles.map((middle) => cosine(read.row(i), middle))]));
    return terms.map((own, group) =>
      own.map((term) => {
        const near = cosines.get(term) as number[];
        const others = Math.max(0, ...near.filter((_, i) => i !== group));
        return (near[group] as number) - elsewhere * others - furtherWord * (term.split(" ").length - 1);
      }),
    );
  };
}

/** The sum of each group's embeddings, each of length 1. */
async function middlesOf({ groups, labels, embeddings }: Clustering): Promise<Float64Array[]> {
  const sums = groups.map(() => new Float64Array(embeddings.dims));
  for (let i = 0; i < embeddings.length; i++) {
    const [row, sum] = [embeddings.row(i), sums[labels[i] as number] as Float64Array];
    const scale = 1 / (Math.sqrt(dot(row, row)) || 1);
    for (let d = 0; d < row.length; d++) sum[d] = (sum[d] as number) + scale * (row[d] as number);
    if (i % turn === turn - 1) await nextTask();
  }
  return sums.filter((_, i) => !groups[i]?.unmentioned);
}
