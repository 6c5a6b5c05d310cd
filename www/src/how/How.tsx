// The view that shows how a comparison comes about: the steps of the loaded model on the reader's own sentences.

import { bothTyped } from "../state/answers";
import { lens } from "../state/engine";
import { isAboutInput } from "../state/problem";
import { strings } from "../strings";
import { Encoders } from "../ui/Encoders";
import { Engine } from "../ui/Engine";
import { InEnglish } from "../ui/InEnglish";
import { LoadingBar, LoadingWords } from "../ui/Loading";
import { EngineNotices, Failure } from "../ui/Notices";
import { Sentence } from "../ui/Sentence";
import { Beside } from "./Beside";
import { ConditionField } from "./ConditionField";
import { fillScreen } from "./fullScreen";
import { Lessons } from "./Lessons";
import { Presentation } from "./Presentation";
import { condition, explainAgain, presented, presenting, problem, step, steps, type StepId } from "./state";
import { RateFirst } from "./RateFirst";
import { SheetPairs } from "./SheetPairs";
import { Sources } from "./Sources";
import { Space } from "./Space";
import { Step } from "./Step";
import { SwitchPanel } from "./SwitchPanel";
import { Teachers } from "./Teachers";
import { Worksheet } from "./Worksheet";

const words = strings.how;

/** Begins with what is on the screen, or at the first step. */
function present(): void {
  const shown = presented.value.find((id) => (document.getElementById(`step-${id}`)?.getBoundingClientRect().bottom ?? 0) > 120);
  step.value = shown ?? ("question" satisfies StepId);
  presenting.value = true;
  fillScreen();
}

const Intro = () => (
  <>
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
      <InEnglish />
    </section>
  </>
);

/** What is missing before there are steps to show, if anything. */
const Missing = () => (
  <p class="missing">
    {!bothTyped.value ? (
      words.needSentences
    ) : condition.value === undefined ? (
      words.needCondition
    ) : (
      <LoadingWords />
    )}
  </p>
);

/** Why there are no steps to show, or not yet. */
const State = () => (
  <>
    <LoadingBar />
    <Missing />
    {presenting.value && condition.value === undefined && <ConditionField />}
    <EngineNotices />
    {lens.value && problem.value && (
      <Failure title={words.problem} problem={problem.value} retry={isAboutInput(problem.value) ? undefined : explainAgain} />
    )}
  </>
);

const Tools = () => (
  <>
    <div class="how-tools">
      <ConditionField />
      <button type="button" class="button" onClick={present}>
        {words.present}
      </button>
      <button type="button" class="button" onClick={() => print()}>
        {words.print}
      </button>
      <SheetPairs />
    </div>
    <Encoders />
    <SwitchPanel />
  </>
);

export function How() {
  const alone = presenting.value;
  return (
    <>
      {!alone && <Intro />}
      <State />
      {!alone && <Tools />}
      <div class="steps">
        {steps.map((id, index) => (!alone || step.value === id) && <Step key={id} id={id} index={index} />)}
      </div>
      {alone ? (
        <Presentation />
      ) : (
        <>
          <Beside />
          <Space />
          <RateFirst />
          <Teachers />
          <Sources />
          <Engine />
        </>
      )}
      <Worksheet />
    </>
  );
}
