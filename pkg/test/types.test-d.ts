// The public contract as a consumer's compiler sees it: through package.json's `exports`, under Node's own resolution.
// Compiled, never run: wrong uses are marked, and tsc fails when one of them turns out to be accepted.

import {
  type AttentionHeads,
  type AttentionOptions,
  CaseLens,
  CaseLensError,
  type Clustering,
  type CompareOptions,
  type Comparison,
  type EmbeddedBatch,
  Embeddings,
  type EmbeddingsData,
  Encoder,
  type ErrorCode,
  type ExplainedStep,
  type Explanation,
  Gallery,
  type GalleryItem,
  type Hit,
  type Index,
  type IndexHit,
  type Info,
  type Item,
  type ItemId,
  type ListProgress,
  type LoadOptions,
  type Progress,
  type Suggestion,
  type Unsaid,
  unsaid,
} from "caselens";
import { type EmbeddingModel, embeddingModel } from "caselens/ai";
import { inThisThread } from "caselens/inline";
import { CaseLensEmbeddings } from "caselens/langchain";
import { type CaseLensElement, type CaseLensElements, type FailureEvent, type Labels, type ResultEvent } from "caselens/element";

const signal = new AbortController().signal;

const lens: CaseLens = await CaseLens.load({
  model: new URL("https://example.org/model.gguf"),
  head: new Uint8Array(8),
  device: "auto",
  threads: 2,
  cache: { folder: "a/folder" },
  integrity: "sha256-…",
  headIntegrity: "0123",
  timeout: 5000,
  headers: { Authorization: "Bearer 7" },
  fetch: (url, init) => fetch(url, { ...init, credentials: "include" }),
  onProgress: ({ phase, loaded, total, progress }: Progress) => {
    const share: number = total === null ? progress : loaded / total;
    return phase === "ready" && share === 1;
  },
  onWarning: (message: string) => message.length,
  signal,
});
await CaseLens.load();
await CaseLens.load({ model: new Blob(), head: new Response(), cache: true });
await CaseLens.load({ worker: false, wasm: new URL("https://example.org/caselens_bg.wasm") });
await CaseLens.load({ worker: () => new Worker("worker.js", { type: "module" }), wasm: new Uint8Array(8) });
await Encoder.load({ model: "m", worker: inThisThread, wasm: new WebAssembly.Module(new ArrayBuffer(8)) });
await CaseLens.load({ model: { model: { url: new URL("https://example.org/m.gguf"), sha256: "0" }, head: { url: "h" } } });
await CaseLens.load({ model: "model.gguf", head: new ArrayBuffer(8), signal: undefined });

const info: Info = lens.info;
const known: [boolean, number | null, void] = [await CaseLens.isCached({ model: "m" }), await Encoder.size({ model: "m" }), await CaseLens.delete()];
known satisfies unknown[];
const device: "webgpu" | "wasm" = info.device;
const threads: number = info.threads;
const adapter: string | null = info.adapter;
const described: [string, number, string, number, string] = [info.weights, info.dims, info.model, info.bytes, info.reason];

const results: Comparison[] = await lens.compare("a", "b", ["c"] as const, { signal });
const numbers: number[] = results.flatMap((r) => [r.similarity, r.rating, r.unconditional]);
const named: string[] = results.map((r) => r.condition);
const cut: true | undefined = results[0]?.truncated;
const lacking: number | undefined = results[0]?.unknown;
const languages: readonly [string | null, string | null] | undefined = results[0]?.language;
const told: readonly [number, number] | undefined = results[0]?.mentioned;
const silent: Unsaid | undefined = unsaid({ mentioned: told }, info);
const threshold: number | undefined = info.mentioned?.threshold;
const trained: readonly string[] | null = info.languages;
const looked: Comparison[] = await lens.compare("a", "b", ["c"], { attention: true, onTruncate: "error", signal } satisfies CompareOptions);
const lookedAt: Float32Array | undefined = looked[0]?.readings?.[0][0]?.attention[0]?.[0];
const explained: Explanation = await lens.explain("a", "b", "c", { subtract: true, pooling: "cls", head: false, signal });
const bare: Explanation = await lens.explain("a", "b");
const last: ExplainedStep | undefined = explained.steps.at(-1);
const weight: number | undefined = bare.readings[0][0]?.attention[0]?.[0]?.[0];
const seen: AttentionHeads = await lens.attention("a", "b", { layer: 0, signal } satisfies AttentionOptions);
const given: [Float32Array, number, string | null | undefined] = [seen.shares, seen.heads + seen.layer + seen.layers + seen.cut, seen.tokens[0]?.text ?? seen.condition];
const alone: AttentionHeads = await lens.attention("a");
const embeddings: Embeddings<"float32"> = await lens.embed([{ sentence: "a" }, { sentence: "b", condition: "c" }], { signal });
const rows: Float32Array[] = [...embeddings];
const numbersOfAll: Float32Array = embeddings.data;
const small: Int8Array = (await lens.embed([{ sentence: "a" }], { dims: 64, dtype: "int8" })).data;
const likeness: number = embeddings.similarity(0, 1) + embeddings.similarity(0, 0, embeddings);
const kept: EmbeddingsData<"float32"> = embeddings;
const again = new Embeddings(kept);
const byPlace: Embeddings<"int8"> = await lens.embed(["a", { sentence: "b", condition: "d" }], { condition: "c", dtype: "int8", onProgress: () => {} });
const restored: Embeddings<"int8"> = Embeddings.fromJSON(byPlace.toJSON()).select([0]).concat(byPlace);
const where: [number, string | null | undefined, number[][], Int8Array | undefined] = [byPlace.length, byPlace.condition, restored.toArrays(), byPlace.at(-1)];
const first: Float32Array = again.row(0);
const hits: Hit[] = await lens.search("a", ["b"] as const, { condition: "c", embeddings, limit: 1, signal });
const onProgress = ({ phase, progress }: ListProgress): boolean => phase === "group" && progress === 1;
const clustering: Clustering = await lens.cluster(["a"], { condition: "c", groups: 2, previous: new Float32Array(2), embeddings, onProgress });
const central: number[] = clustering.groups.map(({ center, members }) => center + members.length + (members[0]?.similarity ?? 0));
const places: [Float32Array, Uint32Array, number] = [clustering.points, clustering.labels, clustering.silhouette];
const suggested: Suggestion[] = await lens.suggest("a", "b", { conditions: ["c"], limit: 3, onProgress, signal });
const batches: EmbeddedBatch<string, "int8">[] = [];
for await (const batch of lens.embedStream(["a"].values(), { condition: "c", dtype: "int8", batchSize: 8, signal })) batches.push(batch);
for await (const { texts } of lens.embedStream([{ sentence: "a", condition: "c" }])) named.push(...texts.map(({ sentence }) => sentence));
const adapted: EmbeddingModel = embeddingModel(lens, { condition: "c", dims: 64 });
const vector: number[] = await new CaseLensEmbeddings(lens, { condition: "c", onTruncate: "error" }).embedQuery(adapted.modelId);
const ids: Uint32Array = await lens.tokenize("a");
const nothing: void = lens.dispose();
const over: boolean = lens.closed;
{
  using second: CaseLens = await CaseLens.load();
  await second.tokenize("a");
}

const index: Index<{ year: number }> = (await lens.openIndex<{ year: number }>("notes", { condition: "c" })) ?? (await lens.index({ condition: "c", dtype: "int8", dims: 64, signal }));
await index.add([{ id: 1, text: "a", metadata: { year: 2024 } }, { id: "b", text: "b" }], { onProgress, signal, onTruncate: "error" });
await index.update([{ id: 1, metadata: { year: 2025 } }]);
await index.remove([1, "b"], { signal });
const lexical = (query: string, { text }: Item): number => Number(text.includes(query));
const found: IndexHit<{ year: number }>[] = await index.search({ id: 1 }, { limit: 3, minimum: 0.5, filter: ({ metadata }) => metadata?.year === 2024, lexical, lexicalWeight: 0.5 });
const years: (number | undefined)[] = found.map(({ metadata, score }) => score && metadata?.year);
const gathered: ItemId[] = (await index.cluster({ groups: 2, previous: new Float32Array(2) })).groups.map(({ center }) => center);
const other: Index<{ year: number }> = await index.under("d", { onProgress });
const savedBytes: Uint8Array = await other.save();
await other.store("notes", { overwrite: true });
const loadedIndex: Index = await lens.loadIndex(savedBytes.buffer as ArrayBuffer, { condition: null });
const shown: [number, string | null, boolean, Item | undefined] = [loadedIndex.size, loadedIndex.condition, loadedIndex.has("b"), [...loadedIndex][0]];
// @ts-expect-error: metadata has its type
await index.add([{ id: 1, text: "a", metadata: { year: "2024" } }]);
// @ts-expect-error: indexes come from `index`, `loadIndex` and `openIndex`
new CaseLens.Index();

const encoder: Encoder = await Encoder.load({ model: "model.gguf", device: "wasm", signal });
const [plain] = await encoder.embed(["a"], { pooling: "cls", normalize: false, signal, onProgress });
for await (const { index, embeddings } of encoder.embedStream(async function* () { yield "a"; }(), { pooling: "cls" })) numbers.push(index, ...embeddings.row(0));
const cutAway: Uint32Array | undefined = embeddings.truncated;
const bits: Uint8Array = (await encoder.embed(["a"], { dtype: "binary" })).data;
encoder.dispose();

const error = new CaseLensError("text-too-long", "…", { cause: signal.reason, index: 3 });
const code: ErrorCode = error.code;
const isError: Error = error;
const at: number | undefined = error.index;
if (code === "head-mismatch") throw error;

const element: CaseLensElement | null = document.querySelector("case-lens");
element?.addEventListener("result", (event) => numbers.push((event as ResultEvent).detail.results.length));
element?.addEventListener("error", (event) => named.push((event as unknown as FailureEvent).detail.code));
const inJsx: JSX.IntrinsicElements["case-lens"] = { sentence1: "a dog", conditions: "the place; the game", editable: true, loading: "lazy", id: "first" };
// As React 19 takes it, whose namespace is its own.
declare namespace OwnJsx {
  interface IntrinsicElements extends CaseLensElements {}
}
const inOwnJsx: OwnJsx.IntrinsicElements["case-lens"] = inJsx;
// @ts-expect-error a number is no device
const wrongJsx: JSX.IntrinsicElements["case-lens"] = { ...inOwnJsx, device: 1 };
if (element) element.conditions = ["the place", ...element.conditions];
const german: Partial<Labels> = { add: "Noch eine Bedingung", rating: (rating) => rating.toFixed(1), error: ({ code }) => code };
if (element) element.labels = german;
const spoken: string | undefined = element?.labels.condition(1);
// @ts-expect-error: no such label
if (element) element.labels = { title: "caselens" };

const gallery: Gallery = await Gallery.load(new URL("https://example.org/bundle/"), { signal });
const stored: readonly GalleryItem[] = gallery.items;
const asked: number | undefined = stored[0]?.label;
const answered: number = gallery.compare(0).rating + gallery.dims;
const license: string | undefined = gallery.licenses[0];
// @ts-expect-error: no such device
await CaseLens.load({ device: "cuda" });
// @ts-expect-error: a model is a URL or bytes
await CaseLens.load({ model: 7 });
// @ts-expect-error: the bare encoder has no head
await Encoder.load({ model: "m", head: "head.safetensors" });
// @ts-expect-error: an encoder has to be named
await Encoder.load({ device: "wasm" });
// @ts-expect-error: instances come from load()
new CaseLens();
// @ts-expect-error: conditions are a list
await lens.compare("a", "b", "c");
// @ts-expect-error: how many texts there are is not known
encoder.embedStream(["a"], { onProgress });
// @ts-expect-error: an encoder knows no conditions
await encoder.embed(["a"], { condition: "c" });
// @ts-expect-error: no such pooling
await encoder.embed(["a"], { pooling: "max" });
// @ts-expect-error: layers are counted, not named
await lens.attention("a", "b", { layer: "last" });
// @ts-expect-error: no such pooling
await lens.explain("a", "b", "c", { pooling: "mean" });
const plainIndex: Index = await encoder.index({ pooling: "cls", dtype: "binary" });
await plainIndex.search(await encoder.embed(["a"]));
// @ts-expect-error: an encoder knows no conditions
await encoder.index({ condition: "c" });
// @ts-expect-error: no such form
await encoder.embed(["a"], { dtype: "float16" });
// @ts-expect-error: embeddings of different forms cannot be compared
embeddings.similarity(0, 0, await encoder.embed(["a"], { dtype: "binary" }));
// @ts-expect-error: groups are made of float32 embeddings
await lens.cluster(["a"], { embeddings: await lens.embed([{ sentence: "a" }], { dtype: "binary" }) });
// @ts-expect-error: info is read only
lens.info.device = "wasm";
// @ts-expect-error: no such code
const wrong: ErrorCode = "oops";
// @ts-expect-error: galleries come from load()
new Gallery();
// @ts-expect-error: an unknown option is a typing mistake
const options: LoadOptions = { modle: "model.gguf" };

export { gathered, given, shown, years, adapter, alone, answered, asked, at, bits, central, cut, cutAway, described, device, threads, first, hits, ids, isError, lacking, languages, last, license, likeness, lookedAt, named, nothing, numbers, numbersOfAll, options, over, places, plain, rows, silent, small, spoken, suggested, threshold, trained, vector, weight, where, wrong };
