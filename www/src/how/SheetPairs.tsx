// Picks the pairs that stand on the worksheet beside the page's own.

import { strings } from "../strings";
import { pick, picked } from "./sheet";

const words = strings.how.worksheet;

export const SheetPairs = () => (
  <details class="sheet-pairs">
    <summary class="button">{words.pairs(1 + picked.value.size)}</summary>
    <fieldset>
      <legend>{words.pick}</legend>
      {strings.examples.names.map(([field, title], place) => (
        <label key={place}>
          <input type="checkbox" checked={picked.value.has(place)} onChange={(event) => pick(place, event.currentTarget.checked)} />
          <span class="quiet">{field}</span> {title}
        </label>
      ))}
    </fieldset>
  </details>
);
