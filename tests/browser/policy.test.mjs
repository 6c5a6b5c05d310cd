// What the built site may load and run: its pages say so to the browser, keep to it themselves, and what is smuggled in does nothing.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { launch, ROOT, serve, visit } from "./helpers.mjs";

const SITE = path.join(ROOT, "www/dist");
const PATIENT = { timeout: 180_000 };
const VIEWS = {
  "": ".row.in-lens .cell-value",
  "#/list?list=captions": ".group",
  "#/how": ".step-cosine .step-figure > *",
  "speed.html": "main button",
  "unkept.html": "main a",
  "api/index.html": "#tsd-nav-container a:visible",
};
let server;
let browser;
before(async () => {
  server = await serve({ mounts: { "/site/": SITE } });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

for (const file of ["index.html", "speed.html", "unkept.html"]) {
  test(`${file} allows its own files alone, and has no script in it`, async () => {
    const html = await readFile(path.join(SITE, file), "utf8");
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html);
    assert.ok(policy, "a policy");
    assert.ok(policy.index < html.indexOf("<script") && policy.index < html.indexOf("<link"), "before all that it is for");
    assert.doesNotMatch(policy[1], /unsafe-inline|'unsafe-eval'|\*|https?:/);
    assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)|<[^>]+\son\w+=|<style|\sstyle=/);
  });
}

test("every page of the API reference allows its own files alone, and one script in it that is known", async () => {
  const folder = path.join(SITE, "api");
  const pages = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".html"));
  assert.ok(pages.length > 50, `${pages.length} pages`);
  for (const name of pages) {
    const html = await readFile(path.join(folder, name), "utf8");
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html);
    assert.ok(policy && policy.index < html.indexOf("<script") && policy.index < html.indexOf("<link"), name);
    assert.doesNotMatch(policy[1], /'unsafe-eval'|\*|https?:|script-src [^;]*unsafe-inline/, name);
    assert.doesNotMatch(html, /<[^>]+\son\w+=/, name);
  }
});

for (const [view, there] of Object.entries(VIEWS)) {
  test(`${view || "the first view"} keeps to it, and asks no other place for anything`, PATIENT, async () => {
    const context = await browser.newContext();
    const asked = [];
    context.on("request", (request) => asked.push(request.url()));
    await context.addInitScript(() => {
      window.refused = [];
      addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => refused.push(`${violatedDirective} ${blockedURI}`));
    });
    const page = await visit(context, `${server.origin}/site/${view}`);
    await page.locator(there).first().waitFor({ timeout: PATIENT.timeout });
    // Parts that are fetched when they are unfolded, of many pairs for one.
    await page.evaluate(() => document.querySelectorAll("details:not([open]) > summary").forEach((summary) => summary.click()));
    await page.waitForLoadState("networkidle");
    assert.deepEqual(await page.evaluate(() => refused), []);
    assert.deepEqual(page.problems, []);
    assert.ok(asked.length > 5);
    assert.deepEqual(asked.filter((url) => !/^(data|blob):/.test(url) && new URL(url).origin !== server.origin), []);
    await context.close();
  });
}

for (const view of ["", "api/index.html"]) {
  test(`a script that got into ${view || "the page"} does not run, and another place is not asked`, PATIENT, async () => {
    const context = await browser.newContext();
    const page = await visit(context, `${server.origin}/site/${view}`);
    const found = await page.evaluate(async () => {
      const refused = [];
      addEventListener("securitypolicyviolation", ({ violatedDirective }) => refused.push(violatedDirective));
      const script = document.createElement("script");
      script.textContent = "window.smuggled = true;";
      document.head.append(script);
      const image = document.createElement("img");
      image.setAttribute("onerror", "window.smuggled = true;");
      image.src = "data:,";
      document.body.append(image);
      const answer = await fetch("https://elsewhere.test/").then(() => "answered", () => "refused");
      await new Promise((resolve) => setTimeout(resolve, 200)); // for what is told of it
      return { smuggled: "smuggled" in window, answer, refused: [...new Set(refused)].sort() };
    });
    assert.deepEqual(found, { smuggled: false, answer: "refused", refused: ["connect-src", "script-src-attr", "script-src-elem"] });
    await context.close();
  });
}
