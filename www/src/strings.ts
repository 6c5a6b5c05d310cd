// The page's words in the language that it speaks: a file of strings/ for each, of which a visit loads one.
//
// Modules take words when they are evaluated, so a page is loaded once its words are there. They are no top-level await: WebKit lets
// some of several modules that wait for the same one begin too early (bug 242740).

import { language } from "./language";
import type { Lessons } from "./lesson";
import type { strings as english } from "./strings/en";

/** What English has, in any words: functions are given the same. */
type InAnyWords<T> = T extends string ? string : T extends (...given: infer Given) => string ? (...given: Given) => string : { [K in keyof T]: InAnyWords<T[K]> };

export type Strings = InAnyWords<typeof english>;

export type { Lessons };

export let strings: Strings;
export let lessons: Lessons;

/** Loads the words. Nothing that takes any may be evaluated before. */
export async function loadWords(): Promise<void> {
  const words = (await import(`./strings/${language}.ts`)) as { readonly strings: Strings; readonly lessons: Lessons };
  ({ strings, lessons } = words);
}
