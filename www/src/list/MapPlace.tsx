// Where the map goes: it is loaded with the view, and so is there long before the first groups are.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { strings } from "../strings";
import { grouped } from "./grouping";
import { PassingButton } from "./PassingButton";

type Loaded = typeof import("./MapChart")["MapChart"];
let loaded: Loaded | undefined;

export function MapPlace() {
  const chart = useSignal(loaded && { Chart: loaded });
  const missing = useSignal(false);
  const title = useRef<HTMLHeadingElement>(null);
  /** `again`: a person asked for it, and is led to what came. */
  const load = async (again: boolean): Promise<void> => {
    try {
      loaded = (await import("./MapChart")).MapChart;
      chart.value = { Chart: loaded };
      missing.value = false;
      if (again) requestAnimationFrame(() => document.getElementById("map-title")?.focus());
    } catch {
      missing.value = true;
    }
  };
  useEffect(() => {
    if (!chart.peek()) void load(false);
  }, []);

  if (chart.value) return <chart.value.Chart />;
  return (
    <section class="map" aria-labelledby="map-title" hidden={!grouped.value}>
      <h2 id="map-title" ref={title} tabIndex={-1}>
        {strings.list.map.title}
      </h2>
      {missing.value && (
        <div class="notice notice-bad" role="alert">
          <p>{strings.list.missing(strings.list.map.what)}</p>
          <div class="notice-tools">
            <PassingButton onClick={() => void load(true)} neighbour={title}>
              {strings.problems.retry}
            </PassingButton>
          </div>
        </div>
      )}
    </section>
  );
}
