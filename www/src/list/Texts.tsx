// Where the texts come from: a ready list, a field to paste into, or a file.

import { useSignal } from "@preact/signals";
import { step } from "../state/history";
import { strings } from "../strings";
import { Drop } from "./Drop";
import { cutShort, invisible, leftOut, lines, maxCharacters, maxLines, openList, reading, remainder, setText, source, text, trouble } from "./fields";
import { listNames } from "./lists";
import { columnTexts, maxBytes, openTable, type Table, wordiest } from "./table";

const words = strings.list;

const ReadyLists = () => (
  <section class="examples" aria-labelledby="lists-title">
    <h2 id="lists-title" class="hidden">
      {words.examples}
    </h2>
    <ul class="examples-list lists-list">
      {listNames.map((name) => (
        <li key={name}>
          <button type="button" class="example" aria-pressed={source.value === name} onClick={() => void openList(name, undefined, step)}>
            <span class="example-field">{words.names[name][0]}</span>
            <span class="example-title">{words.names[name][1]}</span>
          </button>
        </li>
      ))}
    </ul>
  </section>
);

/** What is not grouped of what was given, in words. */
const left = (): string =>
  [
    leftOut.value > 0 ? words.texts.leftOut(leftOut.value, maxLines) : "",
    invisible.value > 0 ? words.texts.invisible(invisible.value) : "",
    cutShort.value > 0 ? words.texts.cutShort(cutShort.value, maxCharacters) : "",
    remainder.value.whole ? "" : words.texts.unread(maxBytes),
  ].join(" ");

/** A column of a table that was opened, and the text that it gave. */
interface Opened {
  readonly table: Table;
  readonly column: number;
  readonly text: string;
}

export function Texts() {
  const opened = useSignal<Opened | undefined>(undefined);

  const take = (table: Table, column: number): void => {
    const texts = columnTexts(table, column);
    const text = texts.slice(0, maxLines).join("\n");
    opened.value = { table, column, text };
    step(() => setText(text, { texts: Math.max(0, texts.length - maxLines), whole: table.whole }));
  };
  const open = async (file: File): Promise<void> => {
    const wanted = reading();
    try {
      const table = await openTable(file);
      if (wanted()) take(table, wordiest(table));
    } catch (error) {
      // What goes wrong with a file is a DOMException; what else can is the part of the page that is loaded for it.
      if (wanted()) trouble.value = error instanceof DOMException ? words.texts.unreadable(file.name) : words.missing(words.texts.csv);
    }
  };
  // While the field holds what the table gave: what was edited or put in its place is not to be lost with a choice.
  const own = opened.value?.text === text.value && opened.value.table.columns.length > 1 ? opened.value : undefined;

  return (
    <>
      <ReadyLists />
      <Drop onFile={(file) => void open(file)} />
      <section class="texts" aria-labelledby="texts-title">
        <h2 id="texts-title" class="hidden">
          {words.texts.title}
        </h2>
        <label for="texts">{words.texts.label}</label>
        <textarea
          id="texts"
          rows={5}
          value={text.value}
          placeholder={words.texts.placeholder}
          spellcheck={false}
          aria-describedby="texts-count"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <div class="texts-tools">
          <p id="texts-count">
            {words.texts.count(lines.value.length)}
            <span class="quiet"> {left()}</span>
          </p>
          {own && (
            <label class="choice">
              {words.texts.column}{" "}
              <select value={own.column} onChange={(event) => take(own.table, Number(event.currentTarget.value))}>
                {own.table.columns.map((name, i) => (
                  <option key={i} value={i}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
          <label class="button file">
            <input
              type="file"
              class="hidden"
              accept=".csv,.tsv,.txt,text/csv,text/plain"
              onChange={(event) => {
                const file = event.currentTarget.files?.[0];
                if (file) void open(file);
                event.currentTarget.value = "";
              }}
            />
            {words.texts.open}
          </label>
        </div>
        <p class="note problem" role="status">
          {trouble.value}
        </p>
      </section>
    </>
  );
}
