// What `CaseLens.attention` takes, and how it becomes a call of the worker.

import type { AttentionCall } from "../protocol.js";
import type { CallOptions } from "../types.js";
import { checkFilled, checkInteger, checkOptions } from "./check.js";

/** Options of `attention`. */
export interface AttentionOptions extends CallOptions {
  /** The layer to look at, counted from 0; the last by default. One that the encoder does not have is an error. */
  layer?: number | undefined;
}

/** No encoder has as many layers. */
const MOST_LAYERS = 65_535;

/** The worker's call for these arguments. */
export function attentionCall(sentence: string, condition: string | undefined, options: AttentionOptions | undefined): AttentionCall {
  return {
    method: "attention",
    sentence: checkFilled("sentence", sentence),
    condition: condition === undefined ? undefined : checkFilled("condition", condition),
    layer: checkInteger("layer", checkOptions<AttentionOptions>(options).layer, 0, MOST_LAYERS),
  };
}
