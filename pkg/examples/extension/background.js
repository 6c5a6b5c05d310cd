// The background of an extension is a service worker, which has no workers and imports nothing later: the engine runs in its thread.
import { CaseLens } from "./caselens/index.js";
import { inThisThread } from "./caselens/inline.js";

let loading;
const load = () => (loading ??= CaseLens.load({ model: chrome.runtime.getURL("models/caselens-csts-q4_0.gguf"), worker: inThisThread }));

chrome.runtime.onMessage.addListener((call, sender, respond) => {
  load()
    .then((lens) => lens.compare(...call))
    .then(respond, (error) => respond({ error: error.message }));
  return true; // the answer comes later
});
