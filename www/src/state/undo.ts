// Changes that can be taken back: Ctrl+Z undoes the last one, as long as nothing was typed since. Then the field's own undo has the key.

import { computed, signal } from "@preact/signals";
import { fields, setFields, type Fields } from "./fields";
import { step } from "./history";

/** What was done, for whom it is told. */
export type Done = { readonly kind: "removed"; readonly condition: string } | { readonly kind: "cleared" | "swapped" | "replaced" };

interface Change {
  readonly before: Fields;
  readonly after: Fields;
  readonly done: Done;
}

/** Changes that are remembered. */
const most = 50;
const changes = signal<readonly Change[]>([]);

const isSame = (a: Fields, b: Fields): boolean => JSON.stringify([a.sentences, a.conditions]) === JSON.stringify([b.sentences, b.conditions]);

/** The last change, while what it made is what there is. */
export const lastChange = computed(() => {
  const last = changes.value.at(-1);
  return last && isSame(last.after, fields.value) ? last : undefined;
});

/** Makes a change that can be taken back, here and by the browser's Back. */
export function change(done: Done, make: () => void): void {
  const before = fields.peek();
  step(make);
  if (!isSame(before, fields.peek())) changes.value = [...changes.value.slice(1 - most), { before, after: fields.peek(), done }];
}

/** Takes the last change back; answers it, undefined where there is none. */
export function undo(): Change | undefined {
  const last = lastChange.peek();
  if (!last) return undefined;
  changes.value = changes.value.slice(0, -1);
  setFields(last.before);
  return last;
}
