// The condition that is explained: typed here, or chosen among those there are.

import { useSignal } from "@preact/signals";
import { conditions, editCondition, filledConditions } from "../state/fields";
import { strings } from "../strings";
import { chosen } from "./state";

const words = strings.how;

export function ConditionField() {
  // One that is being typed stays the one, also while it is empty.
  const edited = useSignal<number | undefined>(undefined);
  const list = filledConditions.value;
  const own =
    conditions.value.find(({ id }) => id === edited.value) ?? list[Math.min(chosen.value, list.length - 1)] ?? conditions.value.at(-1);
  if (!own) return null;
  const { id } = own;

  const type = (text: string): void => {
    editCondition(id, text);
    const place = filledConditions.peek().findIndex((condition) => condition.id === id);
    if (place >= 0) chosen.value = place;
  };

  return (
    <div class="condition-field">
      <label for="condition-explained">{words.condition}</label>
      <input
        type="text"
        class="condition"
        id="condition-explained"
        dir="auto"
        lang={own.text ? "en" : undefined}
        value={own.text}
        placeholder={strings.conditions.placeholder}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => type(event.currentTarget.value)}
        onFocus={() => (edited.value = id)}
        onBlur={() => (edited.value = undefined)}
      />
      {list.length > 1 && (
        <select aria-label={words.others} value={Math.min(chosen.value, list.length - 1)} onChange={(event) => (chosen.value = Number(event.currentTarget.value))}>
          {list.map(({ id, text }, index) => (
            <option key={id} value={index}>
              {text}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}
