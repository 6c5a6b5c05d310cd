// A file that cannot be taken, for a reason that is the file's own.

/** Its message is for people: what the file is, and what to do. */
export class Refusal extends Error {}
