// Indexes as files of this machine. A file is written beside the one that it takes the place of, and put there in one step: whoever
// reads, and whatever breaks off, there is a whole one.

import { randomUUID } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { CaseLensError, inWords } from "../errors.js";
import type { IndexStore } from "../page/platform.js";
import { sweep } from "./sweep.js";

/** What was written beside a file and never took its place. */
const temporaryOf = (name: string): RegExp => new RegExp(`^${name.replace(/\W/g, "\\$&")}\\.[0-9a-f-]{36}\\.tmp$`);

/** Bytes that say which of several stored states a file is. */
const HEAD_BYTES = 64;
/** How long another process that writes the same file is waited for, in ms; a lock that is older than that was left behind. */
const PATIENCE = 30_000;
const PAUSE = 20;

/** @param resolve gives the absolute URL of a path or a URL. */
export function indexFiles(resolve: (name: string) => string): IndexStore {
  const pathOf = (name: string): string => {
    try {
      return fileURLToPath(resolve(name));
    } catch (cause) {
      throw new CaseLensError("invalid-argument", `An index is stored in a file: its name must be a path or a file: URL, not "${name}".`, { cause });
    }
  };
  return {
    read: async (name) => {
      const file = pathOf(name);
      try {
        return await readWhole(file);
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw failed("could not be read from", file, error);
      }
    },
    write: async (name, bytes, mayReplace) => {
      const file = pathOf(name);
      await locked(file, async () => {
        const head = await headOf(file);
        if (head) mayReplace(head);
        await sweep(path.dirname(file), temporaryOf(path.basename(file)));
        const temporary = `${file}.${randomUUID()}.tmp`;
        try {
          const handle = await open(temporary, "wx");
          try {
            await handle.writeFile(bytes);
            await handle.sync();
          } finally {
            await handle.close();
          }
          await rename(temporary, file);
        } catch (error) {
          await rm(temporary, { force: true });
          throw failed("could not be stored in", file, error);
        }
      });
    },
    delete: async (name) => {
      const file = pathOf(name);
      await rm(file, { force: true }).catch((error: unknown) => {
        throw failed("could not be deleted from", file, error);
      });
    },
  };
}

/** Bytes read at a time. */
const STEP = 1 << 24;

/** A file in an array of its own: much faster than `readFile` with files of this size. */
async function readWhole(file: string): Promise<Uint8Array<ArrayBuffer>> {
  const handle = await open(file);
  try {
    const bytes = new Uint8Array((await handle.stat()).size);
    for (let at = 0; at < bytes.byteLength; ) {
      const { bytesRead } = await handle.read(bytes, at, Math.min(STEP, bytes.byteLength - at), at);
      if (bytesRead === 0) break; // it has become shorter: reading the index finds that out
      at += bytesRead;
    }
    return bytes;
  } finally {
    await handle.close();
  }
}

/** The first bytes of a file; undefined where there is none. */
async function headOf(file: string): Promise<Uint8Array | undefined> {
  try {
    const handle = await open(file);
    try {
      return (await handle.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0)).buffer;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw failed("could not be read from", file, error);
  }
}

/** Does work while no other process that asks does any with the same file. */
async function locked(file: string, work: () => Promise<void>): Promise<void> {
  const lock = `${file}.lock`;
  for (;;) {
    try {
      await (await open(lock, "wx")).close();
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw failed("could not be stored in", file, error);
      const age = await stat(lock).then(({ mtimeMs }) => Date.now() - mtimeMs, () => 0);
      if (age > PATIENCE) await rm(lock, { force: true });
      else await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
  try {
    await work();
  } finally {
    await rm(lock, { force: true });
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

function failed(what: string, file: string, cause: unknown): CaseLensError {
  const isFull = ["ENOSPC", "EDQUOT", "EFBIG"].includes((cause as NodeJS.ErrnoException).code ?? "");
  return new CaseLensError(isFull ? "storage-full" : "storage", `The index ${what} ${file}: ${inWords(cause)}.${isFull ? " What was stored before is still there." : ""}`, { cause });
}
