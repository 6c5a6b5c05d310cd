// A text file that is too large to be read whole, as lines of pieces that lie spread over it: the beginning of a sorted file tells of one
// kind alone.

/** Pieces that are read, the beginning with the columns' names among them. */
const pieces = 50;
const newline = 0x0a;
const quote = 0x22;

/**
 * Whole lines from all over a file, at most `most` bytes of them. Undefined where a line cannot be told to be a row wherever one begins to
 * read: where cells go on over line ends, in UTF-16, and where lines are too long or end otherwise.
 */
export async function spreadOver(file: Blob, most: number): Promise<Uint8Array | undefined> {
  const size = Math.floor(most / pieces);
  const step = (file.size - size) / (pieces - 1);
  const read: Uint8Array<ArrayBuffer>[] = [];
  for (let i = 0; i < pieces; i++) {
    const at = Math.floor(i * step);
    const bytes = new Uint8Array(await file.slice(at, at + size).arrayBuffer());
    const lines = bytes.subarray(i === 0 ? 0 : bytes.indexOf(newline) + 1, bytes.lastIndexOf(newline) + 1);
    if (lines.length === 0 || !areRows(lines)) return undefined;
    read.push(lines);
  }
  return new Uint8Array(await new Blob(read).arrayBuffer());
}

/** Every quote that opens in a line closes in it, and no character takes more bytes than in UTF-8. */
function areRows(lines: Uint8Array): boolean {
  let open = false;
  for (const byte of lines) {
    if (byte === 0 || (byte === newline && open)) return false;
    if (byte === quote) open = !open;
  }
  return true;
}
