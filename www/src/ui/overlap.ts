// Two discs whose overlap has a given area: the page's picture of a similarity.

/** The share of a unit disc covered by another whose centre lies `distance` (0–2) away. */
const covered = (distance: number): number =>
  (2 * Math.acos(distance / 2) - (distance / 2) * Math.sqrt(4 - distance * distance)) / Math.PI;

/**
 * The distance between the centres of two unit discs that cover a share `similarity` of each other:
 * 0 when they coincide, 2 when they touch. Values outside 0–1 are clamped.
 */
export function distanceFor(similarity: number): number {
  const share = Math.min(1, Math.max(0, similarity));
  let near = 0;
  let far = 2;
  for (let step = 0; step < 30; step += 1) {
    const middle = (near + far) / 2;
    if (covered(middle) > share) near = middle;
    else far = middle;
  }
  return (near + far) / 2;
}

/** The outline of the lens between two discs of `radius` centred at (x ± distance / 2, y), as an SVG path. */
export function lensPath(x: number, y: number, radius: number, distance: number): string {
  const half = Math.sqrt(Math.max(0, radius * radius - (distance / 2) ** 2));
  const arc = `A${radius} ${radius} 0 0 1`;
  return `M${x} ${y - half}${arc}${x} ${y + half}${arc}${x} ${y - half}Z`;
}
