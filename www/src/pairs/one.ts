// One comparison to take along: as a table, and as HTML for a page of one's own.

import { answers } from "../state/answers";
import { fields, filledConditions } from "../state/fields";
import { download } from "../tables/saved";
import { answerCells, answerFields } from "./cells";

/** A row a condition, as CSV by papaparse. */
export async function saveCsv(): Promise<void> {
  const { unparse } = (await import("papaparse")).default;
  const { sentences } = fields.peek();
  const data = filledConditions.peek().map(({ id, text }) => [...sentences, text, ...answerCells(answers.peek().get(id))]);
  download("caselens-comparison.csv", "csv", unparse({ fields: ["sentence1", "sentence2", "condition", ...answerFields], data }, { escapeFormulae: true }));
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** What is compared now, as the package's element: its files lie where the package's README has them. */
export function snippet(): string {
  const { sentences, conditions } = fields.peek();
  return `<script type="module" src="caselens/dist/element.js"></script>

<case-lens
  sentence1="${escaped(sentences[0])}"
  sentence2="${escaped(sentences[1])}"
  model="models/caselens-csts-q4_0.gguf"
  editable
>
  <ul>
${conditions.map((condition) => `    <li>${escaped(condition.trim())}</li>\n`).join("")}  </ul>
</case-lens>
`;
}
