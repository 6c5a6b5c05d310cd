// Two discs and the lens between them, at three sizes: the mark, a row's glyph, the big figure.

import { distanceFor, lensPath } from "./overlap";

interface Shape {
  readonly width: number;
  readonly height: number;
  readonly radius: number;
  readonly similarity: number;
  readonly class: string;
}

/** Decoration: whoever draws it says the similarity in words nearby. */
function Discs({ width, height, radius, similarity, class: name }: Shape) {
  const distance = distanceFor(similarity) * radius;
  const [x, y] = [width / 2, height / 2];
  return (
    <svg class={name} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <circle class="disc-first" cx={x - distance / 2} cy={y} r={radius} />
      <circle class="disc-second" cx={x + distance / 2} cy={y} r={radius} />
      <path class="disc-lens" d={lensPath(x, y, radius, distance)} />
    </svg>
  );
}

export const Mark = () => <Discs class="mark" width={48} height={34} radius={16} similarity={0.42} />;

export const Glyph = ({ similarity }: { similarity: number }) => (
  <Discs class="glyph" width={40} height={22} radius={9.5} similarity={similarity} />
);

export const Figure = ({ similarity }: { similarity: number }) => (
  <Discs class="figure-discs" width={300} height={156} radius={74} similarity={similarity} />
);
