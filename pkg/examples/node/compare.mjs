// node compare.mjs [MODEL]: a path or a URL; the head is looked for beside it.
import { CaseLens } from "caselens";

const lens = await CaseLens.load({
  model: process.argv[2] ?? "models/caselens-csts-q4_0.gguf",
  cache: "cache", // a model from a URL is kept here; one from disk is not copied
});
const results = await lens.compare("She plays chess in the park", "He plays football in the park", ["the place", "the game"]);
for (const { condition, rating } of results) console.log(`${condition}: ${rating.toFixed(1)} of 5`);
