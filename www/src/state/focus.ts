// Which condition the big lens looks through: the one pointed at or being edited, else the naked eye.

import { signal } from "@preact/signals";

export const inLens = signal<number | undefined>(undefined);

/**
 * What a row needs to go into the lens when it is pointed at. A row that slides below a resting pointer is not: browsers
 * say that the pointer entered it, but not that it moved.
 */
export const pointing = (hold: () => void) => ({ onPointerMove: hold, onPointerDown: hold });
