// Gives each page of the reference what the site's other pages have (www/policy.ts): its own files and nothing of any other place. Of
// scripts that stand in a page, TypeDoc writes one, which is known by its hash; how it hides things is a style in the page.

import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";

const API = new URL("api/", import.meta.url);
const CHARSET = /<meta charset="utf-8" ?\/?>/;

for (const name of await readdir(API, { recursive: true })) {
  if (!name.endsWith(".html")) continue;
  const file = new URL(name, API);
  const html = await readFile(file, "utf8");
  const scripts = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`);
  const policy = [
    "default-src 'self'",
    `script-src ${["'self'", ...new Set(scripts)].join(" ")}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  if (!CHARSET.test(html)) throw new Error(`${file} does not name its character set, behind which the policy belongs.`);
  await writeFile(file, html.replace(CHARSET, (charset) => `${charset}<meta http-equiv="Content-Security-Policy" content="${policy}"/>`));
}
