// An index of as many texts as one likes, without reading any: rows that look random, in the file that `save` would write.

import { read, written } from "../build/api/index/file.js";
import { Rows } from "../build/api/index/rows.js";

/** Numbers that look random and are the same every time, −1 to 1. */
function* numbers(seed = 1) {
  for (let state = seed; ; ) {
    state = (state * 48_271) % 2_147_483_647;
    yield (2 * state) / 2_147_483_647 - 1;
  }
}

/** The text of a row. */
const textOf = (row) => `This is text number ${row}, which is about as long as a sentence in a note tends to be.`;

/** The bytes of an index like `index`, of `count` texts. */
export async function filled(index, count) {
  const contents = await read(await index.save(), true, () => {});
  const { dtype, dims } = contents.description;
  const rows = new Rows(dtype, dims);
  const source = numbers();
  const next = () => source.next().value;
  const width = dtype === "binary" ? Math.ceil(dims / 8) : dims;
  const data = dtype === "float32" ? new Float32Array(width) : dtype === "int8" ? new Int8Array(width) : new Uint8Array(width);
  for (let row = 0; row < count; row++) {
    for (let d = 0; d < width; d++) data[d] = dtype === "float32" ? next() : 127 * next();
    rows.put({ dtype, dims, length: 1, data, scales: Float32Array.of(0.01) }, 0, row);
  }
  const items = Array.from({ length: count }, (_, id) => ({ id, text: textOf(id), metadata: { year: 1990 + (id % 30) } }));
  return written({ ...contents, items, rows });
}
