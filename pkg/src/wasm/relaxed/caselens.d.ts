// The same module, built for relaxed SIMD.

export * from "../caselens.js";
export { default } from "../caselens.js";
