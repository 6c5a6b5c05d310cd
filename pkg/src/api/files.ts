// A model's files, without loading them.

import { Client } from "../page/client.js";
import { more } from "../page/more.js";
import type { FilesState } from "../more.js";
import type { FilesCall } from "../protocol.js";
import type { LoadRequest } from "./options.js";

/** Does with the files of a model what is asked: looks for them, measures them, or drops them. */
export async function files(what: FilesCall["what"], request: Promise<LoadRequest>): Promise<FilesState> {
  const { call, events, signal } = await request;
  return (await more()).aboutFiles(call, what, (call) => Client.once(call, signal, events));
}
