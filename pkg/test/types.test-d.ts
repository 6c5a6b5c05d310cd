// The public contract as a consumer's compiler sees it: through package.json's `exports`, under Node's own resolution.
// Compiled, never run: wrong uses are marked, and tsc fails when one of them turns out to be accepted.

import {
  CaseLens,
  CaseLensError,
  type Comparison,
  Encoder,
  type ErrorCode,
  type Info,
  type LoadOptions,
  type Progress,
} from "caselens";

const signal = new AbortController().signal;

const lens: CaseLens = await CaseLens.load({
  model: new URL("https://example.org/model.gguf"),
  head: new Uint8Array(8),
  device: "auto",
  threads: 2,
  onProgress: ({ phase, loaded, total, progress }: Progress) => {
    const share: number = total === null ? progress : loaded / total;
    return phase === "ready" && share === 1;
  },
  onWarning: (message: string) => message.length,
  signal,
});
await CaseLens.load();
await CaseLens.load({ model: "model.gguf", head: new ArrayBuffer(8), signal: undefined });

const info: Info = lens.info;
const device: "webgpu" | "wasm" = info.device;
const threads: number = info.threads;
const adapter: string | null = info.adapter;
const described: [string, number, string, number, string] = [info.dtype, info.dim, info.model, info.bytes, info.reason];

const results: Comparison[] = await lens.compare("a", "b", ["c"] as const, { signal });
const numbers: number[] = results.flatMap((r) => [r.similarity, r.rating, r.unconditional]);
const named: string[] = results.map((r) => r.condition);
const cut: true | undefined = results[0]?.truncated;
const rows: Float32Array[] = await lens.embed([{ sentence: "a" }, { sentence: "b", condition: "c" }], { signal });
const ids: Uint32Array = await lens.tokenize("a");
const nothing: void = lens.dispose();

const encoder: Encoder = await Encoder.load({ model: "model.gguf", device: "wasm", signal });
const plain: Float32Array[] = await encoder.embed(["a"], { pooling: "cls", normalize: false, signal });
encoder.dispose();

const error = new CaseLensError("aborted", "…", { cause: signal.reason });
const code: ErrorCode = error.code;
const isError: Error = error;
if (code === "head-mismatch") throw error;

// @ts-expect-error: no such device
await CaseLens.load({ device: "cuda" });
// @ts-expect-error: a model is a URL or bytes
await CaseLens.load({ model: 7 });
// @ts-expect-error: the bare encoder has no head
await Encoder.load({ head: "head.safetensors" });
// @ts-expect-error: instances come from load()
new CaseLens();
// @ts-expect-error: conditions are a list
await lens.compare("a", "b", "c");
// @ts-expect-error: items are objects
await lens.embed(["a"]);
// @ts-expect-error: no such pooling
await encoder.embed(["a"], { pooling: "max" });
// @ts-expect-error: info is read only
lens.info.device = "wasm";
// @ts-expect-error: no such code
const wrong: ErrorCode = "oops";
// @ts-expect-error: an unknown option is a typing mistake
const options: LoadOptions = { modle: "model.gguf" };

export { adapter, cut, described, device, threads, ids, isError, named, nothing, numbers, options, plain, rows, wrong };
