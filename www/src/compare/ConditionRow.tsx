// One condition: edited in place, with its bar and its numbers.

import type { Comparison } from "caselens";
import { difference, similarity } from "../format";
import { answers, comparisonOf, pending, unconditional } from "../state/answers";
import { isWord, lookOf } from "../state/attention";
import { conditions, editCondition, isBlank, removeCondition, repeated, spreadCondition, type Condition } from "../state/fields";
import { holdCondition, inLens, pointing } from "../state/focus";
import type { Problem } from "../state/problem";
import { change } from "../state/undo";
import type { Attended } from "../state/words";
import { strings } from "../strings";
import { Bar } from "../ui/Bar";
import { Glyph } from "../ui/Discs";
import { told as toldProblem } from "../ui/Notices";
import { saidOf, spokenOf } from "../ui/spoken";

const words = strings.conditions;
/** How it is better put, in a visitor's words; undefined where there is nothing to say. */
const advised = (comparison: Comparison | undefined): string | undefined =>
  comparison?.advice?.map((one) => words.advice[one]).find((advice) => advice !== undefined);
const signs = { more: "▲", less: "▼", same: "=" } as const;

/** What is wrong with it, in a visitor's words. */
const toldOf = (problem: Problem): string => toldProblem(problem.code === "text-too-long" ? { ...problem, code: "condition-too-long" } : problem);

interface Props {
  readonly condition: Condition;
  readonly index: number;
  readonly focusCondition: (id: number | undefined) => void;
}

/** The condition before or after one, in the list as it is now. */
const neighbour = (id: number, offset: number): number | undefined => {
  const list = conditions.peek();
  return list[list.findIndex((one) => one.id === id) + offset]?.id;
};

/** Every word with its share, the largest first. */
const told = ({ pieces }: Attended): string[] =>
  pieces
    .flatMap(({ text, share }) => (share === undefined || !isWord(text) ? [] : [{ text, share }]))
    .sort((a, b) => b.share - a.share)
    .map(({ text, share }) => strings.attention.share(text, share));

export function ConditionRow({ condition, index, focusCondition }: Props) {
  const { id, text } = condition;
  const last = index === conditions.value.length - 1;
  const blank = isBlank(text);
  const twin = repeated.value.get(id);
  const idle = blank || twin !== undefined;
  const answer = idle ? undefined : answers.value.get(id);
  const comparison = comparisonOf(answer);
  const problem = answer && "problem" in answer ? answer.problem : undefined;
  const said = saidOf(comparison);
  const value = said?.value;
  /** How far it is from the naked eye's, where both can be trusted. */
  const against = comparison && value !== undefined && !said?.doubt ? difference(value, comparison.unconditional) : undefined;
  const isUnsaid = said !== undefined && value === undefined;
  const look = lookOf(id);
  const note = twin !== undefined ? words.repeated(twin) : problem ? toldOf(problem) : comparison?.truncated ? words.cut : comparison?.unknown ? words.unknown(comparison.unknown) : (advised(comparison) ?? "");

  const remove = (): void => {
    const next = neighbour(id, 1) ?? neighbour(id, -1);
    change({ kind: "removed", condition: text }, () => removeCondition(id));
    focusCondition(next);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      focusCondition(neighbour(id, 1));
    } else if (event.key === "Backspace" && text === "" && conditions.peek().length > 1) {
      event.preventDefault();
      const previous = neighbour(id, -1) ?? neighbour(id, 1);
      if (!last) removeCondition(id);
      focusCondition(previous);
    }
  };

  const onPaste = (event: ClipboardEvent): void => {
    const pasted = event.clipboardData?.getData("text") ?? "";
    const lines = pasted.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== "");
    if (lines.length < 2) return;
    event.preventDefault();
    const field = event.currentTarget as HTMLInputElement;
    const before = field.value.slice(0, field.selectionStart ?? 0);
    const after = field.value.slice(field.selectionEnd ?? field.value.length);
    lines[0] = before + lines[0];
    lines[lines.length - 1] += after;
    const next = spreadCondition(id, lines);
    requestAnimationFrame(() => focusCondition(next?.id));
  };

  /** A blank one is looked through from its first letter on. */
  const hold = (): void => holdCondition(id);

  return (
    <li class={`row${inLens.value === id ? " in-lens" : ""}${isUnsaid ? " unsaid" : said?.doubt ? " doubtful" : ""}`} {...pointing(hold)}>
      <span class="cell-glyph">{value !== undefined && <Glyph similarity={value} />}</span>
      <span class="cell-name">
        <input
          type="text"
          class="condition"
          data-condition={id}
          value={text}
          placeholder={last ? words.placeholder : undefined}
          aria-label={last && blank ? words.add : words.label(index + 1)}
          aria-describedby={`condition-keys condition-${id}-note condition-${id}-look`}
          aria-invalid={problem !== undefined}
          autocomplete="off"
          spellcheck={false}
          dir="auto"
          lang={text ? "en" : undefined}
          enterkeyhint="next"
          onInput={(event) => {
            editCondition(id, event.currentTarget.value);
            hold();
          }}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onFocus={hold}
          onPointerEnter={({ currentTarget: field }) => (field.title = field.scrollWidth > field.clientWidth ? text : "")}
        />
      </span>
      {idle ? (
        <span class="cell-bar" />
      ) : (
        <>
          <Bar value={value} unconditional={comparison?.unconditional ?? unconditional.value} />
          <span class="cell-value" aria-hidden="true">
            {value === undefined ? strings.results.none : similarity(value)}
          </span>
          <span class="cell-difference" data-kind={against?.kind} aria-hidden="true">
            {said?.why}
            {against && (
              <>
                <span class="sign">{signs[against.kind]}</span>
                {against.kind === "same" ? "" : `${against.size} `}
                <span>{strings.results[against.kind]}</span>
              </>
            )}
          </span>
          <span class="hidden" aria-busy={pending.value}>
            {comparison && spokenOf(comparison)}
          </span>
        </>
      )}
      {!(last && blank) && (
        <button type="button" class="remove" aria-label={words.remove(text)} onClick={remove}>
          <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
            <path d="M6 6l8 8M14 6l-8 8" />
          </svg>
        </button>
      )}
      <span class="note" id={`condition-${id}-note`}>
        {note}
      </span>
      <span class="hidden" id={`condition-${id}-look`}>
        {look && strings.attention.looks(told(look[0]), told(look[1]))}
      </span>
    </li>
  );
}
