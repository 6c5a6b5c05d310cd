// The map on its canvas: draws points, and tells what is done to them with a pointer, fingers or keys. Points glide from where they
// were to where they are now, or jump where people ask for less motion.

import { rem } from "../ui/charts";
import { type Places, placesOf } from "../ui/places";
import type { Shape } from "./colours";
import { type Camera, type Frame, mostZoom, nearest, nextTowards, panned, showing, toPixels, unit, whole, within, zoomed } from "./plane";

/** How some of the points look. */
export interface Style {
  readonly colour: string;
  readonly shape: Shape;
}

/** What is drawn. */
export interface Picture {
  /** `[texts, 2]` */
  readonly points: Float32Array;
  /** The same texts as in the picture before: their points glide. */
  readonly same: boolean;
  readonly styles: readonly Style[];
  /** For each point, the place of its style. */
  readonly styleOf: ArrayLike<number>;
  /** Numbered plates, each on a point. */
  readonly plates: readonly { readonly index: number; readonly text: string; readonly style: number }[];
  /** For each point, the places of the points of its group from the most telling on. */
  readonly fellows: (index: number) => readonly number[];
}

/** What stands out. */
export interface Marks {
  /** Styles of the points that keep their colours; undefined for all. */
  readonly lit: ((index: number) => boolean) | undefined;
  readonly hits: readonly number[];
  readonly selected: ReadonlySet<number>;
  readonly atHand: number | undefined;
}

/** What is told. */
export interface Told {
  /** A point is at hand, or none. */
  hand(index: number | undefined, by: "pointer" | "keys"): void;
  /** Points are picked, alone or besides others; none: what is selected is not any more. */
  pick(places: readonly number[], add: boolean): void;
  /** Where the point at hand is drawn, in pixels of the canvas; undefined for nowhere. */
  placed(at: { readonly x: number; readonly y: number; readonly width: number; readonly height: number } | undefined): void;
  /** How large the map is shown. */
  zoom(zoom: number): void;
}

export interface Drawing {
  show(picture: Picture): void;
  mark(marks: Marks): void;
  /** The theme, the letters' size or the colours of the system have changed. */
  dress(): void;
  zoom(factor: number): void;
  reset(): void;
  /** Drags draw a line around points, without a key held down. */
  lasso(on: boolean): void;
  end(): void;
}

const glideMs = 700;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const eased = (t: number): number => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);
/** Points that glide: moving more of them takes longer than a frame. */
const maxGliding = 2000;
/** Points' sizes, in rem: of up to so many texts. */
const radii = [[300, 0.375], [2000, 0.22], [Infinity, 0.125]] as const;
const faded = 0.22;
/** Rings take long to draw: more points than these get dark ground to stand on. */
const maxRings = 300;
/** Pixels that a pointer may miss a point by, a finger too, and that it may tremble within a click. */
const miss = { mouse: 8, touch: 22 };
const tremble = 5;
const keyZoom = 1.5;

export function draw(canvas: HTMLCanvasElement, told: Told): Drawing {
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  let picture: Picture | undefined;
  let marks: Marks = { lit: undefined, hits: [], selected: new Set(), atHand: undefined };
  /** Where points are drawn, and where they glide to. */
  let places: Places = { x: new Float32Array(), y: new Float32Array() };
  let glide: { readonly from: Places; readonly to: Places; readonly since: number } | undefined;
  let camera = whole;
  let frame: Frame = { width: 0, height: 0, margin: 16 };
  let asked = 0;
  let lassoing = false;
  let line: number[] | undefined;

  const ask = (): void => {
    asked ||= requestAnimationFrame((now) => {
      asked = 0;
      paint(now);
    });
  };
  const move = (next: Camera): void => {
    if (next.zoom !== camera.zoom) told.zoom(next.zoom);
    camera = next;
    // One finger scrolls the page past a map that is whole, and moves one that is not.
    canvas.style.touchAction = camera.zoom > 1 || lassoing ? "none" : "pan-y";
    ask();
  };

  const radius = (): number => (radii.find(([most]) => places.x.length <= most) ?? radii[2])[1] * rem() * Math.min(1.6, camera.zoom ** 0.25);

  function paint(now: number): void {
    if (!picture || frame.width === 0) return;
    if (glide) {
      const t = Math.min(1, Math.max(0, (now - glide.since) / glideMs));
      const { from, to } = glide;
      const share = eased(t);
      places = {
        x: to.x.map((value, i) => (from.x[i] as number) + share * (value - (from.x[i] as number))),
        y: to.y.map((value, i) => (from.y[i] as number) + share * (value - (from.y[i] as number))),
      };
      if (t === 1) glide = undefined;
      else ask();
    }
    const { styles, styleOf, plates } = picture;
    const { lit, hits, selected, atHand } = marks;
    const [size, one] = [radius(), unit(frame, camera)];
    const [left, top] = [frame.width / 2 - camera.x * one, frame.height / 2 - camera.y * one];
    const atX = (i: number): number => left + (places.x[i] as number) * one;
    const atY = (i: number): number => top + (places.y[i] as number) * one;
    const ink = getComputedStyle(canvas).color;
    const ground = getComputedStyle(canvas).backgroundColor;
    const density = canvas.width / frame.width;
    context.setTransform(density, 0, 0, density, 0, 0);
    context.clearRect(0, 0, frame.width, frame.height);

    // All points of one look are one path: a thousand paths would take more than a frame.
    const paths = [styles.map(() => new Path2D()), styles.map(() => new Path2D())] as const;
    const small = size < 3;
    for (let i = 0; i < places.x.length; i++) {
      const [x, y] = [atX(i), atY(i)];
      if (x < -size || y < -size || x > frame.width + size || y > frame.height + size) continue;
      const style = styleOf[i] as number;
      const path = paths[lit && !lit(i) ? 0 : 1][style];
      if (path) outline(path, small ? "rect" : (styles[style] as Style).shape, x, y, size);
    }
    if (selected.size > maxRings) {
      const halo = new Path2D();
      for (const i of selected) outline(halo, "rect", atX(i), atY(i), size + 3);
      context.fillStyle = ink;
      context.fill(halo);
    }
    for (const [at, alpha] of [[0, faded], [1, 1]] as const) {
      context.globalAlpha = alpha;
      styles.forEach(({ colour }, style) => {
        context.fillStyle = colour;
        context.fill(paths[at][style] as Path2D);
      });
    }
    context.globalAlpha = 1;

    /** Rings around some points, in the colour of letters, on a rim of the ground's. */
    const ring = (all: Iterable<number>, gap: number, width: number): void => {
      const path = new Path2D();
      for (const i of all) {
        const [x, y, reach] = [atX(i), atY(i), size + gap];
        path.moveTo(x + reach, y);
        path.arc(x, y, reach, 0, 2 * Math.PI);
      }
      context.lineWidth = width + 2.5;
      context.strokeStyle = ground;
      context.stroke(path);
      context.lineWidth = width;
      context.strokeStyle = ink;
      context.stroke(path);
    };
    if (hits.length > 0) ring(hits.filter((i) => i < places.x.length), 4, 1.75);
    if (selected.size > 0 && selected.size <= maxRings) ring(selected, 1.25, 3);

    context.font = `700 ${0.8125 * rem()}px ${getComputedStyle(canvas).fontFamily}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const { index, text, style } of plates) {
      if (lit && !lit(index)) continue;
      const [x, y] = [atX(index), atY(index)];
      context.fillStyle = (styles[style] as Style).colour;
      context.beginPath();
      context.arc(x, y, 0.6875 * rem(), 0, 2 * Math.PI);
      context.fill();
      context.fillStyle = ground;
      context.fillText(text, x, y + 1);
    }

    if (atHand !== undefined && atHand < places.x.length) {
      const plate = plates.some(({ index }) => index === atHand) ? 0.6875 * rem() - size : 0;
      ring([atHand], Math.max(3, plate + 2), 2.5);
    }
    if (line) {
      context.beginPath();
      for (let i = 0; i < line.length; i += 2) context.lineTo(...toPixels(frame, camera, line[i] as number, line[i + 1] as number));
      context.closePath();
      context.globalAlpha = 0.12;
      context.fillStyle = ink;
      context.fill();
      context.globalAlpha = 1;
      context.lineWidth = 1.75;
      context.strokeStyle = ink;
      context.setLineDash([6, 4]);
      context.stroke();
      context.setLineDash([]);
    }
    const seen = atHand !== undefined && atHand < places.x.length ? { x: atX(atHand), y: atY(atHand) } : undefined;
    const inside = seen && seen.x >= 0 && seen.y >= 0 && seen.x <= frame.width && seen.y <= frame.height;
    told.placed(inside ? { ...seen, width: frame.width, height: frame.height } : undefined);
  }

  const sized = new ResizeObserver(() => {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (width === 0 || height === 0) return;
    const density = window.devicePixelRatio || 1;
    frame = { width, height, margin: 1.25 * rem() };
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    move(zoomed(frame, camera, 1));
    // A canvas that has changed its size is blank.
    paint(performance.now());
  });
  sized.observe(canvas);

  // Pointers and fingers.

  interface Touch {
    x: number;
    y: number;
  }
  const down = new Map<number, Touch>();
  /** Where the first of them went down, and whether it has left that place. */
  let start: { readonly x: number; readonly y: number; readonly add: boolean; moved: boolean } | undefined;

  const local = (event: PointerEvent | WheelEvent): Touch => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  /** Of pixels, in the plane. */
  const inPlane = ({ x, y }: Touch): readonly [number, number] => {
    const one = unit(frame, camera);
    return [camera.x + (x - frame.width / 2) / one, camera.y + (y - frame.height / 2) / one];
  };
  const under = (at: Touch, touch: boolean): number | undefined =>
    nearest(places, ...inPlane(at), (radius() + (touch ? miss.touch : miss.mouse)) / unit(frame, camera));

  const listen = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(type: K, act: (event: HTMLElementEventMap[K]) => void, passive = true): void =>
    canvas.addEventListener(type, act, { signal: listen.signal, passive });

  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = local(event);
    down.set(event.pointerId, at);
    try {
      canvas.setPointerCapture(event.pointerId);
    } catch {
      // A pointer that is gone already.
    }
    if (down.size > 1) {
      line = undefined; // two fingers zoom
      if (start) start.moved = true;
      return;
    }
    start = { ...at, add: event.shiftKey || event.ctrlKey || event.metaKey, moved: false };
    if (lassoing || event.shiftKey) line = [...inPlane(at)];
  });
  on("pointermove", (event) => {
    const at = local(event);
    const before = down.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") told.hand(under(at, false), "pointer");
      return;
    }
    if (down.size === 2) {
      const other = [...down].find(([id]) => id !== event.pointerId)?.[1] ?? at;
      const [far, farBefore] = [Math.hypot(at.x - other.x, at.y - other.y), Math.hypot(before.x - other.x, before.y - other.y)];
      const turned = panned(frame, camera, (at.x - before.x) / 2, (at.y - before.y) / 2);
      move(zoomed(frame, turned, farBefore > 0 ? far / farBefore : 1, (at.x + other.x) / 2, (at.y + other.y) / 2));
    } else if (start) {
      start.moved ||= Math.hypot(at.x - start.x, at.y - start.y) > tremble;
      if (line) {
        line.push(...inPlane(at));
        ask();
      } else if (start.moved) {
        told.hand(undefined, "pointer");
        move(panned(frame, camera, at.x - before.x, at.y - before.y));
      }
    }
    down.set(event.pointerId, at);
  });
  const up = (event: PointerEvent, done: boolean): void => {
    if (!down.delete(event.pointerId) || down.size > 0 || !start) return;
    const { moved, add, x, y } = start;
    const drawn = line;
    [start, line] = [undefined, undefined];
    if (!done) return ask();
    if (!moved) {
      const touch = event.pointerType === "touch";
      const found = under({ x, y }, touch);
      told.hand(found, "pointer");
      told.pick(found === undefined ? [] : [found], add);
    } else if (drawn) told.pick(within(places, drawn), add && lassoing);
    ask();
  };
  on("pointerup", (event) => up(event, true));
  on("pointercancel", (event) => up(event, false));
  on("pointerleave", (event) => {
    if (event.pointerType !== "touch" && down.size === 0) told.hand(undefined, "pointer");
  });
  on("dblclick", (event) => move(zoomed(frame, camera, 2, event.offsetX, event.offsetY)));
  on(
    "wheel",
    (event) => {
      // Without the key the page scrolls. A pinch on a touchpad comes with it.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { x, y } = local(event);
      const pixels = event.deltaMode === 0 ? event.deltaY : 30 * event.deltaY;
      move(zoomed(frame, camera, 2 ** (-Math.max(-80, Math.min(80, pixels)) / 120), x, y));
    },
    false,
  );

  // The keyboard.

  const goTo = (index: number | undefined): void => {
    if (index === undefined) return;
    // The next key may come before what is told comes back.
    marks = { ...marks, atHand: index };
    move(showing(frame, camera, places.x[index] as number, places.y[index] as number));
    told.hand(index, "keys");
  };
  const first = (): number => [...marks.selected].at(-1) ?? picture?.plates[0]?.index ?? 0;
  const arrows: Record<string, readonly [-1 | 0 | 1, -1 | 0 | 1]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const pages: Record<string, number> = { PageDown: 1, PageUp: -1 };

  /** Does what a key asks for; false where it asks for nothing here. */
  function pressed({ key, shiftKey }: KeyboardEvent): boolean {
    if (places.x.length === 0) return false;
    const from = marks.atHand ?? first();
    const arrow = arrows[key];
    const page = pages[key];
    if (arrow && shiftKey) move(panned(frame, camera, -arrow[0] * frame.width * 0.2, -arrow[1] * frame.height * 0.2));
    else if (arrow) goTo(marks.atHand === undefined ? from : (nextTowards(places, from, ...arrow) ?? from));
    else if (page !== undefined) {
      const fellows = picture?.fellows(from) ?? [];
      goTo(fellows[(fellows.indexOf(from) + page + fellows.length) % fellows.length]);
    } else if (key === "Home") goTo(picture?.plates[0]?.index ?? 0);
    else if (key === "+" || key === "=") move(zoomedAtHand(keyZoom));
    else if (key === "-" || key === "_") move(zoomedAtHand(1 / keyZoom));
    else if (key === "0") move(whole);
    else if (key === "Enter" || key === " ") told.pick([from], shiftKey || key === " ");
    else if (key === "Escape" && marks.selected.size > 0) told.pick([], false);
    else return false;
    return true;
  }
  /** Zooms about the point at hand, else about the middle; where no point would be in view then, the nearest one is brought there. */
  const zoomedAtHand = (factor: number): Camera => {
    const at = marks.atHand;
    if (at === undefined) {
      const next = zoomed(frame, camera, factor);
      const near = nearest(places, next.x, next.y, Infinity);
      return near === undefined ? next : showing(frame, next, places.x[near] as number, places.y[near] as number);
    }
    return zoomed(frame, camera, factor, ...toPixels(frame, camera, places.x[at] as number, places.y[at] as number));
  };
  on(
    "keydown",
    (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || !pressed(event)) return;
      event.preventDefault();
    },
    false,
  );
  on("focus", () => {
    if (canvas.matches(":focus-visible") && marks.atHand === undefined && places.x.length > 0) goTo(first());
  });
  on("blur", () => told.hand(undefined, "keys"));

  return {
    show(next) {
      const points = next.points !== picture?.points;
      picture = next;
      if (points) {
        const to = placesOf(next.points);
        const glides = next.same && !still.matches && to.x.length === places.x.length && to.x.length <= maxGliding;
        glide = glides ? { from: places, to, since: performance.now() } : undefined;
        if (!glides) places = to;
        move(whole);
      }
      ask();
    },
    mark(next) {
      marks = next;
      ask();
    },
    dress: ask,
    zoom: (factor) => move(zoomedAtHand(factor)),
    reset: () => move(whole),
    lasso(on) {
      lassoing = on;
      move(camera);
    },
    end() {
      cancelAnimationFrame(asked);
      sized.disconnect();
      listen.abort();
    },
  };
}

/** Whether a map can be zoomed further. */
export const isLargest = (zoom: number): boolean => zoom >= mostZoom;

/** Adds a point's shape to a path. */
function outline(path: Path2D, shape: Shape, x: number, y: number, size: number): void {
  if (shape === "circle") {
    path.moveTo(x + size, y);
    path.arc(x, y, size, 0, 2 * Math.PI);
  } else if (shape === "rect") {
    path.rect(x - size * 0.85, y - size * 0.85, size * 1.7, size * 1.7);
  } else {
    const corners = shape === "triangle" ? 3 : 4;
    for (let k = 0; k < corners; k++) {
      const angle = (2 * Math.PI * k) / corners - Math.PI / 2;
      const [px, py] = [x + 1.1 * size * Math.cos(angle), y + 1.1 * size * Math.sin(angle)];
      if (k === 0) path.moveTo(px, py);
      else path.lineTo(px, py);
    }
    path.closePath();
  }
}
