// A similarity as a bar on the scale from 0 to 1, with a dashed line at the naked eye's.
//
// What a condition adds stands out in a brighter green; what it takes away is hatched.

interface Props {
  readonly value: number | undefined;
  readonly unconditional: number | undefined;
}

const share = (value: number): number => Math.min(1, Math.max(0, value));
const percent = (value: number): string => `${(value * 100).toFixed(2)}%`;

export function Bar({ value, unconditional }: Props) {
  const eye = unconditional === undefined ? undefined : share(unconditional);
  const seen = value === undefined ? undefined : share(value);
  const common = seen === undefined ? 0 : Math.min(seen, eye ?? seen);
  const beyond = seen === undefined || eye === undefined ? 0 : Math.abs(seen - eye);
  return (
    <span class="cell-bar bar" aria-hidden="true">
      <span class="bar-track" />
      <span class="bar-common" style={{ width: percent(common) }} />
      <span
        class={seen !== undefined && eye !== undefined && seen < eye ? "bar-lost" : "bar-gained"}
        style={{ left: percent(common), width: percent(beyond) }}
      />
      {eye !== undefined && <span class="bar-eye" style={{ left: percent(eye) }} />}
    </span>
  );
}
