// node search.mjs [MODEL]: one list of texts in LangChain's vector store, searched under two conditions. A path or a URL, whose head is
// looked for beside it; else the model that npm has.
import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { CaseLens } from "caselens";
import packaged from "caselens-csts";
import { CaseLensEmbeddings } from "caselens/langchain";

const texts = ["He plays football in the park", "They play chess at home", "A train leaves the station"];
const lens = await CaseLens.load({ model: process.argv[2] ?? packaged });
for (const condition of ["the place", "the game"]) {
  const store = await MemoryVectorStore.fromTexts(texts, {}, new CaseLensEmbeddings(lens, { condition }));
  const [nearest] = await store.asRetriever({ k: 1 }).invoke("She plays chess in the park");
  console.log(`${condition}: ${nearest.pageContent}`);
}
lens.dispose();
