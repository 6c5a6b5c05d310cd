// The layer whose attention is shown.

import { strings } from "../strings";
import { layer, layers, shownLayer } from "./state";

const words = strings.how.steps.attention;

export function Layer() {
  const [at, count] = [shownLayer.value, layers.value];
  return (
    <label class="layer">
      <span>
        {words.layer} <b>{words.of(at + 1, count)}</b>
      </span>
      <input
        type="range"
        min={1}
        max={count}
        value={at + 1}
        aria-valuetext={words.of(at + 1, count)}
        onInput={(event) => {
          const picked = Number(event.currentTarget.value) - 1;
          layer.value = picked === count - 1 ? undefined : picked;
        }}
      />
    </label>
  );
}
