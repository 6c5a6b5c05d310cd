// What `CaseLens.explain` takes, and how it becomes a call of the worker.

import type { ExplainCall } from "../protocol.js";
import type { CallOptions, TokenPooling } from "../types.js";
import { checkBoolean, checkChoice, checkFilled, checkOptions } from "./check.js";

/**
 * Steps to take in another way than the model's own: what is left out stays as the model has it. They say how sentence and
 * condition are combined, and mean nothing without a condition.
 */
export interface ExplainOptions extends CallOptions {
  /** Whether the condition's own embedding is subtracted. */
  subtract?: boolean | undefined;
  /** Which tokens are averaged. */
  pooling?: TokenPooling | undefined;
  /** Whether the embedding goes through the head. `true` is an error for a model that has none. */
  head?: boolean | undefined;
}

const POOLINGS: readonly TokenPooling[] = ["all", "condition", "sentence", "cls"];

/** The worker's call for these arguments. */
export function explainCall(
  sentence1: string,
  sentence2: string,
  condition: string | undefined,
  options: ExplainOptions | undefined,
): ExplainCall {
  const { subtract, pooling, head } = checkOptions<ExplainOptions>(options);
  const given = <T>(value: T | undefined, check: (value: T) => T) => (value === undefined ? undefined : check(value));
  return {
    method: "explain",
    sentence1: checkFilled("sentence1", sentence1),
    sentence2: checkFilled("sentence2", sentence2),
    condition: given(condition, (text) => checkFilled("condition", text)),
    subtract: given(subtract, (value) => checkBoolean("subtract", value, value)),
    pooling: given(pooling, (value) => checkChoice("pooling", value, POOLINGS, value)),
    head: given(head, (value) => checkBoolean("head", value, value)),
  };
}
