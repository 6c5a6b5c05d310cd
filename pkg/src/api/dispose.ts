// `using`: what has a method `dispose` is disposed of at the end of a block.

/**
 * Makes an object disposable by `using`, where the language has that: older engines have no `Symbol.dispose`. Its class is left as it
 * is: bundlers keep one that is changed as it is defined, also where nobody uses it.
 */
export function disposable(object: { dispose(): void }): void {
  if (!Symbol.dispose) return;
  Object.defineProperty(object, Symbol.dispose, { value: object.dispose, writable: true, configurable: true });
}
