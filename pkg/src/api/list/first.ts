// The first few of many in some order, without sorting all of them.

/** Keeps the first few of the numbers that it is offered, in some order. */
export class First {
  /** A heap: what comes last of those kept so far is at its root, and gives way to whatever comes before it. */
  readonly #heap: number[] = [];
  readonly #limit: number;
  readonly #order: (a: number, b: number) => number;

  /**
   * @param limit how many to keep.
   * @param order below 0 where `a` comes before `b`, as for `Array.sort`; never 0 for two different numbers.
   */
  constructor(limit: number, order: (a: number, b: number) => number) {
    this.#limit = limit;
    this.#order = order;
  }

  /** Whether a number would be kept now. */
  takes(number: number): boolean {
    return this.#heap.length < this.#limit || this.#order(number, this.#at(0)) < 0;
  }

  /** Keeps a number that it takes. */
  keep(number: number): void {
    if (this.#heap.length < this.#limit) {
      this.#heap.push(number);
      this.#rise();
    } else {
      this.#heap[0] = number;
      this.#sink();
    }
  }

  /** All that are kept, in their order. Nothing is kept after that. */
  sorted(): number[] {
    return this.#heap.sort(this.#order);
  }

  #at(place: number): number {
    return this.#heap[place] as number;
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#at(b), this.#at(a)];
  }

  #rise(): void {
    for (let i = this.#heap.length - 1; i > 0; ) {
      const parent = (i - 1) >> 1;
      if (this.#order(this.#at(i), this.#at(parent)) <= 0) return;
      this.#swap(i, parent);
      i = parent;
    }
  }

  #sink(): void {
    for (let i = 0; ; ) {
      let last = i;
      for (const child of [2 * i + 1, 2 * i + 2]) {
        if (child < this.#heap.length && this.#order(this.#at(child), this.#at(last)) > 0) last = child;
      }
      if (last === i) return;
      this.#swap(i, last);
      i = last;
    }
  }
}
