// The comparison's part of the address: the sentences, the conditions and the device.

import { chosenDevice } from "./engine";
import { fields, setFields, startFields } from "./fields";
import { decodeLink, encodeLink } from "./link";
import type { ViewLink } from "./route";

const encode = (): string | undefined => encodeLink({ ...fields.value, device: chosenDevice.value });

export const compareLink: ViewLink = {
  encode,
  decode(query, bare) {
    const linked = decodeLink(query);
    if (bare || (linked && encodeLink(linked) === encode())) return;
    setFields(linked ?? startFields);
    chosenDevice.value = linked?.device ?? "auto";
  },
};
