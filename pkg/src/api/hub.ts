// Files on the Hugging Face hub, or on a server that has them at the same paths.

import { invalid } from "./check.js";
import { classOf } from "./realm.js";

const HUB = "https://huggingface.co";
const SCHEME = "hf://";
const FILE = /^hf:\/\/([^/@]+)\/([^/@]+)(?:@([^/]+))?\/(.+)$/;

/** Where a file lies that may be named by the hub: `hf://owner/name/file`, or `hf://owner/name@revision/file`. */
export function fromHub<T>(what: string, value: T, hub: string | URL = HUB): T | string {
  if (typeof value !== "string" || !value.startsWith(SCHEME)) return value;
  const [, owner, name, revision = "main", file] = FILE.exec(value) ?? [];
  if (!owner || !name || !file) {
    throw invalid(`${what} "${value}" names no file on the hub as hf://owner/name/file and hf://owner/name@revision/file do.`);
  }
  if (typeof hub !== "string" && classOf(hub) !== "URL") throw invalid(`hub must be a URL, not ${String(hub)}.`);
  const path = [owner, name, "resolve", revision, ...file.split("/")].map(encodeURIComponent).join("/");
  return `${String(hub).replace(/\/+$/, "")}/${path}`;
}
