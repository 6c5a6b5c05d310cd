// `using`: what has a method `dispose` is disposed of at the end of a block.

/**
 * Makes an object disposable by `using`, where the language has that: older engines have no `Symbol.dispose`. Each object says so
 * by itself: a block that runs for its class would keep bundlers from leaving the class out where nobody uses it.
 */
export function disposable(object: { dispose(): void }): void {
  if (!Symbol.dispose) return;
  Object.defineProperty(object, Symbol.dispose, { value: object.dispose, writable: true, configurable: true });
}
