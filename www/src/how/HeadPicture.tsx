// One head closely: the tokens that look and those that are looked at in two columns, a line as strong as its share from one to the
// other, and the same in words.

import { useSignal } from "@preact/signals";
import type { AttentionHeads } from "caselens";
import { listed, percent } from "../format";
import { strings } from "../strings";
import { largest, type Look, looking, looks, most, names } from "./heads";

const words = strings.how.heads;

/** Lines fainter than this beside the strongest are not drawn: they could not be seen. */
const FAINTEST = 0.04;
/** Strengths that lines are drawn in. */
const STRENGTHS = 12;

/** Lines in as many paths as there are strengths: they can be tens of thousands. */
function Lines({ all, rows }: { readonly all: readonly Look[]; readonly rows: number }) {
  const strongest = largest(all).share;
  const paths = new Map<number, string>();
  for (const { from, to, share } of all) {
    const strength = Math.ceil((STRENGTHS * share) / strongest);
    if (share >= FAINTEST * strongest) paths.set(strength, `${paths.get(strength) ?? ""}M0 ${from + 0.5}L1 ${to + 0.5}`);
  }
  return (
    <svg class="heads-lines" style={{ "--tokens": rows }} viewBox={`0 0 1 ${rows}`} preserveAspectRatio="none" aria-hidden="true">
      {[...paths].map(([strength, path]) => (
        <path key={strength} d={path} style={{ "--strength": strength / STRENGTHS }} />
      ))}
    </svg>
  );
}

/** The shares in words: where each token looks most, or all places where one looks. */
function InWords({ seen, head }: { readonly seen: AttentionHeads; readonly head: number }) {
  const from = looking.value;
  const name = (at: number): string => names.value[at] ?? "";
  if (from === undefined) {
    return (
      <>
        <p role="status">{words.most}</p>
        <ol class="heads-shares">
          {most(seen, head).map(({ from, to, share }) => (
            <li key={from}>{words.look(name(from), name(to), percent(share))}</li>
          ))}
        </ol>
      </>
    );
  }
  const sorted = looks(seen, head, from).sort((a, b) => b.share - a.share);
  const told = sorted.map((look) => ({ ...look, text: words.share(name(look.to), percent(look.share)) }));
  const shown = told.filter(({ share }) => share >= 0.005);
  const rest = told.slice(shown.length).reduce((sum, { share }) => sum + share, 0);
  return (
    <>
      <p role="status">{words.looks(name(from), listed(shown.slice(0, 3).map(({ text }) => text)))}</p>
      <ol class="heads-shares">
        {shown.map(({ to, text }) => (
          <li key={to}>{text}</li>
        ))}
        {shown.length < told.length && <li>{words.rest(told.length - shown.length, percent(rest))}</li>}
      </ol>
    </>
  );
}

export function HeadPicture({ seen, head }: { readonly seen: AttentionHeads; readonly head: number }) {
  const pointed = useSignal<number | undefined>(undefined);
  const { tokens } = seen;
  // What a pointer only passes over is drawn, and nothing is told of it that choosing it does not tell.
  const from = pointed.value ?? looking.value;
  const drawn = from === undefined ? tokens.flatMap((_, at) => looks(seen, head, at)) : looks(seen, head, from);
  return (
    <fieldset class="heads-picture">
      <legend>{words.picture(head + 1)}</legend>
      <div class="heads-columns">
        <div class="heads-from" onPointerLeave={() => (pointed.value = undefined)}>
          <label class="heads-all">
            <input type="radio" name="looking" checked={looking.value === undefined} onChange={() => (looking.value = undefined)} />
            {words.all}
          </label>
          {tokens.map(({ part }, at) => (
            <label
              key={at}
              class={`heads-token heads-token-${part}${from === at ? " heads-token-on" : ""}`}
              onPointerEnter={({ pointerType }) => pointerType === "mouse" && (pointed.value = at)}
            >
              <input type="radio" name="looking" checked={looking.value === at} onChange={() => (looking.value = at)} />
              <span lang="en">{names.value[at]}</span>
            </label>
          ))}
        </div>
        <Lines all={drawn} rows={tokens.length} />
        <ol class="heads-to" aria-hidden="true">
          {tokens.map(({ part }, at) => {
            const share = from === undefined ? 0 : (drawn[at]?.share ?? 0);
            return (
              <li key={at} class={`heads-token heads-token-${part}`}>
                <span lang="en">{names.value[at]}</span>
                {share >= 0.005 && <b>{percent(share)}</b>}
              </li>
            );
          })}
        </ol>
      </div>
      <div class="heads-words">
        <InWords seen={seen} head={head} />
      </div>
    </fieldset>
  );
}
