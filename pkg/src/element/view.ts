// What <case-lens> shows: a shadow tree that is built once and then changed in place, so that focus and the caret stay.

import type { CaseLensError } from "../errors.js";
import { unsaid } from "../index.js";
import type { Comparison, Info } from "../types.js";
import type { Labels, Uncertain } from "./labels.js";
import { STYLE } from "./style.js";

/** What a reader did. */
export interface Actions {
  /** Changed a text. */
  edited(): void;
  /** Asked to try again. */
  retry(): void;
}

/** Texts as they stand. */
export interface Texts {
  readonly sentence1: string;
  readonly sentence2: string;
  readonly conditions: readonly string[];
}

interface Row {
  readonly element: HTMLLIElement;
  /** The condition: fixed text, or the field it is written in. */
  readonly text: HTMLElement;
  readonly meter: HTMLElement;
  readonly bar: HTMLElement;
  readonly numbers: HTMLElement;
  readonly remove: HTMLButtonElement | undefined;
  /** What is shown for it. */
  result?: Comparison | undefined;
}

/** Why a result is uncertain, the heaviest reason; undefined where it is not. */
const uncertain = ({ language, unknown, truncated }: Comparison): Uncertain | undefined =>
  language?.some((one) => one !== null) ? "foreign" : unknown ? "unknown" : truncated && "cut";

let sheet: CSSStyleSheet | undefined;

export class View {
  readonly #actions: Actions;
  #labels: Labels;
  readonly #base = node("div", "base");
  readonly #sentences = node("div", "sentences");
  readonly #foreign = node("p", "foreign");
  readonly #list = node("ul", "conditions");
  readonly #add = node("button", "add", "button");
  readonly #unconditional = node("p", "unconditional");
  readonly #progress = node("progress", "progress");
  readonly #error = node("div", "error");
  readonly #message = node("p", "message");
  readonly #retry = node("button", "retry", "button");
  readonly #status = node("p", "spoken");
  #fields: HTMLElement[] = [];
  /** What stands above the fields, where there are fields to write in. */
  #captions: Text[] = [];
  #rows: Row[] = [];
  #results: readonly Comparison[] = [];
  #info: Pick<Info, "languages" | "mentioned"> = { languages: null, mentioned: null }; // of the model that the results are of
  #failure: CaseLensError | undefined;
  /** What those who do not see it are told, in the words given. */
  #news: (words: Labels) => string = () => "";
  #editable = false;

  constructor(root: ShadowRoot, actions: Actions, labels: Labels) {
    this.#actions = actions;
    this.#labels = labels;
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
    }
    root.adoptedStyleSheets = [sheet];

    this.#base.tabIndex = -1;
    this.#list.setAttribute("role", "list"); // some browsers take it away where there are no bullets
    this.#add.type = this.#retry.type = "button";
    this.#add.onclick = () => this.#insert();
    this.#retry.onclick = () => {
      this.#base.focus(); // the button goes away, and the focus must not go with it
      actions.retry();
    };
    this.#status.setAttribute("role", "status");
    this.#error.setAttribute("role", "alert");
    this.#error.append(this.#message, this.#retry);
    for (const element of [this.#progress, this.#error, this.#add, this.#unconditional, this.#foreign]) element.hidden = true;
    this.#base.append(this.#sentences, this.#foreign, this.#list, this.#add, this.#unconditional, this.#progress, this.#error, this.#status);
    root.append(this.#base);
    this.#say();
  }

  set labels(labels: Labels) { // says everything in these words
    this.#labels = labels;
    this.#say();
  }

  get texts(): Texts { // the texts as the reader sees, and may have changed, them
    const [sentence1 = "", sentence2 = ""] = this.#fields.map(textOf);
    return { sentence1, sentence2, conditions: this.#rows.map(({ text }) => textOf(text)) };
  }

  /** Shows texts, and fields for them where they may be changed. */
  show({ sentence1, sentence2, conditions }: Texts, editable: boolean): void {
    if (editable !== this.#editable || this.#fields.length === 0) {
      this.#editable = editable;
      this.#captions = [];
      this.#fields = [this.#field(), this.#field()];
      this.#sentences.replaceChildren(...this.#fields.map((field) => field.closest("label") ?? field));
      this.#rows = [];
    }
    for (const [i, text] of [sentence1, sentence2].entries()) setText(this.#fields[i] as HTMLElement, text);
    const wanted = editable && conditions.length === 0 ? [""] : conditions;
    this.#rows = wanted.map((condition, i) => {
      const row = this.#rows[i] ?? this.#row();
      setText(row.text, condition);
      return row;
    });
    this.#add.hidden = !editable;
    this.#arrange();
  }

  /** Shows results, one for each condition that is not empty, in their order. */
  results(results: readonly Comparison[], info: Info): void {
    this.#base.classList.remove("stale");
    this.#results = results;
    this.#info = info;
    let next = 0;
    for (const row of this.#rows) {
      row.result = textOf(row.text).trim() === "" ? undefined : results[next++];
    }
    this.#status.textContent = ""; // what is the same as before is new all the same
    this.#news = (words) =>
      results
        .map((result) => `${result.condition}: ${this.#said(result, words.rating(result.rating)).join(", ")}`)
        .join("; ");
    this.#say();
  }

  stale(): void { // what is shown is not the answer to what is written
    this.#base.classList.add("stale");
  }

  /** How far loading is, 0 to 1; undefined when it is over. */
  progress(value: number | undefined): void {
    if (value !== undefined && this.#progress.hidden) {
      this.#news = ({ loading }) => loading;
      this.#say();
    }
    this.#progress.hidden = value === undefined;
    this.#progress.value = value ?? 0;
    this.#base.setAttribute("aria-busy", String(value !== undefined));
  }

  error(error: CaseLensError | undefined, retriable: boolean): void { // what went wrong; undefined when nothing did
    this.#failure = error;
    this.#error.hidden = error === undefined;
    this.#retry.hidden = !retriable;
    this.#say();
  }

  #field(): HTMLElement {
    if (!this.#editable) return node("p", "sentence");
    const field = node("textarea", "input");
    field.rows = 1;
    field.oninput = () => this.#actions.edited();
    const [labelled, caption] = [node("label", "label"), new Text()];
    labelled.append(caption, field);
    this.#captions.push(caption);
    return field;
  }

  #row(): Row {
    const [element, meter, bar, numbers] = [node("li", "row"), node("div", "meter"), node("div", "bar"), node("span", "numbers")];
    meter.setAttribute("role", "meter");
    meter.setAttribute("aria-valuemin", "1");
    meter.setAttribute("aria-valuemax", "5");
    meter.append(bar);
    if (!this.#editable) {
      const text = node("span", "condition");
      element.append(text, meter, numbers);
      return { element, text, meter, bar, numbers, remove: undefined };
    }
    const text = node("input", "input");
    const remove = node("button", "remove", "button");
    remove.type = "button";
    remove.textContent = "×";
    const row: Row = { element, text, meter, bar, numbers, remove };
    text.oninput = () => {
      this.#say();
      this.#actions.edited();
    };
    text.onkeydown = (event) => {
      if (event.key === "Enter" && !event.isComposing) this.#insert(row);
    };
    remove.onclick = () => this.#remove(row);
    element.append(text, meter, numbers, remove);
    return row;
  }

  #insert(after?: Row): void { // a new row at the end or after another one, and the caret in it
    const row = this.#row();
    this.#rows.splice(after ? this.#rows.indexOf(after) + 1 : this.#rows.length, 0, row);
    this.#arrange();
    row.text.focus();
  }

  #remove(row: Row): void {
    const at = this.#rows.indexOf(row);
    this.#rows.splice(at, 1);
    if (this.#rows.length === 0) this.#rows.push(this.#row());
    this.#arrange();
    this.#rows[Math.min(at, this.#rows.length - 1)]?.text.focus();
    this.#actions.edited();
  }

  #arrange(): void {
    const elements = this.#rows.map(({ element }) => element);
    // Taking a focused field out of the tree and back would take its focus.
    for (const old of [...this.#list.children]) if (!elements.includes(old as HTMLLIElement)) old.remove();
    for (const [i, element] of elements.entries()) {
      if (this.#list.children[i] !== element) this.#list.insertBefore(element, this.#list.children[i] ?? null);
    }
    this.#say();
  }

  #said(result: Comparison, ...numbers: string[]): string[] {
    // Where a sentence says nothing about the condition no number is said; an uncertain result says why.
    const [nothing, why] = [unsaid(result, this.#info), uncertain(result)];
    return [...(nothing ? [this.#labels.unsaid(nothing)] : numbers), ...(why ? [this.#labels.uncertain(why)] : [])];
  }

  /** Puts what is there into words: names, also for those who do not see which row is which, results and errors. */
  #say(): void {
    const words = this.#labels;
    for (const [i, caption] of this.#captions.entries()) caption.data = i === 0 ? words.sentence1 : words.sentence2;
    this.#list.setAttribute("aria-label", words.conditions);
    for (const [i, { element, text, meter, bar, numbers, remove, result }] of this.#rows.entries()) {
      const name = words.condition(i + 1);
      const nothing = result && unsaid(result, this.#info);
      const said = result && this.#said(result, words.rating(result.rating), words.similarity(result.similarity));
      element.classList.toggle("unsaid", nothing !== undefined);
      element.classList.toggle("uncertain", result && uncertain(result) !== undefined);
      setText(numbers, said?.join(" · ") ?? "");
      bar.style.setProperty("--_share", `${result && !nothing ? 25 * (result.rating - 1) : 0}%`);
      meter.setAttribute("aria-label", textOf(text).trim() || name);
      meter.setAttribute("aria-valuenow", String((!nothing && result?.rating) || 1));
      meter.setAttribute("aria-valuetext", said?.join(", ") ?? words.pending);
      if (!remove) continue;
      text.setAttribute("aria-label", name);
      remove.setAttribute("aria-label", words.remove(i + 1));
    }
    const [first] = this.#results;
    this.#unconditional.hidden = first === undefined;
    const foreign = (first?.language ?? []).flatMap((language, i) => (language === null ? [] : [words.foreign(i + 1, language, this.#info.languages ?? [])]));
    this.#foreign.hidden = foreign.length === 0;
    setText(this.#foreign, foreign.join(" "));
    setText(this.#unconditional, first ? words.unconditional(first.unconditional) : "");
    setText(this.#add, words.add);
    this.#progress.setAttribute("aria-label", words.loading);
    setText(this.#message, this.#failure ? words.error(this.#failure) : "");
    setText(this.#retry, words.retry);
    setText(this.#status, this.#news(words));
  }
}

/** An element that can be styled from outside by its name. */
function node<K extends keyof HTMLElementTagNameMap>(tag: K, name: string, ...parts: string[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = name;
  element.setAttribute("part", [name, ...parts].join(" "));
  return element;
}

const isField = (element: HTMLElement): element is HTMLInputElement => element.matches("input, textarea");

const textOf = (element: HTMLElement): string => (isField(element) ? element.value : (element.textContent ?? ""));

function setText(element: HTMLElement, text: string): void {
  if (textOf(element) === text) return;
  if (isField(element)) element.value = text;
  else element.textContent = text;
}
