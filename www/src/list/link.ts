// The list view's part of the address: #/list?list=captions&c=…&k=…&q=…, or t=… for texts of one's own.

import { batch } from "@preact/signals";
import { chosenDevice } from "../state/engine";
import { isDevice } from "../state/link";
import type { ViewLink } from "../state/route";
import { condition, groupCount, maxGroups, openList, query, source, startList, text } from "./fields";
import { isListName } from "./lists";

const maxLength = 16_000;
const maxCondition = 500;

function encode(): string | undefined {
  const link = new URLSearchParams();
  if (source.value) link.set("list", source.value);
  else if (text.value) link.set("t", text.value);
  if (condition.value.trim()) link.set("c", condition.value.trim());
  if (groupCount.value !== undefined) link.set("k", String(groupCount.value));
  if (query.value) link.set("q", query.value);
  if (chosenDevice.value !== "auto") link.set("device", chosenDevice.value);
  const written = String(link);
  return written.length <= maxLength ? written : undefined;
}

export const listLink: ViewLink = {
  encode,
  decode(written, bare) {
    if (bare || written.length > maxLength || written === encode()) return startList();
    const link = new URLSearchParams(written);
    const oneLine = (key: string): string => (link.get(key) ?? "").replace(/\s+/g, " ").trim().slice(0, maxCondition);
    const [name, count, device] = [link.get("list"), Number(link.get("k")), link.get("device")];
    const rest = (): void => {
      groupCount.value = Number.isInteger(count) && count >= 1 && count <= maxGroups ? count : undefined;
      query.value = oneLine("q");
    };
    batch(() => {
      chosenDevice.value = isDevice(device) ? device : "auto";
      if (isListName(name)) {
        void openList(name, link.has("c") ? oneLine("c") : undefined).then(() => batch(rest));
      } else if (link.has("t")) {
        source.value = undefined;
        text.value = link.get("t") ?? "";
        condition.value = oneLine("c");
        rest();
      } else startList();
    });
  },
};
