// What a zip file says it unpacks to: what reads workbooks takes so much memory, whatever the file's own size.

/** The end of a zip file's directory, without the comment behind it. */
const END = 22;
const LONGEST_COMMENT = 0xffff;
/** A file's entry in the directory, without its name and what else is said of it. */
const ENTRY = 46;
const SIGNATURES = { end: 0x06054b50, large: 0x07064b50, entry: 0x02014b50 };

/**
 * Bytes that all its files unpack to. Infinity where the directory is in the form for files of 4 GB and more; 0 where there is none.
 */
export async function unpackedBytes(file: Blob): Promise<number> {
  const from = Math.max(0, file.size - END - LONGEST_COMMENT - 20);
  const tail = await view(file.slice(from));
  let end = tail.byteLength - END;
  while (end >= 0 && tail.getUint32(end, true) !== SIGNATURES.end) end--;
  if (end < 0) return 0;
  if (end >= 20 && tail.getUint32(end - 20, true) === SIGNATURES.large) return Infinity;
  const count = tail.getUint16(end + 8, true);
  const directory = await view(file.slice(tail.getUint32(end + 16, true), from + end));
  let bytes = 0;
  for (let i = 0, at = 0; i < count && at + ENTRY <= directory.byteLength; i++) {
    if (directory.getUint32(at, true) !== SIGNATURES.entry) break;
    bytes += directory.getUint32(at + 24, true);
    at += ENTRY + directory.getUint16(at + 28, true) + directory.getUint16(at + 30, true) + directory.getUint16(at + 32, true);
  }
  return bytes;
}

const view = async (blob: Blob): Promise<DataView> => new DataView(await blob.arrayBuffer());
