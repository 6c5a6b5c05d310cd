// Which condition the big lens looks through: the one pointed at or being edited, else the naked eye.

import { signal } from "@preact/signals";

export const inLens = signal<number | undefined>(undefined);
