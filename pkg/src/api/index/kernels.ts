// Loops over one block of rows: what a search spends its time in. Four sums at once keep a processor's units busy; a row that is
// no multiple of four has the rest by itself.

/** Fills `products[0 … to − from)` with the products of the rows `from` to `to`, each of `query.length` numbers, and the query. */
export function multiply(rows: Float32Array, query: Float64Array, from: number, to: number, products: Float64Array): void {
  const dims = query.length;
  const whole = dims & ~3;
  for (let row = from; row < to; row++) {
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let at = row * dims;
    let j = 0;
    for (; j < whole; j += 4, at += 4) {
      a += (rows[at] as number) * (query[j] as number);
      b += (rows[at + 1] as number) * (query[j + 1] as number);
      c += (rows[at + 2] as number) * (query[j + 2] as number);
      d += (rows[at + 3] as number) * (query[j + 3] as number);
    }
    for (; j < dims; j++, at++) a += (rows[at] as number) * (query[j] as number);
    products[row - from] = a + b + (c + d);
  }
}

/** Fills `products` with those of the rows from `from` on, each of `dims` numbers, with themselves. */
export function square(rows: Float32Array | Int8Array, dims: number, from: number, products: Float64Array): void {
  for (let i = 0, at = from * dims; i < products.length; i++) {
    let even = 0;
    let odd = 0;
    const end = at + dims;
    for (; at + 1 < end; at += 2) {
      even += (rows[at] as number) * (rows[at] as number);
      odd += (rows[at + 1] as number) * (rows[at + 1] as number);
    }
    if (at < end) even += (rows[at] as number) * (rows[at++] as number);
    products[i] = even + odd;
  }
}

/** As {@link multiply}, of bytes: whole numbers, whose products a processor adds up without turning them into fractions. */
export function multiplyBytes(rows: Int8Array, query: Int32Array, from: number, to: number, products: Float64Array): void {
  const dims = query.length;
  for (let row = from; row < to; row += 2) {
    // Two rows at once read the query once. The last of an odd number has itself for company.
    const second = row + 1 < to ? row + 1 : row;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let at = row * dims;
    let other = second * dims;
    let j = 0;
    for (; j + 1 < dims; j += 2, at += 2, other += 2) {
      const x = query[j] as number;
      const y = query[j + 1] as number;
      a = (a + Math.imul(rows[at] as number, x)) | 0;
      b = (b + Math.imul(rows[at + 1] as number, y)) | 0;
      c = (c + Math.imul(rows[other] as number, x)) | 0;
      d = (d + Math.imul(rows[other + 1] as number, y)) | 0;
    }
    if (j < dims) {
      a += Math.imul(rows[at] as number, query[j] as number);
      c += Math.imul(rows[other] as number, query[j] as number);
    }
    products[row - from] = a + b;
    products[second - from] = c + d;
  }
}

/** Fills `counts` with how many bits of the rows `from` to `to`, each of `query.length` words, differ from the query's. */
export function countDiffering(rows: Uint32Array, query: Uint32Array, from: number, to: number, counts: Float64Array): void {
  const words = query.length;
  for (let row = from; row < to; row++) {
    let bits = 0;
    for (let j = 0, at = row * words; j < words; j++, at++) {
      // The bits of pairs, of fours and of bytes are added up side by side (Warren, Hacker's Delight, 5-1).
      let word = (rows[at] as number) ^ (query[j] as number);
      word -= (word >>> 1) & 0x55555555;
      word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
      bits += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    counts[row - from] = bits;
  }
}
