// What an answer says, in a number and in words: a number that means nothing is none, and one that means little says why.

import type { Comparison } from "caselens";
import { type Doubt, doubtOf, unsaidIn } from "../state/said";
import { strings } from "../strings";

const words = strings.results;

export interface Said {
  /** None where a sentence says nothing about the condition. */
  readonly value: number | undefined;
  /** Why it is no answer, or an uncertain one; empty where it is like any other. */
  readonly why: string;
  readonly doubt: Doubt | undefined;
}

export function saidOf(comparison: Comparison | undefined): Said | undefined {
  if (!comparison) return undefined;
  const [doubt, nothing] = [doubtOf(comparison), unsaidIn(comparison)];
  // What is read as no English tells nothing of what it mentions either.
  const why = nothing && doubt !== "foreign" ? words.unsaid[nothing] : doubt ? words.doubt[doubt] : "";
  return { value: nothing ? undefined : comparison.similarity, why, doubt };
}

/** The same for who hears it. */
export function spokenOf(comparison: Comparison): string {
  const { condition, unconditional } = comparison;
  const { value, why } = saidOf(comparison) as Said;
  if (value === undefined) return words.spokenUnsaid(condition, why);
  return why ? words.spokenDoubt(condition, value, why) : words.spoken(condition, value, unconditional);
}
