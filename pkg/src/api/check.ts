// Checks of arguments that have to happen in the page: what the types promise, and what `postMessage` and the wasm
// border would silently change. What a text means (empty, too long) is the engine's to judge.

import { CaseLensError } from "../errors.js";

export function invalid(message: string): CaseLensError {
  return new CaseLensError("invalid-argument", message);
}

/** Refuses `new` for classes whose objects come from `load`: the constructor is private in the types alone. */
export function checkMade(made: unknown): void {
  if (!made) throw invalid("`await …load(options)` takes the place of a constructor.");
}

/** The options object of a call, undefined standing for `{}`. */
export function checkOptions<T extends object>(value: T | undefined): Partial<T> {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) throw invalid(`The options must be an object, not ${kindOf(value)}.`);
  return value;
}

/** A text. Half of a surrogate pair would arrive as U+FFFD on the other side, so it is refused here. */
export function checkText(what: string, value: unknown, index?: number): string {
  if (typeof value !== "string") throw new CaseLensError("invalid-argument", `${what} must be a string, not ${kindOf(value)}.`, { index });
  const position = (value as Partial<WellFormed>).isWellFormed?.() ? -1 : value.search(/\p{Surrogate}/u);
  if (position >= 0) {
    throw new CaseLensError(
      "invalid-text",
      `${what} is not valid Unicode text (half of a surrogate pair at position ${position}). Clean it with \`text.toWellFormed()\` first.`,
      { index },
    );
  }
  return value;
}

/** What strings of newer engines tell much faster than a search does. */
interface WellFormed {
  isWellFormed(): boolean;
}

/** The engine's `MAX_CHARS` (`src/text/tokenizer.rs`). */
const MOST_CHARACTERS = 50_000;

/**
 * A text to be read. The engine finds these faults too, but only when it comes to the text, after all those before it.
 *
 * @param index its place, where it is one of a list.
 */
export function checkFilled(what: string, value: unknown, index?: number): string {
  const text = checkText(what, value, index);
  // As Rust sees it, U+0085 is white space too.
  if (!/[^\s\u0085]/.test(text)) throw new CaseLensError("empty-text", `${what} is empty. Give it at least one word.`, { index });
  // UTF-16 units bound characters from above: most texts need no counting.
  const characters = text.length > MOST_CHARACTERS ? text.length - (text.match(/[\uD800-\uDBFF]/g)?.length ?? 0) : 0;
  if (characters > MOST_CHARACTERS) {
    throw new CaseLensError(
      "text-too-long",
      `${what} has ${characters} characters; at most ${MOST_CHARACTERS} are accepted. Split it into sentences.`,
      { index },
    );
  }
  return text;
}

export function checkArray(what: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid(`${what} must be an array, not ${kindOf(value)}.`);
  return value;
}

/**
 * Texts to be read, every one of them looked at before any is.
 *
 * @param start the place of the first, where they are part of a longer list.
 */
export function checkTexts(what: string, value: unknown, start = 0): string[] {
  return Array.from(checkArray(what, value), (text, i) => checkFilled(`${what}[${start + i}]`, text, start + i));
}

/** Texts that are only handed back. */
export function checkStrings(what: string, value: unknown): readonly string[] {
  for (const [index, text] of checkArray(what, value).entries()) {
    if (typeof text !== "string") throw new CaseLensError("invalid-argument", `${what}[${index}] must be a string, not ${kindOf(text)}.`, { index });
  }
  return value as readonly string[];
}

/** One of a few strings; `fallback` when absent. */
export function checkChoice<T extends string>(what: string, value: unknown, choices: readonly T[], fallback: T): T {
  if (value === undefined) return fallback;
  if (choices.includes(value as T)) return value as T;
  const named = choices.map((choice) => `"${choice}"`).join(", ");
  throw invalid(`${what} must be one of ${named}, not ${typeof value === "string" ? `"${value}"` : kindOf(value)}.`);
}

/** A whole number in a range; undefined when absent. */
export function checkInteger(what: string, value: unknown, least: number, most: number): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw invalid(`${what} must be a whole number from ${least} to ${most}, not ${typeof value === "number" ? value : kindOf(value)}.`);
}

/** Whether all are numbers, and none is infinite. A loop, as `every` takes ten times as long. */
export function areFinite(numbers: ArrayLike<number>): boolean {
  let none = 0;
  for (let i = 0; i < numbers.length; i++) none += 0 * (numbers[i] as number);
  return none === 0;
}

export function checkBoolean(what: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== "boolean") throw invalid(`${what} must be true or false, not ${kindOf(value)}.`);
  return value;
}

export function checkFunction<F extends (...args: never[]) => unknown>(what: string, value: F | undefined): F | undefined {
  if (value !== undefined && typeof value !== "function") throw invalid(`${what} must be a function, not ${kindOf(value)}.`);
  return value;
}

export function checkSignal(value: AbortSignal | undefined): AbortSignal | undefined {
  if (value === undefined) return undefined;
  if (typeof value?.aborted === "boolean" && typeof value.addEventListener === "function") return value;
  throw invalid(`signal must be an AbortSignal, not ${kindOf(value)}.`);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return value === undefined ? "undefined" : `a value of type ${typeof value}`;
}
