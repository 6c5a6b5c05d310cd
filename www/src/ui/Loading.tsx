// How far the model's download is: as a bar under the sentences, and in words beside the results' title.

import { type Engine, engine, stay } from "../state/engine";
import { encoderOf } from "../state/encoders";
import { strings } from "../strings";

const words = strings.loading;

/** What the bar has left for building the model, once all of it is there. */
const downloadShare = 0.9;
/** The card rounds to this many megabytes: the bar counts with the most that may be meant, so that it never falls once the size is known. */
const cardStep = 0.1;

interface Shown {
  readonly text: string;
  /** How far the bar is, 0 to 1. */
  readonly share: number;
}

/** How far it is, in words and as a bar; undefined when nothing is being loaded. */
function shownOf(state: Engine | undefined): Shown | undefined {
  if (state?.phase !== "loading") return undefined;
  const { progress, encoder } = state;
  if (!progress) return { text: words.starting, share: 0 };
  if (progress.phase !== "download") return { text: words.preparing, share: progress.progress };
  if (progress.loaded === 0) return { text: words.starting, share: 0 };
  if (progress.total !== null) return { text: words.bytes(progress.loaded, progress.total), share: progress.progress };
  // A server that compresses does not say how much there is; the model's card does.
  const { megabytes } = encoderOf(encoder).figures;
  const [total, most] = [megabytes, megabytes + cardStep / 2].map((size) => Math.max(size * 1e6, progress.loaded)) as [number, number];
  return { text: words.bytes(progress.loaded, total), share: (downloadShare * progress.loaded) / most };
}

/** The progress in words; undefined when nothing is being loaded. */
export const progressOf = (state: Engine | undefined): string | undefined => shownOf(state)?.text;

/** Keeps its place when nothing is loading, so that nothing moves. */
export function ProgressBar({ state }: { state: Engine | undefined }) {
  const now = shownOf(state);
  return (
    <div class="loading-bar">
      {now && (
        <div
          class="progress"
          role="progressbar"
          aria-label={words.label}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.floor(now.share * 100)}
          aria-valuetext={now.text}
        >
          <div class="progress-fill" style={{ transform: `scaleX(${now.share})` }} />
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
