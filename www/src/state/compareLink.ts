// The comparison's part of the address: the sentences, the conditions, the device and the encoder.

import { batch } from "@preact/signals";
import { chosenEncoder } from "./encoders";
import { chosenDevice } from "./engine";
import { fields, setFields, startFields } from "./fields";
import { decodeLink, encodeLink } from "./link";
import type { ViewLink } from "./route";

const encode = (): string | undefined => encodeLink({ ...fields.value, device: chosenDevice.value, encoder: chosenEncoder.value });

export const compareLink: ViewLink = {
  encode,
  decode(query, bare) {
    const linked = decodeLink(query);
    if (bare || (linked && encodeLink(linked) === encode())) return;
    batch(() => {
      setFields(linked ?? startFields);
      chosenDevice.value = linked?.device ?? "auto";
      chosenEncoder.value = linked?.encoder ?? "small";
    });
  },
};
