/** Hands the page its turn between two pieces of work. */
export const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
