// The view that shows what a larger model says, beside the page's own.

import { rating, similarity } from "../format";
import { lens } from "../state/engine";
import { strings } from "../strings";
import { Bar } from "../ui/Bar";
import { LoadingBar } from "../ui/Loading";
import { Failure, Notices } from "../ui/Notices";
import { saidOf } from "../ui/spoken";
import type { Pair, PairItem } from "./pairs";
import { loadLarger, own, ownProblem, problem, type Shown, shown } from "./state";

const words = strings.larger;

const Answer = ({ answer, why = "" }: { answer: { similarity: number; rating: number } | null | undefined; why?: string | undefined }) => (
  <td>
    {answer && why ? (
      <span class="quiet">{why}</span>
    ) : answer ? (
      <>
        <strong>{similarity(answer.similarity)}</strong>{" "}
        <span class="quiet">
          {rating(answer.rating)} {strings.results.outOf}
        </span>
        <Bar value={answer.similarity} unconditional={undefined} />
      </>
    ) : (
      <span class="quiet">{answer === null ? words.unread : words.waiting}</span>
    )}
  </td>
);

const Row = ({ item, people }: { item: PairItem; people: boolean }) => (
  <tr>
    <th scope="row" dir="auto">{item.condition}</th>
    <Answer answer={item} />
    <Answer answer={own.value.get(item.index)} why={saidOf(own.value.get(item.index) ?? undefined)?.why} />
    {people && (
      <td class="larger-people">
        {item.label === undefined ? (
          <span class="quiet">{strings.results.none}</span>
        ) : (
          <>
            <strong>{rating(item.label)}</strong> <span class="quiet">{strings.results.outOf}</span>
          </>
        )}
      </td>
    )}
  </tr>
);

function PairTable({ pair, place, people }: { pair: Pair; place: number; people: boolean }) {
  return (
    <section class="larger-pair" aria-label={words.pair(place)}>
      <p class="larger-sentence larger-first" dir="auto">{pair.sentence1}</p>
      <p class="larger-sentence larger-second" dir="auto">{pair.sentence2}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{strings.conditions.heading}</th>
            <th scope="col">{words.theirs}</th>
            <th scope="col">{words.ours}</th>
            {people && <th scope="col">{words.people}</th>}
          </tr>
        </thead>
        <tbody>
          {pair.items.map((item) => (
            <Row key={item.index} item={item} people={people} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Which models answer, and under which licences. */
const Models = ({ gallery }: Shown) => (
  <dl class="larger-models">
    <dt>{words.theirs}</dt>
    <dd>
      {gallery.encoder} <span class="quiet">{words.dims(gallery.dims)}</span>
    </dd>
    <dt>{words.ours}</dt>
    <dd>
      {lens.value ? (
        <>
          {lens.value.info.model} <span class="quiet">{words.dims(lens.value.info.dims)}</span>
        </>
      ) : (
        words.waiting
      )}
    </dd>
    {gallery.licenses.length > 0 && (
      <>
        <dt>{words.licences}</dt>
        {gallery.licenses.map((line) => (
          <dd key={line}>{line}</dd>
        ))}
      </>
    )}
  </dl>
);

export function Larger() {
  const { gallery, pairs } = shown.value ?? {};
  const people = gallery?.items.some(({ label }) => label !== undefined) ?? false;
  return (
    <>
      <div class="hero larger-hero">
        <h1>{words.title}</h1>
        <p class="lead">{words.lead}</p>
      </div>
      {shown.value && <Models {...shown.value} />}
      <LoadingBar />
      <Notices />
      {problem.value && <Failure title={words.problem} problem={problem.value} retry={() => void loadLarger()} />}
      {ownProblem.value && <Failure title={strings.problems.compareTitle} problem={ownProblem.value} retry={undefined} />}
      {pairs?.map((pair, index) => (
        <PairTable key={index} pair={pair} place={index + 1} people={people} />
      ))}
    </>
  );
}
