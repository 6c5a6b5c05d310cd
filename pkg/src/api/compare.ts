// What `CaseLens.compare` takes, and how it becomes a call of the worker.

import type { CompareCall } from "../protocol.js";
import type { CallOptions } from "../types.js";
import { checkBoolean, checkFilled, checkOptions, checkTexts } from "./check.js";
import { checkTruncate, type TruncateOptions } from "./truncate.js";

/** Options of `compare`. */
export interface CompareOptions extends CallOptions, TruncateOptions {
  /**
   * Whether each result also tells where its condition looked: `readings`, with the attention of the encoder's last layer. It
   * costs little beside the comparison itself; `explain` gives all layers, of one condition. A head that has sentence and
   * condition read apart gives no readings.
   *
   * @defaultValue `false`
   */
  attention?: boolean | undefined;
}

/** The worker's call for these arguments. */
export function compareCall(
  sentence1: string,
  sentence2: string,
  conditions: readonly string[],
  options: CompareOptions | undefined,
): CompareCall {
  const { attention, ...rest } = checkOptions<CompareOptions>(options);
  return {
    method: "compare",
    sentence1: checkFilled("sentence1", sentence1),
    sentence2: checkFilled("sentence2", sentence2),
    conditions: checkTexts("conditions", conditions),
    attention: checkBoolean("attention", attention, false),
    onTruncate: checkTruncate(rest),
  };
}
