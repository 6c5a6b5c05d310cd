// CASE and the encoder that ships, number by number.

import type { ExplainedStep, Explanation } from "caselens";
import { cosine, rating } from "../format";
import { encoderOf, kept } from "../state/encoders";
import { strings } from "../strings";
import { ProgressBar } from "../ui/Loading";
import { Failure } from "../ui/Notices";
import { beside, canStandBeside, problem, progress, wanted } from "./beside";
import { explained, waiting } from "./state";

const words = strings.how.beside;
const steps: readonly ExplainedStep["name"][] = ["plain", "joint", "offset", "projected"];

const Number = ({ explanation, name }: { explanation: Explanation | undefined; name: ExplainedStep["name"] }) => {
  const step = explanation?.steps.find((each) => each.name === name);
  return <td>{!explanation ? words.waiting : step ? cosine(step.cosine) : <span class="quiet">{words.leftOut}</span>}</td>;
};

function Table({ own, other }: { own: Explanation; other: Explanation | undefined }) {
  return (
    <table class={waiting.value ? "stale" : undefined}>
      <caption>{own.condition === null ? words.title : words.caption(own.condition)}</caption>
      <thead>
        <tr>
          <th scope="col">{strings.how.steps.cosine.chart}</th>
          <th scope="col">{strings.encoders.names.case}</th>
          <th scope="col">{strings.encoders.names.small}</th>
        </tr>
      </thead>
      <tbody>
        {steps.map((name) => (
          <tr key={name}>
            <th scope="row">{strings.how.steps.cosine.names[name]}</th>
            <Number explanation={own} name={name} />
            <Number explanation={other} name={name} />
          </tr>
        ))}
        <tr>
          <th scope="row">{words.rating}</th>
          <td>{rating(own.rating)}</td>
          <td>{other ? rating(other.rating) : words.waiting}</td>
        </tr>
      </tbody>
    </table>
  );
}

const figuresOf = (id: "case" | "small") => encoderOf(id).figures;

export function Beside() {
  const own = explained.value?.own;
  if (!canStandBeside.value || !own) return null;
  const { megabytes } = figuresOf("small");
  return (
    <section class="beside" aria-labelledby="beside-title">
      <h2 id="beside-title">{words.title}</h2>
      <p>{words.text(figuresOf("case").spearman, figuresOf("small").spearman)}</p>
      <button type="button" class="button" aria-expanded={wanted.value} onClick={() => (wanted.value = !wanted.value)}>
        {wanted.value ? words.close : kept.value.has("small") ? words.open : words.download(megabytes)}
      </button>
      {wanted.value && (
        <>
          <ProgressBar state={beside.value || !progress.value ? undefined : { phase: "loading", encoder: "small", progress: progress.value }} />
          <Table own={own} other={beside.value} />
        </>
      )}
      {problem.value && <Failure title={words.problem} problem={problem.value} retry={() => (wanted.value = true)} />}
    </section>
  );
}
