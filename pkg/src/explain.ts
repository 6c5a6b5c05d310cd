// What `CaseLens.explain` takes and gives: a comparison taken apart, step by step.

import { checkBoolean, checkChoice, checkOptions, checkText } from "./check.js";
import type { CallOptions } from "./options.js";
import type { ExplainCall } from "./rpc/protocol.js";

/** Which tokens' vectors are averaged: all of them, the condition's, the sentence's, or the first token's alone. */
export type TokenPooling = "all" | "condition" | "sentence" | "cls";

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

/** How embeddings under a condition are made. */
export interface Recipe {
  /** One input an order, their embeddings side by side. */
  readonly orders: readonly ("condition-sentence" | "sentence-condition")[];
  /** Which tokens' vectors are averaged. */
  readonly pooling: TokenPooling;
  /** Whether the condition's own embedding is subtracted. */
  readonly subtract: boolean;
  /** Whether the embedding goes through the head. */
  readonly head: boolean;
}

/** What the two sentences have become at one step, and how alike they are there. */
export interface ExplainedStep {
  /**
   * `plain`: the sentence alone, all tokens averaged; `joint`: the sentence with its condition; `offset`: that minus the
   * condition alone; `projected`: through the head.
   */
  readonly name: "plain" | "joint" | "offset" | "projected";
  /** One vector a sentence, not scaled to any length. */
  readonly vectors: readonly [Float32Array, Float32Array];
  /** Their cosine similarity, −1 to 1. */
  readonly cosine: number;
}

/** A token that the encoder reads. */
export interface ExplainedToken {
  /** Its number in the vocabulary. */
  readonly id: number;
  /** As the vocabulary writes it. */
  readonly text: string;
  /** Whose it is; `special` are the encoder's own, such as `[CLS]`. */
  readonly part: "condition" | "sentence" | "special";
  /** What it stands for: `text.slice(start, end)` of the sentence, or of `Explanation.condition`. Empty for special tokens. */
  readonly start: number;
  /** Where that ends; see `start`. */
  readonly end: number;
  /** The word it belongs to, counted from 0 within its part; undefined for special tokens. */
  readonly word: number | undefined;
}

/** What the encoder read of one sentence. */
export interface Reading {
  /** Null for the sentence alone. */
  readonly order: Recipe["orders"][number] | null;
  /** Its tokens, special ones included, in the order in which they are read. */
  readonly tokens: readonly ExplainedToken[];
  /**
   * How the condition's tokens attend to all tokens: for each layer, for each of the condition's tokens, one number a token,
   * averaged over the attention heads. The numbers of one row sum to 1. `[layers][condition's tokens][tokens]`
   */
  readonly attention: readonly (readonly Float32Array[])[];
  /** How many of the sentence's tokens did not fit and were left out. */
  readonly cut: number;
}

/** A comparison taken apart. All numbers are the loaded model's own. */
export interface Explanation {
  /** As the encoder is given it: without white space around it and its final full stop. Null without one. */
  readonly condition: string | null;
  /** What was done; null without a condition. */
  readonly recipe: Recipe | null;
  /** What the model does where nothing is asked otherwise, and what `compare` does. */
  readonly usual: Recipe;
  /** For each sentence one reading for each of the recipe's orders; without a condition the sentence alone. */
  readonly readings: readonly [readonly Reading[], readonly Reading[]];
  /** The condition's own embedding, where it is subtracted. */
  readonly conditionAlone: Float32Array | undefined;
  /** The steps taken, in their order: the first is `plain`, the last gives the answer. */
  readonly steps: readonly ExplainedStep[];
  /** The last step's cosine similarity, −1 to 1. */
  readonly similarity: number;
  /** The same on the 1 (unlike) to 5 (alike) scale of human ratings. */
  readonly rating: number;
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
    sentence1: checkText("sentence1", sentence1),
    sentence2: checkText("sentence2", sentence2),
    condition: given(condition, (text) => checkText("condition", text)),
    subtract: given(subtract, (value) => checkBoolean("subtract", value, value)),
    pooling: given(pooling, (value) => checkChoice("pooling", value, POOLINGS, value)),
    head: given(head, (value) => checkBoolean("head", value, value)),
  };
}
