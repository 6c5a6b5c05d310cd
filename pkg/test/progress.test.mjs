import assert from "node:assert/strict";
import test from "node:test";
import { ProgressMeter } from "../build/worker/progress.js";

function record() {
  const events = [];
  return { events, meter: new ProgressMeter((event) => events.push(event)) };
}

function assertMonotone(events) {
  for (const [i, event] of events.entries()) {
    const before = events[i - 1];
    assert.ok(event.progress >= 0 && event.progress <= 1);
    if (before) assert.ok(event.progress >= before.progress && event.loaded >= before.loaded, JSON.stringify([before, event]));
    if (event.total !== null) assert.ok(event.loaded <= event.total);
  }
  assert.equal(events.filter(({ progress }) => progress === 1).length, 1, "1 is reached exactly once");
  assert.equal(events.at(-1).progress, 1, "and it is the end");
}

test("two files of known size count together", () => {
  const { events, meter } = record();
  const model = meter.part();
  const head = meter.part();
  model.size(900);
  head.size(100);
  for (let at = 100; at <= 900; at += 100) model.at(at);
  head.at(100);
  meter.prepare();
  meter.ready();
  assertMonotone(events);
  const half = events.find(({ loaded }) => loaded === 500);
  assert.equal(half.total, 1000);
  assert.ok(Math.abs(half.progress - 0.45) < 1e-9);
  assert.deepEqual(
    [...new Set(events.map(({ phase }) => phase))],
    ["download", "prepare", "ready"],
  );
});

test("an unknown size still rises and still ends at 1", () => {
  const { events, meter } = record();
  const model = meter.part();
  model.size(null);
  for (let at = 1e6; at <= 50e6; at += 1e6) model.at(at);
  meter.prepare();
  meter.ready();
  assertMonotone(events);
  assert.ok(events.filter(({ phase }) => phase === "download").every(({ total }) => total === null));
  assert.equal(events.at(-1).total, 50e6);
});

test("a size that arrives late never turns the bar back", () => {
  const { events, meter } = record();
  const model = meter.part();
  const head = meter.part();
  model.size(1e6);
  for (let at = 1e5; at <= 1e6; at += 1e5) model.at(at);
  head.size(99e6);
  head.at(99e6);
  meter.prepare();
  meter.ready();
  assertMonotone(events);
});

test("a body longer than its stated size, and a file read twice, never turn the bar back", () => {
  const { events, meter } = record();
  const model = meter.part();
  model.size(1000);
  model.at(900);
  model.at(2000);
  model.size(3000);
  model.at(10);
  model.at(3000);
  meter.prepare();
  meter.ready();
  assertMonotone(events);
});

test("small steps are not reported", () => {
  const { events, meter } = record();
  const model = meter.part();
  model.size(100_000);
  for (let at = 1; at <= 100_000; at++) model.at(at);
  meter.prepare();
  meter.ready();
  assertMonotone(events);
  assert.ok(events.length < 300, `${events.length} events`);
});
