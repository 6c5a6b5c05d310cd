// The first few of many in some order, without sorting all of them.

/**
 * The first `limit` of the numbers 0 to `count` − 1, in their order.
 *
 * @param order below 0 where `a` comes before `b`, as for `Array.sort`; never 0 for two different numbers.
 */
export function firstOf(count: number, limit: number, order: (a: number, b: number) => number): number[] {
  // A heap: what comes last of those kept so far is at its root, and gives way to whatever comes before it.
  const heap: number[] = [];
  const at = (place: number): number => heap[place] as number;
  const swap = (a: number, b: number): void => void ([heap[a], heap[b]] = [at(b), at(a)]);
  const rise = (): void => {
    for (let i = heap.length - 1; i > 0; ) {
      const parent = (i - 1) >> 1;
      if (order(at(i), at(parent)) <= 0) return;
      swap(i, parent);
      i = parent;
    }
  };
  const sink = (): void => {
    for (let i = 0; ; ) {
      let last = i;
      for (const child of [2 * i + 1, 2 * i + 2]) if (child < heap.length && order(at(child), at(last)) > 0) last = child;
      if (last === i) return;
      swap(i, last);
      i = last;
    }
  };
  for (let number = 0; number < count; number++) {
    if (heap.length < limit) {
      heap.push(number);
      rise();
    } else if (order(number, at(0)) < 0) {
      heap[0] = number;
      sink();
    }
  }
  return heap.sort(order);
}
