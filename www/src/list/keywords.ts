// What sets groups of texts apart, in words: class-based TF-IDF over words and pairs of neighbours (Grootendorst, "BERTopic", 2022), of
// which another measure may choose. Loaded when there are first groups to name.

import { nextTask } from "../turn";
import { stopWords } from "./stopWords";

/** A group's texts, the most telling first. */
export type Texts = readonly string[];

/** Words of a text that are looked at, and characters: what a text is about stands near its beginning. */
const maxWords = 80;
const maxCharacters = 800;
/** Terms a group is named by. */
const most = 3;
/** Characters of such a name, beyond which no further term is added. */
const longest = 34;
/** A term has to stand in two texts of its group; in one of so few texts one will do, where too few terms are left. */
const few = 15;
const least = 2;
/** How much larger a share of a group's texts has a term than of the others', at least. */
const clearlyMore = 1.5;
/** Milliseconds of work, after which the page has its turn. */
const turn = 12;

const word = /[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}'’-]*[\p{L}\p{M}\p{N}])?/gu;
const notLetters = /^[\p{N}'’-]+$/u;
/** They turn what follows into its opposite: a pair may begin with one. */
const negations = new Set(["no", "not", "never", "without"]);

/** A word without the s of its plural (Harman's S stemmer), so that "dog" and "dogs" count as one. */
export const stem = (word: string): string =>
  word.length < 4
    ? word
    : /[^ea]ies$/.test(word)
      ? `${word.slice(0, -3)}y`
      : /(ss|sh|ch|x|z)es$/.test(word)
        ? word.slice(0, -2)
        : /[^us]s$/.test(word)
          ? word.slice(0, -1)
          : word;

/** A term's texts: in each group, how many have it. */
interface Term {
  readonly counts: Uint32Array;
  /** Spellings, by how many texts have them. */
  readonly spelt: Map<string, number>;
  /** Stems of its words. */
  readonly stems: readonly string[];
}

/** The terms of one text, each once: words that carry meaning, and pairs of them that stand side by side. */
function termsOf(text: string, left: ReadonlySet<string>): Map<string, string> {
  const found = new Map<string, string>();
  let before: { readonly plain: string; readonly stem: string; readonly end: number } | undefined;
  let count = 0;
  for (const { 0: raw, index } of text.slice(0, maxCharacters).matchAll(word)) {
    if (++count > maxWords) break;
    const plain = raw.toLowerCase().replaceAll("’", "'").replace(/'s$/, "");
    const base = stem(plain);
    const isStop = stopWords.has(plain) || left.has(base);
    const isBare = notLetters.test(plain);
    if (!isStop && !isBare && plain.length > 1 && !found.has(base)) found.set(base, plain);
    const pairs = !isStop || (negations.has(plain) && !left.has(base));
    // Side by side: nothing but a space between them.
    if (before && !isStop && index - before.end === 1 && !(isBare && notLetters.test(before.plain))) {
      const key = `${before.stem} ${base}`;
      if (!found.has(key)) found.set(key, `${before.plain} ${plain}`);
    }
    before = pairs ? { plain, stem: base, end: index + raw.length } : undefined;
  }
  return found;
}

/** Hands the page its turn where it has waited for one. */
type Breath = () => Promise<void> | undefined;

function breathing(pause: () => Promise<void>): Breath {
  let since = performance.now();
  return () => {
    if (performance.now() - since < turn) return undefined;
    return pause().then(() => void (since = performance.now()));
  };
}

/** How much each group's terms tell of it, by another measure: the more, the larger. */
export type Weigh = (terms: readonly (readonly string[])[]) => Promise<readonly (readonly number[])[]>;

interface Options {
  /** What chooses among the terms of most weight; without it the weight does. */
  readonly weigh?: Weigh | undefined;
  /** Is waited for whenever the page has stood still for some milliseconds. */
  readonly pause?: () => Promise<void>;
}

/**
 * Terms that set each group apart from the others, the best first; none for a group that has none. A term's weight in a group is
 * tf · ln(1 + A / f): tf is the number of the group's texts that have it, f that of all texts, A the mean number of terms a group.
 * A term stands for a group only where a clearly larger share of its texts has it than of the others'.
 *
 * @param condition words of it name no group: all texts were looked at for it.
 */
export async function keywords(groups: readonly Texts[], condition: string, { weigh, pause = nextTask }: Options = {}): Promise<string[][]> {
  const breath = breathing(pause);
  const left = new Set([...condition.toLowerCase().matchAll(word)].map(([plain]) => stem(plain)));
  const terms = new Map<string, Term>();
  let total = 0;
  for (const [group, texts] of groups.entries()) {
    for (const text of texts) {
      for (const [key, spelling] of termsOf(text, left)) {
        let term = terms.get(key);
        if (!term) terms.set(key, (term = { counts: new Uint32Array(groups.length), spelt: new Map(), stems: key.split(" ") }));
        term.counts[group] = (term.counts[group] as number) + 1;
        term.spelt.set(spelling, (term.spelt.get(spelling) ?? 0) + 1);
        total++;
      }
      await breath();
    }
  }

  const all = groups.reduce((sum, { length }) => sum + length, 0);
  const mean = total / groups.length;
  const best = groups.map(() => ({ shared: new Best(), single: new Best() }));
  let seen = 0;
  for (const term of terms.values()) {
    const frequency = term.counts.reduce((sum, count) => sum + count, 0);
    for (const [group, texts] of groups.entries()) {
      const count = term.counts[group] as number;
      if (count < (texts.length > few ? 2 : 1)) continue;
      const others = all - texts.length;
      if (others > 0 && count / texts.length < clearlyMore * ((frequency - count) / others)) continue;
      best[group]?.[count > 1 ? "shared" : "single"].add({ term, count, weight: count * Math.log(1 + mean / frequency) });
    }
    if (++seen % 256 === 0) await breath();
  }
  if (!weigh) return best.map(({ shared, single }) => chosen(shared.all, single.all));
  const share = Math.floor(mostWeighed / groups.length);
  const candidates = best.map(({ shared, single }) => [...shared.all, ...single.all].slice(0, share));
  const weights = await weigh(candidates.map((own) => own.map(spelling)));
  return candidates.map((own, i) => told(own.map((candidate, j) => ({ ...candidate, weight: weights[i]?.[j] ?? 0 }))));
}

interface Candidate {
  readonly term: Term;
  /** Texts of the group that have it. */
  readonly count: number;
  readonly weight: number;
}

/** The candidates of most weight, the best first; of the same weight those that were met first. Sorting all would take too long. */
class Best {
  readonly all: Candidate[] = [];

  add(candidate: Candidate): void {
    let at = this.all.length;
    while (at > 0 && (this.all[at - 1] as Candidate).weight < candidate.weight) at--;
    if (at === mostCandidates) return;
    this.all.splice(at, 0, candidate);
    if (this.all.length > mostCandidates) this.all.pop();
  }
}
const mostCandidates = 100;
/** Terms that another measure is asked about, over all groups. */
const mostWeighed = 600;
/** A further term of a name weighs at most so much less than the first. */
const nearly = 0.15;

/** A term as most texts have it. */
const spelling = ({ term }: Candidate): string => [...term.spelt].reduce((best, one) => (one[1] > best[1] ? one : best))[0];

/** The first few terms by their weights, none of which has a word of another. */
function told(candidates: readonly Candidate[]): string[] {
  const names: string[] = [];
  const used = new Set<string>();
  const sorted = [...candidates].sort((a, b) => b.weight - a.weight);
  let length = 0;
  for (const candidate of sorted) {
    const name = spelling(candidate);
    if (names.length === most || candidate.weight < (sorted[0] as Candidate).weight - nearly) break;
    if (candidate.term.stems.some((one) => used.has(one)) || (names.length > 0 && length + name.length > longest)) continue;
    names.push(name);
    length += name.length;
    for (const one of candidate.term.stems) used.add(one);
  }
  return names;
}
/** A pair that so large a share of a word's texts have says more than the word. */
const mostlyPaired = 0.6;

/** The first few terms, none of which has a word of another; of the second sort no more than are needed. */
function chosen(shared: readonly Candidate[], single: readonly Candidate[]): string[] {
  const names: string[] = [];
  const used = new Set<string>();
  let length = 0;
  const all = [...shared, ...single];
  const isFree = ({ term }: Candidate): boolean => !term.stems.some((one) => used.has(one));
  for (const [i, candidate] of all.entries()) {
    if (names.length === most || (i >= shared.length && names.length >= least)) break;
    if (!isFree(candidate)) continue;
    const [word, another] = candidate.term.stems;
    const isPaired = (one: Candidate): boolean => one.term.stems.length > 1 && one.term.stems.includes(word as string);
    const pair = another === undefined ? all.find((one) => isPaired(one) && isFree(one) && one.count >= mostlyPaired * candidate.count) : undefined;
    const { stems } = (pair ?? candidate).term;
    const name = spelling(pair ?? candidate);
    if (names.length > 0 && length + name.length > longest) continue;
    names.push(name);
    length += name.length;
    for (const one of stems) used.add(one);
  }
  return names;
}
