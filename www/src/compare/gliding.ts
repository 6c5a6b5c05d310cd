// A number that glides to its new value, or jumps where people ask for less motion.

import { useEffect, useRef, useState } from "preact/hooks";

const glideMs = 320;
const still = matchMedia("(prefers-reduced-motion: reduce)");

export function useGliding(target: number): number {
  const [shown, setShown] = useState(target);
  const from = useRef(target);
  from.current = shown;

  useEffect(() => {
    const start = from.current;
    if (still.matches || start === target) {
      setShown(target);
      return undefined;
    }
    const began = performance.now();
    let frame = requestAnimationFrame(function move(now) {
      const share = Math.min(1, Math.max(0, now - began) / glideMs);
      const eased = 1 - (1 - share) ** 3;
      setShown(start + (target - start) * eased);
      if (share < 1) frame = requestAnimationFrame(move);
    });
    return () => cancelAnimationFrame(frame);
  }, [target]);

  return shown;
}
