// Errors of what was put into a list here, and was none for the caller.

import { CaseLensError, withDetails } from "../../errors.js";

/** Throws an error of what the caller gave no list of: a place in what was embedded is none there. */
export function ofNoItem(error: unknown): never {
  throw error instanceof CaseLensError ? withDetails(error, { index: undefined }) : error;
}
