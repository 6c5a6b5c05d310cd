// Every word the page shows, in one place: translating the page is translating this file.

import { difference, megabytes, percent, rating, similarity } from "./format";

export const strings = {
  name: "caselens",
  skip: "Skip to the sentences",
  headline: ["Alike?", "Depends how you look."],
  lead: "Name one respect at a time (the place, the mood, the price) and see how similar two sentences are through it.",

  theme: { toDark: "Dark", toLight: "Light", label: (next: string) => `Switch to ${next.toLowerCase()} colours` },
  copy: {
    idle: "Copy link",
    done: "Link copied",
    blocked: "Copying is blocked: take the link from the address bar",
    tooLong: "Too long for a link: shorten the sentences",
  },

  examples: { title: "Examples", hint: "One click fills the page" },

  sentences: {
    title: "Two sentences",
    first: "First sentence",
    second: "Second sentence",
    placeholder: "Type a sentence",
    cut: "Longer than the model reads at once: its end was left out of the comparison.",
  },

  conditions: {
    title: "Through which lens?",
    heading: "Condition",
    label: (n: number) => `Condition ${n}`,
    add: "Add a condition",
    placeholder: "Add a condition",
    remove: (text: string) => `Remove ${text || "the empty condition"}`,
    keys: "Enter goes to the next condition; several pasted lines become several conditions; Backspace in an empty one removes it.",
    full: (max: number) => `${max} conditions are the most this page takes.`,
    cut: "Not all of the text fitted beside this condition: the end of a sentence was left out.",
  },

  results: {
    unaided: "Naked eye",
    unaidedNote: "no condition",
    similarity: "Similarity",
    rating: "Rating",
    against: "Against the naked eye",
    ends: ["different", "alike"],
    none: "–",
    outOf: "/ 5",
    more: "more alike",
    less: "less alike",
    same: "no change",
    through: (condition: string) => `through “${condition}”`,
    needSentences: "Type both sentences to compare them.",
    needCondition: "Add a condition to look through.",
    spoken: (condition: string, s: number, r: number, unconditional: number) =>
      `${condition}: similarity ${similarity(s)}, rating ${rating(r)} of 5, ${difference(s, unconditional).words}.`,
    spokenUnaided: (s: number) => `Without a condition: similarity ${similarity(s)}.`,
  },

  engine: {
    title: "Engine",
    device: "Device",
    adapter: "Adapter",
    instructions: "Instructions",
    model: "Model",
    dtype: "Weights",
    size: "Download",
    time: "Last answer",
    names: { webgpu: "WebGPU", wasm: "CPU (WebAssembly)" } as Record<string, string>,
    noAdapter: "none",
    why: "Why?",
    choose: "Run on",
    choices: { auto: "Auto", webgpu: "WebGPU", wasm: "CPU" },
  },

  loading: {
    label: "Loading the model",
    starting: "Loading the model…",
    bytes: (loaded: number, total: number | null, share: number) =>
      total === null
        ? `Loading the model: ${megabytes(loaded)}.`
        : `Loading the model: ${megabytes(loaded)} of ${megabytes(total)}, ${percent(share)}.`,
    preparing: "Preparing the model…",
    meanwhile: "You can type meanwhile.",
    ready: "The model is ready.",
  },

  problems: {
    retry: "Try again",
    useCpu: "Use the CPU",
    title: "The model could not be loaded",
    compareTitle: "The sentences could not be compared",
    gpuLost: "The GPU stopped working, so the page has moved to the CPU. Everything works as before, a little slower.",
    // What to do, by the error's code. Codes that are not listed speak for themselves.
    advice: {
      http: "If this is your own copy of the site, ./build.sh puts the files in place; otherwise try again later.",
      network: "Check your connection, then try again. Once loaded, the model stays on your device and works offline.",
      "download-incomplete": "The connection ended early. Trying again usually helps.",
      "model-format": "The stored copy may be damaged. Trying again downloads it afresh.",
      "webgpu-unavailable": "This browser offers no usable WebGPU. The CPU gives the same numbers.",
      "gpu-lost": "The GPU stopped working. The CPU gives the same numbers.",
      worker: "Reload the page. If it comes back, this browser may be too old: any from the last two years will do.",
      internal: "This should not happen. Reload the page; if it comes back, please report it with the sentences you typed.",
    } as Record<string, string>,
  },

  about: {
    how: {
      title: "How it works",
      text: [
        "A small language model reads each sentence together with your condition, and turns the pair into a point in space: one point for “the sentence, as far as the place goes”, another for “as far as the game goes”. Two sentences are alike under a condition when their points lie close together.",
        "The discs show it: the share of a disc that the green lens covers is the similarity. The dashed line marks the naked eye, the similarity of the plain sentences, so every bar tells what the condition brought closer or pushed apart.",
      ],
    },
    privacy: {
      title: "Private by construction",
      text: "The model runs in this browser tab. It is downloaded once and kept on your device; the sentences you type are never sent anywhere. A shared link carries them after the #, which browsers do not send to the server.",
    },
  },

  speed: {
    title: "How fast is it here?",
    lead: "Runs the encoder that ships in this browser, on batches of four shapes, on the CPU and on WebGPU.",
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
    texts: (n: string) => `${n} texts/s`,
    start: "Start to first answer",
    note: "Each figure is the median time of a batch over a second and a half. GOP/s counts two operations for each weight and token, and attention’s products. Other tabs, a low battery and a warm device slow it down. The start takes the files from the browser’s cache when they are there.",
  },

  footer: {
    speed: "How fast is it on this device?",
    licence: "caselens is free software under MIT or Apache-2.0.",
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
