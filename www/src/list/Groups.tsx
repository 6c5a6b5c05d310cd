// The groups as text: each named by its most central member, with the members behind it.

import { useSignal } from "@preact/signals";
import { memo } from "preact/compat";
import type { Group } from "caselens";
import { similarity } from "../format";
import { theme } from "../state/theme";
import { strings } from "../strings";
import { colourOf } from "./colours";
import { age, grouped, pointedAt } from "./grouping";

const words = strings.list.groups;
/** Members shown at first, and how many more each click shows: few enough to be drawn within a frame. */
const first = 4;
const more = 200;

const Badge = ({ group, unmentioned }: { group: number; unmentioned: boolean | undefined }) => (
  <span class="badge" style={{ background: colourOf(group, theme.value, unmentioned) }} aria-hidden="true">
    {unmentioned ? strings.results.none : group + 1}
  </span>
);

const GroupText = memo(({ group, index, largest, condition }: { group: Group; index: number; largest: number; condition: string }) => {
  const shown = useSignal(first);
  const { members, unmentioned } = group;
  // A group that has nothing in common is named by that, and all of its texts are among its members.
  const [central, rest] = unmentioned ? [undefined, members] : [members[0], members.slice(1)];
  const left = rest.length - shown.value;
  const point = (): void => void (pointedAt.value = index);
  const leave = (): void => void (pointedAt.value = undefined);
  return (
    <li class={unmentioned ? "group unmentioned" : "group"} onPointerEnter={point} onPointerLeave={leave} onFocusCapture={point} onBlurCapture={leave}>
      <h3>
        <Badge group={index} unmentioned={unmentioned} />
        <span>{central ? central.text : words.unmentioned(condition)}</span>
      </h3>
      <p class="group-size">
        <span class="group-bar" aria-hidden="true">
          <span style={{ width: `${(100 * group.members.length) / largest}%`, background: colourOf(index, theme.value, unmentioned) }} />
        </span>
        {words.size(group.members.length)}
      </p>
      <ul class="members">
        {rest.slice(0, shown.value).map((member) => (
          <li key={member.index}>
            <span>{member.text}</span>
            {!unmentioned && (
              <span class="quiet" title={words.member}>
                {similarity(member.similarity)}
              </span>
            )}
          </li>
        ))}
      </ul>
      {(left > 0 || shown.value > first) && (
        <button type="button" class="button more" onClick={() => (shown.value = left > 0 ? shown.value + more : first)}>
          {left > 0 ? words.more(Math.min(more, left)) : words.fewer}
        </button>
      )}
    </li>
  );
});

export function Groups() {
  const now = grouped.value;
  if (!now) return null;
  const largest = Math.max(1, ...now.groups.map(({ members }) => members.length));
  return (
    <section aria-labelledby="groups-title" class={age.value}>
      <h2 id="groups-title">{age.value === "earlier" ? words.earlier : words.title}</h2>
      <ol class="groups">
        {now.groups.map((group, index) => (
          <GroupText key={`${now.condition} ${group.unmentioned ? "" : group.center}`} group={group} index={index} largest={largest} condition={now.condition} />
        ))}
      </ol>
    </section>
  );
}
