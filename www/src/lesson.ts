// What a lesson of How it works holds, in any language.

interface Lesson {
  readonly title: string;
  readonly question: string;
  readonly answer: string;
  /** In English, as the conditions are: the model reads them. */
  readonly sentences: readonly [string, string];
  readonly conditions: readonly string[];
  /** The condition that is explained, by its place among the conditions. */
  readonly chosen: number;
}

export type Lessons = readonly Lesson[];
