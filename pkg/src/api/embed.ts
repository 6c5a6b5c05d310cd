// What `CaseLens.embed` takes, and how it becomes a call of the worker.

import { CaseLensError } from "../errors.js";
import type { EmbedCall } from "../protocol.js";
import type { CallOptions, EmbeddingType } from "../types.js";
import { checkArray, checkFilled, checkFunction, checkInteger, checkOptions, checkSignal } from "./check.js";
import { checkDtype, type VectorOptions } from "./embeddings.js";
import type { ProgressOptions } from "./progress.js";
import type { BatchOptions } from "./stream.js";
import { checkTruncate, type TruncateOptions } from "./truncate.js";

/** A sentence to embed under a condition of its own. */
export interface ConditionedSentence {
  /** The sentence, or any other short text. */
  readonly sentence: string;
  /** The aspect under which the sentence is seen, for example `"the animal"`; the call's own where it is absent. */
  readonly condition?: string | undefined;
}

/** Options of `CaseLens.embed`. */
export interface ConditionalEmbedOptions<T extends EmbeddingType = EmbeddingType>
  extends CallOptions,
    ProgressOptions,
    TruncateOptions,
    VectorOptions<T> {
  /** The aspect under which all texts are seen that name none themselves; without it they are seen as they are. */
  condition?: string | undefined;
}

/** Options of `CaseLens.embedStream`. */
export interface ConditionalEmbedStreamOptions<T extends EmbeddingType = EmbeddingType>
  extends Omit<ConditionalEmbedOptions<T>, "onProgress">,
    BatchOptions {}

/** The arguments, checked. */
interface EmbedRequest {
  readonly call: EmbedCall;
  /** The condition of all texts, null for none; undefined where they have different ones. */
  readonly condition: string | null | undefined;
  readonly onProgress: ProgressOptions["onProgress"];
  readonly signal: AbortSignal | undefined;
}

/**
 * @param start the place of the first text, where they are part of a longer list.
 * @throws CaseLensError for whatever cannot be embedded, before anything is.
 */
export function embedRequest(
  texts: readonly (string | ConditionedSentence)[],
  value: ConditionalEmbedOptions | undefined,
  start = 0,
): EmbedRequest {
  const options = checkOptions<ConditionalEmbedOptions>(value);
  const common = options.condition === undefined ? undefined : checkFilled("condition", options.condition);
  const sentences: string[] = [];
  const conditions: (string | undefined)[] = [];
  for (const [i, item] of checkArray("texts", texts).entries()) {
    const index = start + i;
    if (typeof item === "string") {
      sentences.push(checkFilled(`texts[${index}]`, item, index));
      conditions.push(common);
      continue;
    }
    if (typeof item !== "object" || item === null) {
      throw new CaseLensError("invalid-argument", `texts[${index}] must be a string, or an object with a \`sentence\`.`, { index });
    }
    const { sentence, condition } = item as Partial<ConditionedSentence>;
    sentences.push(checkFilled(`texts[${index}].sentence`, sentence, index));
    conditions.push(condition === undefined ? common : checkFilled(`texts[${index}].condition`, condition, index));
  }
  const [first = common] = conditions;
  return {
    call: {
      method: "embed",
      sentences,
      conditions,
      ...(start > 0 && { first: start }),
      dims: checkInteger("dims", options.dims, 1, 65_536),
      dtype: checkDtype(options.dtype),
      onTruncate: checkTruncate(options),
    },
    condition: conditions.every((condition) => condition === first) ? (first ?? null) : undefined,
    onProgress: checkFunction("onProgress", options.onProgress),
    signal: checkSignal(options.signal),
  };
}
