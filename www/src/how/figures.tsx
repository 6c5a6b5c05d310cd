// What the model has at each step, drawn and in numbers.

import type { ComponentType } from "preact";
import { type ExplainedStep, type ExplainedToken, type Explanation, type Reading, unsaid } from "caselens";
import { cosine, similarity } from "../format";
import { lens } from "../state/engine";
import { doubtOf } from "../state/said";
import { attended } from "../state/words";
import { strings } from "../strings";
import { Chart } from "./Chart";
import { CosineFormula, DifferenceFormula, MeanFormula } from "./Formula";
import { Heads } from "./Heads";
import { Layer } from "./Layer";
import { Question } from "./Lessons";
import { presenting, shownLayer, type Explained, type StepId } from "./state";

const words = strings.how.steps;

type Figure = ComponentType<{ result: Explained }>;

const both = [0, 1] as const;
const kind = (index: 0 | 1): string => (index === 0 ? "first" : "second");

const QuestionFigure: Figure = ({ result }) => (
  <>
    {presenting.value && <Question />}
    {both.map((index) => (
      <p class={`spoken spoken-${kind(index)}`} key={index} dir="auto" lang="en">
        {result.sentences[index]}
      </p>
    ))}
    {result.own.condition !== null && <p class="asked" dir="auto">{strings.results.under(result.own.condition)}</p>}
    <p class="number">
      <span>{words.question.plain}</span> <b>{similarity(result.own.steps[0]?.cosine ?? 0)}</b>
    </p>
  </>
);

const Token = ({ token }: { token: ExplainedToken }) => <li class={`token token-${token.part}${token.unknown ? " token-unknown" : ""}`}>{token.text}</li>;

const hasUnknown = ({ readings }: Explanation): boolean => readings.flat().some(({ tokens }) => tokens.some(({ unknown }) => unknown));

const TokensFigure: Figure = ({ result }) => (
  <>
    {both.map((index) =>
      result.now.readings[index].map((reading: Reading) => (
        <ol class="tokens" lang="en" key={`${index}-${reading.order}`} aria-label={strings.how.sentence(index + 1)}>
          {reading.tokens.map((token, at) => (
            <Token key={at} token={token} />
          ))}
        </ol>
      )),
    )}
    {hasUnknown(result.now) && <p class="note">{words.tokens.unknown}</p>}
  </>
);

function Words({ sentence, readings, at, name }: { sentence: string; readings: readonly Reading[]; at: number; name: string }) {
  const { pieces, toSentence, largest } = attended(sentence, readings, at);
  const shares = pieces.filter((piece) => piece.share !== undefined);
  return (
    <div class="attended">
      <ol class="words" dir="auto" aria-label={name}>
        {shares.map(({ text, share = 0 }, index) => (
          <li key={index} style={{ "--strength": largest > 0 ? share / largest : 0 }}>
            <span class="word">{text}</span>
            <span class="word-share" aria-hidden="true">
              {Math.round(100 * share)}
            </span>
            <span class="hidden">{words.attention.share(text, share)}</span>
          </li>
        ))}
      </ol>
      <p class="note">{words.attention.rest(toSentence)}</p>
    </div>
  );
}

const AttentionFigure: Figure = ({ result }) => (
  <>
    {result.now.recipe ? (
      <>
        <Layer />
        {both.map((index) => (
          <Words
            key={index}
            sentence={result.sentences[index]}
            readings={result.now.readings[index]}
            at={shownLayer.value}
            name={strings.how.sentence(index + 1)}
          />
        ))}
      </>
    ) : (
      <p class="absent">{strings.how.needsCondition}</p>
    )}
    <Heads />
  </>
);

function Strips({ what, vectors }: { what: string; vectors: readonly Float32Array[] }) {
  const largest = vectors.reduce((most, vector) => vector.reduce((most, value) => Math.max(most, Math.abs(value)), most), 0);
  return (
    <figure class="strips">
      <figcaption>{what}</figcaption>
      {vectors.map((vector, index) => {
        const whose = vectors.length > 1 ? strings.how.sentence(index + 1) : what;
        return (
          <div key={index}>
            <Chart
              label={strings.how.strip(whose)}
              height={40}
              data={vector}
              draw={(plots, canvas) => plots.strip(canvas, vector, largest)}
            />
            <p class="note vector">
              {vectors.length > 1 && <>{whose}, </>}
              {strings.how.vector(vector)}
            </p>
          </div>
        );
      })}
    </figure>
  );
}

const stepOf = (explanation: Explanation, name: ExplainedStep["name"]): ExplainedStep | undefined =>
  explanation.steps.find((step) => step.name === name);

/** Why a step is not there. */
const Absent = ({ result, usual }: { result: Explained; usual: boolean }) => (
  <p class="absent">
    {result.now.recipe === null
      ? strings.how.needsCondition
      : usual
        ? strings.how.switchedOff
        : strings.how.skipped}
  </p>
);

const CosineOf = ({ step }: { step: ExplainedStep }) => (
  <p class="number">
    <span>{words.cosine.names[step.name]}</span> <b>{cosine(step.cosine)}</b>
  </p>
);

const EmbeddingFigure: Figure = ({ result }) => {
  const joint = stepOf(result.now, "joint");
  const step = joint ?? stepOf(result.now, "plain");
  if (!step) return null;
  return (
    <>
      <Strips what={joint ? words.embedding.what : words.embedding.plain} vectors={step.vectors} />
      <MeanFormula result={result.now} />
      <CosineOf step={step} />
    </>
  );
};

const SubtractionFigure: Figure = ({ result }) => {
  const step = stepOf(result.now, "offset");
  if (!step || !result.now.conditionAlone) return <Absent result={result} usual={result.own.usual.subtract} />;
  return (
    <>
      <Strips what={words.subtraction.alone} vectors={[result.now.conditionAlone]} />
      <Strips what={words.subtraction.what} vectors={step.vectors} />
      <DifferenceFormula joint={stepOf(result.now, "joint")?.vectors[0]} alone={result.now.conditionAlone} left={step.vectors[0]} />
      <CosineOf step={step} />
    </>
  );
};

const HeadFigure: Figure = ({ result }) => {
  const step = stepOf(result.now, "projected");
  if (!step) return result.own.usual.head ? <Absent result={result} usual /> : <p class="absent">{strings.how.noHead}</p>;
  return (
    <>
      <Strips what={words.head.what} vectors={step.vectors} />
      <CosineOf step={step} />
    </>
  );
};

/** Two arrows from one point, as far apart as the cosine says. */
function Angle({ cosine }: { cosine: number }) {
  const angle = Math.acos(Math.min(1, Math.max(-1, cosine)));
  const length = 130;
  const end = (turn: number) => `${20 + length * Math.cos(turn)} ${150 - length * Math.sin(turn)}`;
  const left = angle > Math.PI / 2 ? -140 : 0;
  const top = 140 - length * Math.sin(Math.min(angle, Math.PI / 2));
  return (
    <svg class="angle" viewBox={`${left} ${top} ${left < 0 ? 300 : 170} ${160 - top}`} role="img" aria-label={words.cosine.angle(cosine, Math.round((angle * 180) / Math.PI))}>
      <path class="angle-arc" d={`M${20 + 48} 150A48 48 0 0 0 ${20 + 48 * Math.cos(angle)} ${150 - 48 * Math.sin(angle)}L20 150Z`} />
      <path class="angle-first" d={`M20 150L${end(0)}`} />
      <path class="angle-second" d={`M20 150L${end(angle)}`} />
    </svg>
  );
}

const CosineFigure: Figure = ({ result }) => {
  const { steps, similarity: value, rating } = result.now;
  const bars = steps.map((step) => ({ name: words.cosine.names[step.name], cosine: step.cosine, written: cosine(step.cosine) }));
  const last = steps.at(-1);
  const height = 36 + 40 * bars.length;
  const nothing = lens.value && unsaid(result.now, lens.value.info);
  const doubt = doubtOf({ language: result.languages, unknown: hasUnknown(result.now) ? 1 : 0 });
  return (
    <>
      <div class="answer">
        <Angle cosine={value} />
        <div>
          <p class={doubt && !nothing ? "answer-value doubtful-value" : "answer-value"}>{nothing ? strings.results.none : similarity(value)}</p>
          {!nothing && <p>{words.cosine.rating(rating)}</p>}
          {nothing && <p class="absent">{words.cosine.unsaid[nothing]}</p>}
          {doubt && <p class="absent">{strings.results.doubt[doubt]}</p>}
          {last && <CosineFormula step={last} rating={rating} />}
          <p class="note">{words.cosine.angle(value, Math.round((Math.acos(Math.min(1, Math.max(-1, value))) * 180) / Math.PI))}</p>
        </div>
      </div>
      <Chart
        label={`${words.cosine.chart}: ${bars.map(({ name, written }) => `${name} ${written}`).join(", ")}.`}
        height={height}
        data={result}
        draw={(plots, canvas) => plots.cosines(canvas, bars)}
      />
    </>
  );
};

export const figures: Record<StepId, Figure> = {
  question: QuestionFigure,
  tokens: TokensFigure,
  attention: AttentionFigure,
  embedding: EmbeddingFigure,
  subtraction: SubtractionFigure,
  head: HeadFigure,
  cosine: CosineFigure,
};
