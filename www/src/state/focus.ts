// What the big lens looks through: the condition pointed at or being edited, else the first one, so that the page opens with it.

import { computed, signal } from "@preact/signals";
import { filledConditions } from "./fields";

/** What was pointed at last: a condition, or the naked eye, which is put away when another list of conditions comes. */
type Held = { readonly condition: number } | { readonly nakedEyeBefore: number | undefined };

const held = signal<Held | undefined>(undefined);
const firstId = computed(() => filledConditions.value[0]?.id);

/** The condition in the lens; undefined for the naked eye. */
export const inLens = computed((): number | undefined => {
  const now = held.value;
  if (!now) return firstId.value;
  if ("nakedEyeBefore" in now) return now.nakedEyeBefore === firstId.value ? undefined : firstId.value;
  return filledConditions.value.some(({ id }) => id === now.condition) ? now.condition : firstId.value;
});

export const holdCondition = (id: number): void => void (held.value = { condition: id });
export const holdNakedEye = (): void => void (held.value = { nakedEyeBefore: firstId.peek() });

/**
 * What a row needs to go into the lens when it is pointed at. A row that slides below a resting pointer is not: browsers
 * say that the pointer entered it, but not that it moved.
 */
export const pointing = (hold: () => void) => ({ onPointerMove: hold, onPointerDown: hold });
