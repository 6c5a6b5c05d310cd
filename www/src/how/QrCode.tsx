// The link of the step that is presented, as a code that a class points its phones at.

import { useSignal } from "@preact/signals";
import { shareableAddress } from "../state/history";
import { strings } from "../strings";

const words = strings.how.code;

/** Light modules around a code, which readers need. */
const border = 4;

type Drawn = { readonly size: number; readonly dark: string } | { readonly reason: string };

/** The code of the page as it is now, or why there is none. */
async function drawn(): Promise<Drawn> {
  const shared = shareableAddress();
  if (!shared?.whole) return { reason: words.tooLong };
  const encoder = await import("uqr").catch(() => undefined);
  if (!encoder) return { reason: strings.list.missing(words.title) };
  try {
    const { data, size } = encoder.encode(shared.address, { border });
    const modules = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
    return { size, dark: modules.join("") };
  } catch {
    return { reason: words.tooLong }; // a code holds some 2,900 characters
  }
}

export function QrCode() {
  const now = useSignal<Drawn | undefined>(undefined);
  const draw = async (isOpen: boolean): Promise<void> => {
    if (isOpen) now.value = await drawn();
  };
  const code = now.value;
  return (
    <details class="presenter-code" onToggle={({ currentTarget }) => void draw(currentTarget.open)}>
      <summary class="button">{words.title}</summary>
      <div class="code" role="status">
        {code && "dark" in code && (
          <svg viewBox={`0 0 ${code.size} ${code.size}`} role="img" aria-label={words.label} shape-rendering="crispEdges">
            <rect width={code.size} height={code.size} fill="#fff" />
            <path d={code.dark} />
          </svg>
        )}
        <p>{code && ("dark" in code ? words.note : code.reason)}</p>
      </div>
    </details>
  );
}
