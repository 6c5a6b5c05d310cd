// Whatever was thrown, as something to show.

import { CaseLensError } from "caselens";

export interface Problem {
  readonly code: string;
  readonly message: string;
}

export const asProblem = (error: unknown): Problem =>
  error instanceof CaseLensError
    ? { code: error.code, message: error.message }
    : { code: "internal", message: error instanceof Error ? error.message : String(error) };

export const isAbort = (error: unknown): boolean =>
  (error instanceof CaseLensError && error.code === "disposed") ||
  (error instanceof DOMException && error.name === "AbortError");

/** Codes that blame a text and not the engine: other conditions may still work. */
export const isAboutInput = ({ code }: Problem): boolean =>
  ["empty-text", "invalid-text", "text-too-long", "condition-too-long"].includes(code);
