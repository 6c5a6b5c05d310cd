// What may come a frame later: drawn and laid out in a task of its own, so that no single task holds up the page.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

export function Later({ children }: { children: ComponentChildren }) {
  const [painted, setPainted] = useState(false);
  // Effects run after the paint of what they belong to.
  useEffect(() => setPainted(true), []);
  return painted ? children : null;
}
