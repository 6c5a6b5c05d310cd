// A file may be dropped anywhere in the view: for a file that nobody takes a browser leaves the page.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { strings } from "../strings";

export function Drop({ onFile }: { onFile: (file: File) => void }) {
  const over = useSignal(false);
  useEffect(() => {
    const onDrag = (event: DragEvent): void => {
      // A text that is dragged is the field's own affair.
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      over.value = event.type === "dragover";
      const file = event.type === "drop" ? event.dataTransfer.files[0] : undefined;
      if (file) onFile(file);
    };
    const onLeave = (event: DragEvent): void => {
      if (!event.relatedTarget) over.value = false;
    };
    addEventListener("dragover", onDrag);
    addEventListener("drop", onDrag);
    addEventListener("dragleave", onLeave);
    return () => {
      removeEventListener("dragover", onDrag);
      removeEventListener("drop", onDrag);
      removeEventListener("dragleave", onLeave);
    };
  });
  return (
    <p class="drop" hidden={!over.value}>
      {strings.list.texts.drop}
    </p>
  );
}
