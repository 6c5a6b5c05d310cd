// Which columns of a table are two sentences, the condition that they are compared under, and people's ratings.

import { bodyOf, columnNames, type Table, textIn, wordCount } from "../tables/table";

/** Places of columns; what a table has not is undefined. */
export interface Columns {
  readonly first: number;
  readonly second: number;
  readonly condition: number | undefined;
}

const sentenceNames = [/^(sentence|text|caption|question|s|t|q)[ _-]?(1|a)$/i, /^(sentence|text|caption|question|s|t|q)[ _-]?(2|b)$/i] as const;
const conditionName = /^(condition|aspect|criterion|c)$/i;
const ratingName = /^(label|rating|score|gold|human)s?$/i;
/** Rows that are looked at to guess. */
const sample = 200;

/** The columns by their names, else the two of most words; undefined where there are not two columns. */
export function columnsOf(table: Table, headed: boolean): Columns | undefined {
  const names = columnNames(table, headed);
  if (names.length < 2) return undefined;
  const named = (name: RegExp): number | undefined => {
    const place = headed ? names.findIndex((one) => name.test(one)) : -1;
    return place < 0 ? undefined : place;
  };
  const body = bodyOf(table, headed).slice(0, sample);
  const condition = named(conditionName);
  const wordiest = names
    .map((_, place) => ({ place, words: body.reduce((sum, row) => sum + wordCount(row[place] ?? ""), 0) }))
    .filter(({ place }) => place !== condition)
    .sort((a, b) => b.words - a.words || a.place - b.place)
    .slice(0, 2)
    .map(({ place }) => place)
    .sort((a, b) => a - b);
  const [first = 0, second = 1] = wordiest;
  const [one, two] = sentenceNames.map(named);
  return one === undefined || two === undefined ? { first, second, condition } : { first: one, second: two, condition };
}

/** People's ratings: the name of their column, and a number for each row, NaN where there is none. */
export interface Ratings {
  readonly name: string;
  readonly values: readonly number[];
}

/** Ratings, where a column is called so and holds numbers. */
export function ratingsOf(table: Table, headed: boolean): Ratings | undefined {
  if (!headed) return undefined;
  const names = columnNames(table, headed);
  const place = names.findIndex((name) => ratingName.test(name));
  if (place < 0) return undefined;
  const cells = bodyOf(table, headed).map((row) => textIn(row[place]).replace(",", ".").replace("−", "-"));
  const values = cells.map((cell) => (cell === "" ? NaN : Number(cell)));
  return values.some((value) => Number.isFinite(value)) ? { name: names[place] as string, values } : undefined;
}
