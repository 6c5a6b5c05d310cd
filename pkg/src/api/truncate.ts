// What a call does about texts that are longer than the encoder reads.

import type { OnTruncate } from "../types.js";
import { checkChoice } from "./check.js";

/** Options of calls that read texts. */
export interface TruncateOptions {
  /**
   * What happens where a text is longer than the encoder reads, so that its end is left out.
   *
   * - `"warn"`: the result says so (`truncated`), and `onWarning` hears of it.
   * - `"error"`: the call rejects (`text-too-long`), with the text's `index` where it is one of a list.
   * - `"ignore"`: the result alone says so.
   *
   * @defaultValue `"warn"`
   */
  onTruncate?: OnTruncate | undefined;
}

export const checkTruncate = ({ onTruncate }: TruncateOptions): OnTruncate =>
  checkChoice("onTruncate", onTruncate, ["warn", "error", "ignore"], "warn");
