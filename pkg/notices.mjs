// Writes THIRD-PARTY-NOTICES.txt: whose code the wasm modules hold, under which licences, which ask that it be said.
//
// Where a crate leaves the choice between licences, one is taken. A text that many crates have stands there once, after the names
// and the copyright lines of all of them.

import { execFileSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const FILE = path.join(ROOT, "pkg/THIRD-PARTY-NOTICES.txt");
const TARGET = "wasm32-unknown-unknown";

/** Licences, the one that is taken first, and how their texts are known. `deny.toml` says which there may be. */
const LICENSES = {
  MIT: /Permission is hereby granted, free of charge/,
  "Apache-2.0": /Apache License\s+Version 2\.0/,
  Zlib: /provided 'as-is'/,
  "Unicode-3.0": /UNICODE LICENSE V3/,
  "BSD-2-Clause": /Redistribution and use in source and binary forms/,
  "BSD-3-Clause": /Redistribution and use in source and binary forms/,
  ISC: /Permission to use, copy, modify, and\/or distribute/,
};

/** What Cargo does not tell: what comes with the compiler, and data that files of ours were made of. */
const FURTHER = [
  { name: "The Rust standard library", copyrights: ["Copyright (c) The Rust Project Developers (see https://thanks.rust-lang.org)"], license: "MIT" },
  { name: "cfg-if, dlmalloc, rustc-demangle (in the Rust standard library)", copyrights: ["Copyright (c) 2014 Alex Crichton"], license: "MIT" },
  { name: "hashbrown (in the Rust standard library)", copyrights: ["Copyright (c) 2016 Amanieu d'Antras"], license: "MIT" },
  { name: "Data of the Unicode Character Database and of CLDR (tables of the Rust standard library and of crates; names of emoji)", copyrights: ["Copyright (c) 1991-2024 Unicode, Inc."], license: "Unicode-3.0" },
];

const cargo = (...args) => execFileSync("cargo", [...args, "--locked"], { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "inherit"] });

/** The crates that are compiled into the modules, all but our own. */
function cratesOf() {
  // `cargo metadata` knows where they lie; which of them are built with the features of this target, only `cargo tree` does.
  const tree = cargo("tree", "--target", TARGET, "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}");
  const built = new Set(tree.split("\n").map((line) => line.split(" ").slice(0, 2).join(" ")));
  const { packages } = JSON.parse(cargo("metadata", "--format-version", "1", "--filter-platform", TARGET));
  return packages.filter(({ name, version, source }) => source !== null && built.has(`${name} v${version}`));
}

/** The licences that a crate is taken under: of each choice the first in {@link LICENSES}. */
function licensesOf({ name, license }) {
  const terms = license.replaceAll("/", " OR ").split(" AND ");
  return terms.map((term) => {
    const choices = term.replace(/^\((.*)\)$/, "$1").split(" OR ");
    const taken = Object.keys(LICENSES).find((known) => choices.includes(known));
    if (!taken || (terms.length > 1 && choices.length > 1 && !term.startsWith("("))) throw new Error(`${name} is under "${license}": pkg/notices.mjs does not know it yet.`);
    return taken;
  });
}

/** The text of a licence as a crate has it; the usual one with the authors' names where it has none. */
async function textOf({ name, manifest_path, authors }, license) {
  const folder = path.dirname(manifest_path);
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying|unlicense)/i.test(file));
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), "utf8")));
  const [text] = texts.filter((text) => LICENSES[license].test(text)).sort((a, b) => a.length - b.length);
  return text ?? usualText(license, `Copyright (c) ${authors.join(", ") || `the authors of ${name}`}`);
}

/** The text of a licence that our own files have too. */
async function usualText(license, copyright) {
  const own = { MIT: "LICENSE-MIT", "Apache-2.0": "LICENSE-APACHE" }[license];
  if (!own) throw new Error(`There is no text of ${license}: pkg/notices.mjs needs one.`);
  const text = await readFile(path.join(ROOT, own), "utf8");
  return license === "MIT" ? text.replace(/^Copyright .*$/m, copyright) : `${copyright}\n\n${text}`;
}

/** What a crate under Apache-2.0 asks to be said besides. */
async function noticeOf({ manifest_path }) {
  const folder = path.dirname(manifest_path);
  const [file] = (await readdir(folder)).filter((file) => /^notice/i.test(file));
  return file && (await readFile(path.join(folder, file), "utf8")).trim();
}

const isCopyright = (line) => /^\W*copyright\b.*(\d{4}|\(c\)|©)/i.test(line) && !/\[yyyy\]|\{yyyy\}/.test(line);
const isTitle = (line) => /^\W*((the )?mit license( \(mit\))?|all rights reserved\.?)\W*$/i.test(line);

/** A licence's text without the lines that say whose it is, and those lines. */
function parted(text) {
  const lines = text.replaceAll("\r", "").split("\n").map((line) => line.trimEnd());
  const body = lines.filter((line) => !isCopyright(line) && !isTitle(line));
  return { body: body.join("\n").replace(/\n{3,}/g, "\n\n").replace(/^\n+|\s+$/g, ""), copyrights: lines.filter(isCopyright).map((line) => line.trim()) };
}

/** Works by the licence and the text that they are under. */
class Groups {
  #groups = new Map();

  add(license, body, work) {
    // Lines are broken in different places, and quotation marks differ.
    const key = `${license} ${body.replace(/[“”"'`*]/g, "").replace(/\s+/g, " ").toLowerCase()}`;
    const group = this.#groups.get(key) ?? { license, body, works: [] };
    group.works.push(work);
    this.#groups.set(key, group);
  }

  /** The text that most works under a licence have. */
  usual(license) {
    return this.inOrder().find((group) => group.license === license)?.body;
  }

  inOrder() {
    const place = ({ license }) => Object.keys(LICENSES).indexOf(license);
    return [...this.#groups.values()].sort((a, b) => place(a) - place(b) || b.works.length - a.works.length);
  }
}

const groups = new Groups();
for (const crate of cratesOf()) {
  const name = `${crate.name} ${crate.version}${crate.repository ? ` (${crate.repository})` : ""}`;
  for (const license of licensesOf(crate)) {
    const { body, copyrights } = parted(await textOf(crate, license));
    groups.add(license, body, { name, copyrights, notice: license === "Apache-2.0" ? await noticeOf(crate) : undefined });
  }
}
for (const { license, ...work } of FURTHER) groups.add(license, groups.usual(license), work);

const indented = (text) => text.replace(/^(?=.)/gm, "    ");
const sections = groups.inOrder().map(({ license, body, works }) => {
  const list = works.map(({ name, copyrights, notice }) => [`  ${name}`, ...copyrights.map(indented), ...(notice ? [indented(notice)] : [])].join("\n"));
  return `${"=".repeat(80)}\n${license}\n\n${list.join("\n")}\n\n${body}\n`;
});
const opening = `caselens: notices of third parties

The WebAssembly modules of caselens hold compiled code of the works below. Each is named with its copyright lines under the licence
that it is taken under, and the text of the licence follows. caselens itself is under MIT or Apache-2.0 (LICENSE-MIT, LICENSE-APACHE).
`;
await writeFile(FILE, [opening, ...sections].join("\n"));
