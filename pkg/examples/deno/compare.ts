// deno run --allow-read --allow-env --allow-sys compare.ts [MODEL [DEVICE]]: a path or a URL, the head is looked for beside it;
// and wasm (the CPU), webgpu, or auto.
import { CaseLens, type LoadOptions } from "caselens";

const [model = "models/caselens-csts-q4_0.gguf", device = "auto"] = Deno.args;
const lens = await CaseLens.load({ model, device: device as LoadOptions["device"] });
const results = await lens.compare("She plays chess in the park", "He plays football in the park", ["the place", "the game"]);
for (const { condition, rating } of results) console.log(`${condition}: ${rating.toFixed(1)} of 5`);
