// `using`: what has a method `dispose` is disposed of at the end of a block.

/** Makes objects of a class disposable by `using`, where the language has that: older engines have no `Symbol.dispose`. */
export function disposable(prototype: { dispose(): void }): void {
  if (!Symbol.dispose) return;
  Object.defineProperty(prototype, Symbol.dispose, { value: prototype.dispose, writable: true, configurable: true });
}
