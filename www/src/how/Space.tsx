// The space, drawn: points that glide when the condition changes.

import { useEffect } from "preact/hooks";
import { similarity } from "../format";
import { lens } from "../state/engine";
import { isAboutInput } from "../state/problem";
import { strings } from "../strings";
import { LoadingWords } from "../ui/Loading";
import { Failure } from "../ui/Notices";
import { Folded } from "./Folded";
import { legend, nearest, placeAgain, problem, type Point, shown, startSpace, tried, under } from "./space";
import { condition as explainedUnder } from "./state";

const words = strings.how.space;
const [width, height, margin, size] = [600, 360, 24, 9] as const;

/** Colour says the place, shape the activity, and being filled the person. */
function Mark({ parts: [person, activity, setting] }: { readonly parts: NonNullable<Point["parts"]> }) {
  return (
    <g class={`space-mark space-${setting} space-${person.replace(" ", "-")}`}>
      {activity === "chess" ? <circle r={size} /> : <rect x={-size + 1} y={-size + 1} width={2 * size - 2} height={2 * size - 2} />}
    </g>
  );
}

function Drawing() {
  const now = shown.value;
  if (!now) return null;
  const [across, down] = [width / 2 - margin, height / 2 - margin];
  return (
    <svg class="space-plane" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={now.condition === undefined ? words.plain : words.picture(now.condition)}>
      {now.points.map(({ text, parts }, i) => {
        // The same sentences keep their places in the list, and so their marks glide.
        const [x, y] = [width / 2 + across * (now.x[i] as number), height / 2 + down * (now.y[i] as number)];
        return (
          <g key={i} class="space-point" style={{ transform: `translate(${x}px, ${y}px)` }}>
            <title>{text}</title>
            {parts ? (
              <Mark parts={parts} />
            ) : (
              <>
                <circle class={i === 12 ? "space-own-first" : "space-own-second"} r={size + 3} />
                <text class="space-number" dy="0.36em">
                  {i - 11}
                </text>
              </>
            )}
          </g>
        );
      })}
    </svg>
  );
}

const Legend = () => (
  <ul class="space-legend">
    {legend.map(({ text, parts }) => (
      <li key={text}>
        <svg viewBox="-11 -11 22 22" aria-hidden="true">
          <Mark parts={parts} />
        </svg>{" "}
        <span lang="en">{text}</span>
      </li>
    ))}
  </ul>
);

function Conditions() {
  const own = explainedUnder.value;
  const all: readonly (string | undefined)[] = [undefined, ...tried, ...(own === undefined || (tried as readonly string[]).includes(own) ? [] : [own])];
  return (
    <div class="chips" role="group" aria-label={words.under}>
      {all.map((one) => (
        <button key={one ?? ""} type="button" class="chip" aria-pressed={under.value === one} onClick={() => (under.value = one)}>
          {one === undefined ? words.none : <span lang="en">{one}</span>}
        </button>
      ))}
    </div>
  );
}

function Inside() {
  useEffect(startSpace, []);
  const close = nearest.value;
  return (
    <div class="teachers-inside rate-inside">
      <p>{words.lead}</p>
      <Conditions />
      {!shown.value && <p class="quiet">{lens.value ? words.waiting : <LoadingWords />}</p>}
      <Drawing />
      <Legend />
      <p role="status">{close && words.nearest(close.text, similarity(close.similarity))}</p>
      {problem.value && <Failure title={strings.how.problem} problem={problem.value} retry={isAboutInput(problem.value) ? undefined : placeAgain} />}
      <p class="quiet">{words.note(shown.value?.by.info.dims ?? 384)}</p>
    </div>
  );
}

export const Space = () => <Folded class="space" title={words.title} Inside={Inside} />;
