// The view that shows how a comparison comes about: the steps of the loaded model on the reader's own sentences.

import { LoadingBar } from "../components/Loading";
import { Notices } from "../components/Notices";
import { Sentence } from "../components/Sentences";
import { hashOf } from "../state/history";
import { fields } from "../state/fields";
import { strings } from "../strings";
import { Lessons } from "./Lessons";
import { Presentation } from "./Presentation";
import { chosen, condition, presenting, problem, step, steps, type StepId } from "./state";
import { Step } from "./Step";
import { SwitchPanel } from "./SwitchPanel";
import { Worksheet } from "./Worksheet";

const words = strings.how;

const Chooser = () => (
  <label class="chooser">
    <span>{words.condition}</span>
    <select value={chosen.value} onChange={(event) => (chosen.value = Number(event.currentTarget.value))}>
      {fields.value.conditions.map((text, index) => (
        <option key={index} value={index}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

/** Begins with what is on the screen, or at the first step. */
function present(): void {
  const shown = steps.find((id) => (document.getElementById(`step-${id}`)?.getBoundingClientRect().bottom ?? 0) > 120);
  step.value = shown ?? ("question" satisfies StepId);
  presenting.value = true;
}

const Intro = () => (
  <div class="how-intro">
    <div class="hero how-hero">
      <h1>{words.title}</h1>
      <p class="lead">{words.lead}</p>
    </div>
    <Lessons />
    <section class="bench how-bench" aria-labelledby="how-sentences">
      <h2 id="how-sentences" class="hidden">
        {strings.sentences.title}
      </h2>
      <Sentence index={0} />
      <Sentence index={1} />
    </section>
    <LoadingBar />
    <Notices />
    <div class="how-tools">
      <Chooser />
      <button type="button" class="button" onClick={present}>
        {words.present}
      </button>
      <button type="button" class="button" onClick={() => print()}>
        {words.print}
      </button>
    </div>
    <SwitchPanel />
    {problem.value && (
      <p class="notice" role="alert">
        {problem.value.message}
      </p>
    )}
    {condition.value === undefined && (
      <p class="notice">
        {words.noConditions} <a href={hashOf("compare")}>{words.toCompare}</a>
      </p>
    )}
  </div>
);

export function How() {
  return (
    <>
      {!presenting.value && <Intro />}
      <div class="steps">
        {steps.map((id, index) => (!presenting.value || step.value === id) && <Step key={id} id={id} index={index} />)}
      </div>
      {presenting.value && <Presentation />}
      <Worksheet />
    </>
  );
}
