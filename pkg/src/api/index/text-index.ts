// Index: texts that are read once, under one condition, and searched as often as one likes.

import { CaseLensError } from "../../errors.js";
import { Slices } from "../../pause.js";
import type { CallOptions, EmbeddingsData, EmbeddingType } from "../../types.js";
import { checkBoolean, checkFilled, checkFunction, checkInteger, checkOptions, checkSignal, invalid } from "../check.js";
import { Embeddings } from "../embeddings.js";
import { cluster } from "../list/cluster.js";
import { First } from "../list/first.js";
import { asRead } from "../list/options.js";
import { type ProgressOptions, toldOfReading } from "../progress.js";
import { checkTruncate, type TruncateOptions } from "../truncate.js";
import { checkName } from "./check-name.js";
import { type Contents, type Description, NEVER_STORED, nextRevision, type Revision, revisionOf, stamp, written } from "./file.js";
import { checkChanges, checkId, checkIds, checkNewItems, type Item, type ItemChange, type ItemId, itemOf, type NewItem, named } from "./items.js";
import { Order } from "./order.js";
import { embedded, type Manner, type Origin, probed } from "./origin.js";
import { BLOCK, type Prepared, Rows } from "./rows.js";
import { inBrowser } from "./stored.js";

/** Options of calls that read texts into an index. */
export interface IndexingOptions extends CallOptions, ProgressOptions, TruncateOptions {}

/** Options of `Index.search`. */
export interface IndexSearchOptions<M = unknown> extends CallOptions, TruncateOptions {
  /**
   * How many hits to give at most.
   *
   * @defaultValue 10
   */
  limit?: number | undefined;
  /** The least similarity of a hit, −1 to 1; with `lexical`, the least `score`. */
  minimum?: number | undefined;
  /** Whether an item may be a hit. Asked of those alone that would be one. What it throws rejects the search, as it is. */
  filter?: ((item: Item<M>) => boolean) | undefined;
  /**
   * How well an item's words fit the query's, 0 to 1, by your own measure: for hybrid search. Asked of every item that `filter` lets
   * through. What it throws rejects the search, as it is.
   */
  lexical?: ((query: string, item: Item<M>) => number) | undefined;
  /**
   * What `lexical` counts, 0 to 1: hits are ordered by (1 − weight) · similarity + weight · lexical.
   *
   * @defaultValue 0.3
   */
  lexicalWeight?: number | undefined;
}

/** An item that was found. */
export interface IndexHit<M = unknown> extends Item<M> {
  /** Cosine similarity to the query, −1 to 1, computed in the form in which the index keeps embeddings. */
  readonly similarity: number;
  /** Where `lexical` was given: what hits are ordered by. */
  readonly score?: number;
  /** Present where the text says nothing about the condition, as far as the head tells: such texts come last. */
  readonly unmentioned?: true;
}

/** What to look for: words; an item of the index, by its `id`, for others like it; or one embedding of the index's model, condition and form. */
export type IndexQuery = string | Pick<Item, "id"> | Embeddings;

/** Options of `Index.cluster`. */
export interface IndexClusterOptions extends CallOptions, ProgressOptions {
  /** How many groups to make; see {@link ClusterOptions.groups}. */
  groups?: number | undefined;
  /** The `points` of an earlier call for the same items; see {@link ClusterOptions.previous}. */
  previous?: Float32Array | undefined;
}

/** An item in its group. */
export interface IndexMember<M = unknown> extends Item<M> {
  /** Cosine similarity to the group's center, −1 to 1. */
  readonly similarity: number;
}

/** Items that are alike. */
export interface IndexGroup<M = unknown> {
  /** The id of the most central member, which stands for the group. */
  readonly center: ItemId;
  /** All members, the most central first. */
  readonly members: readonly IndexMember<M>[];
  /** Present for the group of the texts that say nothing about the condition, as far as the head tells. */
  readonly unmentioned?: true;
}

/** An index in groups. */
export interface IndexClustering<M = unknown> {
  /** As {@link Clustering.groups}. */
  readonly groups: readonly IndexGroup<M>[];
  /** For each item, in the index's order, the place of its group in `groups`. */
  readonly labels: Uint32Array;
  /** As {@link Clustering.silhouette}. */
  readonly silhouette: number;
  /** For each item, in the index's order, its x and y. `[items, 2]` */
  readonly points: Float32Array;
}

/** Options of `Index.store`. */
export interface IndexStoreOptions {
  /**
   * Whether to take the place of whatever is stored under the name, also of what is newer.
   *
   * @defaultValue `false`
   */
  overwrite?: boolean | undefined;
}

/** Makes an index of what it belongs to and what is in it: the constructor, which the published types say nothing of. */
// Outside of the class: one that names itself in its body has another name in a bundle (`_Index`), which consoles show.
const made = <M>(origin: Origin, contents: Contents): Index<M> => new (Index as unknown as new (origin: Origin, contents: Contents) => Index<M>)(origin, contents);

const LIMIT = 10;
const LEXICAL_WEIGHT = 0.3;
/** Items between two looks at the clock, where the caller's own functions are asked of each. */
const ASKED = 64;

/**
 * Texts under one condition, each with an id, embedded once and searched as often as one likes. It knows the model and the condition
 * that it is of, and refuses those of others.
 *
 * A search runs where it is called, in slices of some milliseconds, and gives way in between. Calls that change an index take effect
 * as a whole or not at all, one after the other; searches meanwhile see what was there before. When its lens is disposed of, what
 * needs no model goes on: `get`, `remove`, `save`, `store`, searches by id or embedding.
 *
 * @example
 * ```ts
 * const index = (await lens.openIndex<{ year: number }>("notes")) ?? (await lens.index({ condition: "the place" }));
 * await index.add([{ id: 1, text: "She plays chess in the park.", metadata: { year: 2024 } }]);
 * const hits = await index.search("He reads on a bench under trees.", { limit: 3, filter: ({ metadata }) => metadata?.year === 2024 });
 * await index.store("notes");
 * ```
 */
export class Index<M = unknown> implements Iterable<Item<M>> {
  readonly #origin: Origin;
  readonly #description: Description;
  readonly #probe: Float32Array;
  readonly #rows: Rows;
  /** How probable it is that each text says anything about the condition; NaN where that is not known. */
  #mentioned: number[];
  #tellsMentions: boolean;
  #items: Item<M>[];
  readonly #places = new Map<ItemId, number>();
  #revision: Revision;
  /** What changes the index: the next begins when the one before is done, with all that it reads. */
  readonly #changes = new Order();
  /** What touches all rows. */
  readonly #access = new Order();

  private constructor(origin: Origin, contents: Contents) {
    this.#origin = origin;
    this.#description = contents.description;
    this.#probe = contents.probe;
    this.#rows = contents.rows;
    this.#revision = contents.revision;
    this.#items = [...(contents.items as readonly Item<M>[])];
    this.#tellsMentions = contents.mentioned !== undefined;
    this.#mentioned = [...(contents.mentioned ?? new Array<number>(this.#items.length).fill(NaN))];
    this.#places = placesOf(this.#items);
    if (this.#places.size < this.#items.length) throw new CaseLensError("index-format", "The index holds an id twice: it is damaged.");
  }

  /** The name of the model that reads the texts, as `info.model`. */
  get model(): string {
    return this.#description.model;
  }

  /** The condition that all texts are seen under; null for none. */
  get condition(): string | null {
    return this.#description.condition;
  }

  /** How embeddings are kept; see {@link VectorOptions.dtype}. */
  get dtype(): EmbeddingType {
    return this.#description.dtype;
  }

  /** How many dimensions embeddings have. */
  get dims(): number {
    return this.#description.dims;
  }

  /** How many times what this index holds, or came from, was stored. */
  get revision(): number {
    return this.#revision.number;
  }

  /** How many items there are. */
  get size(): number {
    return this.#items.length;
  }

  /** Whether there is an item with this id. */
  has(id: ItemId): boolean {
    return this.#places.has(id);
  }

  /** The item with this id; undefined where there is none. */
  get(id: ItemId): Item<M> | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#items[place];
  }

  /** The items, in the order in which they were added. */
  [Symbol.iterator](): IterableIterator<Item<M>> {
    return this.#items[Symbol.iterator]();
  }

  /**
   * Adds items, and reads their texts: each text once, however many have it. Of all items or, where it rejects, of none.
   *
   * @throws {@link CaseLensError} `duplicate-id` for an id that is given twice or is there already, with the item's place as `index`;
   * `empty-text`, `invalid-text`, `text-too-long`, `invalid-argument` (also for metadata that is no JSON), `gpu-lost` or `disposed`.
   */
  async add(items: readonly NewItem<M>[], options?: IndexingOptions): Promise<void> {
    const fresh = checkNewItems(items);
    const request = indexing(options);
    await this.#changes.take(async () => {
      for (const [index, { id }] of fresh.entries()) {
        if (this.has(id)) throw new CaseLensError("duplicate-id", `items[${index}] has the id ${named(id)}, which is in the index already. \`update\` changes an item.`, { index });
      }
      await this.#read(fresh, fresh.map((_, i) => i), request, (rows, rowOf) => {
        for (const [i, item] of fresh.entries()) {
          const place = this.#items.length;
          this.#put(rows, rowOf[i] as number, place);
          this.#places.set(item.id, place);
          this.#items.push(item);
        }
      });
    }, request.signal);
  }

  /**
   * Changes items: their texts, which are read then, their metadata, or both. Of all items or, where it rejects, of none.
   *
   * @throws {@link CaseLensError} `unknown-id` with the item's place as `index`; or as `add`.
   */
  async update(items: readonly ItemChange<M>[], options?: IndexingOptions): Promise<void> {
    const changes = checkChanges(items);
    const request = indexing(options);
    await this.#changes.take(async () => {
      const changed = changes.map(({ id, text, metadata }, index) => {
        const before = this.get(id);
        if (!before) throw new CaseLensError("unknown-id", `items[${index}] has the id ${named(id)}, which is not in the index. \`add\` adds an item.`, { index });
        return itemOf(id, text ?? before.text, metadata === undefined ? before.metadata : metadata);
      });
      const toRead = changed.flatMap(({ id, text }, i) => (text === this.get(id)?.text ? [] : [i]));
      await this.#read(changed, toRead, request, (rows, rowOf) => {
        for (const [at, i] of toRead.entries()) this.#put(rows, rowOf[at] as number, this.#places.get((changed[i] as Item).id) as number);
        for (const item of changed) this.#items[this.#places.get(item.id) as number] = item;
      });
    }, request.signal);
  }

  /**
   * Removes items.
   *
   * @throws {@link CaseLensError} `unknown-id`, with the id's place as `index`, or `duplicate-id`: none is removed then.
   */
  async remove(ids: readonly ItemId[], options?: CallOptions): Promise<void> {
    const gone = new Set(checkIds(ids));
    const signal = checkSignal(checkOptions<CallOptions>(options).signal);
    await this.#changes.take(async () => {
      for (const [index, id] of [...gone].entries()) {
        if (!this.has(id)) throw new CaseLensError("unknown-id", `ids[${index}] is ${named(id)}, which is not in the index.`, { index });
      }
      await this.#access.take(() => {
        const kept = this.#items.flatMap(({ id }, place) => (gone.has(id) ? [] : [place]));
        this.#rows.keep(kept);
        this.#items = kept.map((place) => this.#items[place] as Item<M>);
        this.#mentioned = kept.map((place) => this.#mentioned[place] as number);
        this.#places.clear();
        for (const [id, place] of placesOf(this.#items)) this.#places.set(id, place);
      }, signal);
    }, signal);
  }

  /**
   * The items that are most alike to a query, under the index's condition.
   *
   * @param query words; `{ id }` for items like the one that is there, which is no hit itself; or one embedding.
   * @returns the most similar first; of two as similar, the one that was added first.
   * @throws {@link CaseLensError} `unknown-id`; `index-mismatch` or `index-condition` for an embedding of another model or condition; or as
   * `add`.
   */
  async search(query: IndexQuery, options?: IndexSearchOptions<M>): Promise<IndexHit<M>[]> {
    const asked = searching(options);
    if (asked.signal?.aborted) throw asked.signal.reason;
    const ready = await this.#prepare(query, asked);
    return this.#access.take(() => this.#search(ready, asked), asked.signal);
  }

  /**
   * Gathers the items that are alike; see {@link CaseLens.cluster}. Embeddings that are kept as bytes or bits are grouped as the numbers
   * that these stand for.
   *
   * @throws {@link CaseLensError} `invalid-argument` where there are no items, or fewer than groups; `disposed`.
   */
  async cluster(options?: IndexClusterOptions): Promise<IndexClustering<M>> {
    const { groups, previous, signal, onProgress } = checkOptions<IndexClusterOptions>(options);
    if (this.size === 0) throw invalid("The index is empty: add items to group first.");
    const [items, embeddings] = await this.#access.take(() => [[...this.#items], this.#floats()] as const, checkSignal(signal));
    const condition = this.condition ?? undefined;
    const found = await cluster(this.#origin.calls, items.map(({ text }) => text), { condition, embeddings, groups, previous, signal, onProgress });
    const itemAt = (index: number): Item<M> => items[index] as Item<M>;
    return {
      groups: found.groups.map(({ center, members, ...rest }) => ({
        ...rest,
        center: itemAt(center).id,
        members: members.map(({ index, similarity }) => ({ ...itemAt(index), similarity })),
      })),
      labels: found.labels,
      silhouette: found.silhouette,
      points: found.points,
    };
  }

  /**
   * The same items under another condition: a new index, whose texts are all read again. This one stays as it is.
   *
   * @throws {@link CaseLensError} `invalid-argument` for an index of an encoder, which knows no conditions; or as `add`.
   */
  async under(condition: string | null, options?: IndexingOptions): Promise<Index<M>> {
    if (this.#origin.kind === "encoder") throw invalid("An Encoder knows no conditions: make the index of a CaseLens for them.");
    const checked = condition === null ? null : checkFilled("condition", condition);
    const request = indexing(options);
    const other = await emptyIndex<M>(this.#origin, { ...this.#description, condition: checked }, request.signal);
    const items = [...this.#items];
    await other.#read(items, items.map((_, i) => i), request, (read, rowOf) => {
      for (const [i, item] of items.entries()) {
        other.#put(read, rowOf[i] as number, i);
        other.#places.set(item.id, i);
        other.#items.push(item);
      }
    });
    return other;
  }

  /**
   * The whole index as one block of bytes, to be kept wherever bytes are; `loadIndex` reads it again. Texts and metadata are in it,
   * readable by anybody.
   */
  async save(): Promise<Uint8Array> {
    return this.#access.take(() => this.#written(this.#revision));
  }

  /**
   * Stores the index under a name: in browsers in IndexedDB, in Node and Deno in the file with this path or `file:` URL. It is stored as a
   * whole, or what was stored before stays. `openIndex` reads it again.
   *
   * @throws {@link CaseLensError} `index-conflict` where what is stored under the name is not what this index came from, but newer (another
   * tab has stored it since) or another one: both are left as they are. `storage-full`, `storage` or `invalid-argument`.
   */
  async store(name: string, options?: IndexStoreOptions): Promise<void> {
    checkName(name);
    const overwrite = checkBoolean("overwrite", checkOptions<IndexStoreOptions>(options).overwrite, false);
    await this.#changes.take(async () => {
      let next = nextRevision(this.#revision);
      const bytes = await this.#access.take(() => this.#written(next));
      await (this.#origin.store ?? inBrowser).write(name, bytes, (head) => {
        const found = revisionOf(head);
        if (found.stamp === this.#revision.stamp) return;
        if (!overwrite) throw conflict(name, this.#revision, found);
        stamp(bytes, (next = nextRevision(found)));
      });
      this.#revision = next;
    });
  }

  /** As bytes, in this state. */
  #written(revision: Revision): Promise<Uint8Array<ArrayBuffer>> {
    const mentioned = this.#tellsMentions ? this.#mentioned : undefined;
    return written({ description: this.#description, revision, probe: this.#probe, items: this.#items, rows: this.#rows, mentioned });
  }

  /** How texts of this index are read. */
  get #manner(): Manner {
    return { ...this.#description, dims: this.#description.cut ?? undefined };
  }

  /**
   * Reads the texts of some items, each text once, and then does `commit`, with the row of each of these items, all at once.
   *
   * @param places of the items to read.
   */
  async #read(
    items: readonly Item<M>[],
    places: readonly number[],
    { signal, onProgress, onTruncate }: ReturnType<typeof indexing>,
    commit: (rows: EmbeddingsData, rowOf: readonly number[]) => void,
  ): Promise<void> {
    const rows = new Map<string, number>();
    const firsts: number[] = [];
    const rowOf = places.map((place) => {
      const { text } = items[place] as Item;
      const row = rows.get(text) ?? rows.size;
      if (row === rows.size) firsts.push(place);
      rows.set(text, row);
      return row;
    });
    const nothing: EmbeddingsData = { dtype: this.dtype, dims: this.dims, length: 0, data: new Float32Array(0) };
    const read = rows.size === 0 ? nothing : await embedded(this.#origin, [...rows.keys()], this.#manner, { onTruncate }, signal, toldOfReading(onProgress)).catch((error: unknown) => {
      if (!(error instanceof CaseLensError) || error.index === undefined) throw error;
      const index = firsts[error.index];
      // The engine is given a list of its own: of texts that are not there yet.
      const [own, named] = [`texts[${error.index}]`, `items[${index}].text`];
      const message = error.message.includes(own) ? error.message.replace(own, named) : `${named}: ${error.message}`;
      throw new CaseLensError(error.code, message, { cause: error.cause, index });
    });
    await this.#access.take(() => {
      // The last word of the caller's own function, while nothing has changed yet.
      onProgress?.({ phase: "embed", progress: 1 });
      if (signal?.aborted) throw signal.reason;
      commit(read, rowOf);
    }, signal);
  }

  /** Puts a row that was read in the place of an item. */
  #put(read: EmbeddingsData, row: number, place: number): void {
    this.#rows.put(read, row, place);
    this.#tellsMentions ||= read.mentioned !== undefined;
    this.#mentioned[place] = read.mentioned?.[row] ?? NaN;
  }

  /** A query as the rows are kept, its words where it has any, and the item that it is. */
  async #prepare(query: IndexQuery, { signal, onTruncate }: Asked<M>): Promise<Ready> {
    if (typeof query === "string") {
      const text = checkFilled("query", query);
      const found = await embedded(this.#origin, [text], this.#manner, { onTruncate, named: "query" }, signal);
      return { vector: () => this.#rows.prepare(found, 0), words: text };
    }
    if (typeof query !== "object" || query === null) throw invalid("query must be a text, { id }, or an Embeddings with one row.");
    if ("data" in query) {
      const given = query instanceof Embeddings ? query : new Embeddings(query as EmbeddingsData);
      this.#checkFitting(given);
      return { vector: () => this.#rows.prepare(given, 0) };
    }
    const id = checkId("query.id", query.id);
    const found = (): number => {
      const place = this.#places.get(id);
      if (place === undefined) throw new CaseLensError("unknown-id", `query.id is ${named(id)}, which is not in the index.`);
      return place;
    };
    return { vector: () => this.#rows.query(found()), words: this.#items[found()]?.text, itself: found };
  }

  /** Refuses an embedding that does not belong here, as far as it says what it is of. */
  #checkFitting(given: Embeddings): void {
    const { model, condition, dtype, dims } = this;
    if (given.model !== undefined && given.model !== model) {
      throw new CaseLensError("index-mismatch", `The embedding is of the model ${given.model}, and the index of ${model}: embed the query with that one.`);
    }
    if (given.condition !== undefined && asRead(given.condition ?? "") !== asRead(condition ?? "")) {
      throw new CaseLensError("index-condition", `The embedding is of ${inWords(given.condition)}, and the index of ${inWords(condition)}: embed the query under that.`);
    }
    if (given.length !== 1) throw invalid(`query must be an Embeddings with one row, not ${given.length}: \`select\` takes one out.`);
    if (given.dtype !== dtype || given.dims !== dims) {
      throw invalid(`The embedding is ${given.dtype} of ${given.dims} dimensions, and the index ${dtype} of ${dims}: embed the query in that form.`);
    }
  }

  async #search({ vector, words, itself }: Ready, { limit, minimum, filter, lexical, weight }: Asked<M>): Promise<IndexHit<M>[]> {
    if (lexical && words === undefined) throw invalid("lexical needs a query in words, or an id.");
    const query = vector();
    const self = itself?.();
    const threshold = this.#origin.calls.info.mentioned?.threshold ?? 0;
    const isSaid = (row: number): boolean => !((this.#mentioned[row] as number) < threshold);
    const similarities = new Float64Array(this.size);
    const scores = lexical ? new Float64Array(this.size) : similarities;
    const first = new First(limit, (a, b) => Number(isSaid(b)) - Number(isSaid(a)) || (scores[b] as number) - (scores[a] as number) || a - b);
    const slices = new Slices();
    for (let block = 0; block * BLOCK < this.size; block++) {
      const from = block * BLOCK;
      const end = from + this.#rows.similarities(query, block, similarities.subarray(from, from + BLOCK));
      for (let row = from; row < end; row++) {
        if ((lexical || filter) && row % ASKED === 0 && slices.over) await slices.pause();
        if (row === self) continue;
        const item = this.#items[row] as Item<M>;
        if (lexical) {
          if (filter && !passes(filter(item))) continue;
          scores[row] = (1 - weight) * (similarities[row] as number) + weight * numberOf(lexical(words as string, item));
        }
        if ((scores[row] as number) < minimum || !first.takes(row)) continue;
        if (!lexical && filter && !passes(filter(item))) continue;
        first.keep(row);
      }
      if (slices.over) await slices.pause();
    }
    return first.sorted().map((row) => ({
      ...(this.#items[row] as Item<M>),
      similarity: similarities[row] as number,
      ...(lexical && { score: scores[row] as number }),
      ...(!isSaid(row) && { unmentioned: true as const }),
    }));
  }

  /** All embeddings, as numbers that can be grouped. */
  #floats(): Embeddings<"float32"> {
    const { model, condition, dims, size } = this;
    const kept = new Embeddings(this.#rows.embeddings());
    const data = new Float32Array(dims * size);
    if (kept.dtype === "float32") data.set(kept.data);
    else for (let row = 0; row < size; row++) data.set(kept.row(row), row * dims);
    const mentioned = this.#tellsMentions ? Float32Array.from(this.#mentioned) : undefined;
    return new Embeddings({ dtype: "float32", data, length: size, dims, model, condition, mentioned });
  }
}

/** An index without items. Its encoder reads one sentence, by which it is known, and which tells a condition that cannot be used. */
export async function emptyIndex<M>(origin: Origin, manner: Omit<Description, "dims">, signal: AbortSignal | undefined): Promise<Index<M>> {
  const probe = await probed(origin, { ...manner, dims: manner.cut ?? undefined }, signal);
  const description = { ...manner, dims: probe.length };
  return made<M>(origin, { description, revision: NEVER_STORED, probe, items: [], rows: new Rows(manner.dtype, probe.length), mentioned: undefined });
}

/** An index as a file has it. */
export const indexOf = <M>(origin: Origin, contents: Contents): Index<M> => made<M>(origin, contents);

/** A query, ready for the rows as they are when its turn comes. */
interface Ready {
  readonly vector: () => Prepared;
  readonly words?: string | undefined;
  /** The place of the item that is the query. */
  readonly itself?: () => number;
}

/** Options of a search, checked. */
type Asked<M> = ReturnType<typeof searching<M>>;

function searching<M>(value: IndexSearchOptions<M> | undefined) {
  const options = checkOptions<IndexSearchOptions<M>>(value);
  const weight = options.lexicalWeight ?? LEXICAL_WEIGHT;
  if (!(weight >= 0 && weight <= 1)) throw invalid("lexicalWeight must be a number from 0 to 1.");
  const minimum = options.minimum ?? -Infinity;
  if (typeof minimum !== "number" || Number.isNaN(minimum)) throw invalid("minimum must be a number.");
  return {
    limit: checkInteger("limit", options.limit, 1, Number.MAX_SAFE_INTEGER) ?? LIMIT,
    minimum,
    filter: checkFunction("filter", options.filter),
    lexical: checkFunction("lexical", options.lexical),
    weight,
    signal: checkSignal(options.signal),
    onTruncate: checkTruncate(options),
  };
}

function indexing(value: IndexingOptions | undefined) {
  const options = checkOptions<IndexingOptions>(value);
  return {
    onProgress: checkFunction("onProgress", options.onProgress),
    signal: checkSignal(options.signal),
    onTruncate: checkTruncate(options),
  };
}

/** What a filter said. A promise is true for whoever does not look. */
function passes(said: unknown): boolean {
  if (typeof said !== "boolean") throw invalid("filter must return true or false, and no promise.");
  return said;
}

/** What `lexical` said. */
function numberOf(said: unknown): number {
  if (!Number.isFinite(said)) throw invalid("lexical must return a finite number, and no promise.");
  return said as number;
}

/** The place of each item by its id. */
const placesOf = (items: readonly Item[]): Map<ItemId, number> => new Map(items.map(({ id }, place) => [id, place]));

/** A condition in words. */
export const inWords = (condition: string | null): string => (condition === null ? "no condition" : `the condition "${condition}"`);

function conflict(name: string, own: Revision, found: Revision): CaseLensError {
  const why =
    own.stamp === NEVER_STORED.stamp
      ? "another index is stored under this name"
      : `it was stored by somebody else since (revision ${found.number}; this one came from revision ${own.number})`;
  return new CaseLensError("index-conflict", `The index was not stored as "${name}": ${why}. Nothing is lost: open what is stored and add to that, take another name, or overwrite it with \`{ overwrite: true }\`.`);
}
