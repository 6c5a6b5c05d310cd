// What only the engine can refuse is asked of it before all else, so that a long call does not find it at its end.

import type { Call } from "../protocol.js";
import type { Caller, Listed } from "./sharing.js";

/** Texts of characters without a shape of their own: encoders whose tokenizer drops these see nothing in them, others do. */
const UNSEEN = /^[\p{White_Space}\p{Cc}\p{Cf}\p{Co}\p{Mn}\uFFFD]*$/u;

/** Stands for no condition: nothing to be refused. */
const NONE = "none";

/** Calls about texts. */
type Texts = Exclude<Listed, { method: "group" }>;

/** Characters of a condition that certainly leave room for a sentence. */
const SHORT = 100;

/**
 * Looks at those items of a call that may be refused: texts and conditions in which there may be nothing to read, the longest condition, and, where
 * no end is to be left out, the longest text.
 *
 * @throws CaseLensError as the call would when it comes to that item.
 */
export async function lookAhead(call: Listed, worker: Caller, signal: AbortSignal | undefined): Promise<void> {
  if (call.method === "group") return;
  for (const place of doubtful(call)) await worker.call(alone(call, place), signal);
}

/** The places of such items, in their order; of some that are alike, one. */
function doubtful(call: Texts): number[] {
  const conditions = call.method === "encode" ? [] : call.conditions.map((condition = NONE) => condition);
  const texts = call.method === "compare" ? [] : call.method === "embed" ? call.sentences : call.texts;
  const unseen = [texts, conditions].flatMap((list) => [...new Set(list.filter((text) => UNSEEN.test(text)))].map((text) => list.indexOf(text)));
  const condition = longest(conditions);
  const isLong = (conditions[condition]?.length ?? 0) > SHORT;
  const text = call.onTruncate === "error" && texts.length > 0 ? [longest(texts)] : [];
  return [...new Set([...unseen, ...(isLong ? [condition] : []), ...text])].sort((a, b) => a - b);
}

const longest = (texts: readonly string[]): number => texts.reduce((best, { length }, i) => (length > (texts[best] as string).length ? i : best), 0);

/** A call about one item. */
function alone(call: Texts, place: number): Call {
  const { first = 0 } = call;
  const one = { first: first + place, ahead: true };
  const only = <T>(list: readonly T[]): T[] => list.slice(place, place + 1);
  if (call.method === "compare") return { ...call, ...one, conditions: only(call.conditions), unconditional: 0 };
  if (call.method === "encode") return { ...call, ...one, texts: only(call.texts) };
  return { ...call, ...one, sentences: only(call.sentences), conditions: only(call.conditions) };
}
