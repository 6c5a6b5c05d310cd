// By what to group: a condition, typed or picked, and how many groups.

import { step } from "../state/history";
import { strings } from "../strings";
import { condition, groupCount, maxGroups, source } from "./fields";
import { generalConditions, listConditions } from "./lists";

const words = strings.list.condition;

export function GroupBy() {
  const offered = source.value ? listConditions[source.value] : generalConditions;
  const now = condition.value.trim();
  return (
    <section class="group-by" aria-label={words.label}>
      <div class="group-by-fields">
        <label class="group-by-label" for="group-by">
          {words.label}
        </label>
        <input
          id="group-by"
          type="text"
          class="condition"
          value={condition.value}
          placeholder={words.placeholder}
          autocomplete="off"
          spellcheck={false}
          dir="auto"
          lang={condition.value ? "en" : undefined}
          maxLength={500}
          onInput={(event) => (condition.value = event.currentTarget.value)}
        />
        <label class="choice">
          {words.count}{" "}
          <select
            value={groupCount.value ?? ""}
            onChange={(event) => {
              const { value } = event.currentTarget;
              step(() => (groupCount.value = value === "" ? undefined : Number(value)));
            }}
          >
            <option value="">{words.automatic}</option>
            {Array.from({ length: maxGroups - 1 }, (_, i) => (
              <option key={i} value={i + 2}>
                {i + 2}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ul class="chips" aria-label={words.chips}>
        {offered.map((one) => (
          <li key={one}>
            <button type="button" class="chip" lang="en" aria-pressed={one === now} onClick={() => step(() => (condition.value = one))}>
              {one}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
