// The languages that the page speaks: the browser's choice among them until the person makes one, which is remembered.

import { language } from "../language";

/** By the names of the files of strings/: the build says which there are. */
declare const __LANGUAGES__: readonly string[];

const key = "caselens-language";

function canRemember(): boolean {
  try {
    localStorage.getItem(key);
    return true;
  } catch {
    return false;
  }
}

/** Those to choose from; none where a choice could not be remembered. */
export const languages: readonly string[] = __LANGUAGES__.length > 1 && canRemember() ? __LANGUAGES__ : [];

/** What a language calls itself. */
export function ownName(code: string): string {
  const name = new Intl.DisplayNames(code, { type: "language" }).of(code) ?? code;
  return name.charAt(0).toLocaleUpperCase(code) + name.slice(1);
}

/** Opens the page in another language; `leave` is called before. */
export function speak(chosen: string, leave?: () => void): void {
  if (chosen === language) return;
  try {
    localStorage.setItem(key, chosen);
  } catch {
    return; // no room left
  }
  leave?.();
  location.reload();
}

/** What search engines and bookmarks take from the page's head, in its language. */
export function describePage(description: string): void {
  document.querySelector("meta[name=description]")?.setAttribute("content", description);
}
