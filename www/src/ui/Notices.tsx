// What went wrong, in a visitor's words, with the button that helps. What the package says of it, in English, is folded away, and goes to the
// console.

import { useEffect } from "preact/hooks";
import { askAgain, failure } from "../state/answers";
import { encoderOf } from "../state/encoders";
import { agree, chosenDevice, type Coming, encoder, engine, lens, loadLens, movedToCpu, stay, warnings } from "../state/engine";
import { sentences } from "../state/fields";
import { step } from "../state/history";
import { isAboutInput, type Problem } from "../state/problem";
import { strings } from "../strings";
import { headingAfter, useHeir } from "./heir";

const words = strings.problems;
const { encoders } = strings;

interface Props {
  readonly title: string;
  readonly problem: Problem;
  /** Absent when only another text helps. */
  readonly retry: (() => void) | undefined;
  /** What works all the same. */
  readonly meanwhile?: string | undefined;
  /** Another way out. */
  readonly instead?: { readonly name: string; readonly act: () => void } | undefined;
}

/** A problem in a visitor's words; what has none of its own is one that should not happen. */
export function told({ code }: Problem): string {
  if (code !== "text-too-long") return words.told[code] ?? (words.told["internal"] as string);
  const [first, second] = sentences.map(({ value }) => value.length) as [number, number];
  return second > first ? words.tooLong(1, second) : words.tooLong(0, first);
}

/** For who wants to know, or to report it. */
const Details = ({ text }: { text: string }) => (
  <details class="notice-details">
    <summary>{words.details}</summary>
    <p lang="en">{text}</p>
  </details>
);

export function Failure({ title, problem, retry, meanwhile, instead }: Props) {
  const place = useHeir<HTMLDivElement>(headingAfter);
  useEffect(() => console.info(`caselens: ${problem.code}: ${problem.message}`), [problem]);
  const offerCpu = chosenDevice.value !== "wasm" && ["webgpu-unavailable", "gpu-lost"].includes(problem.code);
  return (
    <div class="notice notice-bad" role="alert" ref={place}>
      <p class="notice-title">{title}</p>
      <p>
        {told(problem)} {meanwhile}
      </p>
      {!isAboutInput(problem) && <Details text={problem.message} />}
      <div class="notice-tools">
        {offerCpu && (
          <button type="button" class="button button-strong" onClick={() => step(() => (chosenDevice.value = "wasm"))}>
            {words.useCpu}
          </button>
        )}
        {retry && (
          <button type="button" class={offerCpu ? "button" : "button button-strong"} onClick={retry}>
            {words.retry}
          </button>
        )}
        {instead && (
          <button type="button" class="button" onClick={instead.act}>
            {instead.name}
          </button>
        )}
      </div>
    </div>
  );
}

/** Asks for a download that may cost money or minutes. */
export function Asking({ coming }: { coming: Coming }) {
  const place = useHeir<HTMLDivElement>(headingAfter);
  const { megabytes } = encoderOf(coming.encoder).figures;
  return (
    <div class="notice" ref={place}>
      <p role="status">{encoders.ask(encoders.names[coming.encoder], megabytes)}</p>
      <div class="notice-tools">
        <button type="button" class="button button-strong" onClick={() => agree(coming)}>
          {encoders.agree(megabytes)}
        </button>
        {coming.encoder !== "small" && (
          <button type="button" class="button" onClick={stay}>
            {lens.value ? encoders.stay(encoders.names[encoder.value]) : encoders.instead(encoders.names.small)}
          </button>
        )}
      </div>
    </div>
  );
}

/** About the model itself, whatever it is asked. */
export function EngineNotices() {
  const state = engine.value;
  return (
    <>
      {state.phase === "failed" && (
        <Failure
          title={words.title}
          problem={state.problem}
          retry={() => void loadLens(chosenDevice.value)}
          instead={state.encoder === "small" ? undefined : { name: encoders.instead(encoders.names.small), act: stay }}
        />
      )}
      {state.phase === "asking" && <Asking coming={state} />}
      <div role="status">
        {movedToCpu.value && <p class="notice">{words.gpuLost}</p>}
        {warnings.value.length > 0 && (
          <div class="notice">
            <p>{words.notKept}</p>
            <Details text={warnings.value.join(" ")} />
          </div>
        )}
      </div>
    </>
  );
}

export const Notices = () => (
  <>
    {lens.value && failure.value && (
      <Failure title={words.compareTitle} problem={failure.value} retry={isAboutInput(failure.value) ? undefined : askAgain} />
    )}
    <EngineNotices />
  </>
);
