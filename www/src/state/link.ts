// The page's state as a link: #s1=…&s2=…&c=…&c=…&device=…&encoder=…
//
// It lives after the #, so that no server sees what was typed. Whatever a link holds becomes plain
// text in a field or is ignored.

import { type EncoderId, isOffered } from "./encoders";
import { maxConditions, startFields, type Fields } from "./fields";

export type DeviceChoice = "auto" | "webgpu" | "wasm";

interface LinkState extends Fields {
  readonly device: DeviceChoice;
  readonly encoder: EncoderId;
}

/** Characters a link may have; longer ones are neither written nor read. */
const maxLength = 16_000;
const maxCondition = 500;

export const isDevice = (value: unknown): value is DeviceChoice =>
  value === "auto" || value === "webgpu" || value === "wasm";

/** The query for a state, or undefined when it is too long to share. */
export function encodeLink({ sentences, conditions, device, encoder }: LinkState): string | undefined {
  const query = new URLSearchParams([["s1", sentences[0]], ["s2", sentences[1]]]);
  for (const condition of conditions) query.append("c", condition);
  if (device !== "auto") query.set("device", device);
  if (encoder !== "small") query.set("encoder", encoder);
  const text = query.toString();
  return text.length <= maxLength ? text : undefined;
}

/** The state a query holds, or undefined when it holds none. A link may name the device or the encoder alone. */
export function decodeLink(text: string): LinkState | undefined {
  if (text.length > maxLength) return undefined;
  const query = new URLSearchParams(text);
  const [device, named] = [query.get("device"), query.get("encoder")];
  const chosen = isDevice(device) ? device : "auto";
  const encoder = isOffered(named) ? named : "small";
  if (!["s1", "s2", "c"].some((key) => query.has(key))) {
    return isDevice(device) || isOffered(named) ? { ...startFields, device: chosen, encoder } : undefined;
  }
  return {
    sentences: [query.get("s1") ?? "", query.get("s2") ?? ""],
    conditions: query
      .getAll("c")
      .map((text) => text.replace(/\s+/g, " ").trim().slice(0, maxCondition))
      .filter((text) => text !== "")
      .slice(0, maxConditions),
    device: chosen,
    encoder,
  };
}
