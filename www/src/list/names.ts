// Names that people give to groups. One belongs to a group's texts: it stays with them for as long as a group holds mostly these.

import { signal } from "@preact/signals";

/** A name that was given. */
export interface Name {
  /** The condition of the group. */
  readonly condition: string;
  readonly name: string;
  /** Place in the list of the text that stands for the group: by it a link names the group. */
  readonly place: number;
  /** The texts of the group; of one that only a link named they are found out with the groups. */
  readonly texts?: ReadonlySet<string>;
}

/** What has to be known of groups to name them. */
export interface Nameable {
  readonly lines: readonly string[];
  readonly condition: string;
  readonly groups: readonly { readonly center: number; readonly members: readonly { readonly text: string }[]; readonly unmentioned?: true }[];
  /** For each text, the place of its group. */
  readonly labels: ArrayLike<number>;
  /** What sets each group apart, in words; empty where nothing was found. */
  readonly words: readonly string[];
}

export const maxName = 60;
export const givenNames = signal<readonly Name[]>([]);

export const cleanName = (typed: string): string => typed.replace(/\s+/g, " ").trim().slice(0, maxName).trim();

type Group = Nameable["groups"][number];
/** Of groups of thousands of texts, made once. */
const made = new WeakMap<Group, ReadonlySet<string>>();

function textsOf(group: Group): ReadonlySet<string> {
  const texts = made.get(group) ?? new Set(group.members.map(({ text }) => text));
  made.set(group, texts);
  return texts;
}

/** Whether two sets have more in common than not: of groups without a common text, one at most is so close to a set. */
function areMostlyAlike(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  let common = 0;
  if (a === b) return true;
  for (const one of a) if (b.has(one)) common++;
  return 2 * common > a.size + b.size - common;
}

/** The name that was given to each group; undefined where none was. */
export function namesFor(now: Nameable, given: readonly Name[]): (string | undefined)[] {
  const own = given.filter(({ condition }) => condition === now.condition);
  if (own.length === 0) return now.groups.map(() => undefined);
  return now.groups.map((group, index) => {
    if (group.unmentioned) return undefined;
    const texts = textsOf(group);
    return own.findLast((name) => (name.texts ? areMostlyAlike(name.texts, texts) : now.labels[name.place] === index))?.name;
  });
}

/** Names with the texts and the places that they have in these groups: names of a link get theirs, and what was edited is kept up with. */
export function settled(now: Nameable, given: readonly Name[]): readonly Name[] {
  if (!given.some(({ condition }) => condition === now.condition)) return given;
  const names = namesFor(now, given);
  const there = names.flatMap((name, index): Name[] => {
    const group = now.groups[index];
    if (!group || name === undefined || name === now.words[index]) return [];
    return [{ condition: now.condition, name, place: group.center, texts: textsOf(group) }];
  });
  // A name of a group that is not there waits for it; one of a link has no texts to be known again by.
  const all = now.groups.map(textsOf);
  const waiting = given.filter(({ condition, texts }) => condition !== now.condition || (texts && !all.some((one) => areMostlyAlike(texts, one))));
  const next = [...waiting, ...there].slice(-maxKept);
  return next.length === given.length && next.every((one, i) => isSame(one, given[i] as Name)) ? given : next;
}
/** Names that are remembered, over all conditions. */
const maxKept = 60;

const isSame = (a: Name, b: Name): boolean =>
  a.condition === b.condition && a.name === b.name && a.place === b.place && a.texts !== undefined && b.texts !== undefined &&
  (a.texts === b.texts || (a.texts.size === b.texts.size && [...a.texts].every((text) => b.texts?.has(text))));

/** Names with this one for a group; without one where `name` is empty, or what the group is called anyway. */
export function renamed(now: Nameable, given: readonly Name[], index: number, typed: string): readonly Name[] {
  const group = now.groups[index];
  if (!group) return given;
  const texts = textsOf(group);
  const others = given.filter((one) => one.condition !== now.condition || !(one.texts ? areMostlyAlike(one.texts, texts) : now.labels[one.place] === index));
  const name = cleanName(typed);
  return name === "" || name === now.words[index] ? others : [...others, { condition: now.condition, name, place: group.center, texts }];
}
