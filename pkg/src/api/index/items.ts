// What lies in an index: texts with an id and whatever is known of them besides, checked as they come.

import { CaseLensError } from "../../errors.js";
import { checkArray, checkFilled, invalid } from "../check.js";

/** What an item is known by. `1` and `"1"` are two. */
export type ItemId = string | number;

/** A text to put into an index. */
export interface NewItem<M = unknown> {
  /** What it is known by: a string, or a finite number. */
  readonly id: ItemId;
  /** The text itself. */
  readonly text: string;
  /** Whatever else is known of it, as JSON has it; it is copied. */
  readonly metadata?: M | undefined;
}

/** What becomes of an item: what is left out stays as it is. */
export interface ItemChange<M = unknown> {
  /** Of which item. */
  readonly id: ItemId;
  /** Its new text. One that is the same is not read again. */
  readonly text?: string | undefined;
  /** Its new metadata, in place of all of the old; it is copied. */
  readonly metadata?: M | undefined;
}

/** An item of an index. It is meant to stay as it is: `update` changes one. */
export interface Item<M = unknown> {
  /** What it is known by. */
  readonly id: ItemId;
  /** The text itself. */
  readonly text: string;
  /** What else is known of it. Absent where nothing was given. */
  readonly metadata?: M;
}

/** An item as it is kept. */
export function itemOf<M>(id: ItemId, text: string, metadata: M | undefined): Item<M> {
  return Object.freeze({ id, text, ...(metadata !== undefined && { metadata }) });
}

/** An id in words, as one would write it in code. */
export const named = (id: ItemId): string => JSON.stringify(id);

export function checkId(what: string, value: unknown, index?: number): ItemId {
  if (typeof value === "string" || Number.isFinite(value)) return value as ItemId;
  throw new CaseLensError("invalid-argument", `${what} must be a string or a finite number.`, { index });
}

/** Ids, each of which is there once. */
export function checkIds(value: unknown): ItemId[] {
  const seen = new Map<ItemId, number>();
  return Array.from(checkArray("ids", value), (one, index) => once(seen, checkId(`ids[${index}]`, one, index), "ids", index));
}

/** Items to be added. */
export function checkNewItems<M>(value: readonly NewItem<M>[]): Item<M>[] {
  const seen = new Map<ItemId, number>();
  return Array.from(checkArray("items", value), (one, index) => {
    const { id, text, metadata } = checkItem<M>(one, index);
    once(seen, checkId(`items[${index}].id`, id, index), "items", index);
    return itemOf(id as ItemId, checkFilled(`items[${index}].text`, text, index), copied(metadata, index));
  });
}

/** Changes of items. */
export function checkChanges<M>(value: readonly ItemChange<M>[]): ItemChange<M>[] {
  const seen = new Map<ItemId, number>();
  return Array.from(checkArray("items", value), (one, index) => {
    const { id, text, metadata } = checkItem<M>(one, index);
    once(seen, checkId(`items[${index}].id`, id, index), "items", index);
    const checked = text === undefined ? undefined : checkFilled(`items[${index}].text`, text, index);
    return { id: id as ItemId, text: checked, metadata: copied(metadata, index) };
  });
}

function checkItem<M>(value: unknown, index: number): { id?: unknown; text?: unknown; metadata?: M | undefined } {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new CaseLensError("invalid-argument", `items[${index}] must be an object with \`id\` and \`text\`.`, { index });
}

/** @throws CaseLensError `duplicate-id` for an id that was seen before, with both places. */
function once(seen: Map<ItemId, number>, id: ItemId, list: string, index: number): ItemId {
  const before = seen.get(id);
  if (before !== undefined) throw new CaseLensError("duplicate-id", `${list}[${before}] and ${list}[${index}] have the same id, ${named(id)}.`, { index });
  seen.set(id, index);
  return id;
}

/** How deep metadata may be nested. What holds itself is deeper than anything. */
const DEEPEST = 100;

/** Metadata, copied as JSON keeps it. What JSON would lose or change without a word is refused. */
function copied<M>(metadata: M | undefined, index: number): M | undefined {
  if (metadata === undefined) return undefined;
  const fault = unlikeJson(metadata, `items[${index}].metadata`, 0);
  if (fault) throw new CaseLensError("invalid-argument", `${fault}: metadata is kept as JSON.`, { index });
  return JSON.parse(JSON.stringify(metadata)) as M;
}

/** What of a value is no JSON, in words; undefined where all of it is. A property that is undefined is one that is not there. */
function unlikeJson(value: unknown, what: string, depth: number): string | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${what} is ${value}`;
  if (typeof value !== "object") return `${what} is ${value === undefined ? "undefined" : `a ${typeof value}`}`;
  if (depth === DEEPEST) return `${what.slice(0, 60)}… is nested more than ${DEEPEST} deep, or holds itself`;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const fault = unlikeJson(value[i], `${what}[${i}]`, depth + 1);
      if (fault) return fault;
    }
    return undefined;
  }
  // A plain object of another realm has a prototype too that has none itself.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return `${what} is no plain object`;
  for (const [key, inner] of Object.entries(value)) {
    const fault = inner === undefined ? undefined : unlikeJson(inner, `${what}.${key}`, depth + 1);
    if (fault) return fault;
  }
  return undefined;
}

/** The item of a line of a file. @throws CaseLensError `invalid-argument` where it is none. */
export function itemFrom<M>(value: unknown): Item<M> {
  const { id, text, metadata } = checkItem<M>(value, 0);
  if (typeof text !== "string") throw invalid("An item has no text.");
  return itemOf(checkId("id", id), text, metadata);
}
