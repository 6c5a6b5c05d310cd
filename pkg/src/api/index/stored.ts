// Where a browser keeps indexes: in IndexedDB, in records of a few megabytes, so that no copy of one holds up the page. All records
// of an index are written in one transaction: they are there together, or not at all, and no other tab writes in between.

import { CaseLensError } from "../../errors.js";
import type { IndexStore } from "../../page/platform.js";
import { HEAD_BYTES } from "./file.js";

const DATABASE = "caselens-indexes";
const STORE = "indexes";
/** Bytes of a record: they are copied in the page's thread, in a millisecond or two. */
const PART = 1 << 22;

/** The first record of an index, at `[name, 0]`; its parts follow at `[name, 1]`, `[name, 2]`, … */
interface Head {
  readonly head: Uint8Array<ArrayBuffer>;
  readonly bytes: number;
}

export const inBrowser: IndexStore = {
  read: (name) =>
    during("readonly", name, (store, done) => {
      store.get([name, 0]).onsuccess = ({ target }) => {
        const found = (target as IDBRequest<Head | undefined>).result;
        if (!found) return;
        const bytes = new Uint8Array(found.bytes);
        const next = (part: number): void => {
          const at = (part - 1) * PART;
          if (at >= bytes.byteLength) return done(bytes);
          store.get([name, part]).onsuccess = (event) => {
            // What is missing leaves zeros, which are found out when the index is read.
            const found = (event.target as IDBRequest<Uint8Array | undefined>).result;
            if (found && at + found.byteLength <= bytes.byteLength) bytes.set(found, at);
            next(part + 1);
          };
        };
        next(1);
      };
    }),
  write: (name, bytes, mayReplace) =>
    during("readwrite", name, (store, _, refuse) => {
      store.get([name, 0]).onsuccess = ({ target }) => {
        const found = (target as IDBRequest<Head | undefined>).result;
        try {
          if (found) mayReplace(found.head);
        } catch (error) {
          return refuse(error);
        }
        store.delete(IDBKeyRange.bound([name], [name, []]));
        store.put({ head: bytes.slice(0, HEAD_BYTES), bytes: bytes.byteLength } satisfies Head, [name, 0]);
        const next = (part: number): void => {
          const at = (part - 1) * PART;
          if (at < bytes.byteLength) store.put(bytes.slice(at, at + PART), [name, part]).onsuccess = () => next(part + 1);
        };
        next(1);
      };
    }),
  delete: (name) =>
    during("readwrite", name, (store) => {
      store.delete(IDBKeyRange.bound([name], [name, []]));
    }),
};

/**
 * Does work in a transaction of its own; gives what the work is `done` with, once all of it is on disk.
 *
 * @throws CaseLensError `storage` or `storage-full`; or what the work is refused with, and nothing is changed then.
 */
async function during<T>(
  mode: IDBTransactionMode,
  name: string,
  work: (store: IDBObjectStore, done: (value: T) => void, refuse: (error: unknown) => void) => void,
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
