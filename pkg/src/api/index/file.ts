// How an index is written as bytes, and read again: `docs/index-format.md` says what stands where.

import { CaseLensError } from "../../errors.js";
import { Slices } from "../../pause.js";
import type { EmbeddingType, Pooling } from "../../types.js";
import { areFinite } from "../check.js";
import { type Item, itemFrom } from "./items.js";
import { BLOCK, Rows, rowBytes } from "./rows.js";
import { XxHash32, xxHash32 } from "./xxhash.js";

/** What is known of an index but its texts. */
export interface Description {
  /** Name of the encoder. */
  readonly model: string;
  /** `"lens"`: texts under a condition, or without; `"encoder"`: those of an encoder alone. */
  readonly kind: "lens" | "encoder";
  /** Of an encoder alone: how it makes one vector of those of the tokens. */
  readonly pooling: Pooling | null;
  readonly condition: string | null;
  readonly dtype: EmbeddingType;
  readonly dims: number;
  /** The dimensions that were asked for; null for all that there are. */
  readonly cut: number | null;
}

/** Which of several stored states this is. */
export interface Revision {
  readonly number: number;
  /** 32 hexadecimal digits. */
  readonly stamp: string;
}

/** An index as a file has it. */
export interface Contents {
  readonly description: Description;
  readonly revision: Revision;
  /** The embedding of the sentence by which the encoder is known. `[dims]` */
  readonly probe: Float32Array;
  readonly items: readonly Item[];
  readonly rows: Rows;
  /** One for each item; absent where the head does not tell. */
  readonly mentioned: readonly number[] | undefined;
}

export const NEVER_STORED: Revision = { number: 0, stamp: "0".repeat(32) };

/** Bytes before the header, which say all that has to be known to put another file in place of this one. */
export const HEAD_BYTES = 64;
const VERSION = 1;
const MAGIC = "caselens";
/** Where a block may begin: what rows are aligned to on any machine. */
const ALIGNMENT = 64;
/** Bytes hashed at a time. */
const STEP = 1 << 19;
/** Items written, or bytes of items read, at a time. */
const ITEMS_STEP = 256;
const TEXT_STEP = 1 << 17;
/** The header is read before anything is known of the file: nobody writes a longer one. */
const LONGEST_HEADER = 1 << 20;

const BLOCKS = ["probe", "items", "vectors", "scales", "mentioned"] as const;
type Places = Record<(typeof BLOCKS)[number], readonly [number, number] | null>;
type Header = Description & { readonly length: number; readonly blocks: Places };

const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** Writes an index. */
export async function written({ description, revision, probe, items, rows, mentioned }: Contents): Promise<Uint8Array<ArrayBuffer>> {
  const slices = new Slices();
  const lines: Uint8Array[] = [];
  const encoder = new TextEncoder();
  for (let i = 0; i < items.length; i += ITEMS_STEP) {
    lines.push(encoder.encode(`${items.slice(i, i + ITEMS_STEP).map((item) => JSON.stringify(item)).join("\n")}\n`));
    if (slices.over) await slices.pause();
  }
  const { scales } = rows;
  const sizes = {
    probe: probe.byteLength,
    items: lines.reduce((sum, { byteLength }) => sum + byteLength, 0),
    vectors: rows.length * rowBytes(description.dtype, description.dims),
    scales: scales?.byteLength,
    mentioned: mentioned && 4 * mentioned.length,
  };
  const { header, blocks, size } = headed(description, rows.length, sizes);
  const bytes = new Uint8Array(size);
  if (blocks.probe) new Float32Array(bytes.buffer, blocks.probe[0], probe.length).set(probe);
  let at = blocks.items?.[0] ?? size;
  for (const line of lines) {
    bytes.set(line, at);
    at += line.byteLength;
  }
  at = blocks.vectors?.[0] ?? size;
  for (let block = 0; ; block++) {
    const part = rows.bytesOf(block);
    if (!part) break;
    bytes.set(part, at);
    at += part.byteLength;
    if (slices.over) await slices.pause();
  }
  if (scales && blocks.scales) new Float32Array(bytes.buffer, blocks.scales[0], scales.length).set(scales);
  if (mentioned && blocks.mentioned) new Float32Array(bytes.buffer, blocks.mentioned[0], mentioned.length).set(mentioned);

  bytes.set(encoder.encode(MAGIC));
  bytes.set(header, HEAD_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(8, VERSION, true);
  view.setUint32(12, header.byteLength, true);
  view.setBigUint64(16, BigInt(size), true);
  view.setUint32(24, xxHash32(header), true);
  view.setUint32(28, await hashed(bytes.subarray(HEAD_BYTES + header.byteLength)), true);
  stamp(bytes, revision);
  return bytes;
}

/** The header, padded, with the places of the blocks, which depend on its own length. */
function headed({ model, kind, pooling, condition, dtype, dims, cut }: Description, length: number, sizes: Record<(typeof BLOCKS)[number], number | undefined>): { header: Uint8Array; blocks: Places; size: number } {
  const encoder = new TextEncoder();
  const description = { model, kind, pooling, condition, dtype, dims, cut };
  // Room for places of any size: a digit more would move all of them.
  const room = aligned(encoder.encode(JSON.stringify({ ...description, length })).byteLength + 256);
  let at = HEAD_BYTES + room;
  const blocks = Object.fromEntries(
    BLOCKS.map((name) => {
      const size = sizes[name];
      if (size === undefined) return [name, null];
      const place = [at, size];
      at += aligned(size);
      return [name, place];
    }),
  ) as Places;
  const header = new Uint8Array(room).fill(0x20);
  header.set(encoder.encode(JSON.stringify({ ...description, length, blocks } satisfies Header)));
  return { header, blocks, size: at };
}

/** Writes into a file which of several stored states it is. */
export function stamp(bytes: Uint8Array, { number, stamp }: Revision): void {
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(32, number, true);
  for (let i = 0; i < 16; i++) bytes[36 + i] = Number.parseInt(stamp.slice(2 * i, 2 * i + 2), 16);
}

/** Which of several stored states a file is, by its first {@link HEAD_BYTES}. */
export function revisionOf(head: Uint8Array): Revision {
  const stamp = Array.from(head.subarray(36, 52), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { number: new DataView(head.buffer, head.byteOffset).getUint32(32, true), stamp };
}

/** The next state after one that was stored. */
export function nextRevision({ number }: Revision): Revision {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return { number: number + 1, stamp: Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("") };
}

/**
 * Reads an index.
 *
 * @param owned whether the bytes may be kept as they are; else they are copied.
 * @param check looks at the description before the rest is read, and throws where it is of another kind.
 * @throws CaseLensError `index-format` or `index-version`.
 */
export async function read(bytes: Uint8Array<ArrayBuffer>, owned: boolean, check: (description: Description) => void): Promise<Contents> {
  const { header, start } = readHeader(bytes);
  const { model, kind, pooling, condition, dtype, dims, cut, length, blocks } = header;
  const description = { model, kind, pooling, condition, dtype, dims, cut };
  check(description);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if ((await hashed(bytes.subarray(start))) !== view.getUint32(28, true)) throw damaged("its bytes are not the ones that were written");
  const block = (name: keyof Places, size: number): Uint8Array<ArrayBuffer> => {
    const [at, found] = blocks[name] ?? [0, -1];
    if (found !== size || at < start || at + size > bytes.byteLength) throw damaged(`${name} are not ${size} bytes`);
    return bytes.subarray(at, at + size);
  };

  const slices = new Slices();
  const size = rowBytes(dtype, dims);
  const vectors = block("vectors", length * size);
  const scales = blocks.scales ? finite("scales", block("scales", 4 * length)) : undefined;
  if ((dtype === "int8") !== (scales !== undefined)) throw damaged("scales are for int8, and for int8 alone");
  const rows = new Rows(dtype, dims);
  for (let row = 0; row < length; row += BLOCK) {
    const end = Math.min(length, row + BLOCK);
    const part = vectors.subarray(row * size, end * size);
    if (dtype === "float32") finite("vectors", part);
    rows.append(part, scales?.subarray(row, end), owned);
    if (slices.over) await slices.pause();
  }
  const items = await readItems(block("items", blocks.items?.[1] ?? 0), slices);
  if (items.length !== length) throw damaged(`it holds ${items.length} texts and ${length} vectors`);
  const mentioned = blocks.mentioned ? [...floats(block("mentioned", 4 * length))] : undefined;
  return { description, revision: revisionOf(bytes), probe: finite("probe", block("probe", 4 * dims)), items, rows, mentioned };
}

function readHeader(bytes: Uint8Array<ArrayBuffer>): { header: Header; start: number } {
  if (new TextDecoder().decode(bytes.subarray(0, 8)) !== MAGIC) throw damaged("it does not begin as one");
  if (bytes.byteLength < HEAD_BYTES) throw damaged("it ends within its first bytes");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint32(8, true);
  if (version !== VERSION) {
    throw new CaseLensError("index-version", `The index is of version ${version} of the format, and this package reads version ${VERSION}. Take the version of caselens that wrote it, or make the index again.`);
  }
  const size = view.getBigUint64(16, true);
  if (size !== BigInt(bytes.byteLength)) throw damaged(`it has ${bytes.byteLength} of ${size} bytes`);
  const length = view.getUint32(12, true);
  const start = HEAD_BYTES + length;
  if (length > LONGEST_HEADER || start > bytes.byteLength || length % ALIGNMENT !== 0) throw damaged("its header has no end");
  const text = bytes.subarray(HEAD_BYTES, start);
  if (xxHash32(text) !== view.getUint32(24, true)) throw damaged("its header is not the one that was written");
  const header = parsed(text) as Partial<Header> | null;
  if (!isHeader(header)) throw damaged("its header says something else");
  return { header, start };
}

function isHeader(header: Partial<Header> | null): header is Header {
  const { model, kind, condition, dtype, dims, length, blocks } = header ?? {};
  const isCount = (value: unknown, least: number): boolean => Number.isInteger(value) && (value as number) >= least;
  return (
    typeof model === "string" &&
    (kind === "lens" || kind === "encoder") &&
    (condition === null || typeof condition === "string") &&
    (dtype === "float32" || dtype === "int8" || dtype === "binary") &&
    isCount(dims, 1) &&
    isCount(length, 0) &&
    typeof blocks === "object" &&
    blocks !== null &&
    BLOCKS.every((name) => blocks[name] == null || (Array.isArray(blocks[name]) && blocks[name].every((number) => isCount(number, 0))))
  );
}

async function readItems(bytes: Uint8Array<ArrayBuffer>, slices: Slices): Promise<Item[]> {
  const items: Item[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    // Up to the end of a line. No line break stands within one: JSON writes those of a text as `\n`.
    const end = bytes.indexOf(0x0a, Math.min(at + TEXT_STEP, bytes.byteLength - 1)) + 1;
    if (end === 0) throw damaged("its last text has no end");
    const lines = parsed(bytes.subarray(at, end - 1), (text) => `[${text.replaceAll("\n", ",")}]`) as unknown[];
    for (const line of lines) {
      try {
        items.push(itemFrom(line));
      } catch (cause) {
        throw damaged(`text ${items.length} is none`, cause);
      }
    }
    at = end;
    if (slices.over) await slices.pause();
  }
  return items;
}

function parsed(bytes: Uint8Array<ArrayBuffer>, asJson = (text: string): string => text): unknown {
  try {
    return JSON.parse(asJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch (cause) {
    throw damaged("a part of it is no JSON", cause);
  }
}

/** Numbers of a block, copied: the file's bytes need not lie where floats do. */
const floats = (bytes: Uint8Array): Float32Array => new Float32Array(bytes.slice().buffer);

/** {@link floats} of what has to be numbers. */
function finite(name: string, bytes: Uint8Array): Float32Array {
  const numbers = floats(bytes);
  if (!areFinite(numbers)) throw damaged(`${name} hold what is no number`);
  return numbers;
}

async function hashed(bytes: Uint8Array): Promise<number> {
  const hash = new XxHash32();
  const slices = new Slices();
  for (let at = 0; at < bytes.byteLength; at += STEP) {
    hash.push(bytes.subarray(at, at + STEP));
    if (slices.over) await slices.pause();
  }
  return hash.value;
}

function damaged(why: string, cause?: unknown): CaseLensError {
  return new CaseLensError("index-format", `The bytes are no index of caselens, or a damaged one: ${why}. Load another copy, or make the index again.`, { cause });
}
