// Which encoder answers: chosen among those that lie beside the page, with its size before it is downloaded.

import { useEffect } from "preact/hooks";
import { online } from "../state/connection";
import { chosenEncoder, type EncoderId, encoderOf, kept, lookForKept, offered } from "../state/encoders";
import { chooseAgain, type Coming, encoder, lens, stay, switching } from "../state/engine";
import { step } from "../state/history";
import { strings } from "../strings";
import { ProgressBar, progressOf } from "./Loading";
import { Asking, Failure } from "./Notices";

const words = strings.encoders;

/** What choosing it costs. */
function costOf(id: EncoderId): string {
  const { megabytes } = encoderOf(id).figures;
  if (lens.value && encoder.value === id) return words.inUse(megabytes);
  if (kept.value.has(id)) return words.kept(megabytes);
  return online.value ? words.toDownload(megabytes) : words.offline(megabytes);
}

const Choice = ({ id }: { id: EncoderId }) => (
  <label class="encoder">
    <input
      type="radio"
      name="encoder"
      value={id}
      checked={chosenEncoder.value === id}
      aria-describedby={`encoder-${id}`}
      onChange={() => step(() => (chosenEncoder.value = id))}
    />
    <span class="encoder-name">{words.names[id]}</span>
    <span class="encoder-what" id={`encoder-${id}`}>
      {words.what[id]} <span class="quiet">{costOf(id)}</span>
    </span>
  </label>
);

/** How far the one is that was chosen, and a way back. Keeps its place when there is nothing to tell. */
function State({ coming }: { coming: Coming | undefined }) {
  const text = coming && progressOf(coming);
  return (
    <>
      <ProgressBar state={coming} />
      <div class="encoders-state">
        <p class="note" role="status">
          {text ?? (lens.value ? words.answers(words.names[encoder.value]) : "")}
        </p>
        {text !== undefined && (
          <button type="button" class="button" onClick={stay}>
            {words.cancel}
          </button>
        )}
      </div>
      {coming?.phase === "asking" && <Asking coming={coming} />}
      {coming?.phase === "failed" && (
        <Failure
          title={words.failed(words.names[coming.encoder])}
          problem={coming.problem}
          retry={() => chooseAgain(coming)}
          meanwhile={words.stays(words.names[encoder.value])}
        />
      )}
    </>
  );
}

export function Encoders() {
  // What was downloaded is kept a little after it answers.
  const look = (): void => void lookForKept();
  useEffect(look, []);
  if (offered.length < 2) return null;
  return (
    <fieldset class="encoders" onPointerEnter={look} onFocusIn={look}>
      <legend>{words.title}</legend>
      <div class="encoders-list">
        {offered.map((id) => (
          <Choice key={id} id={id} />
        ))}
      </div>
      <State coming={switching.value} />
      {offered.includes("large") && (
        <p class="note encoders-base">
          <a href={words.base.url}>{words.base.text}</a>
        </p>
      )}
    </fieldset>
  );
}
