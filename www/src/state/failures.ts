// Pairs that the encoder that ships judges otherwise than people would. What it says of each stands in stored.json, and a test finds those
// that it has learnt since: they leave.

export interface Failure {
  readonly sentences: readonly [string, string];
  readonly condition: string;
  /** What people would say of the two under the condition. */
  readonly people: "alike" | "unlike";
  /** What it takes to get it right. */
  readonly kind: "roles" | "irony" | "units" | "time" | "arithmetic" | "world";
}

export const failures: readonly Failure[] = [
  { kind: "roles", sentences: ["The dog bites the man.", "The man bites the dog."], condition: "who is bitten", people: "unlike" },
  { kind: "roles", sentences: ["Paul is taller than Mary.", "Mary is taller than Paul."], condition: "who is taller", people: "unlike" },
  {
    kind: "irony",
    sentences: ["What a wonderful day: first the flat tyre, then the rain.", "What a wonderful day: first the beach, then the ice cream."],
    condition: "the mood",
    people: "unlike",
  },
  { kind: "units", sentences: ["The temperature is 20 °C.", "The temperature is 68 °F."], condition: "the temperature", people: "alike" },
  { kind: "units", sentences: ["The ticket costs a hundred cents.", "The ticket costs one dollar."], condition: "the price", people: "alike" },
  { kind: "time", sentences: ["The meeting starts at half past two.", "The meeting starts at 14:30."], condition: "the time of the meeting", people: "alike" },
  { kind: "arithmetic", sentences: ["Two couples dance in the hall.", "Four people dance in the hall."], condition: "the number of people", people: "alike" },
  {
    kind: "world",
    sentences: ["Einstein developed the theory of relativity.", "Darwin developed the theory of evolution."],
    condition: "the profession",
    people: "alike",
  },
];
