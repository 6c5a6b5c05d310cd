// Whether a model sees anything of a text. Its tokenizer drops characters that have no shape of their own: a line of nothing else is
// empty to it, though it is not white space, and one such line would stop the whole list.

/** Anything but white space, control and format characters (U+200B, U+00AD), private ones, accents, and what could not be decoded. */
const seen = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Co}\p{Mn}\uFFFD]/u;

export const isReadable = (text: string): boolean => seen.test(text);
