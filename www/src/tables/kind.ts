// What kind of file bytes are, by how they begin: names are often wrong, and on Windows often hidden.

/** `office`: Excel, Word or PowerPoint of before 2007. `unknown`: text, as far as its beginning tells. */
export type Kind = "zip" | "office" | "other" | "unknown";

const magic: readonly (readonly [Kind, string])[] = [
  ["zip", "PK\x03\x04"],
  ["zip", "PK\x05\x06"], // without a file in it
  ["office", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"],
  ["other", "%PDF-"],
  ["other", "{\\rtf"],
];

export function kindOf(bytes: Uint8Array): Kind {
  const start = String.fromCharCode(...bytes.subarray(0, 8));
  return magic.find(([, mark]) => start.startsWith(mark))?.[0] ?? "unknown";
}

// All but tab and the ends of lines and pages.
const control = /[\0-\x08\x0e-\x1f\x7f]/g;
/** Share of control characters above which characters are no text: any bytes are Windows-1252, but few are UTF-8. */
const mostControl = { "windows-1252": 0.005, other: 0.3 };

/** Text without its control characters; undefined where it is too full of them to be one. */
export function withoutControls(text: string, encoding: string): string | undefined {
  const found = text.match(control)?.length ?? 0;
  if (found > text.length * (encoding === "windows-1252" ? mostControl[encoding] : mostControl.other)) return undefined;
  return found > 0 ? text.replace(control, "") : text;
}
