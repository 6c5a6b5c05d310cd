// The names that indexes are stored under.

import { invalid } from "../check.js";

export function checkName(value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw invalid("The name of a stored index must be a string that is not empty: in Node and Deno the path of a file.");
}
