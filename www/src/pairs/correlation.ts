// How well two lists of numbers agree in their order.

/** Ranks from 1; of numbers that are alike each has the mean of theirs. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => (values[a] as number) - (values[b] as number));
  const ranks = new Array<number>(values.length);
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && values[order[end] as number] === values[order[start] as number]) end += 1;
    for (const i of order.slice(start, end)) ranks[i] = (start + 1 + end) / 2;
    start = end;
  }
  return ranks;
}

/** Spearman's ρ, −1 to 1; undefined where one list has one value alone. */
export function spearman(one: readonly number[], two: readonly number[]): number | undefined {
  const [a, b] = [ranks(one), ranks(two)];
  const mean = (one.length + 1) / 2;
  const product = (x: readonly number[], y: readonly number[]): number => x.reduce((sum, value, i) => sum + (value - mean) * ((y[i] as number) - mean), 0);
  const length = Math.sqrt(product(a, a) * product(b, b));
  return length > 0 ? product(a, b) / length : undefined;
}
