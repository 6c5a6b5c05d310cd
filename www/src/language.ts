// The language that the page speaks, as public/theme.js chose it before anything was drawn.

export const language = globalThis.document?.documentElement.lang || "en";
