// The list view's part of the address: #/list?list=captions&c=…&k=…&q=…&n=…&encoder=…, or t=… for texts of one's own. Each n is a name that a
// person gave to a group: the number of the line that stands for it, a space, the name. Texts that are too long for an address stay
// beside it, and t is empty: a link that comes without them says so.

import { batch, computed } from "@preact/signals";
import { chosenEncoder, isOffered } from "../state/encoders";
import { chosenDevice } from "../state/engine";
import { isDevice } from "../state/link";
import type { ViewLink } from "../state/route";
import { ask, condition, groupCount, lost, maxGroups, openList, query, type Question, reading, setText, source, text, through } from "./fields";
import { isListName, listNames } from "./lists";
import { cleanName, givenNames, type Name } from "./names";

const maxLength = 16_000;
const maxCondition = 500;

/** `texts`: undefined where there are none. */
function write(texts: string | undefined): string {
  const link = new URLSearchParams();
  if (source.value) link.set("list", source.value);
  else if (texts !== undefined) link.set("t", texts);
  if (condition.value.trim()) link.set("c", condition.value.trim());
  if (groupCount.value !== undefined) link.set("k", String(groupCount.value));
  if (query.value) link.set("q", query.value);
  for (const { condition, place, name } of givenNames.value) if (condition === through.value) link.append("n", `${place + 1} ${name}`);
  if (chosenDevice.value !== "auto") link.set("device", chosenDevice.value);
  if (chosenEncoder.value !== "small") link.set("encoder", chosenEncoder.value);
  return String(link);
}

const written = computed((): { readonly query: string; readonly beside?: string } => {
  // Encoding makes nothing shorter.
  const whole = source.value || text.value.length <= maxLength ? write(text.value || (lost.value ? "" : undefined)) : undefined;
  return whole !== undefined && whole.length <= maxLength ? { query: whole } : { query: write(""), beside: text.value };
});

/** Names of groups, as a link has them; what is none is left out. */
const namesIn = (given: readonly string[], condition: string): Name[] =>
  given.slice(0, maxGroups).flatMap((one): Name[] => {
    const [, place, name = ""] = /^(\d{1,6}) (.*)$/s.exec(one) ?? [];
    return place && cleanName(name) ? [{ condition, place: Number(place) - 1, name: cleanName(name) }] : [];
  });

export const listLink: ViewLink = {
  encode: () => written.value.query,
  beside: () => written.value.beside,
  decode(query, bare, beside) {
    const now = written.peek();
    const untouched = text.peek() === "" && source.peek() === undefined;
    if (bare || query.length > maxLength || (query === now.query && beside === now.beside)) {
      if (untouched) void openList(listNames[0]);
      return;
    }
    const link = new URLSearchParams(query);
    const oneLine = (key: string): string => (link.get(key) ?? "").replace(/\s+/g, " ").trim().slice(0, maxCondition);
    const [name, own, count, device] = [link.get("list"), link.get("t") || beside, Number(link.get("k")), link.get("device")];
    const under = link.has("c") ? oneLine("c") : undefined;
    const asked: Question = {
      ...(under === undefined ? {} : { condition: under }),
      groupCount: Number.isInteger(count) && count >= 1 && count <= maxGroups ? count : undefined,
      query: oneLine("q"),
      names: namesIn(link.getAll("n"), under ?? ""),
    };
    const encoder = link.get("encoder");
    batch(() => {
      chosenDevice.value = isDevice(device) ? device : "auto";
      chosenEncoder.value = isOffered(encoder) ? encoder : "small";
      // A link of this page's own, such as that of its views, is of the texts that are there.
      const isOwn = query === now.query && now.beside !== undefined;
      if (own === undefined && link.get("t") === "" && !isOwn) {
        setText("");
        lost.value = true;
        ask({ condition: "", ...asked });
      } else if (isListName(name) || (own === undefined && untouched)) {
        void openList(isListName(name) ? name : listNames[0], asked);
      } else if (own !== undefined) {
        setText(own);
        ask({ condition: "", ...asked });
      } else {
        reading(); // what is there stays
        ask(asked);
      }
    });
  },
};
