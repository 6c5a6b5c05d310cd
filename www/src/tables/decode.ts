// What encoding a file's bytes are in: by its mark, by where its zeros lie, by whether it is UTF-8; else Windows-1252, in which Excel
// saves CSV in western Europe and which any bytes are.

/** A file's text. */
export interface Decoded {
  readonly text: string;
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";
  /** How many places are no characters in this encoding; each is U+FFFD in the text. */
  readonly damaged: number;
}

/** Bytes that are looked at to tell UTF-16. */
const sample = 65_536;
/** Share of pairs of bytes with a zero on one side: of Latin letters in UTF-16, and of any text's ends of lines and spaces. */
const latin = 0.4;
const any = 0.02;
/** UTF-8 of which at most this share of what is not ASCII is broken is damaged UTF-8, and no other encoding. */
const mostDamaged = 0.1;

/** @param whole the bytes do not end within a character of a longer file. */
export function decode(bytes: Uint8Array, whole = true): Decoded {
  const read = (encoding: Decoded["encoding"], fatal = false): string => new TextDecoder(encoding, { fatal }).decode(bytes, { stream: !whole });
  const lossy = (encoding: Decoded["encoding"]): Decoded => {
    const text = read(encoding);
    return { text, encoding, damaged: text.match(/\uFFFD/g)?.length ?? 0 };
  };
  const wide = utf16Mark(bytes) ?? utf16(bytes, latin);
  if (wide) return lossy(wide);
  try {
    return { text: read("utf-8", true), encoding: "utf-8", damaged: 0 };
  } catch {
    // Some zeros, which UTF-8 may hold as well, count once it is none.
    const wide = utf16(bytes, any);
    if (wide) return lossy(wide);
    const utf8 = lossy("utf-8");
    const foreign = utf8.text.match(/[^\0-\x7f]/g)?.length ?? 0;
    return utf8.damaged <= mostDamaged * foreign ? utf8 : lossy("windows-1252");
  }
}

function utf16Mark([first, second]: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** Which UTF-16 it is if at least this share of the pairs have a zero, and nearly all of them on the same side. */
function utf16(bytes: Uint8Array, share: number): "utf-16le" | "utf-16be" | undefined {
  const pairs = Math.min(sample, bytes.length) >> 1;
  let [high, low] = [0, 0];
  for (let i = 0; i < pairs; i++) {
    if (bytes[2 * i] === 0) high++;
    if (bytes[2 * i + 1] === 0) low++;
  }
  if (pairs === 0 || Math.max(high, low) < share * pairs || Math.max(high, low) < 10 * Math.min(high, low)) return undefined;
  return low > high ? "utf-16le" : "utf-16be";
}
