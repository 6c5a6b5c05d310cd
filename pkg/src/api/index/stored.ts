// Where a browser keeps indexes: in IndexedDB, each as one Blob, which the browser reads and writes beside the page's thread. What is
// looked at and what is written is one transaction: it is there as a whole or not at all, and no other tab writes in between.

import { CaseLensError } from "../../errors.js";
import type { IndexStore } from "../../page/platform.js";
import { Slices } from "../../pause.js";
import { HEAD_BYTES } from "./file.js";

const DATABASE = "caselens-indexes";
const STORE = "indexes";
/** Bytes that become part of a Blob at a time: they are copied in the page's thread. */
const STEP = 1 << 22;

/** An index, at its name. */
interface Stored {
  /** The first bytes of the file, in place of those in `file`: they are decided on when all else is written. */
  readonly head: Uint8Array<ArrayBuffer>;
  readonly file: Blob;
}

export const inBrowser: IndexStore = {
  read: async (name) => {
    const found = await during<Stored>("readonly", name, (store, done) => {
      store.get(name).onsuccess = ({ target }) => done((target as IDBRequest<Stored>).result);
    });
    if (!found) return undefined;
    try {
      const bytes = new Uint8Array(await found.file.arrayBuffer());
      bytes.set(found.head);
      return bytes;
    } catch (error) {
      throw failed(name, error);
    }
  },
  write: async (name, bytes, mayReplace) => {
    const file = await blobOf(bytes);
    await during("readwrite", name, (store, _, refuse) => {
      store.get(name).onsuccess = ({ target }) => {
        const found = (target as IDBRequest<Stored | undefined>).result;
        try {
          if (found) mayReplace(found.head);
          store.put({ head: bytes.slice(0, HEAD_BYTES), file } satisfies Stored, name);
        } catch (error) {
          refuse(error);
        }
      };
    });
  },
  delete: async (name) => {
    await during("readwrite", name, (store) => {
      store.delete(name);
    });
  },
};

async function blobOf(bytes: Uint8Array<ArrayBuffer>): Promise<Blob> {
  const slices = new Slices();
  const parts: Blob[] = [];
  for (let at = 0; at < bytes.byteLength; at += STEP) {
    parts.push(new Blob([bytes.subarray(at, at + STEP)]));
    if (slices.over) await slices.pause();
  }
  return new Blob(parts);
}

/**
 * Does work in a transaction of its own; gives what the work is `done` with, once all of it is on disk.
 *
 * @throws CaseLensError `storage` or `storage-full`; or what the work is refused with, and nothing is changed then.
 */
async function during<T>(
  mode: IDBTransactionMode,
  name: string,
  work: (store: IDBObjectStore, done: (value: T | undefined) => void, refuse: (error: unknown) => void) => void,
): Promise<T | undefined> {
  const database = await opened(name);
  try {
    return await new Promise<T | undefined>((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      let value: T | undefined;
      let refused: { readonly error: unknown } | undefined;
      transaction.oncomplete = () => resolve(value);
      transaction.onabort = () => reject(refused ? refused.error : failed(name, transaction.error));
      const refuse = (error: unknown): void => {
        refused = { error };
        transaction.abort();
      };
      work(transaction.objectStore(STORE), (found) => (value = found), refuse);
    });
  } catch (error) {
    throw error instanceof CaseLensError ? error : failed(name, error);
  } finally {
    database.close();
  }
}

function opened(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    if (typeof indexedDB === "undefined") return reject(failed(name, new Error("there is no IndexedDB here")));
    let request: IDBOpenDBRequest;
    try {
      request = indexedDB.open(DATABASE, 1);
    } catch (error) {
      return reject(failed(name, error)); // a page without an origin may not
    }
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(failed(name, request.error));
  });
}

function failed(name: string, cause: unknown): CaseLensError {
  const { name: kind, message } = (cause ?? {}) as { name?: string; message?: string };
  if (kind === "QuotaExceededError") {
    return new CaseLensError("storage-full", `There is no room left to store the index "${name}". What was stored before is still there. Free some, or take a smaller form (\`dtype: "int8"\`).`, { cause });
  }
  return new CaseLensError("storage", `The browser's IndexedDB failed with the index "${name}": ${message || kind || "it was interrupted"}.`, { cause });
}
