// Many pairs at once: a table is opened, compared row by row, and saved with what was found.

import { useSignal } from "@preact/signals";
import { similarity } from "../format";
import { comparisonOf } from "../state/answers";
import { lens } from "../state/engine";
import { isAboutInput, type Problem } from "../state/problem";
import { strings } from "../strings";
import { download } from "../tables/saved";
import { columnNames } from "../tables/table";
import { FileButton } from "../ui/FileButton";
import { InEnglish } from "../ui/InEnglish";
import { LoadingWords } from "../ui/Loading";
import { Failure, told } from "../ui/Notices";
import { saidOf } from "../ui/spoken";
import type { Columns } from "./columns";
import { agreement, beyond, compareAll, foreign, found, lacking, maxComparisons, open, opened, problem, progress, questions, stop, stopped, take, toCsv, trouble } from "./state";

const words = strings.pairs;
/** What is wrong with a row; of a text that is too long the page's own words speak of its fields. */
const wrong = (problem: Problem): string => (problem.code === "text-too-long" ? words.tooLong : told(problem));
/** Rows that are shown; the file has all. */
const maxShown = 100;

function Choice({ of, label, none }: { readonly of: keyof Columns; readonly label: string; readonly none?: string }) {
  const own = opened.value;
  if (!own) return null;
  const { table, headed, columns } = own;
  const choose = (value: string): void => take(table, headed, { ...columns, [of]: value === "" ? undefined : Number(value) });
  return (
    <label class="choice">
      {label}{" "}
      <select value={columns[of] ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {columnNames(table, headed).map((name, i) => (
          <option key={i} value={i}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Choices() {
  const own = opened.value;
  if (!own) return null;
  const { table, headed } = own;
  return (
    <div class="texts-tools pairs-tools">
      <Choice of="first" label={words.first} />
      <Choice of="second" label={words.second} />
      <Choice of="condition" label={words.condition} none={words.above} />
      {table.named === undefined && (
        <label class="choice">
          <input type="checkbox" checked={headed} onChange={(event) => take(table, event.currentTarget.checked)} /> {strings.list.texts.header}
        </label>
      )}
    </div>
  );
}

/** What is asked, and what of the table is not, in words. */
function counted(): string {
  const own = opened.value;
  if (!own) return "";
  return [
    questions.value.length === 0 && lacking.value === 0 ? words.needCondition : words.count(questions.value.length),
    lacking.value > 0 ? words.lacking(lacking.value) : "",
    beyond.value > 0 ? words.beyond(maxComparisons) : "",
    ...own.table.notices,
  ]
    .filter(Boolean)
    .join(" ");
}

function Rows() {
  const done = found.value;
  if (!done || done.answers.length === 0) return null;
  const { answers, questions } = done;
  const failed = answers.filter((answer) => !comparisonOf(answer)).length;
  const more = answers.length - maxShown;
  return (
    <>
      <div class="pairs-rows" tabIndex={0} role="region" aria-label={words.results}>
        <table>
          <thead>
            <tr>
              <th scope="col">{words.first}</th>
              <th scope="col">{words.second}</th>
              <th scope="col">{words.condition}</th>
              <th scope="col">{strings.results.similarity}</th>
            </tr>
          </thead>
          <tbody>
            {answers.slice(0, maxShown).map((answer, i) => {
              const said = saidOf(comparisonOf(answer));
              const question = questions[i];
              return (
                <tr key={i}>
                  <td lang="en" dir="auto">{question?.pair[0]}</td>
                  <td lang="en" dir="auto">{question?.pair[1]}</td>
                  <td lang="en" dir="auto">{question?.condition}</td>
                  <td class={said?.why ? "quiet" : undefined}>
                    {said?.value !== undefined && <span class={said.doubt && "doubtful-value"}>{similarity(said.value)}</span>} {said?.why}
                    {"problem" in answer && wrong(answer.problem)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="quiet">
        {more > 0 && words.more(more)} {failed > 0 && words.failed(failed)}
      </p>
    </>
  );
}

export function Panel() {
  const unsaved = useSignal(false);
  const share = progress.value;
  const done = found.value;
  const agreed = agreement.value;
  const save = async (): Promise<void> => {
    try {
      if (done) download("caselens-pairs.csv", "csv", await toCsv(done));
      unsaved.value = false;
    } catch {
      unsaved.value = true;
    }
  };
  return (
    <>
      <p>{words.lead}</p>
      <InEnglish />
      <FileButton onFile={(file) => void open(file)}>{words.open}</FileButton>
      <Choices />
      <p class="note" role="status">
        {trouble.value && <span class="problem">{trouble.value} </span>}
        {counted()} {opened.value && !lens.value && <LoadingWords />}
      </p>
      <div class="work-bar">
        {share !== undefined && (
          <div class="progress" role="progressbar" aria-label={words.working(share)} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.floor(share * 100)}>
            <div class="progress-fill" style={{ transform: `scaleX(${share})` }} />
          </div>
        )}
      </div>
      {problem.value && <Failure title={words.problem} problem={problem.value} retry={isAboutInput(problem.value) ? undefined : () => void compareAll()} />}
      {unsaved.value && (
        <p class="notice notice-bad" role="alert">
          {strings.list.missing(strings.list.texts.writer)}
        </p>
      )}
      {opened.value && (
        <div class="pairs-tools">
          {share === undefined ? (
            <button type="button" class="button button-strong" disabled={!lens.value || questions.value.length === 0} onClick={() => void compareAll()}>
              {words.compare}
            </button>
          ) : (
            <button type="button" class="button" onClick={stop}>
              {strings.list.cancel}
            </button>
          )}
          {done && share === undefined && (
            <button type="button" class="button" onClick={() => void save()}>
              {strings.list.export.csv}
            </button>
          )}
        </div>
      )}
      <p role="status">
        {stopped.value && strings.list.stopped} {agreed && words.agreement(agreed.name, agreed.rho, agreed.rows)}{" "}
        {agreed && agreed.silent > 0 && words.silent(agreed.silent)}
      </p>
      {foreign.value && (
        <p class="note" role="status">
          {strings.sentences.foreignAmong(foreign.value.texts, foreign.value.languages, lens.value?.info.languages ?? [])}
        </p>
      )}
      <Rows />
    </>
  );
}
