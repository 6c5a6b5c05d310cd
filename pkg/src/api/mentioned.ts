// What a comparison is worth: whether its sentences say anything about the condition.

import type { Comparison, Info } from "../types.js";

/** Which of two sentences say nothing about a condition. */
export type Unsaid = "both" | "first" | "second";

/**
 * Which of the sentences say nothing about the condition, as far as the loaded head tells (`lens.info`): their similarity under it
 * then means little.
 *
 * @returns undefined where both say something, and where the head does not tell.
 */
export function unsaid({ mentioned }: { readonly mentioned?: Comparison["mentioned"] | undefined }, info: Pick<Info, "mentioned">): Unsaid | undefined {
  if (!mentioned || !info.mentioned) return undefined;
  const { threshold } = info.mentioned;
  const [first, second] = mentioned.map((probability) => probability < threshold);
  return first && second ? "both" : first ? "first" : second ? "second" : undefined;
}
