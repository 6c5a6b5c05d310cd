// The view's part of the address: none, there is nothing to choose.

import type { ViewLink } from "../state/route";

export const largerLink: ViewLink = { encode: () => "", decode: () => {} };
