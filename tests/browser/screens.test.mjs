// Every view of the demo as it looks: light and dark, in the system's own colours, on a phone, on a desk, on a large screen; and nothing moves by itself.

import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { launch, ROOT, serve } from "./helpers.mjs";
import { assertLooks, incomparable } from "./screens.mjs";

const PATIENT = { timeout: 120_000 };
const PAIR = [["s1", "She plays chess in the park"], ["s2", "He plays football in the park"], ["c", "the place"], ["c", "the game"], ["device", "wasm"]];
/** Sentences that are written from right to left, and conditions beside them that are not. */
const RIGHT_TO_LEFT = [["s1", "הילדה משחקת שחמט בפארק"], ["s2", "الولد يلعب كرة القدم في الحديقة"], ["c", "the place"], ["c", "the game"], ["device", "wasm"]];
const query = (...more) => new URLSearchParams([...PAIR, ...more]).toString();

const explained = () =>
  document.querySelector(".step-figure > *") && !document.querySelector(".step-figure.stale") && [...document.querySelectorAll(".chart")].every((chart) => chart.firstChild);

/** The sentences' languages are told, and that they say nothing about the conditions. */
const told = () => document.querySelectorAll(".rows:not(.stale, .stored) > .unsaid").length === 2 && /Hebrew/.test(document.body.innerText) && /Arabic/.test(document.body.innerText);
const compared = () => {
  const rows = [...document.querySelectorAll(".rows > li:not(.unaided)")].filter((row) => row.querySelector("input").value);
  return rows.length === 2 && rows.every((row) => /\d/.test(row.querySelector(".cell-value").textContent)) && document.querySelectorAll(".suggestions button").length > 0;
};

/** Each view: its address below the site, and what tells that it is at rest. */
const VIEWS = {
  compare: [`#${query()}`, compared],
  list: ["#/list?list=captions&c=the+place&k=5&device=wasm", () => document.querySelectorAll(".group:not(.unmentioned)").length === 5 && !document.querySelector("[role=progressbar]")],
  how: [`#/how?${query()}`, explained],
  lesson: [`#/how?${query(["lesson", "1"])}`, explained],
  presenting: [`#/how?${query(["present", "1"], ["step", "embedding"])}`, () => document.querySelectorAll(".step").length === 1 && document.querySelectorAll(".chart canvas").length === 2],
  speed: ["speed.html", () => document.querySelector("main button")],
};
const SIZES = {
  desk: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  large: { viewport: { width: 3840, height: 2160 } },
};
const LOOKS = [["desk", "light"], ["desk", "dark"], ["phone", "light"], ["phone", "dark"], ["large", "light"]];
/** What layout shifts may add up to, as browsers count them; 0.1 is called good. A word gets wider when its typeface arrives. */
const SHIFT = 0.02;

let server;
let browser;
/** Why looks are not compared here. */
let why;
before(async () => {
  server = await serve({ mounts: { "/site/": path.join(ROOT, "www/dist") } });
  browser = await launch();
  why = await incomparable(browser);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** A view, the looks it is held to, its address and what tells that it is at rest. */
const HELD = [
  ...Object.entries(VIEWS).map(([view, at]) => [view, LOOKS, ...at]),
  // Playwright's name for the system's own colours, of which Chromium here has a light set.
  ...Object.entries(VIEWS).map(([view, at]) => [view, [["desk", "forced"]], ...at]),
  ["right-to-left", [["desk", "light"]], `#${new URLSearchParams(RIGHT_TO_LEFT)}`, told],
];

for (const [view, looks, address, atRest] of HELD) {
  describe(view, { concurrency: false }, () => {
    for (const [size, colours] of looks) {
      test(`${view}, ${size}, ${colours}: it looks as approved, and nothing moves by itself`, PATIENT, async (t) => {
        const drawn = colours === "forced" ? { forcedColors: "active" } : { colorScheme: colours };
        const context = await browser.newContext({ ...SIZES[size], ...drawn, reducedMotion: "reduce", serviceWorkers: "block" });
        await context.addInitScript(() => {
          window.shifts = [];
          new PerformanceObserver((list) => {
            for (const { value, hadRecentInput, sources } of list.getEntries()) {
              const moved = sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? node?.nodeName);
              if (!hadRecentInput) window.shifts.push({ value, moved });
            }
          }).observe({ type: "layout-shift", buffered: true });
        });
        const page = await context.newPage();
        await page.goto(`${server.origin}/site/${address}`);
        await page.waitForFunction(atRest, undefined, { timeout: 60_000 });
        await page.evaluate(() => document.fonts.ready);
        await page.waitForTimeout(300); // charts that are drawn after the numbers
        const shifts = await page.evaluate(() => window.shifts);
        assert.ok(shifts.reduce((sum, { value }) => sum + value, 0) < SHIFT, JSON.stringify(shifts, null, 1));
        if (why) t.diagnostic(`not compared: ${why}`);
        else await assertLooks(page, `${view}-${size}-${colours}`, [".engine dd"]);
        await context.close();
      });
    }
  });
}
