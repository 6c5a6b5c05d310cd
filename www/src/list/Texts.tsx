// Where the texts come from: a ready list, a field to paste into, or a file.

import { useSignal } from "@preact/signals";
import { step } from "../state/history";
import { strings } from "../strings";
import { leftOut, lines, maxLines, openList, setText, source, text } from "./fields";
import { listNames } from "./lists";
import { columnText, openTable, type Table, wordiest } from "./table";

const words = strings.list;

const ReadyLists = () => (
  <section class="examples" aria-labelledby="lists-title">
    <h2 id="lists-title" class="hidden">
      {words.examples}
    </h2>
    <ul class="examples-list lists-list">
      {listNames.map((name) => (
        <li key={name}>
          <button type="button" class="example" aria-pressed={source.value === name} onClick={() => step(() => void openList(name))}>
            <span class="example-field">{words.names[name][0]}</span>
            <span class="example-title">{words.names[name][1]}</span>
          </button>
        </li>
      ))}
    </ul>
  </section>
);

export function Texts() {
  const table = useSignal<Table | undefined>(undefined);
  const column = useSignal(0);
  const unreadable = useSignal("");

  const take = (opened: Table, from: number): void => {
    table.value = opened.columns.length > 1 ? opened : undefined;
    column.value = from;
    setText(columnText(opened, from));
  };
  const open = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    unreadable.value = "";
    try {
      const opened = await openTable(file);
      take(opened, wordiest(opened));
    } catch {
      unreadable.value = words.texts.unreadable(file.name);
    }
  };
  const onDrop = (event: DragEvent): void => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    void open(file);
  };
  const own = source.value === undefined ? table.value : undefined;

  return (
    <>
      <ReadyLists />
      <section class="texts" aria-labelledby="texts-title" onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
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
            {leftOut.value > 0 && <span class="quiet"> {words.texts.leftOut(leftOut.value, maxLines)}</span>}
          </p>
          {own && (
            <label class="choice">
              {words.texts.column}{" "}
              <select value={column.value} onChange={(event) => take(own, Number(event.currentTarget.value))}>
                {own.columns.map((name, i) => (
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
                void open(event.currentTarget.files?.[0]);
                event.currentTarget.value = "";
              }}
            />
            {words.texts.open}
          </label>
        </div>
        <p class="note problem" role="status">
          {unreadable.value}
        </p>
      </section>
    </>
  );
}
