// What is being done, with a way to stop it; and what came of it, in words.

import { isAboutInput } from "../state/problem";
import { strings } from "../strings";
import { lines } from "./fields";
import { grouped, groupAgain, problem, progress, stop, stopped } from "./grouping";
import { download, toCsv } from "./table";

const words = strings.list;

export function Work() {
  const share = progress.value;
  const now = grouped.value;
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
          >
            <div class="progress-fill" style={{ transform: `scaleX(${share})` }} />
          </div>
        )}
      </div>
      {problem.value && (
        <div class="notice notice-bad" role="alert">
          <p class="notice-title">{words.problem}</p>
          <p>{problem.value.message}</p>
          {!isAboutInput(problem.value) && (
            <div class="notice-tools">
              <button type="button" class="button button-strong" onClick={groupAgain}>
                {words.again}
              </button>
            </div>
          )}
        </div>
      )}
      <div class="work-line">
        <p role="status" class={share === undefined ? "" : "quiet"}>
          {stopped.value
            ? words.stopped
            : now
              ? `${words.groups.summary(now.lines.length, now.groups.length, now.condition)} ${words.groups.silhouette(now.silhouette)}`
              : lines.value.length === 0
                ? words.empty
                : ""}
        </p>
        <div class="work-tools">
          {share !== undefined && (
            <button type="button" class="button" onClick={stop}>
              {words.cancel}
            </button>
          )}
          {stopped.value && (
            <button type="button" class="button button-strong" onClick={groupAgain}>
              {words.again}
            </button>
          )}
          {now && (
            <button type="button" class="button" onClick={() => void toCsv(now).then((csv) => download(words.file, csv))}>
              {words.export}
            </button>
          )}
        </div>
      </div>
    </div>
  );
}
