// GET /api/compare?sentence1=…&sentence2=…&condition=…: the same on the server, in worker threads.
import { CaseLens, CaseLensError } from "caselens";

let loading; // once for all requests, and again after a failure

function load() {
  return (loading ??= CaseLens.load({ model: "public/models/caselens-csts-q4_0.gguf" }).catch((error) => {
    loading = undefined;
    throw error;
  }));
}

export async function GET(request) {
  const query = new URL(request.url).searchParams;
  try {
    const lens = await load();
    const results = await lens.compare(query.get("sentence1") ?? "", query.get("sentence2") ?? "", query.getAll("condition"));
    return Response.json(results);
  } catch (error) {
    if (!(error instanceof CaseLensError)) throw error;
    return Response.json({ code: error.code, message: error.message }, { status: 400 });
  }
}
