// Files on the Hugging Face hub, or on a server that has them at the same paths.

import { CaseLensError } from "../errors.js";
import { classOf } from "../realm.js";

const HUB = "https://huggingface.co";
const FILE = /^hf:\/\/([^/@]+)\/([^/@]+)(?:@([^/]+))?\/(.+)$/;

/** Where a file lies that is named by the hub: `hf://owner/name/file`, or `hf://owner/name@revision/file`. */
export function onHub(what: string, value: string, hub: string | URL = HUB): string {
  const [, owner, name, revision = "main", file] = FILE.exec(value) ?? [];
  if (!owner || !name || !file) {
    throw new CaseLensError("invalid-argument", `${what} "${value}" names no file on the hub as hf://owner/name/file and hf://owner/name@revision/file do.`);
  }
  if (typeof hub !== "string" && classOf(hub) !== "URL") throw new CaseLensError("invalid-argument", `hub must be a URL, not ${String(hub)}.`);
  const path = [owner, name, "resolve", revision, ...file.split("/")].map(encodeURIComponent).join("/");
  return `${String(hub).replace(/\/+$/, "")}/${path}`;
}
