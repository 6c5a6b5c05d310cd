// How far the model's download is: as a bar under the sentences, and in words beside the results' title.

import { type Engine, engine, stay } from "../state/engine";
import { encoderOf } from "../state/encoders";
import { strings } from "../strings";

const words = strings.loading;

/** The progress in words; undefined when nothing is being loaded. */
export function progressOf(state: Engine | undefined): string | undefined {
  if (state?.phase !== "loading") return undefined;
  const { progress, encoder } = state;
  if (!progress) return words.starting;
  // A server that compresses does not say how much there is; the model's card does.
  const total = progress.total ?? Math.max(encoderOf(encoder).figures.megabytes * 1e6, progress.loaded);
  return progress.phase === "download" ? words.bytes(progress.loaded, total) : words.preparing;
}

/** Keeps its place when nothing is loading, so that nothing moves. */
export function ProgressBar({ state }: { state: Engine | undefined }) {
  const text = progressOf(state);
  const share = state?.phase === "loading" ? (state.progress?.progress ?? 0) : 0;
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

export const LoadingBar = () => <ProgressBar state={engine.value} />;

export const LoadingWords = () => {
  const text = progressOf(engine.value);
  return text === undefined ? null : (
    <>
      {text} <span class="meanwhile">{words.meanwhile}</span>{" "}
      {engine.value.encoder !== "small" && (
        <button type="button" class="plain" onClick={stay}>
          {strings.encoders.instead(strings.encoders.names.small)}
        </button>
      )}
    </>
  );
};
