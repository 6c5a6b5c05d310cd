// What is being done, with a way to stop it; and what came of it, in words.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { lens } from "../state/engine";
import { isAboutInput } from "../state/problem";
import { strings } from "../strings";
import { type Kind, kinds } from "../tables/saved";
import { Failure } from "../ui/Notices";
import { lines, through } from "./fields";
import { age, doubtedNow, foreign, grouped, type Grouped, groupAgain, left, names, problem, progress, readSoFar, stop, stopped, uncertain, upToDate, verdict } from "./grouping";
import { PassingButton } from "./PassingButton";
import { download, toCsv, toJson } from "./save";

const words = strings.list;

function summary({ lines, groups, condition }: Grouped): string {
  const silent = groups.find(({ unmentioned }) => unmentioned)?.members.length ?? 0;
  const [said, count] = [lines.length - silent, groups.length - (silent > 0 ? 1 : 0)];
  return `${words.groups.summary(said, count, condition)}${silent > 0 ? words.groups.silent(silent) : ""}`;
}

/** What is judged of the groups, in words. */
function judged(): string {
  const now = grouped.value;
  if (!now || age.value !== "" || now.groups.filter(({ unmentioned }) => !unmentioned).length < 2) return "";
  const found = verdict.value;
  if (!found) return "";
  return found.kind === "few" ? words.verdict.few : words.verdict[found.kind](found.own, found.without);
}

/** What is done now, or what stands below, in words. */
function below(): string {
  if (progress.value !== undefined) return words.underWay(lines.value.length, through.value);
  const now = grouped.value;
  if (now) return age.value === "earlier" ? words.earlier : summary(now);
  return lines.value.length === 0 ? words.empty : "";
}

export function Work() {
  const status = useRef<HTMLSpanElement>(null);
  const unsaved = useSignal(false);
  const share = progress.value;
  const now = grouped.value;

  const save = async (kind: Kind, groups: Grouped): Promise<void> => {
    try {
      download(kind, await (kind === "csv" ? toCsv : toJson)(groups, names.value, await doubtedNow(groups)));
      unsaved.value = false;
    } catch {
      unsaved.value = true;
    }
  };

  return (
    <div class="work">
      <div class="work-bar">
        {share !== undefined && (
          <div
            class="progress"
            role="progressbar"
            aria-label={words.working(share)}
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={Math.floor(share * 100)}
            aria-valuetext={left.value === undefined ? undefined : words.left(left.value)}
          >
            <div class="progress-fill" style={{ transform: `scaleX(${share})` }} />
          </div>
        )}
      </div>
      {problem.value && (
        <Failure title={words.problem} problem={problem.value} retry={isAboutInput(problem.value) ? undefined : groupAgain} />
      )}
      {unsaved.value && (
        <div class="notice notice-bad" role="alert">
          <p>{words.missing(words.texts.writer)}</p>
        </div>
      )}
      <div class="work-line">
        <p>
          <span role="status" ref={status} tabIndex={-1}>
            {stopped.value ? `${words.stopped} ${below()}` : below()}
          </span>{" "}
          {/* The bar says it to who does not see it, when asked. */}
          {share !== undefined && (
            <span class="quiet" aria-hidden="true">
              {[
                readSoFar.value !== undefined && words.read(readSoFar.value, lines.value.length),
                left.value !== undefined && words.left(left.value),
              ]
                .filter(Boolean)
                .join(" · ")}
            </span>
          )}
        </p>
        <div class="work-tools">
          {share !== undefined && (
            <PassingButton key="stop" onClick={stop} neighbour={status}>
              {words.cancel}
            </PassingButton>
          )}
          {stopped.value && (
            <PassingButton key="again" strong onClick={groupAgain} neighbour={status}>
              {words.again}
            </PassingButton>
          )}
          {now &&
            kinds.map((kind) => (
              <button key={kind} type="button" class="button" disabled={!upToDate.value} onClick={() => void save(kind, now)}>
                {words.export[kind]}
              </button>
            ))}
        </div>
      </div>
      <p class="judgement" role="status">
        {judged()}
      </p>
      <p class="note" role="status">
        {foreign.value && strings.sentences.foreignAmong(foreign.value.texts, foreign.value.languages, lens.value?.info.languages ?? [])}{" "}
        {uncertain.value.unknown > 0 && words.groups.unknown(uncertain.value.unknown)}{" "}
        {uncertain.value.cut > 0 && words.groups.cut(uncertain.value.cut)}
      </p>
    </div>
  );
}
