// SHA-256 of what comes piece by piece (FIPS 180-4): the browser's own digest takes whole files alone.

/** What takes bytes and tells their SHA-256; Node's own hashes are of this form. */
export interface Hash {
  update(bytes: Uint8Array): unknown;
  /** Of all bytes so far, in hexadecimal digits. Nothing can be added after it. */
  digest(form: "hex"): string;
}

/** The first 32 bits of the fractional parts of the square and the cube roots of the first primes. */
const primes = firstPrimes(64);
const fraction = (root: number) => ((root - Math.floor(root)) * 2 ** 32) | 0;
const START = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const ROUNDS = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));

const BLOCK = 64;

/** Eight words of state. */
type Eight = [number, number, number, number, number, number, number, number];

export class Sha256 implements Hash {
  readonly #state = Int32Array.from(START);
  readonly #words = new Int32Array(64);
  /** The beginning of a block that is not whole yet. */
  readonly #rest = new Uint8Array(BLOCK);
  #length = 0;

  update(bytes: Uint8Array): void {
    let at = 0;
    const waiting = this.#length % BLOCK;
    this.#length += bytes.byteLength;
    if (waiting > 0) {
      at = Math.min(BLOCK - waiting, bytes.byteLength);
      this.#rest.set(bytes.subarray(0, at), waiting);
      if (waiting + at < BLOCK) return;
      this.#block(new DataView(this.#rest.buffer), 0);
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (; at + BLOCK <= bytes.byteLength; at += BLOCK) this.#block(view, at);
    this.#rest.set(bytes.subarray(at));
  }

  digest(): string {
    const length = this.#length;
    // A one, zeros up to the last eight bytes of a block, and the length in bits.
    const padding = new Uint8Array(((119 - (length % BLOCK)) % BLOCK) + 9);
    padding[0] = 0x80;
    new DataView(padding.buffer).setBigUint64(padding.byteLength - 8, BigInt(length) * 8n);
    this.update(padding);
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  #block(view: DataView, at: number): void {
    const w = this.#words;
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15] as number;
      const y = w[i - 2] as number;
      const s0 = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3);
      const s1 = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10);
      w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0;
    }
    // Read and written one by one: a loop, or a pattern, takes as long as the rounds themselves.
    const state = this.#state as unknown as Eight;
    let a = state[0];
    let b = state[1];
    let c = state[2];
    let d = state[3];
    let e = state[4];
    let f = state[5];
    let g = state[6];
    let h = state[7];
    for (let i = 0; i < 64; i++) {
      const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (ROUNDS[i] as number) + (w[i] as number)) | 0;
      const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }
}

function rotated(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function firstPrimes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}
