// A file that cannot be taken, and why, in words.

import { strings } from "../strings";

const words = strings.list;

/** The reason is the file's own. Its message is for people: what the file is, and what to do. */
export class Refusal extends Error {}

/** Why a file of this name was not read. */
export function whyNot(error: unknown, name: string): string {
  if (error instanceof Refusal) return error.message;
  // What goes wrong with a file is a DOMException; what else can is the part of the page that is loaded for it.
  return error instanceof DOMException ? words.texts.unreadable(name) : words.missing(words.texts.reader);
}
