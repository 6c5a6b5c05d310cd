// How far the model's download is: as a bar under the sentences, and in words beside the results' title.

import { engine } from "../state/engine";
import { figures } from "../state/shipped";
import { strings } from "../strings";

const words = strings.loading;

/** The progress in words; undefined when nothing is being loaded. */
function loadingText(): string | undefined {
  const state = engine.value;
  if (state.phase !== "loading") return undefined;
  const { progress } = state;
  if (!progress) return words.starting;
  // A server that compresses does not say how much there is; the model's card does.
  const total = progress.total ?? Math.max(figures.megabytes * 1e6, progress.loaded);
  return progress.phase === "download" ? words.bytes(progress.loaded, total) : words.preparing;
}

/** Keeps its place when nothing is loading, so that nothing moves. */
export function LoadingBar() {
  const text = loadingText();
  const state = engine.value;
  const share = state.phase === "loading" ? (state.progress?.progress ?? 0) : 0;
  return (
    <div class="loading-bar">
      {text !== undefined && (
        <div
          class="progress"
          role="progressbar"
          aria-label={words.label}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.floor(share * 100)}
          aria-valuetext={text}
        >
          <div class="progress-fill" style={{ transform: `scaleX(${share})` }} />
        </div>
      )}
    </div>
  );
}

export const LoadingWords = () => {
  const text = loadingText();
  return text === undefined ? null : (
    <>
      {text} <span class="meanwhile">{words.meanwhile}</span>
    </>
  );
};
