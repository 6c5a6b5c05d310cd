// Which part imports which, in the package and in the demo: none imports what stands above it, and no files import one another
// in a circle. An import of a type counts like any other.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
// It lies beside typedoc, with the TypeScript 6 that both read sources by: neither takes 7 yet.
import { cruise } from "../docs/node_modules/dependency-cruiser/src/main/index.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What page and worker agree on. */
const AGREED = ["types.ts", "words.ts", "errors.ts", "realm.ts", "protocol.ts", "chunks.ts", "pause.ts", "policy.ts"];
/** What the views of the demo stand on. */
const GROUND = ["format.ts", "strings.ts", "turn.ts", "vectors.ts", "state/", "ui/"];
/** The parts of each house from the ground up, and which others each may import. */
const HOUSES = {
  "pkg/src": {
    "types.ts": [],
    "words.ts": [],
    "errors.ts": ["words.ts"],
    "realm.ts": ["errors.ts"],
    "protocol.ts": ["types.ts", "errors.ts"],
    "chunks.ts": ["types.ts"],
    "pause.ts": [],
    "policy.ts": [],
    "more/": AGREED,
    "more.ts": ["more/"],
    "worker/": AGREED,
    "worker.ts": [...AGREED, "worker/"],
    "inline.ts": [...AGREED, "more.ts", "worker/"],
    "page/": [...AGREED, "more/", "more.ts", "inline.ts"],
    "api/": [...AGREED, "more.ts", "page/"],
    "index.ts": ["types.ts", "errors.ts", "api/"],
    "langchain.ts": ["index.ts"],
    "ai.ts": ["index.ts"],
    "element/": ["types.ts", "errors.ts", "index.ts"],
    "element.ts": ["types.ts", "index.ts", "element/"],
    "node/": [...AGREED, "worker/", "page/"],
    "node-worker.ts": [...AGREED, "worker/", "node/"],
    "node-inline.ts": [...AGREED, "worker/", "node/"],
    "node.ts": ["page/", "index.ts", "node/", "node-inline.ts"],
  },
  "www/src": {
    "lesson.ts": [],
    "language.ts": [],
    "turn.ts": [],
    "vectors.ts": [],
    "format.ts": ["language.ts"],
    // The other languages have what English has.
    "strings/en.ts": ["lesson.ts", "format.ts"],
    "strings.ts": ["lesson.ts", "language.ts", "strings/en.ts"],
    "strings/": ["lesson.ts", "format.ts", "strings.ts"],
    "state/": ["language.ts", "vectors.ts"],
    "ui/": ["language.ts", "strings.ts", "state/"],
    "tables/": ["strings.ts"],
    "pairs/": ["language.ts", ...GROUND, "tables/"],
    "compare/": [...GROUND, "pairs/"],
    "list/": [...GROUND, "tables/"],
    "how/": GROUND,
    "larger/": GROUND,
    "speed/": GROUND,
    "unkept/": GROUND,
    "shell/": [...GROUND, "compare/", "list/", "how/", "larger/"],
    "page.tsx": ["strings.ts", "state/", "list/", "how/", "larger/", "shell/"],
    "main.tsx": ["strings.ts", "page.tsx"],
  },
};

/** What is wrong with a house, a line each. */
async function faults(root, house, parts) {
  const at = (part) => `^${house}/${part.replace(".", "\\.")}${part.endsWith("/") ? "" : "$"}`;
  const sources = `^${house}/.*\\.tsx?$`;
  const names = Object.keys(parts);
  const forbidden = [
    { name: "circle", severity: "error", from: {}, to: { circular: true } },
    ...names.map((part) => ({
      name: "not below",
      severity: "error",
      from: { path: at(part) },
      to: { path: sources, pathNot: [part, ...parts[part]].map(at) },
    })),
  ];
  const { output } = await cruise([house], { baseDir: root, tsPreCompilationDeps: true, ruleSet: { forbidden }, validate: true });
  const isSource = ({ source }) => new RegExp(sources).test(source);
  const homeless = output.modules.filter((file) => isSource(file) && !names.some((part) => new RegExp(at(part)).test(file.source)));
  return [
    ...homeless.map(({ source }) => `belongs to no part: ${source}`),
    ...output.summary.violations.map(({ rule, from, to, cycle }) => `${rule.name}: ${[from, ...(cycle?.map(({ name }) => name) ?? [to])].join(" -> ")}`),
  ].sort();
}

for (const [house, parts] of Object.entries(HOUSES)) {
  test(`${house}: no circle, and no import that runs back up`, async () => {
    const names = Object.keys(parts);
    for (const [i, part] of names.entries()) {
      for (const below of parts[part]) assert.ok(names.indexOf(below) >= 0 && names.indexOf(below) < i, `${below} stands below ${part}`);
    }
    assert.deepEqual(await faults(ROOT, house, parts), []);
  });
}

test("circles, imports that run up and files without a part are found", async (context) => {
  const root = await mkdtemp(path.join(tmpdir(), "caselens-imports-"));
  context.after(() => rm(root, { recursive: true, force: true }));
  await mkdir(path.join(root, "src/room"), { recursive: true });
  const files = {
    "ground.ts": 'import type { A } from "./room/a.js";\nexport type Ground = A;',
    "room/a.ts": 'import type { Ground } from "../ground.js";\nexport interface A { ground?: Ground }',
    "room/b.tsx": 'import { c } from "./c";\nexport const b = () => <p>{c}</p>;',
    "room/c.ts": 'import type { b } from "./b";\nexport const c: typeof b | undefined = undefined;',
    "attic.ts": 'export * from "./room/a.js";',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(root, "src", name), text);
  assert.deepEqual(await faults(root, "src", { "ground.ts": [], "room/": ["ground.ts"] }), [
    "belongs to no part: src/attic.ts",
    "circle: src/ground.ts -> src/room/a.ts -> src/ground.ts",
    "circle: src/room/b.tsx -> src/room/c.ts -> src/room/b.tsx",
    "not below: src/ground.ts -> src/room/a.ts",
  ]);
});
