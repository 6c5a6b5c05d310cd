// What the demo's list view makes of groups, as plain functions, without a browser: their words, the names that people give them, whether
// they are groups at all, the plane of the map, and colours by a column. list-map.test.mjs shows the same as people use it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { CaseLens, unsaid } from "../../pkg/dist/node.js";
import { MODEL_FILE, MODELS, ROOT } from "./helpers.mjs";
import { pageModules } from "./pageModules.mjs";

/** The view's modules, by their names. */
let list;
let remove;
before(async () => ({ modules: list, remove } = await pageModules(["list/colouring", "list/colours", "tables/read", "list/keywords", "list/left", "list/names", "list/plane", "list/save", "list/telling", "list/verdict", "ui/places"])));
after(() => remove?.());

describe("words of groups", () => {
  const complaints = [
    "My password reset e-mail never arrives.",
    "The password reset link is broken!",
    "I cannot log in: the password reset fails.",
    "Password resets do not work for me.",
    "Where is the reset mail for my password?",
  ];
  const invoices = [
    "The invoice shows the wrong amount.",
    "Two invoices were sent for the same month.",
    "Please send the invoice to our new address.",
    "The invoice is missing our address.",
  ];

  test("they set a group apart from the others: pairs of words, without stop words, plurals counted with their singulars", async () => {
    const named = await list.keywords.keywords([complaints, invoices], "");
    assert.equal(named[0][0], "password reset", `${named[0]}`);
    assert.equal(named[1][0], "invoice", `${named[1]}`);
    for (const words of named) {
      assert.ok(words.length >= 1 && words.length <= 3, `${words}`);
      assert.ok(words.every((word) => !/\b(the|my|is|for|to|our|please|do)\b/.test(word)), `${words}`);
      const used = words.flatMap((word) => word.split(" ").map(list.keywords.stem));
      assert.equal(new Set(used).size, used.length, `${words}`);
    }
  });

  test("what all groups share names none, nor do words of the condition", async () => {
    const shared = [complaints, invoices].map((texts) => texts.map((text) => `Dear team, ${text}`));
    for (const words of await list.keywords.keywords(shared, "")) assert.ok(!words.join(" ").match(/dear|team/), `${words}`);
    const named = await list.keywords.keywords([complaints, invoices], "the passwords or the Invoices");
    assert.ok(!named.flat().join(" ").match(/password|invoice/), `${named}`);
    assert.ok(named[0].includes("reset"), `${named[0]}`);
  });

  test("the same texts give the same words, a negation stays with what it negates, and odd texts are harmless", async () => {
    const once = await list.keywords.keywords([complaints, invoices], "");
    assert.deepEqual(await list.keywords.keywords([complaints, invoices], ""), once);
    const [service] = await list.keywords.keywords([["not helpful at all", "Really not helpful", "they were not helpful"], ["helpful", "very helpful", "quite fast"]], "");
    assert.equal(service[0], "not helpful");
    const odd = await list.keywords.keywords([["…", "404", "constructor __proto__ toString"], ["😀", "我们 明天", "the of"]], "<script>");
    assert.equal(odd.length, 2);
    assert.deepEqual(await list.keywords.keywords([[]], ""), [[]]);
  });

  test("a single text of a large group does not name it, and small groups are named all the same", async () => {
    const many = Array.from({ length: 30 }, (_, i) => `unique${i} thing${i}x`);
    const [large, small] = await list.keywords.keywords([many, ["A fox crosses a field."]], "");
    assert.deepEqual(large, []);
    assert.equal(small.length, 2, `${small}`);
  });

  test("the encoder chooses among them: what lies in the middle of its group and far from others, under the condition", async () => {
    const places = { zebra: [1, 0], horse: [0.9, 0.1], lion: [0, 1], "zebra herd": [1, 0] };
    const asked = [];
    const row = (text) => Float32Array.from(places[text] ?? [0.5, 0.5]);
    const embed = async (items) => (asked.push(...items), { row: (i) => row(items[i].sentence) });
    const texts = ["a zebra herd", "horse", "lion", "nothing said"];
    const vectors = [[1, 0], [0.8, 0.2], [0, 1], [-1, -1]];
    const clustering = {
      groups: [{ members: [] }, { members: [] }, { members: [], unmentioned: true }],
      labels: [0, 0, 1, 2],
      embeddings: { length: 4, dims: 2, row: (i) => Float32Array.from(vectors[i]) },
    };
    const weigh = list.telling.weighing({ embed }, clustering, "the animal", undefined);
    const named = await list.keywords.keywords([texts.slice(0, 2), [texts[2]]], "the animal", { weigh });
    assert.deepEqual(named, [["zebra", "horse"], ["lion"]], "and a word rather than the pair that says the same");
    assert.ok(asked.every(({ condition }) => condition === "the animal"));
    await assert.rejects(list.keywords.keywords([texts], "", { weigh: async () => Promise.reject(new Error("lost")) }), /lost/);
  });

  test("with what ships, groups of captions are called what they show", { timeout: 60_000 }, async () => {
    const texts = (await readFile(path.join(ROOT, "www/src/list/captions.txt"), "utf8")).split("\n").filter(Boolean);
    const lens = await CaseLens.load({ model: path.join(MODELS, MODEL_FILE) });
    const namesBy = async (condition, groups) => {
      const clustering = await lens.cluster(texts, { condition, groups });
      const named = clustering.groups.filter(({ unmentioned }) => !unmentioned).map(({ members }) => members.map(({ text }) => text));
      return list.keywords.keywords(named, condition, { weigh: list.telling.weighing(lens, clustering, condition, undefined) });
    };
    const [places, animals] = [await namesBy("the place", 5), await namesBy("the animal", 4)];
    lens.dispose();
    assert.ok(places.some((words) => /shore|beach|sea/.test(words.join(" "))), JSON.stringify(places));
    for (const animal of [/\bdogs?\b/, /\bcats?\b/]) assert.equal(animals.filter((words) => animal.test(words.join(" "))).length, 1, JSON.stringify(animals));
  });

  test("10,000 texts are named without standing still for 50 ms", async () => {
    const words = Array.from({ length: 4000 }, (_, i) => `word${i.toString(36)}`);
    let state = 1;
    const next = (n) => (state = (state * 48271) % 2147483647) % n;
    const groups = Array.from({ length: 10 }, (_, g) =>
      Array.from({ length: 1000 }, () => Array.from({ length: 25 }, (_, j) => (j === 0 ? `topic${g}` : words[next(4000)])).join(" ")));
    let [last, longest, pauses] = [performance.now(), 0, 0];
    const named = await list.keywords.keywords(groups, "", { pause: async () => {
      longest = Math.max(longest, performance.now() - last);
      pauses++;
      await new Promise((resolve) => setTimeout(resolve));
      last = performance.now();
    } });
    named.forEach((found, g) => assert.equal(found[0]?.split(" ")[0], `topic${g}`, `${found}`));
    assert.ok(pauses > 5, `${pauses} pauses`);
    assert.ok(longest < 50, `${longest} ms`);
  });
});

describe("names that people give", () => {
  const texts = ["a cat", "a kitten", "a dog", "a puppy", "a car", "a bus"];
  const groups = (...all) => {
    const labels = new Uint32Array(texts.length);
    all.forEach((places, label) => places.forEach((place) => (labels[place] = label)));
    return {
      lines: texts,
      condition: "the thing",
      labels,
      words: all.map((places) => texts[places[0]]),
      groups: all.map((places) => ({ center: places[0], members: places.map((index) => ({ index, text: texts[index] })) })),
    };
  };

  test("one stays with a group that holds mostly the same texts, under the same condition alone", () => {
    const { namesFor, renamed } = list.names;
    const now = groups([0, 1], [2, 3], [4, 5]);
    const given = renamed(now, [], 0, "  Cats\nand kittens ");
    assert.deepEqual(namesFor(now, given), ["Cats and kittens", undefined, undefined]);
    assert.deepEqual(namesFor(groups([4, 5], [2, 3], [1, 0]), given), [undefined, undefined, "Cats and kittens"]);
    assert.deepEqual(namesFor(groups([0, 1, 2], [3], [4, 5]), given), ["Cats and kittens", undefined, undefined]);
    assert.deepEqual(namesFor(groups([0, 1, 2, 3], [4, 5]), given), [undefined, undefined]); // as many others: another group
    assert.deepEqual(namesFor({ ...now, condition: "the colour" }, given), [undefined, undefined, undefined]);
  });

  test("an empty one, or what a group is called anyway, takes it back; a new one takes its place", () => {
    const { namesFor, renamed } = list.names;
    const now = groups([0, 1], [2, 3], [4, 5]);
    let given = renamed(now, [], 0, "Cats");
    given = renamed(now, given, 0, "Felines");
    assert.deepEqual([given.length, namesFor(now, given)[0]], [1, "Felines"]);
    assert.deepEqual(renamed(now, given, 0, " "), []);
    assert.deepEqual(renamed(now, given, 0, "a cat"), []);
    assert.equal(renamed(now, [], 0, "x".repeat(200))[0].name.length, list.names.maxName);
  });

  test("one of a link finds its group by the text that stands for it, and knows it again from then on", () => {
    const { namesFor, settled } = list.names;
    const now = groups([0, 1], [2, 3], [4, 5]);
    const linked = [{ condition: "the thing", name: "Dogs", place: 3 }];
    assert.deepEqual(namesFor(now, linked), [undefined, "Dogs", undefined]);
    const known = settled(now, linked);
    assert.deepEqual([...known[0].texts], ["a dog", "a puppy"]);
    assert.equal(known[0].place, 2);
    assert.equal(settled(now, known), known);
    const merged = groups([0, 1, 2, 3], [4, 5]);
    assert.deepEqual(namesFor(merged, settled(merged, known)), [undefined, undefined]);
    assert.deepEqual(namesFor(now, settled(now, settled(merged, known))), [undefined, "Dogs", undefined]);
  });
});

describe("whether texts form groups", () => {
  const random = (seed) => () => ((seed = (seed * 48271) % 2147483647) / 2147483647);
  const normal = (next) => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());

  test("a cloud has the mean and the spread of what it is drawn after, in every direction, and the same each time", async () => {
    const next = random(7);
    const [n, dims] = [300, 6];
    const rows = new Float32Array(n * dims);
    for (let i = 0; i < n; i++) {
      const row = [4, 0.8 * normal(next), 0.2 * normal(next), 0, 0, 0.1 * normal(next)];
      const length = Math.hypot(...row);
      row.forEach((value, d) => (rows[i * dims + d] = value / length));
    }
    const cloud = await list.verdict.cloud(rows, dims, 2000, 1, async () => {});
    const spread = (all, d) => {
      const values = Array.from({ length: all.length / dims }, (_, i) => all[i * dims + d]);
      const mean = values.reduce((a, b) => a + b) / values.length;
      return [mean, Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length)];
    };
    for (let d = 0; d < dims; d++) {
      const [[mean, deviation], [ownMean, ownDeviation]] = [spread(cloud, d), spread(rows, d)];
      assert.ok(Math.abs(mean - ownMean) < 0.02 && Math.abs(deviation - ownDeviation) < 0.02, `${d}: ${mean} ${ownMean} ${deviation} ${ownDeviation}`);
    }
    for (let i = 0; i < 2000; i++) assert.ok(Math.abs(Math.hypot(...cloud.subarray(i * dims, (i + 1) * dims)) - 1) < 1e-5);
    assert.deepEqual(await list.verdict.cloud(rows, dims, 50, 1, async () => {}), cloud.slice(0, 50 * dims));
    assert.notDeepEqual(await list.verdict.cloud(rows, dims, 50, 2, async () => {}), cloud.slice(0, 50 * dims));
  });

  test("the number of groups is the one that stands out most from the clouds, not the one of the highest silhouette", () => {
    const { judged } = list.verdict;
    const trial = (groups, own, without) => ({ groups, own, clouds: [without - 0.01, without, without + 0.01, without] });
    assert.deepEqual(judged([trial(2, 0.5, 0.45), trial(4, 0.48, 0.2), trial(8, 0.47, 0.2)]), { groups: 4, verdict: { kind: "clear", own: 0.48, without: 0.2 } });
    const little = judged([trial(2, 0.16, 0.16), trial(4, 0.17, 0.1)]);
    assert.deepEqual([little.groups, little.verdict.kind], [4, "some"]);
    // A high silhouette is nothing where clouds have it too.
    assert.equal(judged([trial(2, 0.6, 0.6), trial(3, 0.5, 0.52)]).verdict.kind, "none");
    const noisy = { groups: 2, own: 0.3, clouds: [0.1, 0.3, 0.2, 0.25] };
    assert.equal(judged([noisy]).verdict.kind, "none");
    assert.equal(judged([]), undefined);
  });

  test("of many texts some are judged by, evenly spread", () => {
    assert.deepEqual(list.verdict.spread(4, 10), [0, 1, 2, 3]);
    assert.deepEqual(list.verdict.spread(10, 4), [0, 2, 5, 7]);
  });

  describe("with what ships, of 150 reviews that praise a product and 150 that do not", { concurrency: false }, () => {
    const things = ["headphones", "blender", "phone", "backpack", "lamp", "coffee maker", "watch", "keyboard", "vacuum cleaner", "jacket"];
    const said = [
      {
        first: ["I love this {}.", "Best {} I have ever had.", "This {} works perfectly.", "I am very happy with the {}.", "A wonderful {}!", "The {} exceeded my expectations."],
        then: ["It is well made and easy to use.", "Delivery took two days and all was in the box.", "My sister wants one too.", "After half a year it is as good as new.", "I would buy it again at once."],
      },
      {
        first: ["I hate this {}.", "Worst {} I have ever had.", "This {} broke on the first day.", "I am very disappointed with the {}.", "A horrible {}!", "The {} fell short of my expectations."],
        then: ["It is badly made and hard to use.", "Delivery took five weeks and half was missing.", "My sister sent hers back.", "After a week it fell apart.", "I would never buy it again."],
      },
    ];
    // Of the thirty ways to say it every second, another half for every second thing.
    const reviews = things.flatMap((thing, t) => said.flatMap(({ first, then }, side) =>
      first.flatMap((one, i) => then.flatMap((other, j) => ((i + j + t) % 2 === 0 ? [{ text: `${one.replace("{}", thing)} ${other}`, side }] : [])))));
    const texts = reviews.map(({ text }) => text);
    /** The share of all reviews that lie in a group, of those that say something, with a majority of their own kind. */
    const purity = (groups) => groups.filter(({ unmentioned }) => !unmentioned).reduce((sum, { members }) => {
      const praise = members.filter(({ index }) => reviews[index].side === 0).length;
      return sum + Math.max(praise, members.length - praise);
    }, 0) / reviews.length;
    let lens;
    before(async () => {
      assert.equal(new Set(texts).size, 300);
      lens = await CaseLens.load({ model: path.join(MODELS, MODEL_FILE) });
    });
    after(() => lens?.dispose());

    test("groups by the sentiment follow it", { timeout: 120_000 }, async () => {
      const embeddings = await lens.embed(texts, { condition: "the sentiment" });
      const grouped = (groups) => lens.cluster(texts, { condition: "the sentiment", groups, embeddings });
      const two = await grouped(2);
      assert.equal(two.groups.filter(({ unmentioned }) => !unmentioned).length, 2);
      assert.ok(purity(two.groups) >= 0.85, `${purity(two.groups)}`);
      // Left to itself it finds three, each of one side: what exceeded expectations it takes for a shade of its own.
      const [count, verdict] = await list.verdict.judge(lens, embeddings, undefined);
      assert.equal(verdict.kind, "clear");
      assert.ok(count === 2 || count === 3, `${count}`);
      const found = await grouped(count);
      assert.ok(purity(found.groups) >= 0.9, `${purity(found.groups)}`);
    });

    test("none is grouped by the price, of which they say nothing", { timeout: 120_000 }, async () => {
      const embeddings = await lens.embed(texts, { condition: "the price" });
      const [, { kind }] = await list.verdict.judge(lens, embeddings, undefined);
      assert.equal(kind, "few");
      const { groups } = await lens.cluster(texts, { condition: "the price", embeddings });
      const silent = groups.find(({ unmentioned }) => unmentioned)?.members.length;
      assert.ok(silent >= 290, `${silent} say nothing of it`);
    });

    test("“hello” and “hello” say nothing of the price: their similarity is no number like any other", async () => {
      const [hello] = await lens.compare("hello", "hello", ["the price"]);
      assert.equal(unsaid(hello, lens.info), "both");
      const [priced] = await lens.compare("The phone costs 300 euros", "The laptop costs 1200 dollars", ["the price"]);
      assert.equal(unsaid(priced, lens.info), undefined);
    });
  });
});

describe("how long grouping will still take", () => {
  test("is told by how long it took so far, once that says something", () => {
    const { secondsLeft } = list.left;
    assert.equal(secondsLeft(1999, 0.5), undefined);
    assert.equal(secondsLeft(5000, 0.01), undefined);
    assert.equal(secondsLeft(5000, 0), undefined);
    assert.equal(secondsLeft(5000, 1), undefined);
    assert.equal(secondsLeft(2000, 0.5), 2);
    assert.equal(secondsLeft(4000, 0.17), 20);
    assert.equal(secondsLeft(90_000, 0.99), 1);
  });

  test("is rounded up: to seconds, to five of them, to minutes", () => {
    for (const [seconds, told] of [[2.5, 3], [9.5, 10], [10, 10], [10.1, 15], [41, 45], [55, 55], [56, 60], [61, 120], [600, 600]]) {
      assert.equal(list.left.secondsLeft(seconds * 1000, 0.5), told, `${seconds} s`);
    }
    assert.equal(list.left.secondsLeft(60_000, 0.1), 540);
  });
});

describe("the plane of the map", () => {
  const frame = { width: 400, height: 300, margin: 10 };
  const plane = (...points) => list.places.placesOf(Float32Array.from(points.flat()));

  test("all points are seen at first, with one scale for both axes and upwards up", () => {
    const { placesOf, toPixels, whole } = { ...list.places, ...list.plane };
    const places = placesOf(Float32Array.from([-3, 0, 5, 2, 1, -1]));
    assert.deepEqual([...places.x], [-1, 1, 0]);
    assert.ok(places.y[1] < places.y[0] && places.y[0] < places.y[2]);
    places.x.forEach((x, i) => {
      const [px, py] = toPixels(frame, whole, x, places.y[i]);
      assert.ok(px >= 10 && px <= 390 && py >= 10 && py <= 290, `${px} ${py}`);
    });
    const one = placesOf(Float32Array.from([2, 2, 2, 2]));
    assert.deepEqual([...one.x, ...one.y], [0, 0, 0, 0]);
  });

  test("zooming keeps what is under the pointer there, and goes neither below the whole nor out of the points", () => {
    const { mostZoom, panned, toPixels, whole, zoomed } = list.plane;
    const camera = zoomed(frame, whole, 4, 250, 180);
    const one = (frame.height / 2 - frame.margin) * 4;
    const at = [camera.x + 50 / one, camera.y + 30 / one];
    const before = [50 / (one / 4), 30 / (one / 4)];
    assert.ok(Math.hypot(at[0] - before[0], at[1] - before[1]) < 1e-9);
    assert.equal(zoomed(frame, whole, 1e9).zoom, mostZoom);
    assert.deepEqual(zoomed(frame, camera, 1e-9, 0, 0), whole);
    assert.deepEqual(panned(frame, whole, 500, 500), whole);
    const far = panned(frame, camera, -1e6, 1e6);
    const [right, top] = [toPixels(frame, far, 1, 0)[0], toPixels(frame, far, 0, -1)[1]];
    assert.ok(Math.abs(right - 390) < 1e-6 && Math.abs(top - 10) < 1e-6, `${right} ${top}`);
  });

  test("arrows go to the nearest point of their direction, and every one of many points can be reached", () => {
    const { nextTowards } = list.plane;
    const places = plane([0, 0], [1, 0.1], [2, 0], [0, 1], [-1, -5], [0.9, 3]);
    assert.equal(nextTowards(places, 0, 1, 0), 1);
    assert.equal(nextTowards(places, 1, 1, 0), 2);
    assert.equal(nextTowards(places, 0, 0, -1), 3);
    assert.equal(nextTowards(places, 2, 1, 0), undefined);
    let seed = 3;
    const next = () => ((seed = (seed * 48271) % 2147483647) / 2147483647);
    const many = plane(...Array.from({ length: 300 }, () => [next() * next(), next()]), [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]);
    const reached = new Set([0]);
    for (const i of reached) for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      const to = nextTowards(many, i, dx, dy);
      if (to !== undefined) reached.add(to);
    }
    assert.ok(reached.size >= 0.99 * many.x.length, `${reached.size} of ${many.x.length}`);
    assert.ok([300, 301, 302].every((twin) => reached.has(twin)));
  });

  test("a line around points holds those within it, a point is found near it, and the last of several in one place", () => {
    const { nearest, within } = list.plane;
    const places = plane([-1, -1], [1, 1], [0, 0], [0, 0]);
    assert.deepEqual(within(places, [-0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5]), [2, 3]);
    // A line that runs back into itself leaves its hollow out.
    assert.deepEqual(within(places, [-2, -2, 2, -2, 2, 2, -2, 2, -2, 0.2, 0.2, 0.2, 0.2, -0.2, -2, -0.2]), [0, 1]);
    assert.deepEqual(within(places, [0, 0, 1, 1]), []);
    assert.equal(nearest(places, 0.05, 0, 0.1), 3);
    assert.equal(nearest(places, 0.5, 0, 0.1), undefined);
  });
});

describe("colours by a column", () => {
  test("few names, or numbers as people write them; what is neither cannot be shown", () => {
    const { colouringOf, numberIn } = list.colouring;
    const names = colouringOf(["b", "a", "b", "", "c"]);
    assert.deepEqual([names.kind, names.values, [...names.of]], ["category", ["b", "a", "c"], [0, 1, 0, -1, 2]]);
    const numbers = colouringOf(["1", "2,5", "", "4 €"]);
    assert.deepEqual([numbers.kind, numbers.least, numbers.most, [...numbers.of]], ["number", 1, 4, [1, 2.5, NaN, 4]]);
    assert.equal(colouringOf(["0", "1", "0", "1"]).kind, "category");
    assert.equal(colouringOf(Array(20).fill("same")), undefined);
    assert.equal(colouringOf(Array.from({ length: 13 }, (_, i) => `name ${i}`)), undefined);
    assert.equal(colouringOf(Array.from({ length: 12 }, (_, i) => `name ${i}`)).kind, "category");
    for (const [cell, number] of [["1,234.5", 1234.5], ["1.234,5", 1234.5], ["1,234", 1234], ["−3", -3], ["5 %", 5], ["$2.50", 2.5], ["1e3", 1000], ["2024-01-01", NaN], ["a1", NaN], ["", NaN]]) {
      assert.deepEqual(numberIn(cell), number, cell);
    }
  });

  test("each number has a step of the scale, and its colours stand out from the page", () => {
    const { scaleSteps, stepOf } = list.colouring;
    assert.deepEqual([stepOf(0, 0, 10), stepOf(10, 0, 10), stepOf(NaN, 0, 10)], [0, scaleSteps - 1, -1]);
    const luminance = (hex) => {
      const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
    for (const [theme, ground] of [["light", "#f1f5f3"], ["dark", "#141e20"]]) {
      let before;
      for (let i = 0; i < scaleSteps; i++) {
        const colour = list.colours.scaleColour(i / (scaleSteps - 1), theme);
        assert.ok(contrast(colour, ground) >= 3, `${theme} ${i} ${colour}: ${contrast(colour, ground)}`);
        // Lighter and lighter, or darker and darker: the order shows without colour.
        if (before !== undefined) assert.ok(theme === "light" ? luminance(colour) < before : luminance(colour) > before, `${theme} ${i}`);
        before = luminance(colour);
      }
    }
  });
});

describe("what is saved", () => {
  const grouped = {
    lines: ["=1+1 cat", "A kitten, \"purring\"", "A bus", "Nothing"],
    condition: "the thing",
    labels: Uint32Array.from([0, 0, 1, 2]),
    points: new Float32Array(8),
    words: ["cat", "bus", ""],
    groups: [
      { center: 0, members: [{ index: 0, text: "=1+1 cat", similarity: 0.9 }, { index: 1, text: "A kitten, \"purring\"", similarity: 0.8 }] },
      { center: 2, members: [{ index: 2, text: "A bus", similarity: 1 }] },
      { center: 3, members: [{ index: 3, text: "Nothing", similarity: 1 }], unmentioned: true },
    ],
  };
  const names = ["Pets", "bus", "Says nothing about “the thing”"];
  const read = (name, text) => list.read.readTable(new File([text], name));

  test("reads as it was, from CSV and from JSON: the condition, how many groups, and their names", async () => {
    const { savedIn, toCsv, toJson } = list.save;
    for (const table of [await read("a.csv", await toCsv(grouped, names)), await read("a.json", toJson(grouped, names))]) {
      const saved = savedIn(table.rows, "another");
      assert.deepEqual([saved.condition, saved.groupCount], ["the thing", 2]);
      assert.deepEqual(saved.names.map(({ name }) => name), ["Pets", "bus"]);
      assert.deepEqual([...saved.names[0].texts], grouped.lines.slice(0, 2));
      assert.deepEqual(list.names.namesFor(grouped, saved.names), ["Pets", "bus", undefined]);
      // What a group is called anyway is no name that was given.
      assert.deepEqual(list.names.settled(grouped, saved.names).map(({ name }) => name), ["Pets"]);
    }
  });

  test("some of the texts alone can be saved; other tables, and files of before, are no less readable", async () => {
    const { savedIn, toCsv } = list.save;
    const some = await read("a.csv", await toCsv(grouped, names, [], new Set([2])));
    assert.deepEqual(some.rows.slice(1).map(([text, , name]) => [text, name]), [["A bus", "bus"]]);
    assert.equal(savedIn([["text", "group"], ["a", "1"]], ""), undefined);
    const before = savedIn([["text", "group", "group_name", "similarity_to_centre", "x", "y"], ["A cat", "1", "A cat", "1", "0", "0"], ["A dog", "2", "Dogs", "1", "0", "0"]], "the animal");
    assert.deepEqual([before.condition, before.groupCount, before.names.map(({ name, condition }) => [name, condition])], [undefined, 2, [["Dogs", "the animal"]]]);
  });
});
