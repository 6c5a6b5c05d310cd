// XXH32 (Collet, https://github.com/Cyan4973/xxHash), with seed 0: tells a damaged file from a whole one at the speed of reading
// it. No protection against who wants to deceive.

const [P1, P2, P3, P4, P5] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1];

const turned = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

/** The hash of bytes that come piece by piece; all pieces but the last are multiples of 16 bytes. */
export class XxHash32 {
  #a = (P1 + P2) | 0;
  #b = P2 | 0;
  #c = 0;
  #d = -P1 | 0;
  #length = 0;
  #rest = new Uint8Array(0);

  push(bytes: Uint8Array): void {
    const whole = bytes.byteLength & ~15;
    const isAligned = bytes.byteOffset % 4 === 0;
    const words = isAligned ? new Uint32Array(bytes.buffer, bytes.byteOffset, whole / 4) : new Uint32Array(bytes.slice(0, whole).buffer);
    let [a, b, c, d] = [this.#a, this.#b, this.#c, this.#d];
    for (let i = 0; i < words.length; i += 4) {
      a = Math.imul(turned((a + Math.imul(words[i] as number, P2)) | 0, 13), P1);
      b = Math.imul(turned((b + Math.imul(words[i + 1] as number, P2)) | 0, 13), P1);
      c = Math.imul(turned((c + Math.imul(words[i + 2] as number, P2)) | 0, 13), P1);
      d = Math.imul(turned((d + Math.imul(words[i + 3] as number, P2)) | 0, 13), P1);
    }
    [this.#a, this.#b, this.#c, this.#d] = [a, b, c, d];
    this.#length += bytes.byteLength;
    this.#rest = bytes.slice(whole);
  }

  /** 0 to 2³² − 1. */
  get value(): number {
    const lanes = turned(this.#a, 1) + turned(this.#b, 7) + turned(this.#c, 12) + turned(this.#d, 18);
    let hash = ((this.#length >= 16 ? lanes : P5) + this.#length) | 0;
    const view = new DataView(this.#rest.buffer);
    let at = 0;
    for (; at + 4 <= view.byteLength; at += 4) hash = Math.imul(turned((hash + Math.imul(view.getUint32(at, true), P3)) | 0, 17), P4);
    for (; at < view.byteLength; at++) hash = Math.imul(turned((hash + Math.imul(view.getUint8(at), P5)) | 0, 11), P1);
    hash = Math.imul(hash ^ (hash >>> 15), P2);
    hash = Math.imul(hash ^ (hash >>> 13), P3);
    return (hash ^ (hash >>> 16)) >>> 0;
  }
}

/** The hash of bytes that are there. */
export function xxHash32(bytes: Uint8Array): number {
  const hash = new XxHash32();
  hash.push(bytes);
  return hash.value;
}
