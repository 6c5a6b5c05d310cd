// The page that measures.

import { useSignal } from "@preact/signals";
import { fixed } from "../format";
import type { Problem } from "../state/problem";
import { strings } from "../strings";
import { Footer } from "../ui/Footer";
import { SideHead } from "../ui/SideHead";
import type { Contestant, Figure } from "./measure";
import { SHAPES } from "./shapes";
import { type Row, rows, start, stop, underWay } from "./state";

const words = strings.speed;

const nameOf = ({ device, threads }: Contestant): string =>
  device === "wasm" ? words.cpu(threads) : (strings.engine.names[device] ?? device);

/** Why it could not be measured, in a visitor's words. */
const told = ({ code }: Problem): string => strings.problems.told[code] ?? (strings.problems.told["internal"] as string);

const number = (x: number): string => fixed(x, x >= 100 ? 0 : x >= 10 ? 1 : 2);

const time = (ms: number | undefined): string => (ms === undefined ? strings.results.none : words.milliseconds(number(ms)));
const speed = ({ gops, share }: Figure): string => words.operations(number(gops), share);

/** The table as Markdown. */
function markdown(): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const body = rows.value.map((row) => {
    const cells = SHAPES.map(({ name }) => {
      const figure = row.figures.find(({ shape }) => shape === name);
      return figure ? `${time(figure.milliseconds)}, ${speed(figure)}` : strings.results.none;
    });
    return line([nameOf(row.contestant), ...cells, time(row.start)]);
  });
  const head = ["", ...SHAPES.map(({ name }) => words.shapes[name] ?? name), words.start];
  return [line(head), line(head.map(() => "---")), ...body, "", navigator.userAgent].join("\n");
}

function Copy() {
  const said = useSignal("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(markdown());
      said.value = words.copied;
    } catch {
      said.value = words.blocked;
    }
    setTimeout(() => (said.value = ""), 4000);
  };
  return (
    <>
      <button type="button" class="button" onClick={() => void copy()}>
        {words.copy}
      </button>
      <span class="feedback" role="status">
        {said.value}
      </span>
    </>
  );
}

const Figures = ({ row }: { row: Row }) => (
  <tr>
    <th scope="row">
      {nameOf(row.contestant)}
      {row.hardware && <span class="quiet note"> {row.hardware}</span>}
    </th>
    {row.failure ? (
      <td colSpan={SHAPES.length + 1} class="speed-failure">
        {told(row.failure)}
      </td>
    ) : (
      <>
        {SHAPES.map(({ name }) => {
          const figure = row.figures.find(({ shape }) => shape === name);
          return (
            <td key={name}>
              {figure ? (
                <>
                  <b>{time(figure.milliseconds)}</b>
                  <span class="quiet note">
                    {words.texts(number(figure.textsPerSecond))}, {speed(figure)}
                  </span>
                </>
              ) : (
                strings.results.none
              )}
            </td>
          );
        })}
        <td>{time(row.start)}</td>
      </>
    )}
  </tr>
);

export const Speed = () => (
  <>
    <SideHead title={words.title} lead={words.lead}>
      <a class="speed-back" href="./index.html">
        {words.back}
      </a>
    </SideHead>
    <main id="main" tabIndex={-1}>
      <p class="speed-tools">
        {underWay.value ? (
          <button type="button" class="button" onClick={stop}>
            {words.stop}
          </button>
        ) : (
          <button type="button" class="button button-strong" onClick={() => void start()}>
            {rows.value.length ? words.again : words.begin}
          </button>
        )}
        {!underWay.value && rows.value.length > 0 && <Copy />}
        <span role="status">{underWay.value ? words.measuring(nameOf(underWay.value)) : ""}</span>
      </p>
      {rows.value.length > 0 && (
        <section class="speed-scroll" aria-label={words.title} tabIndex={0}>
          <table class="speed">
            <thead>
              <tr>
                <td />
                {SHAPES.map(({ name }) => (
                  <th key={name} scope="col">
                    {words.shapes[name]}
                  </th>
                ))}
                <th scope="col">{words.start}</th>
              </tr>
            </thead>
            <tbody>
              {rows.value.map((row) => (
                <Figures key={nameOf(row.contestant)} row={row} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      <p class="quiet speed-note">{words.note}</p>
    </main>
    <Footer />
  </>
);
