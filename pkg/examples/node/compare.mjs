// node compare.mjs [MODEL]: a path or a URL, whose head is looked for beside it; else the model that npm has.
import { CaseLens } from "caselens";
import packaged from "caselens-csts";

const lens = await CaseLens.load({
  model: process.argv[2] ?? packaged,
  cache: { folder: "cache" }, // a model from a URL is kept here; one from disk is not copied
});
const results = await lens.compare("She plays chess in the park", "He plays football in the park", ["the place", "the game"]);
for (const { condition, rating } of results) console.log(`${condition}: ${rating.toFixed(1)} of 5`);
