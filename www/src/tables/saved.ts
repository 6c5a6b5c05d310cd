// Files that this page saves.

/** The columns of every file of groups. */
export const exportColumns = ["text", "group", "group_name", "similarity_to_centre", "x", "y"] as const;

/** A text as it was before it was saved: a spreadsheet takes one that begins with such a sign for a formula, so a `'` is put before it. */
export const withoutEscape = (saved: string): string => saved.replace(/^'(?=[=+\-@\t\r])/, "");

/** By this mark Excel knows that a file is UTF-8. */
const byteOrderMark = "\uFEFF";
const types = { csv: "text/csv;charset=utf-8", json: "application/json" };
/** As what something can be saved. */
export type Kind = keyof typeof types;
export const kinds = Object.keys(types) as Kind[];

/** Saves something as a file. */
export function saveBlob(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Saves a text as a file. */
export const download = (name: string, kind: Kind, text: string): void =>
  saveBlob(name, new Blob([kind === "csv" ? byteOrderMark + text : text], { type: types[kind] }));
