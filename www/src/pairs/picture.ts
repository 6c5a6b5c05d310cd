// A comparison as a picture: the sentences, the discs of the condition in the lens, a bar with its number for each condition, and the
// encoder that says so. In the page's light colours, whatever colours the page has now.

import { difference, fixed, similarity as written } from "../format";
import { answers, comparisonOf, unconditional } from "../state/answers";
import { encoder, lens } from "../state/engine";
import { fields, filledConditions } from "../state/fields";
import { inLens } from "../state/focus";
import { plainDoubt } from "../state/said";
import { strings } from "../strings";
import { saveBlob } from "../tables/saved";
import { distanceFor } from "../ui/overlap";
import { saidOf } from "../ui/spoken";
import { isRightToLeft, linesOf } from "./lines";

const words = strings.results;

/** As it is laid out; the picture has twice as many pixels, or fewer where it would be higher than browsers draw. */
const [width, scale, highest] = [1200, 2, 16_000];
const margin = 48;
const panel = { wide: (width - 2 * margin) / 2, inside: 28, leading: 38 };
/** Of a disc; the room for both lies between the sentences. */
const radius = 75;
const textWide = panel.wide - 2 * panel.inside - 2 * radius;
const row = { nameWide: 340, leading: 30, padding: 14 };
const bar = { left: margin + row.nameWide + 32, wide: 330, thick: 22 };
const [valueLeft, toldLeft] = [bar.left + bar.wide + 24, bar.left + bar.wide + 120];

const colourNames = ["page", "ink", "quiet", "line", "line-strong", "track", "first", "first-tint", "second", "second-tint", "shared", "shared-bright", "shared-text", "less-text"] as const;
type Colour = (typeof colourNames)[number];

/** The page's light colours, and its typefaces. */
function look() {
  const probe = document.createElement("i");
  probe.style.colorScheme = "light";
  document.body.append(probe);
  const colours = colourNames.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color] as const;
  });
  const [face, figures] = ["face", "figures"].map((name) => {
    probe.style.fontFamily = `var(--${name})`;
    return getComputedStyle(probe).fontFamily;
  }) as [string, string];
  probe.remove();
  return { colours: new Map(colours), face, figures };
}

interface Style {
  readonly size: number;
  readonly weight?: number;
  readonly italic?: boolean;
  /** A number to be read from afar, in a face whose zero is not struck through. */
  readonly figures?: boolean;
  readonly colour?: Colour;
}

const valueStyle: Style = { size: 26, weight: 700, figures: true };
const sentenceStyle: Style = { size: 26, weight: 600 };
const nameStyle = (quiet: boolean): Style => ({ size: 22, weight: quiet ? 400 : 600 });

/** Draws in the page's typeface and colours. */
class Pen {
  readonly canvas = document.createElement("canvas");
  readonly #context: CanvasRenderingContext2D;
  readonly #look = look();

  constructor() {
    const context = this.canvas.getContext("2d");
    if (!context) throw new Error("This browser draws no pictures.");
    this.#context = context;
  }

  /** A canvas of this height, white; what was drawn before is gone. */
  begin(height: number): void {
    const shrunk = Math.min(scale, highest / height);
    [this.canvas.width, this.canvas.height] = [Math.round(width * shrunk), Math.round(height * shrunk)];
    this.#context.scale(shrunk, shrunk);
    this.fill("page", 0, 0, width, height);
  }

  #dress({ size, weight = 400, italic = false, figures = false, colour = "ink" }: Style): CanvasRenderingContext2D {
    this.#context.font = `${italic ? "italic " : ""}${weight} ${size}px ${figures ? this.#look.figures : this.#look.face}`;
    this.#context.fillStyle = this.#look.colours.get(colour) ?? "";
    this.#context.textBaseline = "middle";
    return this.#context;
  }

  /** Makes sure that the typeface is there. */
  async ready(): Promise<void> {
    await Promise.all([400, 600, 700].map((weight) => document.fonts.load(`${weight} 20px ${this.#look.face}`))).catch(() => undefined);
  }

  lines(text: string, most: number, style: Style): readonly string[] {
    const context = this.#dress(style);
    return linesOf(text, most, (line) => context.measureText(line).width);
  }

  fill(colour: Colour, x: number, y: number, wide: number, high: number): void {
    this.#context.fillStyle = this.#look.colours.get(colour) ?? "";
    this.#context.fillRect(x, y, wide, high);
  }

  /** One line, by its middle. */
  write(text: string, x: number, y: number, style: Style, align: CanvasTextAlign = "left"): void {
    const context = this.#dress(style);
    context.textAlign = align;
    context.fillText(text, x, y);
  }

  /** Lines from `x` on, or from the other end where they are read from right to left. */
  writeLines(lines: readonly string[], x: number, top: number, wide: number, leading: number, style: Style): void {
    const context = this.#dress(style);
    const turned = isRightToLeft(lines.join(" "));
    context.save();
    context.direction = turned ? "rtl" : "ltr";
    context.textAlign = "start";
    lines.forEach((line, i) => context.fillText(line, turned ? x + wide : x, top + (i + 0.5) * leading));
    context.restore();
  }

  /** Two discs that overlap as much as the sentences are alike; pale where nothing is known, and where what is known is uncertain. */
  discs(x: number, y: number, similarity: number | undefined, isDoubtful: boolean): void {
    const context = this.#context;
    const apart = (distanceFor(similarity ?? 0) * radius) / 2;
    const disc = (centre: number): void => {
      context.beginPath();
      context.arc(centre, y, radius, 0, 2 * Math.PI);
    };
    const colour = (name: Colour): void => {
      context.fillStyle = this.#look.colours.get(name) ?? "";
      context.fill();
    };
    context.save();
    context.globalAlpha = similarity === undefined || isDoubtful ? 0.4 : 1;
    disc(x - apart);
    colour("first");
    disc(x + apart);
    colour("second");
    disc(x - apart);
    context.clip();
    disc(x + apart);
    if (similarity !== undefined) colour(isDoubtful ? "line-strong" : "shared");
    context.restore();
  }

  /** Lines from the lower left to the upper right. */
  hatch(x: number, y: number, wide: number, high: number): void {
    const context = this.#context;
    context.save();
    context.beginPath();
    context.rect(x, y, wide, high);
    context.clip();
    context.strokeStyle = this.#look.colours.get("line-strong") ?? "";
    context.lineWidth = 1.5;
    context.beginPath();
    for (let at = x - high; at < x + wide; at += 7) {
      context.moveTo(at, y + high);
      context.lineTo(at + high, y);
    }
    context.stroke();
    context.restore();
  }

  dashes(x: number, from: number, to: number): void {
    const context = this.#context;
    context.save();
    context.strokeStyle = this.#look.colours.get("ink") ?? "";
    context.lineWidth = 2;
    context.setLineDash([5, 4]);
    context.beginPath();
    context.moveTo(x, from);
    context.lineTo(x, to);
    context.stroke();
    context.restore();
  }
}

/** A line of the table: of the sentences by themselves, or of a condition. */
interface Row {
  readonly name: string;
  readonly quiet?: boolean;
  /** Undefined where there is none: `told` says why. */
  readonly value: number | undefined;
  readonly told: string;
  readonly colour: Colour;
  /** The number is uncertain: `told` says why. */
  readonly isDoubtful?: boolean;
}

/** A number, marked where it is uncertain. */
const marked = (value: number, isDoubtful: boolean): string => `${written(value)}${isDoubtful ? " ?" : ""}`;

const signs = { more: "▲", less: "▼", same: "=" } as const;
const toldIn = { more: "shared-text", less: "less-text", same: "quiet" } as const;

function rowsNow(): readonly Row[] {
  const own = filledConditions.peek().map(({ id, text }): Row => {
    const name = text.trim();
    const comparison = comparisonOf(answers.peek().get(id));
    const said = saidOf(comparison);
    if (!comparison || !said || said.why) return { name, value: said?.value, told: said?.why ?? "", colour: "quiet", isDoubtful: said?.value !== undefined };
    const { kind, size } = difference(comparison.similarity, comparison.unconditional);
    return { name, value: comparison.similarity, told: [signs[kind], kind === "same" ? "" : size, words[kind]].filter(Boolean).join(" "), colour: toldIn[kind] };
  });
  return [{ name: `${words.unaided} – ${words.unaidedNote}`, quiet: true, value: unconditional.peek(), told: "", colour: "quiet", isDoubtful: plainDoubt.peek() !== undefined }, ...own];
}

const place = (value: number): number => bar.left + bar.wide * Math.min(1, Math.max(0, value));

/** What the naked eye sees too in one colour; beside it what the condition adds, or hatched what it takes away. */
function drawBar(pen: Pen, { value, isDoubtful = false }: Row, top: number, high: number): void {
  const eye = unconditional.peek();
  const y = top + (high - bar.thick) / 2;
  pen.fill("track", bar.left, y, bar.wide, bar.thick);
  if (value !== undefined && isDoubtful) pen.hatch(bar.left, y, place(value) - bar.left, bar.thick);
  else if (value !== undefined) {
    const [own, plain] = [place(value), place(eye ?? value)];
    pen.fill("shared", bar.left, y, Math.min(own, plain) - bar.left, bar.thick);
    if (own > plain) pen.fill("shared-bright", plain, y, own - plain, bar.thick);
    else pen.hatch(own, y, plain - own, bar.thick);
  }
  if (eye !== undefined) pen.dashes(place(eye), top + 4, top + high - 3);
}

/** The sentences side by side, and the discs over their seam. */
function drawSentences(pen: Pen, sentences: readonly (readonly string[])[], high: number): void {
  sentences.forEach((lines, i) => {
    const left = margin + i * panel.wide;
    pen.fill(i === 0 ? "first-tint" : "second-tint", left, margin, panel.wide, high);
    const x = left + panel.inside + (i === 0 ? 0 : 2 * radius);
    pen.write(i === 0 ? strings.sentences.first : strings.sentences.second, x, margin + 36, { size: 18 });
    pen.writeLines(lines, x, margin + 62, textWide, panel.leading, sentenceStyle);
  });
  const through = comparisonOf(answers.peek().get(inLens.peek() ?? -1));
  const said = saidOf(through);
  const [value, isDoubtful] = said ? [said.value, said.doubt !== undefined] : [unconditional.peek(), plainDoubt.peek() !== undefined];
  const [x, y] = [width / 2, margin + high / 2 - 16];
  pen.discs(x, y, value, isDoubtful);
  if (value !== undefined) pen.write(marked(value, isDoubtful), x, y + radius + 26, valueStyle, "center");
}

function drawHeadings(pen: Pen, y: number): void {
  const style: Style = { size: 17, colour: "quiet" };
  pen.write(strings.conditions.heading, margin, y, style);
  for (const [at, tick] of [[0, "0"], [0.5, fixed(0.5, 1)], [1, "1"]] as const) pen.write(tick, place(at), y, style, "center");
  pen.write(words.similarity, valueLeft, y, style);
}

function drawRow(pen: Pen, line: Row, lines: readonly string[], top: number, high: number): void {
  const { value, told, colour, quiet = false, isDoubtful = false } = line;
  pen.writeLines(lines, margin, top + row.padding, row.nameWide, row.leading, nameStyle(quiet));
  drawBar(pen, line, top, high);
  const middle = top + high / 2;
  pen.write(value === undefined ? words.none : marked(value, isDoubtful), valueLeft, middle, isDoubtful ? { ...valueStyle, colour: "quiet" } : valueStyle);
  pen.write(told, toldLeft, middle, { size: 19, weight: 600, italic: value === undefined || isDoubtful, colour });
}

async function toPng(): Promise<Blob> {
  const pen = new Pen();
  await pen.ready();
  // The picture is as high as its texts.
  const sentences = fields.peek().sentences.map((text) => pen.lines(text, textWide, sentenceStyle));
  const rows = rowsNow().map((each) => {
    const lines = pen.lines(each.name, row.nameWide, nameStyle(each.quiet ?? false));
    return { each, lines, high: lines.length * row.leading + 2 * row.padding };
  });
  const panelHigh = Math.max(4 * radius, ...sentences.map(({ length }) => length * panel.leading + 92)) - radius / 2;
  const table = margin + panelHigh + 64;
  pen.begin(rows.reduce((sum, { high }) => sum + high, table) + 76);
  drawSentences(pen, sentences, panelHigh);
  drawHeadings(pen, table - 22);
  let top = table;
  rows.forEach(({ each, lines, high }, i) => {
    pen.fill(i === 0 ? "ink" : "line", margin, top, width - 2 * margin, 1.5);
    drawRow(pen, each, lines, top, high);
    top += high;
  });
  pen.fill("line", margin, top, width - 2 * margin, 1.5);
  pen.write(strings.takeAlong.by(lens.peek()?.info.model ?? strings.encoders.names[encoder.peek()]), margin, top + 40, { size: 18, colour: "quiet" });
  pen.write(strings.name, width - margin, top + 40, { size: 20, weight: 700 }, "right");
  return new Promise((resolve, reject) => pen.canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large for this browser."))), "image/png"));
}

export const savePng = async (): Promise<void> => saveBlob("caselens-comparison.png", await toPng());
