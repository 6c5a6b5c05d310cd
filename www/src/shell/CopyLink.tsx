// Copies a link that opens the page as it is now.

import { useSignal } from "@preact/signals";
import { shareableAddress } from "../state/history";
import { strings } from "../strings";

type Feedback = keyof typeof strings.copy;

export function CopyLink() {
  const feedback = useSignal<Feedback>("idle");

  const copy = async (): Promise<void> => {
    const shared = shareableAddress();
    if (!shared) feedback.value = "tooLong";
    else {
      try {
        await navigator.clipboard.writeText(shared.address);
        feedback.value = shared.whole ? "done" : "partly";
      } catch {
        feedback.value = "blocked";
      }
    }
    setTimeout(() => (feedback.value = "idle"), 4000);
  };

  return (
    <>
      <span class="feedback" role="status">
        {feedback.value === "idle" ? "" : strings.copy[feedback.value]}
      </span>
      <button type="button" class="button" onClick={() => void copy()}>
        <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
          <path d="M8 12a3.5 3.5 0 0 0 5 0l3-3a3.5 3.5 0 0 0-5-5l-1 1M12 8a3.5 3.5 0 0 0-5 0l-3 3a3.5 3.5 0 0 0 5 5l1-1" />
        </svg>
        {strings.copy.idle}
      </button>
    </>
  );
}
