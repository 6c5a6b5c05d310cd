// The table of pairs that is open, and what the model says of each row.

import { batch, computed, signal } from "@preact/signals";
import { ask, type Answer, comparisonOf } from "../state/answers";
import { lens, noteDevice, overcome } from "../state/engine";
import { filledConditions } from "../state/fields";
import { isAbort, type Problem } from "../state/problem";
import { strings } from "../strings";
import { unsaidIn } from "../state/said";
import { isReadable } from "../tables/readable";
import { whyNot } from "../tables/refusal";
import { bodyOf, columnNames, isHeaded, type Table, textIn } from "../tables/table";
import { answerCells, answerFields } from "./cells";
import { type Columns, columnsOf, ratingsOf } from "./columns";
import { spearman } from "./correlation";

const words = strings.pairs;

/** Comparisons that are made of a table at most: some minutes of work. */
export const maxComparisons = 10_000;

interface Opened {
  readonly table: Table;
  readonly headed: boolean;
  readonly columns: Columns;
}

export const opened = signal<Opened | undefined>(undefined);
/** Why a file was not taken, in words. */
export const trouble = signal("");

/** A comparison that is to be made. */
export interface Question {
  /** The table's row, its header not counted. */
  readonly row: number;
  readonly pair: readonly [string, string];
  readonly condition: string;
}

/** What is asked of the table, and how many rows lack a part. */
const asked = computed(() => {
  const own = opened.value;
  if (!own) return { all: [], lacking: 0 };
  const { first, second, condition } = own.columns;
  const above = filledConditions.value.map(({ text }) => text.trim());
  let lacking = 0;
  const all = bodyOf(own.table, own.headed).flatMap((cells, row): Question[] => {
    const pair = [textIn(cells[first]), textIn(cells[second])] as const;
    const under = condition === undefined ? above : [textIn(cells[condition])].filter(isReadable);
    const whole = pair.every(isReadable);
    if (!whole || (condition !== undefined && under.length === 0)) lacking += 1;
    return whole ? under.map((condition) => ({ row, pair, condition })) : [];
  });
  return { all, lacking };
});
export const questions = computed(() => asked.value.all.slice(0, maxComparisons));
export const lacking = computed(() => asked.value.lacking);
/** Comparisons beyond the most that are made. */
export const beyond = computed(() => asked.value.all.length - questions.value.length);

/** Answers in the order of the questions, as far as they are here, and of what. */
interface Found {
  readonly opened: Opened;
  readonly questions: readonly Question[];
  readonly answers: readonly Answer[];
}
export const found = signal<Found | undefined>(undefined);
/** How far it is, from 0 to 1; undefined while nothing is done. */
export const progress = signal<number | undefined>(undefined);
export const stopped = signal(false);
export const problem = signal<Problem | undefined>(undefined);
let running: AbortController | undefined;

/** How well similarities agree with a column of people's ratings, where there is one; `silent`: rows that count for nothing, as a sentence says nothing. */
export const agreement = computed(() => {
  const done = found.value;
  const ratings = done && ratingsOf(done.opened.table, done.opened.headed);
  if (!done || !ratings || progress.value !== undefined) return undefined;
  let silent = 0;
  const couples = done.answers.flatMap((answer, i): [number, number][] => {
    const comparison = comparisonOf(answer);
    const rating = ratings.values[done.questions[i]?.row ?? -1] ?? NaN;
    if (!comparison || !Number.isFinite(rating)) return [];
    if (unsaidIn(comparison)) silent += 1;
    return unsaidIn(comparison) ? [] : [[comparison.similarity, rating]];
  });
  const rho = spearman(couples.map(([a]) => a), couples.map(([, b]) => b));
  return rho === undefined ? undefined : { name: ratings.name, rho, rows: couples.length, silent };
});

/** The sentences in languages that the model was not trained on, each once, and those languages; undefined where there are none. */
export const foreign = computed(() => {
  const languages = new Map<string, string>();
  found.value?.answers.forEach((answer, i) => {
    const question = found.value?.questions[i];
    comparisonOf(answer)?.language?.forEach((language, place) => {
      if (question && language !== null) languages.set(question.pair[place as 0 | 1], language);
    });
  });
  return languages.size === 0 ? undefined : { texts: languages.size, languages: [...new Set(languages.values())] };
});

/** Takes a table, or other columns of it. */
export function take(table: Table, headed = table.named ?? isHeaded(table.rows), columns = columnsOf(table, headed)): void {
  stop();
  batch(() => {
    found.value = undefined;
    stopped.value = false;
    problem.value = undefined;
    trouble.value = columns ? "" : words.oneColumn;
    opened.value = columns && { table, headed, columns };
  });
}

/** Opens a file and takes its table. */
export async function open(file: File): Promise<void> {
  try {
    const { readTable } = await import("../tables/read");
    take(await readTable(file));
  } catch (error) {
    trouble.value = whyNot(error, file.name);
  }
}

/** Stops what is being done; what is there stays. */
export function stop(): void {
  if (!running) return;
  running.abort();
  running = undefined;
  progress.value = undefined;
  stopped.value = true;
}

/** Compares every pair. */
export async function compareAll(): Promise<void> {
  const by = lens.peek();
  const own = opened.peek();
  if (!by || !own) return;
  stop();
  const mine = new AbortController();
  running = mine;
  const all = questions.peek();
  const answers: Answer[] = [];
  batch(() => {
    stopped.value = false;
    problem.value = undefined;
    progress.value = 0;
  });
  const show = (): void => void (found.value = { opened: own, questions: all, answers: [...answers] });
  let shown = 0;
  try {
    for (let start = 0; start < all.length; ) {
      const { row, pair } = all[start] as Question;
      let end = start;
      while (all[end]?.row === row) end += 1;
      const conditions = all.slice(start, end).map(({ condition }) => condition);
      answers.push(...(await ask(by, pair, conditions, { signal: mine.signal })));
      if (running !== mine) return;
      start = end;
      if (performance.now() - shown > 100) {
        shown = performance.now();
        batch(() => {
          progress.value = start / all.length;
          show();
        });
      }
    }
    noteDevice();
  } catch (error) {
    if (running !== mine || isAbort(error)) return;
    problem.value = overcome(error, by);
    stopped.value = true;
  }
  running = undefined;
  batch(() => {
    show();
    progress.value = undefined;
  });
}

/** The table with what was found, as CSV by papaparse: a row a comparison, in the order of the table. */
export async function toCsv({ opened: { table, headed, columns }, questions, answers }: Found): Promise<string> {
  const { unparse } = (await import("papaparse")).default;
  const body = bodyOf(table, headed);
  const names = columnNames(table, headed);
  const data = answers.map((answer, i) => {
    const { row, condition } = questions[i] as Question;
    return [...names.map((_, place) => body[row]?.[place] ?? ""), ...(columns.condition === undefined ? [condition] : []), ...answerCells(answer)];
  });
  const fields = [...names, ...(columns.condition === undefined ? ["condition"] : []), ...answerFields];
  return unparse({ fields, data }, { escapeFormulae: true });
}
