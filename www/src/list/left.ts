// How long work will still take, by how long its part so far took.

/** Before this nothing is told: what comes first, such as a worker that wakes up, says little of the rest. */
const leastMs = 2000;
/** Nor before this share is done. */
const leastShare = 0.03;

/**
 * Seconds that are left, rounded up to what is read at a glance: whole ones up to 10, then fives, and minutes from one on.
 *
 * @param elapsed milliseconds since the beginning
 * @param share what is done, 0 to 1
 * @returns undefined while it cannot be told
 */
export function secondsLeft(elapsed: number, share: number): number | undefined {
  if (!(elapsed >= leastMs && share >= leastShare && share < 1)) return undefined;
  const seconds = (elapsed / 1000 / share) * (1 - share);
  const step = seconds <= 10 ? 1 : seconds <= 55 ? 5 : 60;
  return Math.ceil(seconds / step) * step;
}
