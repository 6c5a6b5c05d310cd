// Enter goes from one field to the next.

/** The keydown handler of a field of text in which Enter makes no line. */
export function enterToNext(event: KeyboardEvent): void {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  const fields = [...document.querySelectorAll<HTMLElement>("main :is(textarea, input[type=text])")];
  fields[fields.indexOf(event.currentTarget as HTMLElement) + 1]?.focus();
}
