// The map with its tools, its legend and what is selected on it.

import { batch, useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { count } from "../format";
import { theme } from "../state/theme";
import { strings } from "../strings";
import { stepOf, scaleSteps } from "./colouring";
import { colourOf, scaleColour, shapeOf } from "./colours";
import { draw, type Drawing, type Picture, type Style, type Told } from "./drawing";
import { age, found, grouped, type Grouped, names, pointedAt } from "./grouping";
import { Legend } from "./Legend";
import { type ColourColumn, colourColumns } from "./opened";
import { Selection, showInList } from "./Selection";
import { atHand, clearSelection, pointedValue, revealed, select, selected } from "./selection";

const words = strings.list.map;
const zoomStep = 1.6;
/** Wide enough for the list beside the map: there it may follow what is picked. */
const beside = matchMedia("(min-width: 56rem)");
const forced = matchMedia("(forced-colors: active)");
const darkSystem = matchMedia("(prefers-color-scheme: dark)");

type Place = Parameters<Told["placed"]>[0];

/** How each point looks, by its group or by its value in a column. */
function dressed(now: Grouped, column: ColourColumn | undefined, colours: "light" | "dark"): Pick<Picture, "styles" | "styleOf" | "plates"> {
  const blank: Style = { colour: colourOf(0, colours, true), shape: "circle" };
  if (column?.colouring.kind === "number") {
    const { of, least, most } = column.colouring;
    const steps = Array.from({ length: scaleSteps }, (_, i): Style => ({ colour: scaleColour(i / (scaleSteps - 1), colours), shape: "circle" }));
    return { styles: [blank, ...steps], styleOf: Uint8Array.from(of, (value) => stepOf(value, least, most) + 1), plates: [] };
  }
  if (column?.colouring.kind === "category") {
    const { of, values } = column.colouring;
    const styles = values.map((_, i): Style => ({ colour: colourOf(i, colours), shape: shapeOf(i) }));
    return { styles: [blank, ...styles], styleOf: Uint8Array.from(of, (value) => value + 1), plates: [] };
  }
  return {
    styles: now.groups.map(({ unmentioned }, i): Style => ({ colour: colourOf(i, colours, unmentioned), shape: shapeOf(i) })),
    styleOf: now.labels,
    plates: now.groups.flatMap(({ center, unmentioned }, style) => (unmentioned ? [] : [{ index: center, text: String(style + 1), style }])),
  };
}

/** The text at hand, beside its point. */
function Tip({ place }: { place: Place }) {
  const now = grouped.value;
  const text = atHand.value && now?.lines[atHand.value.index];
  if (!place || text === undefined) return null;
  const { x, y, width, height } = place;
  // Above or below its point, and as far to a side as keeps it within the map.
  const side = y > height / 2 ? { bottom: `${height - y + 16}px` } : { top: `${y + 16}px` };
  return (
    <p class="map-tip" dir="auto" aria-hidden="true" style={{ left: `${x}px`, transform: `translateX(${(-100 * x) / width}%)`, ...side }}>
      {text}
    </p>
  );
}

/** What the keyboard has got to, for who does not see it. */
function Spoken({ column }: { column: ColourColumn | undefined }) {
  const now = grouped.value;
  const hand = atHand.value;
  const value = (index: number): string => {
    if (!column) return "";
    const { colouring, name } = column;
    const own = colouring.of[index] as number;
    if (colouring.kind === "number") return Number.isNaN(own) ? "" : words.value(name, count(own));
    return words.value(name, colouring.values[own] ?? words.noValue);
  };
  return (
    <p class="hidden" role="status">
      {now && hand?.by === "keys"
        ? words.spoken(now.lines[hand.index] ?? "", names.value[now.labels[hand.index] ?? 0] ?? "", value(hand.index), selected.value.has(hand.index))
        : ""}
    </p>
  );
}

const Tool = ({ name, children, ...rest }: { name: string; children: preact.ComponentChildren; disabled?: boolean; pressed?: boolean; onClick: () => void }) => (
  <button type="button" class="map-tool" aria-label={name} title={name} aria-pressed={rest.pressed} disabled={rest.disabled} onClick={rest.onClick}>
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      {children}
    </svg>
  </button>
);

export function MapChart() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<Drawing | undefined>(undefined);
  const shown = useRef<Grouped | undefined>(undefined);
  const unsaved = useSignal(false);
  const zoom = useSignal(1);
  const lasso = useSignal(false);
  const place = useSignal<Place>(undefined);
  const chosen = useSignal("");
  const keys = useId();
  const now = grouped.value;
  const columns = age.value === "" ? colourColumns.value : [];
  const column = columns.find(({ column }) => String(column) === chosen.value);
  // What the system colours is as light or dark as the system is.
  const colours = forced.matches ? (darkSystem.matches ? "dark" : "light") : theme.value;

  const told: Told = {
    hand(index, by) {
      const before = atHand.peek();
      if (before?.index === index && before?.by === by) return;
      if (index === undefined && by === "keys" && before?.by !== "keys") return;
      atHand.value = index === undefined ? undefined : { index, by };
    },
    pick(places, add) {
      if (places.length === 0 && !add) return clearSelection();
      select(places, add);
      const picked = revealed.peek();
      // Once the list has drawn it.
      if (picked !== undefined && beside.matches) requestAnimationFrame(() => showInList(picked));
    },
    placed(at) {
      const before = place.peek();
      if (at?.x !== before?.x || at?.y !== before?.y || at?.width !== before?.width) place.value = at;
    },
    zoom: (value) => (zoom.value = value),
  };

  const show = (): void => {
    if (!now || !canvas.current) return;
    const on = canvas.current;
    const look = dressed(now, column, colours);
    const same = shown.current?.lines === now.lines;
    shown.current = now;
    drawing.current ??= draw(on, told);
    const fellows = (index: number): number[] => now.groups[now.labels[index] ?? 0]?.members.map((member) => member.index) ?? [];
    drawing.current.show({ ...look, points: now.points, same, fellows });
    mark();
  };
  const mark = (): void => {
    const group = pointedAt.peek();
    const value = pointedValue.peek();
    const hits = found.peek();
    const ofValue = column?.colouring.of;
    drawing.current?.mark({
      lit: value !== undefined && ofValue ? (i) => ofValue[i] === value : group !== undefined ? (i) => now?.labels[i] === group : undefined,
      hits: hits?.among === now ? (hits?.hits.flatMap(({ index, unmentioned }) => (unmentioned ? [] : [index])) ?? []) : [],
      selected: selected.peek(),
      atHand: atHand.peek()?.index,
    });
  };
  useEffect(show, [now, colours, column]);
  useEffect(mark, [pointedAt.value, pointedValue.value, found.value, selected.value, atHand.value]);
  useEffect(() => drawing.current?.lasso(lasso.value), [lasso.value]);
  useEffect(() => () => drawing.current?.end(), []);

  return (
    <section class={`map ${age.value}`} aria-labelledby="map-title" hidden={!now}>
      <div class="map-head">
        <h2 id="map-title" tabIndex={-1}>
          {age.value === "earlier" ? words.earlier : words.title}
        </h2>
        <div class="map-tools" role="group" aria-label={words.tools}>
          {columns.length > 0 && (
            <select
              aria-label={words.colour}
              value={column ? chosen.value : ""}
              onChange={(event) => {
                const { value } = event.currentTarget;
                batch(() => {
                  chosen.value = value;
                  pointedValue.value = undefined;
                });
              }}
            >
              <option value="">{words.byGroup}</option>
              {columns.map(({ column, name }) => (
                <option key={column} value={String(column)}>
                  {words.by(name)}
                </option>
              ))}
            </select>
          )}
          <Tool name={words.lasso} pressed={lasso.value} onClick={() => (lasso.value = !lasso.value)}>
            <path d="M6.5 12.200C4.3 11.4 3 10 3 8.3 3 5.7 6.1 3.5 10 3.500s7 2.2 7 4.800-3.1 4.700-7 4.700c-2 0-3.500.4-3.5 1.5 0 1.2 1.500.9 1.5 2.200" />
          </Tool>
          <Tool name={words.farther} disabled={zoom.value <= 1} onClick={() => drawing.current?.zoom(1 / zoomStep)}>
            <path d="M4 10h12" />
          </Tool>
          <Tool name={words.closer} onClick={() => drawing.current?.zoom(zoomStep)}>
            <path d="M4 10h12M10 4v12" />
          </Tool>
          <Tool name={words.whole} disabled={zoom.value <= 1} onClick={() => drawing.current?.reset()}>
            <path d="M4 8V4h4M12 4h4v4M16 12v4h-4M8 16H4v-4" />
          </Tool>
        </div>
      </div>
      <div class={lasso.value ? "map-plate drawing-line" : "map-plate"}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-roledescription={words.role}
          aria-label={now && words.label(now.lines.length, now.groups.length)}
          aria-describedby={keys}
        />
        <Tip place={place.value} />
      </div>
      <Spoken column={column} />
      <Legend column={column} />
      <Selection onUnsaved={(isUnsaved) => (unsaved.value = isUnsaved)} />
      {unsaved.value && (
        <div class="notice notice-bad" role="alert">
          <p>{strings.list.missing(strings.list.texts.writer)}</p>
        </div>
      )}
      <details class="map-help">
        <summary>{words.help}</summary>
        <p class="note">{words.note}</p>
        <p class="note" id={keys}>
          {words.keys}
        </p>
      </details>
    </section>
  );
}
