import { CaseLens } from "caselens";

const output = document.querySelector("output");
const lens = await CaseLens.load({
  model: "models/caselens-csts-q4_0.gguf",
  onProgress: ({ progress }) => (output.textContent = `Loading: ${Math.round(100 * progress)} %`),
});
const results = await lens.compare("She plays chess in the park", "He plays football in the park", ["the place", "the game"]);
output.textContent = results.map(({ condition, rating }) => `${condition}: ${rating.toFixed(1)} of 5`).join("\n");
