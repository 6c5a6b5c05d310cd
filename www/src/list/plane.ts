// The plane that the map shows, without drawing it: what part of it is seen, which point is near, which one lies in a direction.

import type { Places } from "../ui/places";

/** What is seen of the plane: its middle, and how much larger than the whole it is. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** Pixels of what the plane is shown on. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  /** Left free at the edges. */
  readonly margin: number;
}

export const whole: Camera = { x: 0, y: 0, zoom: 1 };
export const mostZoom = 40;

/** Pixels of one unit of the plane. */
export const unit = ({ width, height, margin }: Frame, { zoom }: Camera): number => Math.max(1, (Math.min(width, height) / 2 - margin) * zoom);

export const toPixels = (frame: Frame, camera: Camera, x: number, y: number): readonly [number, number] => {
  const one = unit(frame, camera);
  return [frame.width / 2 + (x - camera.x) * one, frame.height / 2 + (y - camera.y) * one];
};

/** A camera that does not leave the points. */
function held(frame: Frame, { x, y, zoom }: Camera): Camera {
  const near = Math.min(mostZoom, Math.max(1, zoom));
  const one = unit(frame, { x, y, zoom: near });
  const within = (value: number, pixels: number): number => {
    const free = Math.max(0, 1 - (pixels / 2 - frame.margin) / one);
    return Math.min(free, Math.max(-free, value)) || 0;
  };
  return { x: within(x, frame.width), y: within(y, frame.height), zoom: near };
}

/** Zooms by a factor; what lies at these pixels stays there. */
export function zoomed(frame: Frame, camera: Camera, factor: number, px = frame.width / 2, py = frame.height / 2): Camera {
  const before = unit(frame, camera);
  const zoom = Math.min(mostZoom, Math.max(1, camera.zoom * factor));
  const after = unit(frame, { ...camera, zoom });
  const shift = 1 / before - 1 / after;
  return held(frame, { x: camera.x + (px - frame.width / 2) * shift, y: camera.y + (py - frame.height / 2) * shift, zoom });
}

/** Moves what is seen by pixels. */
export function panned(frame: Frame, camera: Camera, dx: number, dy: number): Camera {
  const one = unit(frame, camera);
  return held(frame, { ...camera, x: camera.x - dx / one, y: camera.y - dy / one });
}

/** A camera that shows a point, moved no further than it must be. */
export function showing(frame: Frame, camera: Camera, x: number, y: number): Camera {
  const [px, py] = toPixels(frame, camera, x, y);
  const off = (at: number, size: number): number => Math.min(0, at - frame.margin) || Math.max(0, at - size + frame.margin);
  const [dx, dy] = [off(px, frame.width), off(py, frame.height)];
  return dx === 0 && dy === 0 ? camera : panned(frame, camera, -dx, -dy);
}

/** The point nearest to a place of the plane, no farther than `within`; undefined where there is none. */
export function nearest({ x, y }: Places, atX: number, atY: number, within: number): number | undefined {
  let [found, least] = [undefined as number | undefined, within * within];
  for (let i = 0; i < x.length; i++) {
    const distance = ((x[i] as number) - atX) ** 2 + ((y[i] as number) - atY) ** 2;
    // Of points in one place the last one is drawn on top.
    if (distance <= least) [found, least] = [i, distance];
  }
  return found;
}

/**
 * The point that comes next from point `from` in a direction: the nearest of those within 45° of it, else of those that lie that way
 * at all. Points in one and the same place come one after the other to the right and down, and back to the left and up.
 */
export function nextTowards({ x, y }: Places, from: number, dx: -1 | 0 | 1, dy: -1 | 0 | 1): number | undefined {
  const [fromX, fromY] = [x[from] as number, y[from] as number];
  const forward = dx + dy > 0;
  let twin: number | undefined;
  let [found, least] = [undefined as number | undefined, Infinity];
  for (let i = 0; i < x.length; i++) {
    if (i === from) continue;
    const [awayX, awayY] = [(x[i] as number) - fromX, (y[i] as number) - fromY];
    if (awayX === 0 && awayY === 0) {
      if (forward ? i > from && twin === undefined : i < from) twin = i;
      continue;
    }
    const along = awayX * dx + awayY * dy;
    if (along <= 0) continue;
    const across = Math.abs(dx === 0 ? awayX : awayY);
    const cost = Math.hypot(along, across) * (across <= along ? 1 : 4);
    if (cost < least) [found, least] = [i, cost];
  }
  return twin ?? found;
}

/** Which points a line that closes on itself holds (even–odd rule). `line`: x and y in turn. */
export function within({ x, y }: Places, line: readonly number[]): number[] {
  const inside: number[] = [];
  if (line.length < 6) return inside;
  for (let i = 0; i < x.length; i++) {
    const [px, py] = [x[i] as number, y[i] as number];
    let odd = false;
    for (let a = 0, b = line.length - 2; a < line.length; b = a, a += 2) {
      const [ax, ay, bx, by] = [line[a] as number, line[a + 1] as number, line[b] as number, line[b + 1] as number];
      if (ay > py !== by > py && px < ax + ((bx - ax) * (py - ay)) / (by - ay)) odd = !odd;
    }
    if (odd) inside.push(i);
  }
  return inside;
}
