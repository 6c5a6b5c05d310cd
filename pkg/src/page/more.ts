// Files of the package that are loaded where somebody first needs them.

import { CaseLensError } from "../errors.js";

type More = typeof import("../more.js");
let brought: More | undefined;

/** What not every page needs. */
export const more = async (): Promise<More> => (brought ??= await loaded("more", import("../more.js")));

/** What brings it along, in a place that imports nothing later, needs no loading. */
export function bring(module: More): void {
  brought ??= module;
}

/** What an import gives. */
export async function loaded<M>(file: string, importing: Promise<M>): Promise<M> {
  try {
    return await importing;
  } catch (cause) {
    throw new CaseLensError("network", `\`${file}.js\` could not be loaded. The whole \`dist\` folder of the package has to be there; try again.`, { cause });
  }
}
