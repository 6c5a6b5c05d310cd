// Where the model runs, what it is, how fast it answers: folded away at the page's end, for those who want to know.

import { lastTime } from "../state/answers";
import { chosenDevice, engine, movedToCpu, type Engine as EngineState } from "../state/engine";
import { step } from "../state/history";
import type { DeviceChoice } from "../state/link";
import { strings } from "../strings";
import { Encoders } from "./Encoders";
import { told } from "./Notices";

const words = strings.engine;

const Fact = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

function Facts({ state, time }: { state: Extract<EngineState, { phase: "ready" }>; time: boolean }) {
  const { info } = state.lens;
  return (
    <div class="facts">
      <dl>
        <Fact name={words.device} value={words.names[info.device] ?? info.device} />
        {info.instructions ? (
          <Fact name={words.instructions} value={info.instructions} />
        ) : (
          <Fact name={words.adapter} value={info.adapter || words.noAdapter} />
        )}
        <Fact name={words.model} value={info.model} />
        <Fact name={words.dtype} value={info.weights} />
        <Fact name={words.size} value={words.megabytes(info.bytes)} />
        {time && <Fact name={words.time} value={lastTime.value ? words.milliseconds(lastTime.value.ms) : strings.results.none} />}
      </dl>
      <p class="why">
        <span lang="en">{info.reason}</span>
        {movedToCpu.value ? ` ${strings.problems.gpuLost}` : ""}
      </p>
    </div>
  );
}

const choices: readonly DeviceChoice[] = ["auto", "webgpu", "wasm"];

const DeviceSwitch = () => (
  <fieldset class="switch">
    <legend class="hidden">{words.choose}</legend>
    {choices.map((choice) => (
      <label key={choice}>
        <input
          type="radio"
          name="device"
          value={choice}
          checked={chosenDevice.value === choice}
          onChange={() => step(() => (chosenDevice.value = choice))}
        />
        <span>{words.choices[choice]}</span>
      </label>
    ))}
  </fieldset>
);

interface Props {
  /** With the choice of the encoder, in views that have it nowhere else. */
  readonly choice?: boolean;
  /** With how long the last comparison took, where comparisons are what is shown. */
  readonly time?: boolean;
}

export function Engine({ choice = false, time = false }: Props) {
  const state = engine.value;
  return (
    <details class="engine">
      <summary>{words.title}</summary>
      <div class="engine-inside">
        {state.phase === "ready" ? (
          <Facts state={state} time={time} />
        ) : (
          <p class={state.phase === "failed" ? "problem" : "quiet"}>
            {state.phase === "failed" ? told(state.problem) : state.phase === "asking" ? strings.encoders.waiting : strings.loading.starting}
          </p>
        )}
        <DeviceSwitch />
      </div>
      {choice && <Encoders />}
    </details>
  );
}
