// What the adapters give is what LangChain and the AI SDK take, as their own types have it. Compiled, never run.

import type { EmbeddingModelV3 } from "@ai-sdk/provider";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { FakeVectorStore } from "@langchain/core/utils/testing";
import { customProvider, embed, type EmbeddingModel, embedMany, wrapEmbeddingModel } from "ai";
import * as six from "ai-6";
import { type EmbeddingModel as Adapted, embeddingModel } from "../../dist/ai.js";
import type { CaseLens, Encoder } from "../../dist/index.js";
import { CaseLensEmbeddings } from "../../dist/langchain.js";

export async function compiled(lens: CaseLens, encoder: Encoder): Promise<void> {
  const embeddings: EmbeddingsInterface = new CaseLensEmbeddings(lens, { condition: "the place", dims: 64 });
  new FakeVectorStore(embeddings);
  new FakeVectorStore(new CaseLensEmbeddings(encoder, { pooling: "cls", onTruncate: "error" }));

  const adapted: Adapted = embeddingModel(lens, { condition: "the place" });
  const specified: EmbeddingModelV3 = adapted;
  const model: EmbeddingModel = specified;
  await embed({ model: adapted, value: "a", providerOptions: { caselens: { condition: "the game" } } });
  await embedMany({ model: embeddingModel(encoder, { pooling: "cls" }), values: ["a"], dimensions: 64 });
  wrapEmbeddingModel({ model: adapted, middleware: [] });
  customProvider({ embeddingModels: { place: adapted } });
  const older: six.EmbeddingModel = adapted;
  await six.embed({ model: older, value: "a", providerOptions: { caselens: { condition: "the game" } } });
  await six.embedMany({ model: adapted, values: ["a"] });
  six.wrapEmbeddingModel({ model: adapted, middleware: { specificationVersion: "v3" } });
  six.customProvider({ embeddingModels: { place: adapted } });

  // @ts-expect-error: an encoder knows no conditions
  new CaseLensEmbeddings(encoder, { condition: "the place" });
  // @ts-expect-error: an encoder knows no conditions
  embeddingModel(encoder, { condition: "the place" });
  // @ts-expect-error: pooling is an encoder's option
  embeddingModel(lens, { pooling: "cls" });
  // @ts-expect-error: vectors are plain numbers
  new CaseLensEmbeddings(lens, { dtype: "int8" });
  return void model;
}
