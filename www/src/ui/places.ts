// Points of a plane, brought to one size.

/** Places of points, each axis from −1 to 1 with the same scale. */
export interface Places {
  readonly x: Float32Array;
  readonly y: Float32Array;
}

/** Points `[texts, 2]` moved and shrunk so that all lie between −1 and 1, upwards being less: a distance stays one in every direction. */
export function placesOf(points: Float32Array): Places {
  const count = points.length >> 1;
  const axis = (offset: 0 | 1): { middle: number; reach: number } => {
    let [least, most] = [Infinity, -Infinity];
    for (let i = offset; i < points.length; i += 2) {
      const value = points[i] as number;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    return { middle: (least + most) / 2, reach: (most - least) / 2 };
  };
  const [across, up] = [axis(0), axis(1)];
  const reach = Math.max(across.reach, up.reach, 1e-6);
  const [x, y] = [new Float32Array(count), new Float32Array(count)];
  for (let i = 0; i < count; i++) {
    x[i] = ((points[2 * i] as number) - across.middle) / reach;
    y[i] = (up.middle - (points[2 * i + 1] as number)) / reach;
  }
  return { x, y };
}
