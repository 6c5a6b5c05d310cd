// What the colours of the map say: groups, names of a column, or a scale of numbers.

import { count } from "../format";
import { theme } from "../state/theme";
import { strings } from "../strings";
import { colourOf, scaleColour, shapeOf } from "./colours";
import { Badge } from "./Groups";
import { grouped, names, pointedAt } from "./grouping";
import type { ColourColumn } from "./opened";
import { atHand, pointedValue, select } from "./selection";

const words = strings.list.map;

/** A point's shape, as the map draws it. */
function Swatch({ place }: { place: number }) {
  const [shape, fill] = [shapeOf(Math.max(0, place)), colourOf(place, theme.value, place < 0)];
  return (
    <svg class="swatch" viewBox="-10 -10 20 20" aria-hidden="true">
      {shape === "circle" && <circle r="8" fill={fill} />}
      {shape === "rect" && <rect x="-7" y="-7" width="14" height="14" fill={fill} />}
      {shape === "triangle" && <path d="M0-9 8 5-8 5z" fill={fill} />}
      {shape === "diamond" && <path d="M0-9 9 0 0 9-9 0z" fill={fill} />}
    </svg>
  );
}

interface EntryProps {
  readonly name: string;
  readonly places: readonly number[];
  readonly isLit: boolean;
  readonly onPoint: (isPointed: boolean) => void;
  readonly mark: preact.ComponentChildren;
}

const Entry = ({ name, places, isLit, onPoint, mark }: EntryProps) => (
  <li>
    <button
      type="button"
      class={isLit ? "legend-entry lit" : "legend-entry"}
      title={words.selectAll(name, places.length)}
      onPointerEnter={() => onPoint(true)}
      onPointerLeave={() => onPoint(false)}
      onFocus={() => onPoint(true)}
      onBlur={() => onPoint(false)}
      onClick={() => select(places)}
    >
      {mark}
      <span class="legend-name" dir="auto">{name}</span>
      <span class="quiet">{count(places.length)}</span>
    </button>
  </li>
);

function Groups() {
  const now = grouped.value;
  const hand = atHand.value;
  return (
    <ul class="legend" aria-label={words.legend}>
      {now?.groups.map(({ members, unmentioned, center }, index) => (
        <Entry
          key={unmentioned ? "" : center}
          name={names.value[index] ?? ""}
          places={members.map((member) => member.index)}
          isLit={hand !== undefined && now.labels[hand.index] === index}
          onPoint={(isPointed) => (pointedAt.value = isPointed ? index : undefined)}
          mark={<Badge group={index} unmentioned={unmentioned} />}
        />
      ))}
    </ul>
  );
}

function Column({ name, colouring }: ColourColumn) {
  const hand = atHand.value;
  if (colouring.kind === "number") {
    const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => scaleColour(share, theme.value));
    const own = hand && colouring.of[hand.index];
    const at = own === undefined || Number.isNaN(own) ? undefined : (own - colouring.least) / (colouring.most - colouring.least);
    return (
      <div class="legend-scale" aria-label={words.legend} role="group">
        <span>
          <span class="hidden">{name}: </span>
          {count(colouring.least)}
        </span>
        <span class="legend-ramp" style={{ background: `linear-gradient(to right, ${stops.join(", ")})` }} aria-hidden="true">
          {at !== undefined && <span style={{ left: `${100 * at}%` }} />}
        </span>
        <span>{count(colouring.most)}</span>
      </div>
    );
  }
  const places: number[][] = [];
  colouring.of.forEach((value, i) => (places[value + 1] ??= []).push(i));
  return (
    <ul class="legend" aria-label={words.legend}>
      {[...colouring.values.keys(), -1].map((value) => {
        const own = places[value + 1];
        if (!own) return null;
        return (
          <Entry
            key={value}
            name={colouring.values[value] ?? words.noValue}
            places={own}
            isLit={hand !== undefined && colouring.of[hand.index] === value}
            onPoint={(isPointed) => (pointedValue.value = isPointed ? value : undefined)}
            mark={<Swatch place={value} />}
          />
        );
      })}
    </ul>
  );
}

export const Legend = ({ column }: { column: ColourColumn | undefined }) => (column ? <Column {...column} /> : <Groups />);
