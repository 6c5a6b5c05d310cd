// The groups as text: each named by what sets it apart, or as a person named it, with its members, the most central first.

import { useSignal } from "@preact/signals";
import { memo } from "preact/compat";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Group, Member } from "caselens";
import { similarity } from "../format";
import { theme } from "../state/theme";
import { strings } from "../strings";
import { Pencil } from "../ui/Pencil";
import { colourOf } from "./colours";
import { age, doubtedAt, grouped, names, pointedAt, rename } from "./grouping";
import { maxName } from "./names";
import { atHand, revealed, selected } from "./selection";

const words = strings.list.groups;
/** Members shown at first, and how many more each click shows: few enough to be drawn within a frame. */
const first = 5;
const more = 200;

export const Badge = ({ group, unmentioned }: { group: number; unmentioned: boolean | undefined }) => (
  <span class="badge" style={{ background: colourOf(group, theme.value, unmentioned) }} aria-hidden="true">
    {unmentioned ? strings.results.none : group + 1}
  </span>
);

/** A group's name, which can be changed. */
function Name({ index, name }: { index: number; name: string }) {
  const editing = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (editing.value) field.current?.select();
  }, [editing.value]);

  const close = (typed: string | undefined, back: boolean): void => {
    if (!editing.peek()) return;
    editing.value = false;
    if (typed !== undefined && typed.trim() !== name) rename(index, typed);
    if (back) requestAnimationFrame(() => button.current?.focus());
  };

  if (!editing.value) {
    return (
      <>
        <h3>
          <Badge group={index} unmentioned={undefined} />
          <span class="group-name" dir="auto">{name}</span>
        </h3>
        <button type="button" class="rename" ref={button} aria-label={words.rename(name)} title={words.rename(name)} onClick={() => (editing.value = true)}>
          <Pencil />
        </button>
      </>
    );
  }
  return (
    <form
      class="group-form"
      onSubmit={(event) => {
        event.preventDefault();
        close(field.current?.value, true);
      }}
    >
      <Badge group={index} unmentioned={undefined} />
      <input
        type="text"
        class="condition"
        ref={field}
        defaultValue={name.slice(0, maxName)}
        placeholder={words.unnamed}
        aria-label={words.name(index + 1)}
        maxLength={maxName}
        autocomplete="off"
        dir="auto"
        onBlur={(event) => close(event.currentTarget.value, false)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          close(undefined, true);
        }}
      />
      <button type="submit" class="button" onPointerDown={(event) => event.preventDefault()}>
        {words.keep}
      </button>
    </form>
  );
}

const MemberText = ({ member, isCentral, unmentioned }: { member: Member; isCentral: boolean; unmentioned: boolean | undefined }) => {
  const isSelected = selected.value.has(member.index);
  const { doubt } = doubtedAt(member.index);
  return (
    <li
      id={`text-${member.index}`}
      class={isSelected ? "selected" : undefined}
      onPointerEnter={() => (atHand.value = { index: member.index, by: "list" })}
      onPointerLeave={() => (atHand.value = undefined)}
    >
      <span dir="auto">
        <span lang="en">{member.text}</span>
        {isCentral && <span class="hidden"> ({words.central})</span>}
        {isSelected && <span class="hidden"> ({words.elsewhere})</span>}
        {doubt && <em class="quiet why"> {strings.results.doubt[doubt]}</em>}
      </span>
      {!unmentioned && (
        <span class={doubt ? "quiet doubtful-value" : "quiet"} title={words.member}>
          {similarity(member.similarity)}
        </span>
      )}
    </li>
  );
};

const Members = memo(({ group }: { group: Group }) => {
  const shown = useSignal(first);
  const { members, unmentioned } = group;
  const left = members.length - shown.value;
  // The text that was picked on the map stands below the others, if it is not among them.
  const picked = revealed.value;
  const beyond = left > 0 && picked !== undefined ? members.slice(shown.value).find(({ index }) => index === picked) : undefined;
  return (
    <>
      <ul class="members">
        {members.slice(0, shown.value).map((member, i) => (
          <MemberText key={member.index} member={member} isCentral={i === 0 && !unmentioned} unmentioned={unmentioned} />
        ))}
        {beyond && <MemberText key={beyond.index} member={beyond} isCentral={false} unmentioned={unmentioned} />}
      </ul>
      {(left > 0 || shown.value > first) && (
        <button type="button" class="button more" onClick={() => (shown.value = left > 0 ? shown.value + more : first)}>
          {left > 0 ? words.more(Math.min(more, left)) : words.fewer}
        </button>
      )}
    </>
  );
});

interface Props {
  readonly group: Group;
  readonly index: number;
  readonly name: string;
  readonly largest: number;
  /** A text of it is at hand. */
  readonly isLit: boolean;
}

const GroupText = memo(({ group, index, name, largest, isLit }: Props) => {
  const { unmentioned } = group;
  const point = (): void => void (pointedAt.value = index);
  const leave = (): void => void (pointedAt.value = undefined);
  return (
    <li
      class={`group${unmentioned ? " unmentioned" : ""}${isLit ? " lit" : ""}`}
      onPointerEnter={point}
      onPointerLeave={leave}
      onFocusCapture={({ target }) => (target as Element).matches(":focus-visible") && point()}
      onBlurCapture={leave}
    >
      <div class="group-head">
        {unmentioned ? (
          <h3>
            <Badge group={index} unmentioned />
            <span class="group-name" dir="auto">{name}</span>
          </h3>
        ) : (
          <Name index={index} name={name} />
        )}
      </div>
      <p class="group-size">
        <span class="group-bar" aria-hidden="true">
          <span style={{ width: `${(100 * group.members.length) / largest}%`, background: colourOf(index, theme.value, unmentioned) }} />
        </span>
        {words.size(group.members.length)}
      </p>
      <Members group={group} />
    </li>
  );
});

export function Groups() {
  const now = grouped.value;
  if (!now) return null;
  const largest = Math.max(1, ...now.groups.map(({ members }) => members.length));
  const hand = atHand.value;
  const lit = hand && hand.by !== "list" ? now.labels[hand.index] : undefined;
  return (
    <section aria-labelledby="groups-title" class={age.value}>
      <h2 id="groups-title">{age.value === "earlier" ? words.earlier : words.title}</h2>
      <ol class="groups">
        {now.groups.map((group, index) => (
          <GroupText
            key={`${now.condition} ${group.unmentioned ? "" : group.center}`}
            group={group}
            index={index}
            name={names.value[index] ?? ""}
            largest={largest}
            isLit={lit === index}
          />
        ))}
      </ol>
    </section>
  );
}
