// The view's part of the address: the comparison's, and which condition, switches and step.

import { batch } from "@preact/signals";
import type { TokenPooling } from "caselens";
import { compareLink } from "../state/compareLink";
import type { ViewLink } from "../state/route";
import { lessons } from "../strings";
import { chosen, layer, lesson, presenting, step, steps, switches, type Switches } from "./state";

const poolings: readonly TokenPooling[] = ["all", "condition", "sentence", "cls"];
const onOff = (value: boolean): string => (value ? "on" : "off");
const isOn = (value: string | null): boolean | undefined => (value === "on" ? true : value === "off" ? false : undefined);

/** A whole number from `least` to `most`; undefined for anything else. */
function whole(text: string | null, least: number, most: number): number | undefined {
  const number = text !== null && /^\d{1,2}$/.test(text) ? Number(text) : NaN;
  return number >= least && number <= most ? number : undefined;
}

function readSwitches(query: URLSearchParams): Switches {
  const [subtract, head] = [isOn(query.get("subtract")), isOn(query.get("head"))];
  const pooling = poolings.find((name) => name === query.get("pooling"));
  return {
    condition: query.get("condition") !== "off",
    ...(subtract === undefined ? {} : { subtract }),
    ...(pooling === undefined ? {} : { pooling }),
    ...(head === undefined ? {} : { head }),
  };
}

export const howLink: ViewLink = {
  encode() {
    const base = compareLink.encode();
    if (base === undefined) return undefined;
    const query = new URLSearchParams(base);
    const { condition, subtract, pooling, head } = switches.value;
    if (chosen.value > 0) query.set("on", String(chosen.value + 1));
    if (!condition) query.set("condition", "off");
    if (subtract !== undefined) query.set("subtract", onOff(subtract));
    if (pooling !== undefined) query.set("pooling", pooling);
    if (head !== undefined) query.set("head", onOff(head));
    if (layer.value !== undefined) query.set("layer", String(layer.value + 1));
    if (lesson.value !== undefined) query.set("lesson", String(lesson.value + 1));
    if (step.value !== "question") query.set("step", step.value);
    if (presenting.value) query.set("present", "1");
    return query.toString();
  },
  decode(text, bare) {
    compareLink.decode(text, bare);
    if (bare) return;
    const query = new URLSearchParams(text);
    const place = (key: string, most: number): number | undefined => {
      const number = whole(query.get(key), 1, most);
      return number === undefined ? undefined : number - 1;
    };
    batch(() => {
      chosen.value = place("on", 20) ?? 0;
      switches.value = readSwitches(query);
      layer.value = place("layer", 99);
      lesson.value = place("lesson", lessons.length);
      step.value = steps.find((name) => name === query.get("step")) ?? "question";
      presenting.value = query.get("present") === "1";
    });
  },
};
