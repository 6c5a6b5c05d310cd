/**
 * `<case-lens>`: a comparison of two sentences in any page, without further code. Importing this module defines the element.
 *
 * @example
 * ```html
 * <script type="module" src="caselens/dist/element.js"></script>
 * <case-lens
 *   sentence1="She plays chess in the park"
 *   sentence2="He plays football in the park"
 *   conditions="the place; the game"
 *   model="models/caselens-csts-q4_0.gguf"
 *   editable
 * ></case-lens>
 * ```
 *
 * @module caselens/element
 */

import { ENGLISH, type Labels, type Uncertain } from "./element/labels.js";
import { type Share, share } from "./element/shared.js";
import { type Texts, View } from "./element/view.js";
import { CaseLensError, type LoadOptions } from "./index.js";
import type { Comparison, Info } from "./types.js";

export type { Labels, Uncertain };

/** Dispatched when a comparison is there; it bubbles. */
export type ResultEvent = CustomEvent<{
  /** One for each condition that is not empty. */
  readonly results: readonly Comparison[];
  /** What is loaded and where it runs. */
  readonly info: Info;
}>;

/** Dispatched when loading or comparing failed, which the element shows as well; it does not bubble. */
export type FailureEvent = CustomEvent<CaseLensError>;

// On a server, where pages are rendered and no element is made, importing must be harmless.
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

/** How long a reader has stopped typing before the sentences are compared, in ms. */
const PAUSE = 300;
/** How far from the screen an element of `loading="lazy"` is loaded: a model takes some seconds. */
const NEAR = "100%";
/** Errors that trying again cannot mend: the texts have to change. */
const OF_TEXTS: readonly string[] = ["empty-text", "invalid-text", "text-too-long", "condition-too-long"];

/**
 * The element `<case-lens>`.
 *
 * - Attributes: `sentence1`, `sentence2`, `conditions` (separated by semicolons or line breaks; without the attribute the text
 *   of each `<li>` inside the element), `editable`, `model`, `head` and `device` (as the options of `CaseLens.load`), and
 *   `loading="lazy"`, which loads the model only when the element comes near the screen.
 * - Properties: `sentence1`, `sentence2`, `conditions` and `editable` as the attributes, `results`, and `labels` (what it says, in the
 *   page's language).
 * - Events: `result` ({@link ResultEvent}) and `error` ({@link FailureEvent}).
 * - CSS custom properties: `--case-lens-accent`, `--case-lens-track`, `--case-lens-border`, `--case-lens-error`, `--case-lens-gap`,
 *   `--case-lens-radius`. Text takes the page's colour and font.
 * - Parts: `base`, `sentences`, `sentence`, `label`, `input`, `conditions`, `row`, `condition`, `meter`, `bar`, `numbers`, `foreign`,
 *   `unconditional`, `button`, `add`, `remove`, `retry`, `progress`, `error`, `message`.
 *
 * Elements with the same model, head and device share one lens; it ends with the last of them.
 */
export class CaseLensElement extends Base {
  /** @internal */
  static readonly observedAttributes = ["sentence1", "sentence2", "conditions", "editable", "model", "head", "device", "loading"];

  #labels = ENGLISH;
  #view: View | undefined;
  #share: Share | undefined;
  #call: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #scheduled = false;
  #results: readonly Comparison[] = [];
  #children: MutationObserver | undefined;
  /** Watches for the reader to come near, as long as nothing is loaded before. */
  #nearing: IntersectionObserver | undefined;

  /** The results shown last. */
  get results(): readonly Comparison[] {
    return this.#results;
  }

  /** The first sentence, as the reader left it where it is editable. */
  get sentence1(): string {
    return this.#texts().sentence1;
  }
  /** Sets the attribute. */
  set sentence1(text: string) {
    this.setAttribute("sentence1", text);
  }

  /** The second sentence, as the reader left it where it is editable. */
  get sentence2(): string {
    return this.#texts().sentence2;
  }
  /** Sets the attribute. */
  set sentence2(text: string) {
    this.setAttribute("sentence2", text);
  }

  /** The conditions that are not empty, as the reader left them where they are editable. */
  get conditions(): readonly string[] {
    return this.#texts().conditions.filter((condition) => condition !== "");
  }
  /** Sets the attribute. */
  set conditions(conditions: readonly string[]) {
    this.setAttribute("conditions", conditions.join("\n"));
  }

  /** Whether readers may change the texts: the attribute of the same name. */
  get editable(): boolean {
    return this.hasAttribute("editable");
  }
  /** Sets the attribute. */
  set editable(editable: boolean) {
    this.toggleAttribute("editable", editable);
  }

  /** What the element says. */
  get labels(): Labels {
    return this.#labels;
  }
  /** Puts it into other words, also what is shown already. What is left out is English. */
  set labels(labels: Partial<Labels>) {
    this.#labels = { ...ENGLISH, ...labels };
    if (this.#view) this.#view.labels = this.#labels;
  }

  /** @internal */
  connectedCallback(): void {
    if (!this.#view) {
      // What was set before the element was defined lies on the object itself, in front of the accessors.
      for (const name of ["sentence1", "sentence2", "conditions", "editable", "labels"] as const) {
        const early = Object.getOwnPropertyDescriptor(this, name);
        if (!early) continue;
        delete (this as Record<string, unknown>)[name];
        (this as Record<string, unknown>)[name] = early.value;
      }
      const actions = { edited: () => this.#edited(), retry: () => this.#restart() };
      this.#view = new View(this.attachShadow({ mode: "open" }), actions, this.#labels);
      this.#view.show(this.#written(), this.editable);
    }
    // The parser may reach the element's children only now.
    this.#children = new MutationObserver(() => !this.hasAttribute("conditions") && this.#rewritten());
    this.#children.observe(this, { childList: true, characterData: true, subtree: true });
    this.#begin();
  }

  /** @internal */
  disconnectedCallback(): void {
    this.#children?.disconnect();
    this.#unwatch();
    clearTimeout(this.#timer);
    this.#call?.abort();
    this.#share?.release();
    this.#share = undefined;
  }

  /** @internal */
  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (!this.#view || before === after) return;
    if (name === "loading") this.#begin();
    else if (name === "model" || name === "head" || name === "device") this.#restart();
    else this.#rewritten();
  }

  #written(): Texts { // texts as the page wrote them
    const conditions = this.getAttribute("conditions")?.split(/[;\n]/) ?? Array.from(this.querySelectorAll("li"), (item) => item.textContent ?? "");
    return {
      sentence1: this.getAttribute("sentence1") ?? "",
      sentence2: this.getAttribute("sentence2") ?? "",
      conditions: conditions.map((condition) => condition.replace(/\s+/g, " ").trim()).filter((condition) => condition !== ""),
    };
  }

  /** Texts as they are shown, or will be. */
  #texts(): Texts {
    const { sentence1, sentence2, conditions } = this.#view?.texts ?? this.#written();
    return { sentence1: sentence1.trim(), sentence2: sentence2.trim(), conditions: conditions.map((condition) => condition.trim()) };
  }

  #rewritten(): void { // the page changed a text
    this.#view?.show(this.#written(), this.editable);
    this.#compareSoon();
  }

  #edited(): void { // the reader changed a text
    this.#view?.stale();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#compare(), PAUSE);
  }

  /** Begins to load, now or when the reader comes near. */
  #begin(): void {
    this.#unwatch();
    if (this.#share || !this.isConnected) return;
    if (this.getAttribute("loading") !== "lazy" || typeof IntersectionObserver === "undefined") return this.#restart();
    this.#nearing = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      this.#unwatch();
      this.#restart();
    }, { rootMargin: NEAR });
    this.#nearing.observe(this);
  }

  #unwatch(): void { // waits for the reader no longer
    this.#nearing?.disconnect();
    this.#nearing = undefined;
  }

  /** Loads, or takes part in what others have loaded, and compares. */
  #restart(): void {
    if (!this.isConnected) return;
    const before = this.#share;
    this.#share = undefined;
    this.#compareSoon();
    before?.release();
  }

  /** Several attributes that change together are one change. */
  #compareSoon(): void {
    this.#view?.stale();
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      void this.#compare();
    });
  }

  async #compare(): Promise<void> {
    const view = this.#view;
    if (!view || !this.isConnected || this.#nearing) return;
    clearTimeout(this.#timer);
    this.#call?.abort();
    const { signal } = (this.#call = new AbortController());
    view.error(undefined, false);
    try {
      // Loading begins before there is something to compare, so that it is over when there is.
      this.#share ??= share(this.#wanted(), ({ progress }) => view.progress(progress < 1 ? progress : undefined));
      const lens = await this.#share.lens;
      if (signal.aborted) return;
      view.progress(undefined);
      const { sentence1, sentence2 } = this.#texts();
      const { conditions } = this;
      const complete = sentence1 !== "" && sentence2 !== "" && conditions.length > 0;
      const results = complete ? await lens.compare(sentence1, sentence2, conditions, { signal }) : [];
      if (signal.aborted) return;
      this.#results = results;
      view.results(results, lens.info);
      if (complete) {
        const detail = { results, info: lens.info };
        this.dispatchEvent(new CustomEvent("result", { detail, bubbles: true, composed: true }) satisfies ResultEvent);
      }
    } catch (thrown) {
      if (signal.aborted) return;
      this.#failed(thrown instanceof CaseLensError ? thrown : new CaseLensError("internal", `caselens failed: ${thrown}.`, { cause: thrown }));
    }
  }

  #failed(error: CaseLensError): void {
    const retriable = !OF_TEXTS.includes(error.code);
    if (retriable) {
      this.#share?.release(true);
      this.#share = undefined;
    }
    this.#view?.progress(undefined);
    this.#view?.stale();
    this.#view?.error(error, retriable);
    this.dispatchEvent(new CustomEvent("error", { detail: error }) satisfies FailureEvent);
  }

  #wanted(): Pick<LoadOptions, "model" | "head" | "device"> {
    const attribute = (name: string) => this.getAttribute(name) ?? undefined;
    // A wrong device is refused by `load`, whose error is shown.
    return { model: attribute("model"), head: attribute("head"), device: attribute("device") as LoadOptions["device"] };
  }
}

if (globalThis.customElements && !customElements.get("case-lens")) customElements.define("case-lens", CaseLensElement);

/** What `<case-lens>` may be given in JSX, besides what any element may. */
export interface CaseLensAttributes {
  /** The first sentence. */
  sentence1?: string | undefined;
  /** The second sentence. */
  sentence2?: string | undefined;
  /** Conditions, separated by semicolons or line breaks. */
  conditions?: string | undefined;
  /** Whether readers may change the texts. */
  editable?: boolean | undefined;
  /** URL of the model. */
  model?: string | undefined;
  /** URL of the head. */
  head?: string | undefined;
  /** Where to run, as `LoadOptions.device`. */
  device?: LoadOptions["device"];
  /** `"lazy"` loads the model only when the element comes near the screen. */
  loading?: "eager" | "lazy" | undefined;
}

/**
 * The element for JSX: TypeScript finds it where a library takes the elements of the global namespace `JSX`, as React up to version 18 and
 * Preact do. Others are told once in a project: React 19 by
 * `declare module "react" { namespace JSX { interface IntrinsicElements extends CaseLensElements {} } }`.
 */
export interface CaseLensElements {
  /** See {@link CaseLensElement}. Other attributes, such as `id` and `class`, and the library's own are not checked. */
  "case-lens": CaseLensAttributes & Record<string, unknown>;
}

declare global {
  interface HTMLElementTagNameMap {
    "case-lens": CaseLensElement;
  }
  namespace JSX {
    interface IntrinsicElements extends CaseLensElements {}
  }
}
