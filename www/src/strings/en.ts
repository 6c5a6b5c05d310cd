// Every word the page shows, in English. A translation is a file like this one beside it, by the name of its language.
//
// Texts to try things out on stay English in all of them, as the model reads nothing else: state/examples.ts, list/lists.ts with the .txt
// files beside it, and the lessons' sentences and conditions. What browsers show before the page runs is in index.html, speed.html
// and public/manifest.webmanifest; why a device was chosen, and what is odd about a download, is told by the package.

import { cosine, difference, rating, similarity } from "../format";
import type { Lessons } from "../lesson";

/** A language's name, by its ISO 639-1 code. */
const languages = new Intl.DisplayNames("en", { type: "language" });
const language = (code: string): string => languages.of(code) ?? code;

const percent = (share: number): string => `${Math.floor(share * 100)} %`;
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** How a similarity compares with the naked eye's, for screen readers. */
const compared = {
  more: (size: string) => `${size} more alike than without it`,
  less: (size: string) => `${size} less alike than without it`,
  same: () => "as alike as without it",
};

function spoken(condition: string, s: number, unconditional: number): string {
  const { kind, size } = difference(s, unconditional);
  return `${condition}: similarity ${similarity(s)}, ${compared[kind](size)}.`;
}

/** What each of the examples is about, and its title: in the order of state/examples.ts. */
const exampleNames: readonly (readonly [string, string])[] = [
  ["Everyday", "In the park"],
  ["People", "At the beach"],
  ["Animals", "Two dogs"],
  ["Sport", "Tennis match"],
  ["Travel", "Two stays"],
  ["Review", "Two cameras"],
  ["Recipe", "Peppers, apples"],
  ["Support", "Two tickets"],
  ["News", "In the streets"],
  ["Moods", "On the phone"],
  ["Film", "Two widowers"],
  ["Transport", "To Vienna"],
];

export const strings = {
  name: "caselens",
  skip: "Skip to the sentences",
  headline: ["Alike?", "Depends how you look."],
  // What search engines and bookmarks show of the page.
  description: "Type two sentences and a condition, and see how similar they are under it. The model runs in your browser; what you type stays there.",
  // The names of the browser's tab.
  documents: {
    compare: "caselens: how alike are two sentences under a condition?",
    list: "caselens: group a list by what you look for",
    how: "caselens: how it works",
    larger: "caselens: what a larger model says",
    speed: "caselens: how fast is it on this device?",
    unkept: "caselens: this page needs a network",
  },
  lead: "See how alike two sentences are under a condition: the place, the mood, the price, or one of your own.",
  // Beside the fields for texts: that they are to be in English. In English there is no need to say so.
  inEnglish: "",

  views: { label: "Views", names: { compare: "Compare", list: "List", how: "How it works", larger: "Larger model" } },

  update: { ready: "A new version of this page is ready.", take: "Reload with it" },

  theme: { toDark: "Dark", toLight: "Light", label: (next: string) => `Switch to ${next.toLowerCase()} colours` },
  copy: {
    idle: "Copy link",
    done: "Link copied",
    partly: "Link copied without the texts: they are too long for one",
    blocked: "Copying is blocked: take the link from the address bar",
    tooLong: "Too long for a link: shorten the sentences",
  },

  examples: { title: "Try an example, or", own: "start with your own pair", names: exampleNames },

  undo: {
    undo: "Undo",
    key: "Ctrl+Z",
    removed: (condition: string) => `Removed “${condition}”.`,
    cleared: "The page is empty.",
    swapped: "The sentences have changed places.",
    replaced: "The example took the place of what you had typed.",
  },

  sentences: {
    title: "Two sentences",
    first: "First sentence",
    second: "Second sentence",
    own: "Type your own",
    swap: "Swap the sentences",
    placeholder: "Type a sentence of your own",
    cut: "Longer than the model reads at once: its end was left out of the comparison.",
    foreign: (found: string, trained: readonly string[]) =>
      `This looks like ${language(found)}; the model was trained on ${trained.map(language).join(", ")}. Its numbers mean little.`,
    foreignAmong: (texts: number, found: readonly string[], trained: readonly string[]) =>
      `${texts === 1 ? "1 text looks" : `${texts.toLocaleString("en")} texts look`} like ${found.map(language).join(", ")}; the model was trained on ${trained.map(language).join(", ")}. What it says of ${texts === 1 ? "it" : "them"} means little.`,
  },

  attention: {
    unit: "% attention",
    share: (text: string, share: number) => `${text} ${Math.round(100 * share)} %`,
    looks: (first: readonly string[], second: readonly string[]) =>
      `Looks in the first sentence at ${first.join(", ")}; in the second sentence at ${second.join(", ")}.`,
  },

  conditions: {
    title: "Under which condition?",
    heading: "Condition",
    label: (n: number) => `Condition ${n}`,
    add: "Add a condition",
    placeholder: "Type your own condition",
    remove: (text: string) => `Remove ${text || "the empty condition"}`,
    keys: "Point at a condition to look at the sentences through it. Enter goes to the next condition; several pasted lines become several conditions; Backspace in an empty one removes it; Ctrl+Z brings back what was removed.",
    pasted: (lines: number, kept: number, max: number) =>
      `${kept.toLocaleString("en")} of the ${lines.toLocaleString("en")} pasted lines were kept: each condition once, and ${max} are the most this page takes.`,
    repeated: (place: number) => `The same as condition ${place}, so it is not compared again.`,
    cut: "Not all of the text fitted beside this condition: the end of a sentence was left out.",
    unknown: (n: number) =>
      `${n === 1 ? "1 piece" : `${n} pieces`} of the texts ${n === 1 ? "is" : "are"} not known to the model, which reads ${n === 1 ? "it" : "them"} as a blank.`,
    /** How a condition is better put. */
    advice: {
      value: "This says what is so. Name what is to be compared, such as “the colour” for “the colour is green”.",
      sentence: "A condition is about what the sentences tell: “the dog” for “the dog in the sentence”.",
    } as Record<string, string>,
  },

  results: {
    unaided: "Naked eye",
    unaidedNote: "no condition",
    similarity: "Similarity",
    against: "Against the naked eye",
    none: "–",
    outOf: "/ 5",
    more: "more alike",
    less: "less alike",
    same: "no change",
    under: (condition: string) => `under “${condition}”`,
    needSentences: "Type both sentences to compare them.",
    needCondition: "Type a condition to compare the sentences under.",
    beforehand: "Answers computed beforehand by the same model.",
    unsaid: { both: "neither sentence says", first: "only the second says", second: "only the first says" },
    spokenUnsaid: (condition: string, which: string) => `${condition}: ${which}.`,
    doubt: { foreign: "uncertain: not English", unknown: "uncertain: unknown characters", cut: "uncertain: not read to its end" },
    spokenDoubt: (condition: string, s: number, why: string) => `${condition}: similarity ${similarity(s)}, ${why}.`,
    spoken,
    spokenUnaided: (s: number) => `Without a condition: similarity ${similarity(s)}.`,
  },

  engine: {
    title: "Where and how the model runs",
    megabytes,
    milliseconds: (ms: number) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`,
    device: "Device",
    adapter: "Adapter",
    instructions: "Instructions",
    model: "Model",
    dtype: "Weights",
    size: "Download",
    time: "Last answer",
    names: { webgpu: "WebGPU", wasm: "CPU (WebAssembly)" } as Record<string, string>,
    noAdapter: "none",
    choose: "Run on",
    choices: { auto: "Auto", webgpu: "WebGPU", wasm: "CPU" },
  },

  encoders: {
    title: "Which encoder answers?",
    names: { small: "Small", large: "Large", case: "CASE, as published" },
    what: {
      small: "all-MiniLM-L6-v2, fine-tuned for conditions: what ships.",
      large: "all-mpnet-base-v2, fine-tuned: better on reviews and everyday texts, seven times as slow.",
      case: "all-MiniLM-L6-v2 untouched: the condition is subtracted, and a small head trained on top. It shows every step.",
    },
    // What choosing it costs.
    inUse: (mb: number) => `${mb.toFixed(1)} MB, in use`,
    kept: (mb: number) => `${mb.toFixed(1)} MB, on this device`,
    toDownload: (mb: number) => `${mb.toFixed(1)} MB to download`,
    offline: (mb: number) => `${mb.toFixed(1)} MB, needs a network`,
    base: { text: "all-mpnet-base-v2 is by sentence-transformers (Apache-2.0).", url: "https://huggingface.co/sentence-transformers/all-mpnet-base-v2" },
    answers: (name: string) => `“${name}” answers.`,
    cancel: "Cancel",
    failed: (name: string) => `“${name}” could not be loaded`,
    stays: (name: string) => `“${name}” goes on answering.`,
    ask: (name: string, mb: number) =>
      `Your connection looks slow, or is set to save data. The encoder “${name}” is ${mb.toFixed(1)} MB to download, once: it then stays on this device.`,
    agree: (mb: number) => `Download ${mb.toFixed(1)} MB`,
    stay: (name: string) => `Stay with “${name}”`,
    instead: (name: string) => `Take “${name}” instead`,
    waiting: "Not downloaded yet: the page asks first.",
  },

  loading: {
    label: "Loading the model",
    starting: "Loading the model…",
    /** `total`: all that is to be loaded. */
    bytes: (loaded: number, total: number) => `Loading the model: ${megabytes(loaded)} of ${megabytes(total)}, ${percent(Math.min(1, loaded / total))}.`,
    preparing: "Preparing the model…",
    meanwhile: "You can type meanwhile.",
    ready: "The model is ready.",
  },

  problems: {
    retry: "Try again",
    details: "What the program says",
    // While a model is loaded, the package warns of this alone.
    notKept: "This browser does not let the page keep the model: it is downloaded again at the next visit. Everything else works.",
    useCpu: "Use the CPU",
    title: "The model could not be loaded",
    compareTitle: "The sentences could not be compared",
    gpuLost: "The GPU stopped working, so the page has moved to the CPU. Everything works as before, a little slower.",
    // What happened and what to do, by the error's code; codes that are not listed are told as `internal`.
    told: {
      "condition-too-long": "This is too long for a condition: shorten it to a few words.",
      "invalid-text": "The text holds half of a character, as a cut in the middle of an emoji leaves it. Delete it, or type it again.",
      integrity: "The model that arrived is not the one that belongs to this page. Trying again downloads it afresh.",
      http: "A file that is needed is not on this page’s server at the moment. Try again later.",
      network: "The model could not be reached. Check your connection, then try again. Once loaded, it stays on your device and works offline.",
      "download-incomplete": "The connection ended before the whole model was there. Trying again usually helps.",
      "model-format": "The stored copy of the model is damaged. Trying again downloads it afresh.",
      "not-enough-memory": "This device has too little free memory for the model. Close other tabs or programs, then try again.",
      "webgpu-unavailable": "This browser offers no usable WebGPU. The CPU gives the same numbers.",
      "gpu-lost": "The GPU stopped working. The CPU gives the same numbers.",
      unsupported: "This browser has not got what the model is computed with: it is too old, or in a hardened mode such as Lockdown Mode. Update it, make an exception for this site, or try another browser.",
      worker: "This browser did not let the page start what computes. Reload the page; if that does not help, try another browser, or a window that is not private.",
      "empty-text": "A text that is needed is empty.",
      "unsupported-architecture": "The model on this page’s server is of a kind that the page cannot run. Whoever runs the site can mend that.",
      tokenizer: "The model on this page’s server cannot be read. Whoever runs the site can mend that.",
      "head-format": "A file that belongs to the model is damaged. Trying again downloads it afresh.",
      "head-mismatch": "The model’s files on this page’s server do not belong together. Whoever runs the site can mend that.",
      "bundle-format": "The stored answers are damaged. Try again later.",
      "bundle-schema": "The stored answers are of a version that this page does not read. Whoever runs the site can mend that.",
      "bundle-mismatch": "The stored answers do not belong together, or are not whole. Try again later.",
      internal: "This should not happen. Reload the page; if it comes back, please report it with the sentences you typed.",
    } as Record<string, string>,
    tooLong: (place: 0 | 1, characters: number) =>
      `The ${place === 0 ? "first" : "second"} sentence has ${characters.toLocaleString("en")} characters, which is more than can be read at once. Shorten it to a few paragraphs.`,
  },

  about: {
    how: {
      title: "How it works",
      text: [
        "A small language model reads each sentence together with your condition, and turns the pair into a point in space: one point for “the sentence, as far as the place goes”, another for “as far as the game goes”. Two sentences are alike under a condition when their points lie close together.",
        "The discs show it: the share of a disc that the green part covers is the similarity. The dashed line marks the naked eye, the similarity of the plain sentences, so every bar tells what the condition brought closer or pushed apart. Take that difference as a hint: the model was trained to read a condition, and without one it is less sure.",
      ],
    },
    right: {
      title: "How right is it?",
      // Whose figures these are.
      of: {
        small: "",
        large: "These are the figures of the encoder that answers now, “Large”.",
        case: "These are the figures of the encoder that answers now, “CASE, as published”.",
      },
      failures: {
        title: "See where it goes wrong",
        lead: "These pairs the encoder that ships judges otherwise than people would. Open one, and try in which words it gets it right.",
        kinds: { roles: "Who does what to whom", irony: "Irony", units: "Units", time: "Clock times", arithmetic: "Arithmetic", world: "What is known about the world" },
        model: (s: string) => `the model says ${s};`,
        people: { alike: "people would say: the same.", unlike: "people would say: not the same." },
        open: "Open this pair",
      },
      strong: {
        title: "Often right",
        text: ({ accuracy, rows, spearman }: { accuracy: number; rows: number; spearman: number }) =>
          `About what a short sentence says outright: places, colours, activities, products, feelings, how many people. Where people rate a pair higher under one of two conditions, the model sides with them in ${Math.round(accuracy)} of 100 cases. Ranking ${rows.toLocaleString("en")} pairs as people rank them, it reaches a Spearman correlation of ${spearman} of 100.`,
      },
      weak: {
        title: "Often wrong",
        text: ({ unseen }: { unseen: number }) =>
          `About conditions unlike those it learnt from (Spearman ${unseen} where it had never seen the condition), who does what to whom, dates and clock times, units and arithmetic, irony, what has to be known about the world, and texts of many statements. It sounds as sure when it is wrong: trust the order of two conditions more than a single number.`,
      },
      reads: {
        title: "Reads English",
        text: {
          small: "It was trained on short English sentences, more than half of them captions of photographs. Of other languages it understands next to nothing.",
          large: "It was trained on English sentences, many of them captions of photographs. Of other languages it understands next to nothing.",
          case: "Its encoder was trained on English texts, its head on captions of photographs alone. Of other languages it understands next to nothing.",
        },
      },
      from: {
        title: "Where it comes from",
        text: "C-STS, Conditional Semantic Textual Similarity, is the task: pairs of captions that people rated under a condition. CASE, Condition-Aware Sentence Embeddings, is the method that this page grew from; its authors also annotated C-STS anew, and the model is trained and measured on that.",
        papers: [
          { text: "C-STS (Deshpande et al., EMNLP 2023)", url: "https://arxiv.org/abs/2305.15093" },
          { text: "CASE (Zhang et al., EACL 2026)", url: "https://arxiv.org/abs/2503.17279" },
        ],
      },
    },
    privacy: {
      title: "Private by construction",
      text: "The model runs in this browser tab. It is downloaded once and kept on your device, so that the page opens without a network from then on; the sentences you type are never sent anywhere. A shared link carries them after the #, which browsers do not send to the server.",
    },
  },

  list: {
    headline: ["Group a list", "by what you look for."],
    lead: "Paste reviews, tickets or captions, name a condition, and watch the groups change with it.",
    examples: "Ready lists",
    names: { captions: ["Pictures", "Captions"], tickets: ["Support", "Tickets"], reviews: ["Restaurants", "Reviews"] },
    texts: {
      title: "The texts",
      label: "One text a line",
      lost: "This link came without its texts: they were too long for it. Paste them here, or open the file that they are from.",
      placeholder: "Paste a list, or drop a file here: CSV, Excel, JSON or plain text",
      count: (n: number) => (n === 1 ? "1 text" : `${n.toLocaleString("en")} texts`),
      sampled: (n: number, of: number) =>
        `A random sample of the ${of.toLocaleString("en")} that were given, in their order and the same each time: this page groups up to ${n.toLocaleString("en")}.`,
      blank: (n: number) => `${n === 1 ? "1 row has" : `${n.toLocaleString("en")} rows have`} no text in this column.`,
      cutShort: (n: number, max: number) =>
        `${n === 1 ? "1 text is" : `${n.toLocaleString("en")} texts are`} longer than ${max.toLocaleString("en")} characters: what is beyond them is left out.`,
      invisible: (n: number) =>
        `${n === 1 ? "1 line holds" : `${n.toLocaleString("en")} lines hold`} nothing but invisible characters and ${n === 1 ? "is" : "are"} left out.`,
      drop: "Drop the file to open it",
      thisList: "This list",
      reader: "What reads such a file",
      writer: "What writes CSV",
      open: "Open a file",
      header: "The first row is a header",
      column: "Column",
      columnName: (n: number) => `Column ${n}`,
      unreadable: (name: string) => `${name} could not be opened. Is it still there, and may this browser read it?`,
      // Why a file was not taken, and what is worth knowing of one that was.
      files: {
        empty: (name: string) => `${name} holds no texts.`,
        noText: (name: string) => `${name} is no text, table or list. Save it as CSV, Excel (.xlsx), JSON or plain text, then open that.`,
        oldOffice: (name: string) => `${name} is in an older Office format, or protected by a password. Save it as .xlsx or CSV without one, then open that.`,
        noWorkbook: (name: string) => `${name} could not be read as an Excel workbook. Save it as .xlsx or CSV, then open that.`,
        largeWorkbook: (name: string, bytes: number) => `${name} unpacks to more than ${megabytes(bytes)}, which is more than this page opens. Save the sheet as CSV, then open that.`,
        noJson: (name: string) => `${name} is not valid JSON, nor JSON lines: something in it is cut off or misspelt.`,
        noList: (name: string) => `${name} is JSON without a list: an array of texts, or of objects that hold one each, is needed.`,
        unread: (bytes: number) => `Only the first ${megabytes(bytes)} of the file were read.`,
        spread: (bytes: number, of: number) => `Of the file’s ${megabytes(of)}, ${megabytes(bytes)} were read: rows from all over it.`,
        windows1252: "The file is not in UTF-8 and was read as Windows-1252: if letters look wrong, save it as UTF-8 and open it again.",
        damaged: (n: number) => `${n === 1 ? "1 character" : `${n.toLocaleString("en")} characters`} of the file could not be read and ${n === 1 ? "stands" : "stand"} as \uFFFD.`,
        unclosed: (row: number) => `Row ${row.toLocaleString("en")} opens a quote that never closes: from there on quotes were read as part of the texts.`,
        oddQuotes: (row: number, n: number) =>
          `Row ${row.toLocaleString("en")}${n > 1 ? ` and ${(n - 1).toLocaleString("en")} more hold` : " holds"} a quote that does not end a cell: look whether the texts there are whole.`,
        wide: (row: number, n: number) =>
          `Row ${row.toLocaleString("en")}${n > 1 ? ` and ${(n - 1).toLocaleString("en")} more have` : " has"} more cells than there are columns: what is beyond the last column was added to it.`,
        badLines: (line: number, n: number) =>
          n === 1 ? `Line ${line.toLocaleString("en")} is no JSON and is left out.` : `${n.toLocaleString("en")} lines are no JSON and are left out, the first of them line ${line.toLocaleString("en")}.`,
        saved: "This page saved the file: its condition, its number of groups and the names of its groups are taken up again.",
        sheet: (name: string, n: number) => `The sheet “${name}” was read, the first of ${n} that hold anything.`,
      },
    },
    condition: {
      label: "Group by",
      placeholder: "a condition, for example the price",
      chips: "Conditions to try",
      count: "Number of groups",
      automatic: "Automatic",
    },
    missing: (what: string) => `${what} could not be loaded. Check your connection, then try again; if that does not help, reload the page.`,
    working: (share: number) => `Grouping: ${percent(share)}`,
    underWay: (texts: number, condition: string) =>
      `Grouping ${texts === 1 ? "1 text" : `${texts.toLocaleString("en")} texts`}${condition ? ` by “${condition}”` : ""} …`,
    read: (n: number, of: number) => `${n.toLocaleString("en")} of ${of.toLocaleString("en")} read`,
    // Of the time that grouping still takes: whole seconds, or whole minutes from 60 on.
    left: (seconds: number) => `about ${seconds < 60 ? `${seconds} s` : `${(seconds / 60).toLocaleString("en")} min`} left`,
    cancel: "Cancel",
    stopped: "Stopped before it was done.",
    earlier: "What stands below is from before the last change.",
    again: "Group again",
    problem: "The list could not be grouped",
    empty: "Paste a list to see its groups.",
    groups: {
      title: "Groups",
      earlier: "Earlier groups",
      summary: (texts: number, groups: number, condition: string) =>
        `${texts.toLocaleString("en")} ${texts === 1 ? "text" : "texts"} in ${groups} ${groups === 1 ? "group" : "groups"}${condition ? ` by “${condition}”` : ""}.`,
      size: (n: number) => (n === 1 ? "1 text" : `${n.toLocaleString("en")} texts`),
      between: " · ",
      rename: (name: string) => `Rename “${name}”`,
      name: (n: number) => `Name of group ${n}`,
      unnamed: "empty: its own words",
      keep: "Keep",
      central: "the most central text",
      elsewhere: "selected",
      member: "likeness to the group’s centre",
      unmentioned: (condition: string) => `Says nothing about “${condition}”`,
      silent: (n: number) => ` ${n === 1 ? "1 text says" : `${n} texts say`} nothing about it.`,
      unknown: (n: number) => `${n === 1 ? "1 text holds" : `${n.toLocaleString("en")} texts hold`} characters that the model does not know.`,
      cut: (n: number) => `${n === 1 ? "1 text is" : `${n.toLocaleString("en")} texts are`} longer than the model reads at once: the end was left out.`,
      more: (n: number) => `Show ${n} more`,
      fewer: "Show fewer",
    },
    // What is judged of the groups: how far apart they lie, and no more.
    verdict: {
      few: "These are too few texts to tell whether they form groups.",
      none: (own: number, without: number) =>
        `Nothing shows that these are groups: their silhouette is ${cosine(own)}, and points spread alike without any groups give ${cosine(without)}. Take them as a way to cut the list into parts.`,
      some: (own: number, without: number) =>
        `The groups stand a little apart: their silhouette is ${cosine(own)}, where points spread alike without any groups give ${cosine(without)}. That says how they lie, not whether they are what you look for.`,
      clear: (own: number, without: number) =>
        `The groups stand apart: their silhouette is ${cosine(own)}, where points spread alike without any groups give ${cosine(without)}. That says how they lie, not whether they are what you look for.`,
    },
    map: {
      title: "Map",
      earlier: "Earlier map",
      what: "What draws the map",
      label: (texts: number, groups: number) => `Map of ${texts} texts in ${groups} groups. The list of groups holds the same texts.`,
      role: "map of texts",
      help: "How to read and use the map",
      note: "Near is alike: the first two principal components of the texts as seen under the condition. Numbers mark each group’s most central text.",
      keys: "Drag moves the map, and Ctrl with the wheel or two fingers zoom it. A click selects a text; a drag with Shift draws a line around several. On the keyboard: arrows go from text to text, Page Up and Page Down through a group, + and − zoom, 0 shows all, Enter selects.",
      tools: "Map tools",
      closer: "Zoom in",
      farther: "Zoom out",
      whole: "Show all",
      lasso: "Draw around texts",
      colour: "Colour",
      byGroup: "by group",
      by: (column: string) => `by ${column}`,
      legend: "Legend",
      selectAll: (name: string, n: number) => `${name}: select ${n === 1 ? "its text" : `its ${n.toLocaleString("en")} texts`}`,
      noValue: "none",
      // The text at hand, as it is spoken.
      spoken: (text: string, group: string, value: string, isSelected: boolean) => `${text} Group: ${group}.${value && ` ${value}.`}${isSelected ? " Selected." : ""}`,
      value: (column: string, value: string) => `${column}: ${value}`,
    },
    selection: {
      title: "Selected texts",
      count: (n: number) => (n === 1 ? "1 text selected" : `${n.toLocaleString("en")} texts selected`),
      copy: "Copy",
      copied: "Copied",
      blocked: "Copying is blocked",
      save: "Save as CSV",
      find: "Find similar",
      show: "Show in the list",
      clear: "Clear",
    },
    search: {
      label: "Find in the list",
      placeholder: "a text that it should be like",
      marked: "Ringed on the map; a click selects one.",
      unmentioned: "says nothing about it",
      found: (condition: string) => (condition ? `Most alike by “${condition}”` : "Most alike"),
    },
    export: { csv: "Save as CSV", json: "Save as JSON" },
  },

  // Many pairs at once.
  pairs: {
    title: "Compare many pairs from a table",
    lead: "Open a table with two English sentences in each row: CSV, Excel or JSON. A column of conditions says under which each row is compared; without one it is under the conditions above.",
    open: "Open a table",
    first: "First sentence",
    second: "Second sentence",
    condition: "Condition",
    above: "the conditions above",
    oneColumn: "The table has one column. Two are needed, with a sentence each.",
    needCondition: "Type a condition above, or choose the column that holds conditions.",
    count: (n: number) => (n === 1 ? "1 comparison." : `${n.toLocaleString("en")} comparisons.`),
    lacking: (n: number) => `${n === 1 ? "1 row lacks" : `${n.toLocaleString("en")} rows lack`} a sentence or a condition and ${n === 1 ? "is" : "are"} left out.`,
    beyond: (max: number) => `Only the first ${max.toLocaleString("en")} are made.`,
    compare: "Compare them",
    working: (share: number) => `Comparing: ${percent(share)}`,
    problem: "The pairs could not be compared",
    results: "The pairs and their similarities",
    tooLong: "too long",
    more: (n: number) => `${n.toLocaleString("en")} more are in the file that is saved.`,
    failed: (n: number) => `${n.toLocaleString("en")} could not be compared.`,
    agreement: (name: string, rho: number, n: number) =>
      `Spearman’s correlation with the column “${name}” over ${n.toLocaleString("en")} rows: ${cosine(rho)}.`,
    silent: (n: number) => `${n === 1 ? "1 row is" : `${n.toLocaleString("en")} rows are`} not counted, as a sentence says nothing about the condition.`,
  },

  takeAlong: {
    csv: "Save this comparison (CSV)",
    picture: "Save as a picture (PNG)",
    artist: "What draws the picture",
    by: (name: string) => `Compared by caselens with the encoder “${name}”, in the browser.`,
    snippet: "Put this on your page",
    copied: "HTML copied. It needs the npm packages caselens and caselens-csts beside your page.",
  },

  suggestions: {
    title: "Worth a look",
    add: "Add",
    looking: "Looking for conditions that tell these two sentences apart …",
    slow: "This device takes its time, so no conditions are suggested: looking for some would keep it busy for long.",
  },

  larger: {
    title: "What a larger model says",
    lead: "This model is too large for a browser, so it does not run here: it read these pairs beforehand, and what it made of each sentence under each condition lies beside this page. Its trained projection was applied to that on your device just now. Next to its answers are those of the model that runs in this page.",
    theirs: "Larger model",
    ours: "This page",
    people: "People",
    licences: "Licences",
    dims: (n: number) => `compares ${n.toLocaleString("en")} numbers a sentence`,
    pair: (place: number) => `Pair ${place}`,
    waiting: "…",
    unread: "too long",
    problem: "The larger model’s answers cannot be shown",
  },

  how: {
    title: "How it works",
    lead: "The model at work on your own sentences, one step at a time. Every number on this page is the model’s own.",
    lessons: "Lessons",
    question: "Question",
    reveal: "Show the answer",
    close: "Close the lesson",
    answersOf: "The answers were written for the encoder that ships, “Small”: what you see is another’s, and may differ.",
    beside: {
      title: "Beside the encoder that ships",
      text: (case_: number, small: number) =>
        `CASE leaves its encoder as it was published; the one that ships was trained as a whole, for this task. On pairs rated by people the first reaches a Spearman correlation of ${case_} of 100, the second ${small}. Here are both on your pair.`,
      open: "Show both",
      download: (mb: number) => `Show both (${mb.toFixed(1)} MB to download)`,
      close: "Show CASE alone",
      caption: (condition: string) => `Both encoders, under “${condition}”`,
      rating: "Rating of 5",
      leftOut: "left out",
      waiting: "…",
      problem: "The encoder that ships could not be shown beside it",
    },
    condition: "Condition to explain",
    needSentences: "Type both sentences to see how they are compared.",
    others: "Other conditions",
    needCondition: "Type a condition to see what it does.",
    problem: "The steps could not be worked out",
    present: "Present",
    print: "Print a worksheet",
    fill: "Full screen",
    code: {
      title: "QR code",
      label: "QR code of this step’s link",
      note: "Opens this step on another device.",
      tooLong: "The texts are too long for a QR code. Copy the link in place of it.",
    },
    leave: "End (Esc)",
    previous: "Previous step",
    next: "Next step",
    place: (at: number, of: number) => `${at} / ${of}`,
    switches: {
      title: "What if?",
      condition: "Condition",
      subtract: "Subtraction",
      head: "Head",
      pooling: "Tokens averaged",
      poolings: { all: "All", condition: "The condition’s", sentence: "The sentence’s", cls: "The first alone" },
      noHead: "this model has none",
      reset: "As the model does it",
      own: (s: number) => `Similarity ${similarity(s)}, done as the model was trained to do it.`,
      changed: (now: number, own: number) =>
        `Similarity ${similarity(now)} as switched; the model’s own way gives ${similarity(own)}.`,
    },
    step: (n: number) => `Step ${n}`,
    skipped: "This model leaves this step out. Switch it on under “What if?” to see what it would do.",
    switchedOff: "Switched off: this step is left out.",
    noHead: "This model has no head.",
    needsCondition: "There is nothing to see here without a condition.",
    sentence: (n: number) => (n === 1 ? "First sentence" : "Second sentence"),
    vector: (vector: Float32Array) => {
      const numbers = Array.from(vector.subarray(0, 5), (value) => value.toFixed(2).replace("-", "−")).join(", ");
      const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
      return `${vector.length} numbers: ${numbers}, … Length ${length.toFixed(2)}.`;
    },
    strip: (what: string) => `${what} as a strip of coloured cells, blue below zero and yellow above.`,
    steps: {
      question: {
        title: "Two sentences, one question",
        text: "How alike are these two? Read by themselves, without a condition, they get one number for everything at once. The condition asks about one thing alone.",
        plain: "Without a condition",
      },
      tokens: {
        title: "Words become tokens",
        text: "The encoder reads condition and sentence together, as one text. It knows some thirty thousand pieces of words, its tokens; rare words fall into several (## marks a continued word). [CLS] and [SEP] are marks of its own: the beginning, and the end of a part.",
        more: "Before the first layer each token becomes 384 numbers, the sum of three lists that were learnt: one for which piece it is, one for its position in the text (there are 512), and one for its segment, which says whether it belongs to the condition or to the sentence. Without positions “dog bites man” and “man bites dog” would be the same.",
        moreOf: {
          large: "Before the first layer each token becomes 768 numbers, the sum of two lists that were learnt: one for which piece it is, and one for its position in the text (there are 512). How far two tokens lie apart counts once more in attention. This encoder has no segments: the marks alone part the condition from the sentence. Without positions “dog bites man” and “man bites dog” would be the same.",
        },
        others: {
          large: "The encoder reads condition and sentence together, as one text. It knows some thirty thousand pieces of words, its tokens; rare words fall into several (## marks a continued word). <s> and </s> are marks of its own: the beginning, and the end of a part.",
        },
        unknown: "[UNK] stands for what it has no piece for: all such characters look the same to it.",
      },
      attention: {
        title: "The condition looks at the words",
        text: "In every layer each token looks at all others and takes something from them; how much from which is its attention. Here is where the condition’s tokens look among the words of each sentence, as a share of what they give to that sentence, averaged over the layer’s heads. It does not tell everything: what is taken from a word can be much or little, and every token also keeps what it had.",
        more: "Attention is one half of a layer. In the other, the feed-forward part, each token goes by itself through a small network: from 384 numbers to 1,536, and back to 384. Two thirds of a layer’s weights are there. What it finds is added to what the token had, and goes on to the next of the six layers.",
        moreOf: {
          large: "Attention is one half of a layer. In the other, the feed-forward part, each token goes by itself through a small network: from 768 numbers to 3,072, and back to 768. Two thirds of a layer’s weights are there. What it finds is added to what the token had, and goes on to the next of the twelve layers.",
        },
        layer: "Layer",
        of: (at: number, count: number) => `${at} of ${count}`,
        share: (text: string, share: number) => `${text}: ${Math.round(100 * share)} %`,
        rest: (share: number) =>
          `${Math.round(100 * share)} % of the condition’s attention goes to this sentence, the rest to the condition itself and to the marks.`,
      },
      embedding: {
        title: "Tokens become one vector",
        text: "After the last layer every token is a list of numbers. Their mean is the embedding: what this sentence is, as far as the condition goes. Change the condition and the picture changes, though the sentence stays.",
        others: {
          case: "After the last layer every token is a list of numbers. Each of the condition’s tokens has looked at the sentence by now; the mean of these is the embedding: what this sentence is, as far as the condition goes. Change the condition and the picture changes, though the sentence stays.",
        },
        what: "Embedding of each sentence with the condition",
        plain: "Embedding of each sentence by itself",
      },
      subtraction: {
        title: "The condition is taken away",
        text: "The condition’s own words are in both embeddings and make them look alike, whatever the sentences say. CASE, the method this page grew from, subtracts the embedding of the condition alone, f(s, c) − f(c), and what is left is the sentence’s part. The encoder that ships here is not CASE itself: it was fine-tuned without this step.",
        others: {
          large: "The condition’s own words are in both embeddings and make them look alike, whatever the sentences say. CASE, the method this page grew from, subtracts the embedding of the condition alone, f(s, c) − f(c), and what is left is the sentence’s part. The large encoder is not CASE itself: it was fine-tuned without this step.",
          case: "The condition’s own words are in both embeddings and make them look alike, whatever the sentences say: see how high their cosine is before this step. CASE subtracts the embedding of the condition alone, f(s, c) − f(c), and what is left is the sentence’s part.",
        },
        alone: "The condition alone",
        what: "What is left of each sentence",
      },
      head: {
        title: "A head sharpens it",
        text: "Where the encoder stays as it was published, a small network is trained on top: it keeps the numbers that people’s ratings depend on. An encoder that is fine-tuned as a whole, such as the one that ships here, has learnt that itself and needs none.",
        others: {
          large: "Where the encoder stays as it was published, a small network is trained on top: it keeps the numbers that people’s ratings depend on. An encoder that is fine-tuned as a whole, such as the large one, has learnt that itself and needs none.",
          case: "The encoder stays as it was published: it was never told what people mean by alike under a condition. A small network on top was, on eleven thousand rated pairs: it keeps what their ratings depend on, in fewer numbers.",
        },
        what: "Each sentence after the head",
      },
      cosine: {
        title: "One number remains",
        text: "Two vectors that point the same way have a cosine of 1, two at right angles have 0. That is the similarity; as a rating from 1 to 5 it is 1 + 4 · cosine, where a cosine below 0 counts as 0, or, with the encoders that ship, what people gave pairs of such a cosine.",
        more: "Nobody wrote into the model what a condition means: it was trained. Its encoder had learnt from more than a billion pairs of texts which of them belong together. Then its cosines were held against people’s ratings of 11,342 pairs under a condition, and against further pairs that a larger model rated; after every few pairs each of its 22 million weights was moved a little, so that cosine and rating come closer, again and again.",
        moreOf: {
          large: "Nobody wrote into the model what a condition means: it was trained. Its encoder had learnt from more than a billion pairs of texts which of them belong together. Then its cosines were held against people’s ratings of 11,342 pairs under a condition, and against further pairs that a larger model rated; 2,230 times each of its 110 million weights was moved a little, so that cosine and rating come closer.",
          case: "Nobody wrote into the model what a condition means: it was trained. Its encoder had learnt from more than a billion pairs of texts which of them belong together, and stayed so. The head alone was held against people’s ratings of 11,342 pairs under a condition: after every few pairs each of its weights was moved a little, so that cosine and rating come closer, again and again.",
        },
        chart: "Cosine after each step",
        names: { plain: "no condition", joint: "with condition", offset: "subtracted", projected: "after the head" },
        angle: (s: number, degrees: number) => `Cosine ${cosine(s)}: the two vectors are ${degrees}° apart.`,
        rating: (r: number) => `Rating ${rating(r)} of 5`,
        unsaid: {
          both: "Neither sentence says anything about the condition, as far as the model can tell: there is no answer to give.",
          first: "Only the second sentence says anything about the condition, as far as the model can tell: there is no answer to give.",
          second: "Only the first sentence says anything about the condition, as far as the model can tell: there is no answer to give.",
        },
      },
    },
    heads: {
      title: "Heads",
      lead: "A layer has several attention heads, each of which looks in a way of its own; the mean of all of them, as above, hides that. Where a head looks is a hint at what the model uses, not a proof.",
      sentences: "Whose tokens",
      waiting: "The heads are read …",
      choose: (layer: number, layers: number) =>
        `The heads of layer ${layer} of ${layers}. Each row of a picture is a token that looks, each column one that is looked at; the stronger the colour, the larger the share. Choose a head to see it closely.`,
      head: (n: number, from: string, to: string, share: string) => `${n}: head ${n}, whose largest share is ${share}, from “${from}” to “${to}”`,
      picture: (n: number) => `Head ${n}: which token looks where. Choose one to see its looks alone.`,
      all: "All tokens",
      most: "Where each token looks most:",
      look: (from: string, to: string, share: string) => `${from} → ${to}: ${share}`,
      looks: (from: string, most: string) => `“${from}” looks most at ${most}.`,
      share: (to: string, share: string) => `${to}: ${share}`,
      rest: (n: number, share: string) => `${n === 1 ? "1 other token" : `${n} other tokens`}: ${share}`,
      problem: "The heads could not be read",
    },
    space: {
      title: "The space, and how a condition moves it",
      lead: "Each mark is a sentence: twelve of them say who does what where, and 1 and 2 are yours. Choose a condition and watch which sentences draw near each other.",
      under: "Conditions to try",
      none: "no condition",
      waiting: "The sentences are read …",
      plain: "The sentences on a plane, without a condition",
      picture: (condition: string) => `The sentences on a plane, under “${condition}”`,
      nearest: (text: string, s: string) => `Of the twelve, “${text}” is the most like your first sentence: ${s}.`,
      note: (dims: number) => `An embedding has ${dims} numbers, and a plane two: it shows the two directions in which the sentences differ most (principal components). Marks that lie close may be further apart than they look.`,
    },
    rate: {
      title: "Rate first, then ask the model",
      lead: "Eight pairs of captions that people have rated. Say how alike each is under its condition; then you see what the model says, and what people said.",
      place: (n: number, of: number) => `Pair ${n} of ${of}`,
      question: "How alike are they by:",
      ends: ["not at all", "the same"],
      waiting: "The model is asked …",
      answer: (own: number, model: number, people: number) => `You say ${own}, the model says ${rating(model)}, people said ${people}.`,
      next: "Next pair",
      again: "Start again",
      pair: "Pair",
      you: "You",
      model: "Model",
      people: "People",
      away: (own: number, model: number) => `On the average you are ${rating(own)} away from what people said, the model ${rating(model)}.`,
      source: "The pairs and their ratings are of C-STS’s validation data as annotated anew (LivNLP, CC BY 4.0); the model was not trained on them.",
    },
    teachers: {
      title: "For teachers: goals, time, level, glossary",
      goals: {
        title: "Afterwards learners can …",
        items: [
          "say why “alike” needs a “by what”, and give pairs that are alike under one condition and not under another;",
          "follow a sentence from words to tokens, to a vector, to one number;",
          "read where a model looks, and say why that is a hint and no proof;",
          "find questions that the model answers wrongly, and guess at the reason.",
        ],
      },
      frame: {
        title: "Time, level, what is needed",
        items: [
          "45 minutes for lessons 1 and 3 with a worksheet; 90 minutes for all six.",
          "From about 14 years: nothing beyond angles is needed. Lessons 4 to 6 are for those who have met vectors.",
          "A browser, and 14 MB once; afterwards it works offline. There are no accounts, and nothing that is typed is sent. The sentences are English.",
        ],
      },
      plan: {
        title: "A plan for 45 minutes",
        items: [
          "10 minutes: hand out the worksheet’s first sheets; everyone guesses alone, then compares with a neighbour.",
          "10 minutes: present lesson 1, and ask its question before its answer.",
          "15 minutes: pairs of learners write their own pair of sentences, alike by one condition and not by another, and try to make the model fail.",
          "10 minutes: lesson 3; then the answer sheet: where do you disagree with the model, and who is right?",
        ],
      },
      glossary: {
        title: "Glossary",
        terms: [
          ["Token", "A piece of text that the model has a number for: a word, or a part of one."],
          ["Vector, embedding", "A list of numbers that stands for a text; here 384 of them, in the large encoder 768."],
          ["Attention", "How much a token takes from each other token, in one layer."],
          ["Layer", "One of six rounds (the large encoder has twelve) in which every token is worked out anew from all of them."],
          ["Head", "In a layer: one of twelve attentions side by side. After the encoder: a small network on top of an embedding."],
          ["Cosine", "How far two vectors point the same way: 1 the same, 0 at right angles."],
          ["Fine-tuning", "Training a model that is already trained a little more, for one task."],
          ["Spearman correlation", "How well two rankings agree: 100 entirely, 0 not at all."],
        ] as const,
      },
    },
    sources: {
      title: "Sources",
      papers: [
        { what: "The task, and pairs that people rated:", text: "C-STS: Conditional Semantic Textual Similarity (Deshpande et al., EMNLP 2023)", url: "https://arxiv.org/abs/2305.15093" },
        { what: "The method that this page grew from, with subtraction and head:", text: "CASE: Condition-Aware Sentence Embeddings (Zhang et al., EACL 2026)", url: "https://arxiv.org/abs/2503.17279" },
        { what: "Attention, its heads and layers:", text: "Attention Is All You Need (Vaswani et al., NeurIPS 2017)", url: "https://arxiv.org/abs/1706.03762" },
        { what: "An encoder of tokens, [CLS] and [SEP]:", text: "BERT (Devlin et al., NAACL 2019)", url: "https://arxiv.org/abs/1810.04805" },
        { what: "The mean of the tokens, and the cosine:", text: "Sentence-BERT (Reimers and Gurevych, EMNLP 2019)", url: "https://arxiv.org/abs/1908.10084" },
        { what: "What the small encoder began as:", text: "MiniLM (Wang et al., NeurIPS 2020)", url: "https://arxiv.org/abs/2002.10957" },
        { what: "What the large encoder began as:", text: "MPNet (Song et al., NeurIPS 2020)", url: "https://arxiv.org/abs/2004.09297" },
        { what: "Why attention is a hint and no proof:", text: "Attention is not Explanation (Jain and Wallace, NAACL 2019)", url: "https://arxiv.org/abs/1902.10186" },
      ],
    },
    worksheet: {
      pairs: (n: number) => (n === 1 ? "1 pair on the worksheet" : `${n} pairs on the worksheet`),
      pick: "Beside the pair above:",
      title: "Alike? It depends how you look.",
      name: "Name",
      task: "Two sentences can be alike under one condition and unlike under another. For each condition, guess how alike they are: 0 is not at all, 1 is entirely. Write down what made you decide, then compare with the model’s numbers on the answer sheet.",
      columns: ["Condition", "My guess (0–1)", "Because …"],
      ownRows: "Two conditions of your own:",
      answers: "The model’s answers",
      of: (name: string) => `By the encoder “${name}”.`,
      none: "no condition",
      similarity: "Similarity",
      unanswered: "The model had no answers when this was printed.",
      think: "Where do you disagree with the model by more than 0.3? Who is right?",
    },
  },

  unkept: {
    title: "This page needs a network",
    lead: "caselens itself works without one. Its API reference and its licences are not kept on this device, and cannot be fetched now.",
    back: "Back to caselens",
    again: "Try again",
  },

  speed: {
    title: "How fast is it on this device?",
    lead: "Runs the encoder that ships in this browser, on batches of four shapes, on the CPU and on WebGPU. It takes about a minute and a half.",
    back: "To the demo",
    begin: "Measure",
    again: "Measure again",
    stop: "Stop",
    copy: "Copy as Markdown",
    copied: "Copied",
    blocked: "Copying is blocked",
    measuring: (name: string) => `Measuring: ${name} …`,
    cpu: (threads: number) => `CPU, ${threads === 1 ? "one worker" : `${threads} workers`}`,
    shapes: {
      a: "2 × 25 tokens",
      b: "32 × 25 tokens",
      c: "32 × 128 tokens",
      d: "32 × 8–128 tokens, mixed",
    } as Record<string, string>,
    milliseconds: (n: string) => `${n} ms`,
    texts: (n: string) => `${n} texts/s`,
    // Operations a second, and the share of the processor’s peak where that is known.
    operations: (gops: string, share: number | undefined) =>
      `${gops} GOP/s${share === undefined ? "" : share >= 0.995 ? ", the peak that was measured" : `, ${Math.round(100 * share)} % of the peak`}`,
    start: "Start to first answer",
    note: "Each figure is the median time of a batch over a second and a half. GOP/s counts two operations for each weight and token, and attention’s products. The peak is what the workers’ processors reach in a loop of the same instruction. Other tabs, a low battery and a warm device slow it down. The start takes the files from the browser’s cache when they are there.",
  },

  footer: {
    language: "Language",
    speed: "How fast is it on this device?",
    reference: "API reference",
    licence: "caselens is free software under MIT or Apache-2.0.",
    notices: "Whose work it holds, and under which licences",
    credits: [
      {
        text: "Encoder: all-MiniLM-L6-v2 by sentence-transformers (Apache-2.0),",
        url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
      },
      {
        text: "fine-tuned on C-STS as re-annotated by the authors of CASE (CC BY 4.0).",
        url: "https://github.com/LivNLP/CSTS-reannotation",
      },
      {
        text: "Typeface: Atkinson Hyperlegible Next (OFL 1.1).",
        url: "https://www.brailleinstitute.org/freefont/",
      },
    ],
  },
};

// Two sentences, a question to think about first, and its answer. Each opens as the model does it, so that what its question asks for
// is still to be done. What the answers claim is tested against the model that ships.
export const lessons: Lessons = [
  {
    title: "One pair, two answers",
    question: "She plays chess in the park, he plays football in the park. Are the two sentences alike?",
    answer:
      "It depends on what one asks. By the place they are almost the same, by the game they are not, and without a condition the number lies somewhere between. That is why a condition goes into the model together with each sentence.",
    sentences: ["She plays chess in the park", "He plays football in the park"],
    conditions: ["the place", "the game", "the person"],
    chosen: 0,
  },
  {
    title: "What does the condition do?",
    question: "Switch the condition off. What happens to the similarity, and which steps are left?",
    answer:
      "Without a condition each sentence is read by itself and only the mean of its tokens remains: one number for everything at once, in which the same red sofa makes up for the different animals. Switch the condition on again, and the two turn out to be unlike by the animal; choose the furniture, and they are nearly the same. Not a word of the sentences has changed.",
    sentences: ["A black dog sleeps on a red sofa.", "A white cat sleeps on a red sofa."],
    conditions: ["the type of animal", "the furniture"],
    chosen: 0,
  },
  {
    title: "Where does it look?",
    question: "Which words should “the number of people” look at? Guess, then look at the attention step.",
    answer:
      "In the last layer most of the attention to the first sentence goes to “Three”, and in the second “A lone” gets more than any other word: where you would look, too. But a good part stays with the condition itself and the marks, and the first layers look elsewhere. Attention is one of many things that shape the answer: a hint, not a proof.",
    sentences: ["Three children build a sandcastle on the beach.", "A lone surfer waits for a wave on the beach."],
    conditions: ["the number of people", "the location"],
    chosen: 0,
  },
  {
    title: "Layer by layer",
    question: "Move through the encoder’s layers in the attention step. Do the early layers look at the same words as the last one?",
    answer:
      "No. In the first layer the shares are nearly even; in the last one most goes to “spotless” and “filthy”. But a good part, a fifth and more, still goes to words and marks that say nothing about cleanliness: the model does not look at the right place alone. Each layer reads what the one before it wrote, and no single one is “the” explanation.",
    sentences: [
      "The hotel by the harbour was spotless, but breakfast cost thirty euros.",
      "Our hostel by the harbour was filthy, though breakfast was free.",
    ],
    conditions: ["the cleanliness", "the price of breakfast", "the location"],
    chosen: 0,
  },
  {
    title: "Subtract the condition",
    question: "The classical recipe, CASE, subtracts the condition’s own embedding. Switch the subtraction on: does it help here?",
    answer:
      "No: sleeping and running become more alike, not less. This encoder was fine-tuned without that step: part of what it learnt to say goes away with what is subtracted. CASE made the step for encoders that stay as they are: there the condition’s own words make any two readings look alike, and are taken away for that reason.",
    sentences: ["A black dog sleeps on a red sofa.", "A brown dog runs through a green field."],
    conditions: ["the activity", "the type of animal"],
    chosen: 0,
  },
  {
    title: "Which tokens count?",
    question: "The embedding is the mean of all tokens. What if only the condition’s tokens, or only the first one, are kept? Choose them under “What if?”.",
    answer:
      "Each token has read the whole input, so every choice gives an answer. The condition’s tokens come close to the mean of all; with the first token alone, a battery that dies within an hour and one that lasts for days become more alike. The encoder that ships was trained with the mean of all tokens, and is best used so.",
    sentences: [
      "The camera takes beautiful photos, but its battery dies within an hour.",
      "The camera takes blurry photos, but its battery lasts for days.",
    ],
    conditions: ["the photo quality", "the battery life", "the type of product"],
    chosen: 1,
  },
];
