// A Cloudflare Worker: it compiles no WebAssembly at run time, but gets a module by an import, and has no workers.
import { CaseLens } from "caselens";
import { inThisThread } from "caselens/inline";
import wasm from "caselens/dist/wasm/caselens_bg.wasm";

/** Of this isolate: loaded by the first request that needs it, used by all that follow. */
let loading;

export default {
  async fetch(request, env) {
    const query = new URL(request.url).searchParams;
    loading ??= CaseLens.load({ model: env.MODEL, wasm, worker: inThisThread, cache: false, device: "wasm" });
    try {
      const lens = await loading;
      return Response.json(await lens.compare(query.get("sentence1") ?? "", query.get("sentence2") ?? "", query.getAll("condition")));
    } catch (error) {
      return Response.json({ code: error.code, message: error.message }, { status: error.code === "empty-text" ? 400 : 500 });
    }
  },
};
