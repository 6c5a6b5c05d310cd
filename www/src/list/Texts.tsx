// Where the texts come from: a ready list, a field to paste into, or a file.

import { step } from "../state/history";
import { strings } from "../strings";
import { columnNames } from "../tables/table";
import { Drop } from "../ui/Drop";
import { FileButton } from "../ui/FileButton";
import { InEnglish } from "../ui/InEnglish";
import { cutShort, lines, lost, maxCharacters, openList, setText, source, text, trouble } from "./fields";
import { listNames } from "./lists";
import { given, open, opened, take } from "./opened";

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

/** How what was given was read, and what of it is not grouped, in words. */
function told(): string {
  const { texts, empty, invisible, notices } = given.value;
  return [
    texts > lines.value.length ? words.texts.sampled(lines.value.length, texts) : "",
    empty > 0 ? words.texts.blank(empty) : "",
    invisible > 0 ? words.texts.invisible(invisible) : "",
    cutShort.value > 0 ? words.texts.cutShort(cutShort.value, maxCharacters) : "",
    ...notices,
  ]
    .filter(Boolean)
    .join(" ");
}

/** Which column of a file that was opened, and whether it names them. */
function Choices() {
  const own = opened.value;
  if (!own) return null;
  const { table, headed, column } = own;
  const names = columnNames(table, headed);
  return (
    <>
      {table.named === undefined && (
        <label class="choice">
          <input type="checkbox" checked={headed} onChange={(event) => take(table, event.currentTarget.checked)} /> {words.texts.header}
        </label>
      )}
      {names.length > 1 && (
        <label class="choice">
          {words.texts.column}{" "}
          <select value={column} onChange={(event) => take(table, headed, Number(event.currentTarget.value))}>
            {names.map((name, i) => (
              <option key={i} value={i}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

export function Texts() {
  return (
    <>
      <ReadyLists />
      <Drop onFile={(file) => void open(file)} />
      <section class="texts" aria-labelledby="texts-title">
        <h2 id="texts-title" class="hidden">
          {words.texts.title}
        </h2>
        <label for="texts">{words.texts.label}</label>
        <InEnglish />
        <textarea
          id="texts"
          rows={5}
          value={text.value}
          placeholder={words.texts.placeholder}
          spellcheck={false}
          dir="auto"
          lang={text.value ? "en" : undefined}
          aria-describedby="texts-count texts-told"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <div class="texts-tools">
          <p id="texts-count">{words.texts.count(lines.value.length)}</p>
          <Choices />
          <FileButton onFile={(file) => void open(file)}>{words.texts.open}</FileButton>
        </div>
        <p id="texts-told" class="note" role="status">
          {trouble.value && <span class="problem">{trouble.value} </span>}
          {lost.value && <span class="problem">{words.texts.lost} </span>}
          {told()}
        </p>
      </section>
    </>
  );
}
