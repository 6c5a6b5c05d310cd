// What was thrown, in words.

/** What a browser or a file system threw, for a sentence that goes on with it. */
export function inWords(error: unknown): string {
  return (error as Partial<Error> | null | undefined)?.name === "QuotaExceededError" ? "the browser's storage is full" : messageOf(error);
}

/** The message of anything that was thrown. An error of another realm (a `vm` context of Node) is none by `instanceof`. */
export function messageOf(thrown: unknown): string {
  const message = (thrown as { message?: unknown } | null | undefined)?.message;
  return typeof message === "string" ? message : String(thrown);
}
