// How the vectors of a text's tokens become one.

import type { Info, Pooling } from "../types.js";
import { checkChoice } from "./check.js";

const POOLINGS: readonly Pooling[] = ["mean", "cls", "last", "pooler"];

/** As is asked, else as the encoder's file says. */
export const checkPooling = (value: Pooling | undefined, { pooling }: Pick<Info, "pooling">): Pooling => checkChoice("pooling", value, POOLINGS, pooling);
