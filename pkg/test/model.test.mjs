// The model as a package beside this one: both are packed and installed into a fresh folder, without a network, and used as the
// README says.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FILES = ["caselens-csts-q4_0.gguf", "caselens-csts.head.safetensors"];
let folder;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "caselens-model-"));
  const pack = (at) => run("npm", ["pack", "--silent", "--pack-destination", folder, path.join(ROOT, at)]);
  const packed = [await pack("pkg"), await pack("models/caselens-csts")].map(({ stdout }) => `./${stdout.trim().split("\n").at(-1)}`);
  await writeFile(path.join(folder, "package.json"), '{ "type": "module" }');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", ...packed], { cwd: folder });
});
after(() => rm(folder, { recursive: true, force: true }));

for (const name of ["caselens-csts", "caselens-csts-large"]) {
  test(`${name} names the files that ship, with their sizes and sums: as the packer writes it`, async () => {
    const fresh = path.join(folder, "fresh", name);
    await mkdir(fresh, { recursive: true });
    await run(process.execPath, [path.join(ROOT, "models/pack.mjs"), fresh]);
    for (const file of ["index.js", "index.cjs", "index.d.ts", "index.d.cts"]) {
      const [committed, written] = await Promise.all([path.join(ROOT, "models", name), fresh].map((at) => readFile(path.join(at, file), "utf8")));
      assert.equal(committed, written, `once more: node models/pack.mjs models/${name}`);
    }
    const { default: model } = await import(path.join(fresh, "index.js"));
    assert.deepEqual(createRequire(import.meta.url)(path.join(fresh, "index.cjs")).default, model);
    for (const { url, bytes, sha256 } of [model.model, model.head]) {
      const file = await readFile(url);
      assert.deepEqual({ bytes, sha256 }, { bytes: file.byteLength, sha256: createHash("sha256").update(file).digest("hex") });
    }
    const { files } = JSON.parse(await readFile(path.join(ROOT, "models", name, "package.json"), "utf8"));
    for (const file of await readdir(fresh)) assert.ok(files.includes(file), `package.json leaves out ${file}`);
  });
}

test("an installed package holds its files", async () => {
  for (const file of FILES) {
    const shipped = await readFile(path.join(ROOT, "www/public/models", file));
    assert.ok(shipped.equals(await readFile(path.join(folder, "node_modules/caselens-csts", file))));
  }
});

test("five lines are enough, in a fresh folder without a network", { timeout: 120_000 }, async () => {
  const script = `
    import { CaseLens } from "caselens";
    import model from "caselens-csts";
    const lens = await CaseLens.load({ model });
    const [place, game] = await lens.compare("She plays chess in the park", "He plays football in the park", ["the place", "the game"]);
    console.log(place.rating > 4, game.rating < 3, lens.info.model);`;
  const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder });
  assert.match(stdout, /^true true /);
  assert.equal(stderr, "");
});

test("a file of it that was damaged is refused, and told", async () => {
  const file = path.join(folder, "node_modules/caselens-csts", FILES[1]);
  const whole = await readFile(file);
  await writeFile(file, Buffer.from(whole).fill(0, whole.length - 4));
  const script = `
    import { CaseLens } from "caselens";
    import model from "caselens-csts";
    await CaseLens.load({ model }).catch(({ code }) => console.log(code));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder });
  await writeFile(file, whole);
  assert.equal(stdout, "integrity\n");
});

test("Vite finds the files where it has copied the module alone", async () => {
  const source = await readFile(path.join(ROOT, "models/caselens-csts/index.js"), "utf8");
  const moved = source.replaceAll("import.meta.url", JSON.stringify("http://localhost:5173/node_modules/.vite/deps/caselens-csts.js?v=1"));
  const { default: model } = await import(`data:text/javascript,${encodeURIComponent(moved)}`);
  assert.equal(model.model.url.href, `http://localhost:5173/node_modules/caselens-csts/${FILES[0]}`);
  assert.equal(model.head.url.href, `http://localhost:5173/node_modules/caselens-csts/${FILES[1]}`);
});
