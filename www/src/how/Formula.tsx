// The formulas of steps, with the numbers that stand in them. Formulas are the same in every language, and a screen reader reads MathML.

import type { ComponentChildren } from "preact";
import type { ExplainedStep, Explanation } from "caselens";
import { dot } from "../vectors";

/** A symbol. */
const Of = ({ the, at }: { the: string; at?: string | undefined }) =>
  at === undefined ? <mi>{the}</mi> : <msub><mi>{the}</mi><mi>{at}</mi></msub>;

const Number = ({ of: value, digits = 2 }: { of: number; digits?: number }) => {
  const text = Math.abs(value).toFixed(digits);
  const negative = value < 0 && globalThis.Number(text) !== 0;
  return negative ? <mrow><mo>−</mo><mn>{text}</mn></mrow> : <mn>{text}</mn>;
};

const Sign = ({ is }: { is: string }) => <mo>{is}</mo>;

const Length = ({ of }: { of: string }) => <mrow><mo stretchy={false}>|</mo><mi>{of}</mi><mo stretchy={false}>|</mo></mrow>;

const Formula = ({ children }: { children: ComponentChildren }) => (
  <p class="formula">
    <math>{children}</math>
  </p>
);

/** f(s, c), of each of the two sentences. */
const Embedded = ({ of, condition = true }: { of: string; condition?: boolean }) => (
  <mrow><Of the="f" /><Sign is="(" />{of !== "" && <Of the="s" at={of} />}{of !== "" && condition && <Sign is="," />}{condition && <Of the="c" />}<Sign is=")" /></mrow>
);

/**
 * The mean of the token vectors that are averaged. Nothing where a sentence is read in more than one way or part: then its embedding is
 * no plain mean.
 */
export function MeanFormula({ result }: { result: Explanation }) {
  const { readings, recipe } = result;
  const pooling = recipe?.pooling ?? "all";
  if (pooling === "cls" || readings.some(({ length }) => length !== 1)) return null;
  const counts = readings.map(([reading]) => reading?.tokens.filter(({ part }) => pooling === "all" || part === pooling).length ?? 0);
  return (
    <>
      {counts.map((count, index) => (
        <Formula key={index}>
          <Embedded of={String(index + 1)} condition={recipe !== null} />
          <Sign is="=" />
          <mfrac><mn>1</mn><mn>{count}</mn></mfrac>
          <mrow><Sign is="(" /><Of the="t" at="1" /><Sign is="+" /><Of the="t" at="2" /><Sign is="+" /><Sign is="⋯" /><Sign is="+" /><Of the="t" at={String(count)} /><Sign is=")" /></mrow>
        </Formula>
      ))}
    </>
  );
}

/** f(s, c) − f(c), by the first number of each. */
export function DifferenceFormula({ joint, alone, left }: { joint: Float32Array | undefined; alone: Float32Array; left: Float32Array | undefined }) {
  const [whole, own, rest] = [joint?.[0], alone[0], left?.[0]];
  if (whole === undefined || own === undefined || rest === undefined) return null;
  return (
    <>
      <Formula><Embedded of="1" /><Sign is="−" /><Embedded of="" /></Formula>
      <Formula>
        <Number of={whole} /><Sign is="−" /><Sign is="(" /><Number of={own} /><Sign is=")" /><Sign is="=" /><Number of={rest} /><Sign is="," /><Sign is="…" />
      </Formula>
    </>
  );
}

/** The cosine of a step's two vectors, from their product and their lengths; and the rating, where it is that cosine's own. */
export function CosineFormula({ step, rating }: { step: ExplainedStep; rating: number }) {
  const [a, b] = step.vectors;
  const straight = 1 + 4 * Math.max(0, step.cosine);
  return (
    <>
      <Formula>
        <Of the="cos" /><Sign is="=" />
        <mfrac><mrow><Of the="a" /><Sign is="·" /><Of the="b" /></mrow><mrow><Length of="a" /><Length of="b" /></mrow></mfrac>
        <Sign is="=" />
        <mfrac><Number of={dot(a, b)} /><mrow><Number of={Math.sqrt(dot(a, a))} /><Sign is="×" /><Number of={Math.sqrt(dot(b, b))} /></mrow></mfrac>
        <Sign is="=" /><Number of={step.cosine} />
      </Formula>
      {Math.abs(straight - rating) < 0.005 && (
        <Formula>
          <mn>1</mn><Sign is="+" /><mn>4</mn><Sign is="·" /><Of the="max" /><Sign is="(" /><mn>0</mn><Sign is="," /><Number of={step.cosine} /><Sign is=")" /><Sign is="=" /><Number of={rating} digits={1} />
        </Formula>
      )}
    </>
  );
}
