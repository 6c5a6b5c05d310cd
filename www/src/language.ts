// The language that the page speaks, as public/before.js chose it before anything was drawn.

export const language = globalThis.document?.documentElement.lang || "en";
