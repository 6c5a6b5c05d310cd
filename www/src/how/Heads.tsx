// The heads of the layer that is shown: a small heat map each, and one of them closely.

import { useEffect, useRef } from "preact/hooks";
import { percent } from "../format";
import { isAboutInput } from "../state/problem";
import { theme } from "../state/theme";
import { strings } from "../strings";
import { Failure } from "../ui/Notices";
import { Folded } from "./Folded";
import { HeadPicture } from "./HeadPicture";
import { head, largest, most, names, problem, readAgain, seen, sharesOf, startHeads, waiting, which } from "./heads";
import { Layer } from "./Layer";
import { explained } from "./state";

const words = strings.how.heads;
const both = [0, 1] as const;

/** A head's shares, `[tokens, tokens]`: a row a token that looks. The largest has the full colour. */
function HeatMap({ shares, tokens }: { readonly shares: Float32Array; readonly tokens: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!canvas.current || !context) return;
    const strongest = shares.reduce((most, share) => Math.max(most, share), 0);
    const image = context.createImageData(tokens, tokens);
    shares.forEach((share, cell) => (image.data[4 * cell + 3] = (255 * share) / strongest));
    context.putImageData(image, 0, 0);
    // The cells say how strong, the page's theme says which colour.
    context.globalCompositeOperation = "source-in";
    context.fillStyle = getComputedStyle(canvas.current).color;
    context.fillRect(0, 0, tokens, tokens);
    context.globalCompositeOperation = "source-over";
  }, [shares, tokens, theme.value]);
  return <canvas class="heads-map" ref={canvas} width={tokens} height={tokens} aria-hidden="true" />;
}

function Grid() {
  const now = seen.value;
  if (!now) return null;
  return (
    <>
      <p>{words.choose(now.layer + 1, now.layers)}</p>
      <ul class="heads-maps">
        {Array.from({ length: now.heads }, (_, at) => {
          const { from, to, share } = largest(most(now, at));
          return (
            <li key={at}>
              <button
                type="button"
                class="heads-one"
                aria-pressed={head.value === at}
                aria-label={words.head(at + 1, names.value[from] ?? "", names.value[to] ?? "", percent(share))}
                onClick={() => (head.value = head.value === at ? undefined : at)}
              >
                <HeatMap shares={sharesOf(now, at)} tokens={now.tokens.length} />
                {at + 1}
              </button>
            </li>
          );
        })}
      </ul>
      {head.value !== undefined && <HeadPicture seen={now} head={head.value} />}
    </>
  );
}

function Inside() {
  useEffect(startHeads, []);
  return (
    <div class={waiting.value ? "teachers-inside rate-inside heads-inside stale" : "teachers-inside rate-inside heads-inside"}>
      <p>{words.lead}</p>
      {explained.value?.now.recipe === null && <Layer />}
      <div class="chips" role="group" aria-label={words.sentences}>
        {both.map((index) => (
          <button key={index} type="button" class="chip" aria-pressed={which.value === index} onClick={() => (which.value = index)}>
            {strings.how.sentence(index + 1)}
          </button>
        ))}
      </div>
      {problem.value && <Failure title={words.problem} problem={problem.value} retry={isAboutInput(problem.value) ? undefined : readAgain} />}
      {!seen.value && waiting.value && <p class="quiet">{words.waiting}</p>}
      <Grid />
    </div>
  );
}

export const Heads = () => <Folded class="heads" title={words.title} Inside={Inside} />;
