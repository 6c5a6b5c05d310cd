// Removes what processes left behind that were killed while they wrote.

import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";

/** How long nothing has been written to a file that nobody writes any more, in ms: servers are waited for for less. */
const OLD = 24 * 60 * 60 * 1000;

/**
 * Removes files of a folder that bear such a name and that nobody writes any more. Nothing depends on it: what cannot be removed stays.
 *
 * @param name what the whole name is like.
 */
export async function sweep(folder: string, name: RegExp): Promise<void> {
  const found = await readdir(folder).catch(() => []);
  for (const file of found.filter((file) => name.test(file)).map((file) => path.join(folder, file))) {
    const age = await stat(file).then(({ mtimeMs }) => Date.now() - mtimeMs, () => 0);
    if (age > OLD) await rm(file, { force: true }).catch(() => {});
  }
}
