// Workers of caselens are started from this one: where workers can start workers, it is used as in a page.
import { CaseLens } from "./caselens/index.js";

const loading = CaseLens.load({ model: "models/caselens-csts-q4_0.gguf" }); // beside this script

onmessage = async ({ data }) => {
  const lens = await loading;
  const results = await lens.compare(...data);
  postMessage(results.map(({ condition, rating }) => `${condition}: ${rating.toFixed(1)} of 5`).join("\n"));
};
