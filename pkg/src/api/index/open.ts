// Indexes, made, read and forgotten. What is below here is a file of its own when it is published, which is loaded where somebody
// first asks for an index.

import { CaseLensError } from "../../errors.js";
import type { CallOptions, EmbeddingType, Pooling } from "../../types.js";
import { checkChoice, checkFilled, checkInteger, checkOptions, checkSignal, invalid } from "../check.js";
import type { VectorOptions } from "../embeddings.js";
import { asRead } from "../list/options.js";
import { checkPooling } from "../pooling.js";
import { bytesOf } from "../../realm.js";
import { checkName } from "./check-name.js";
import { type Description, read } from "./file.js";
import { isSame, type Origin, probed } from "./origin.js";
import { inBrowser } from "./stored.js";
import { emptyIndex, type Index, indexOf, inWords } from "./text-index.js";

/** Options of `Encoder.index`. */
export interface EncoderIndexOptions<T extends EmbeddingType = EmbeddingType> extends CallOptions, VectorOptions<T> {
  /**
   * How the vectors of a text's tokens become one; see {@link EmbedOptions.pooling}.
   *
   * @defaultValue what the encoder's file says, `info.pooling`
   */
  pooling?: Pooling | undefined;
}

/** Options of `CaseLens.index`. */
export interface IndexOptions<T extends EmbeddingType = EmbeddingType> extends CallOptions, VectorOptions<T> {
  /** The aspect under which all texts are seen; without it they are seen as they are. */
  condition?: string | undefined;
}

/** Options of `loadIndex` and `openIndex`. */
export interface LoadIndexOptions extends CallOptions {
  /** The condition that the index has to be of, null for none: one of another is refused (`index-condition`). */
  condition?: string | null | undefined;
}

/** An index of which nothing is known yet but how it reads texts. */
export async function newIndex<M>(origin: Origin, value: (IndexOptions & EncoderIndexOptions) | undefined): Promise<Index<M>> {
  const options = checkOptions<IndexOptions & EncoderIndexOptions>(value);
  const isLens = origin.kind === "lens";
  if (!isLens && options.condition !== undefined) throw invalid("An Encoder knows no conditions: load a CaseLens for them.");
  const { model } = origin.calls.info;
  const signal = checkSignal(options.signal);
  return emptyIndex<M>(
    origin,
    {
      model,
      kind: origin.kind,
      pooling: isLens ? null : checkPooling(options.pooling, origin.calls.info),
      condition: options.condition === undefined ? null : checkFilled("condition", options.condition),
      dtype: checkChoice<EmbeddingType>("dtype", options.dtype, ["float32", "int8", "binary"], "float32"),
      cut: checkInteger("dims", options.dims, 1, 65_536) ?? null,
    },
    signal,
  );
}

/** The index of bytes that `save` wrote. */
export async function loadIndex<M>(origin: Origin, bytes: ArrayBuffer | Uint8Array, options: LoadIndexOptions | undefined): Promise<Index<M>> {
  const given = bytesOf("bytes", bytes);
  if (!given) throw invalid("bytes must be an ArrayBuffer or a Uint8Array, as `index.save` gives one.");
  return fromBytes<M>(origin, given, false, options);
}

/** The index that is stored under a name; undefined where there is none. */
export async function openIndex<M>(origin: Origin, name: string, options: LoadIndexOptions | undefined): Promise<Index<M> | undefined> {
  const bytes = await (origin.store ?? inBrowser).read(checkName(name));
  return bytes && fromBytes<M>(origin, bytes, true, options);
}

/** Forgets the index that is stored under a name. */
export async function deleteIndex(store: Origin["store"], name: string): Promise<void> {
  await (store ?? inBrowser).delete(checkName(name));
}

/** @param owned whether the bytes may be kept as they are. */
async function fromBytes<M>(origin: Origin, bytes: Uint8Array<ArrayBuffer>, owned: boolean, options: LoadIndexOptions | undefined): Promise<Index<M>> {
  const { condition, signal } = checkOptions<LoadIndexOptions>(options);
  if (checkSignal(signal)?.aborted) throw (signal as AbortSignal).reason;
  const contents = await read(bytes, owned, (description) => checkFitting(description, origin, condition));
  const { cut, dims } = contents.description;
  const probe = await probed(origin, { ...contents.description, dims: cut ?? undefined }, signal);
  if (probe.length !== dims || !isSame(probe, contents.probe)) {
    throw new CaseLensError("index-mismatch", `The index was made by another model than ${origin.calls.info.model}, which is loaded, though it has that name: embeddings of the same sentence differ. Load the model that made it, or make the index again.`);
  }
  return indexOf<M>(origin, contents);
}

/** Refuses an index of another model, of another kind, or of another condition than is asked for. */
function checkFitting({ model, kind, condition }: Description, { calls, kind: wanted }: Origin, asked: string | null | undefined): void {
  const loaded = calls.info.model;
  if (model !== loaded) {
    throw new CaseLensError("index-mismatch", `The index is of the model ${model}, and ${loaded} is loaded: load that one, or make the index again.`);
  }
  if (kind !== wanted) {
    const [made, here] = kind === "lens" ? ["a CaseLens", "an Encoder"] : ["an Encoder", "a CaseLens"];
    throw new CaseLensError("index-mismatch", `The index is one of ${made}, and this is ${here}: load it with the former.`);
  }
  const sameAs = (text: string | null): string | null => (text === null ? null : asRead(text));
  if (asked !== undefined && sameAs(condition) !== sameAs(asked)) {
    throw new CaseLensError("index-condition", `The index is of ${inWords(condition)}, and not of ${inWords(asked)}. \`index.under\` makes one of another condition.`);
  }
}
