// A button that goes away once it is pressed or needed no more: if it has the focus then, its neighbour gets it, and not the
// page's beginning.

import type { ComponentChildren, RefObject } from "preact";
import { useHeir } from "../ui/heir";

interface Props {
  readonly strong?: boolean;
  readonly disabled?: boolean;
  readonly onClick: () => void;
  readonly neighbour: RefObject<HTMLElement | null>;
  readonly children: ComponentChildren;
}

export function PassingButton({ strong = false, disabled = false, onClick, neighbour, children }: Props) {
  const button = useHeir<HTMLButtonElement>(() => neighbour.current);
  return (
    <button type="button" class={strong ? "button button-strong" : "button"} ref={button} disabled={disabled} onClick={onClick}>
      {children}
    </button>
  );
}
