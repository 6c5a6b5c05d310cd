// A part of the view that is folded away, and does its work while it is open.

import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";

export function Folded({ class: name, title, Inside }: { readonly class: string; readonly title: string; readonly Inside: ComponentType }) {
  const open = useSignal(false);
  return (
    <details class={`teachers ${name}`} onToggle={({ currentTarget }) => (open.value = currentTarget.open)}>
      <summary>{title}</summary>
      {open.value && <Inside />}
    </details>
  );
}
