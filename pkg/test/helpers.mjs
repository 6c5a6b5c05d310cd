// Doubles for the browser around the package: a Cache Storage in memory, and an engine without wasm.

import { readFile } from "node:fs/promises";
import { platform, usePlatform } from "../build/page/platform.js";
import { Session } from "../build/worker/session.js";

/** Cache Storage of one bucket, which takes a body to its end before it keeps anything; `fail` makes every `put` throw. */
export class FakeCaches {
  entries = new Map();
  fail = undefined;

  async open() {
    return {
      match: async (url) => this.entries.get(url)?.clone(),
      put: async (url, response) => {
        if (this.fail) throw this.fail;
        const body = await response.arrayBuffer();
        this.entries.set(url, new Response(body, { headers: response.headers }));
      },
      delete: async (url) => this.entries.delete(url),
    };
  }
}

/** A meter that remembers what it was told. */
export function recordingMeter() {
  const seen = [];
  return { seen, size: (bytes) => seen.push(["size", bytes]), at: (bytes) => seen.push(["at", bytes]) };
}

/** An error as the wasm module throws it. */
export function engineError(code, message = `the engine says ${code}`) {
  return Object.assign(new Error(message), { code });
}

/**
 * An engine without wasm. `behave(method, args)` may throw, wait, or return a result in place of the usual one.
 * `engines` lists the engines loaded so far, with the calls each has had, and `devices` the devices opened.
 */
export function fakeWasm(behave = () => undefined) {
  const engines = [];
  const devices = [];
  return {
    engines,
    devices,
    /** A device until an engine has taken it, or it is freed. */
    EngineDevice: class EngineDevice {
      state = "open";
      constructor(device, reason) {
        Object.assign(this, { device, reason });
        devices.push(this);
      }
      static async open(device) {
        await behave("open", [device]);
        return new EngineDevice(device, "asked for");
      }
      static cpu(reason) {
        return new EngineDevice("wasm", reason);
      }
      free() {
        this.leave("freed");
      }
      leave(state) {
        if (this.state !== "open") throw new Error(`a device was used that is ${this.state}`);
        this.state = state;
      }
    },
    /** A model in memory: the chunks that it was pushed, in their order. */
    ModelFile: class {
      chunks = [];
      constructor(size, name) {
        Object.assign(this, { size, name });
      }
      push(chunk) {
        behave("push", [chunk, this]);
        this.chunks.push(chunk.slice());
      }
      get bytes() {
        return Uint8Array.from(this.chunks.flatMap((chunk) => [...chunk]));
      }
      free() {
        this.freed = true;
      }
    },
    Engine: {
      async load(file, head, headName, opened) {
        if (file.freed) throw new Error("the model was used after free()");
        file.freed = true;
        opened.leave("taken");
        const { device, reason } = opened;
        const model = file.bytes;
        await behave("load", [model, head, device, file, headName]);
        const engine = {
          device: device === "wasm" ? "wasm" : "webgpu",
          model,
          freed: false,
          calls: [],
          busy: false,
          info: () => ({
            device: engine.device,
            adapter: engine.device === "webgpu" ? "fake" : null,
            instructions: engine.device === "webgpu" ? null : "fake",
            dtype: "q8_0",
            dim: 2,
            model: "fake",
            bytes: model.byteLength + (head?.byteLength ?? 0),
            reason,
            pooling: "mean",
            maxLength: 512,
          }),
          compare: (sentence1, sentence2, conditions, first, unconditional, attention) =>
            run("compare", [sentence1, sentence2, conditions, first, unconditional, attention], () => ({
              results: conditions.map((condition) => ({
                condition,
                similarity: 0.5,
                rating: 3,
                unconditional: unconditional ?? 0.25,
                ...(attention && { readings: [[], []] }),
              })),
              warnings: [],
            })),
          embed: (sentences, ...rest) => run("embed", [sentences, ...rest], () => rows(sentences)),
          encode: (texts, ...rest) => run("encode", [texts, ...rest], () => rows(texts)),
          group: (data, dims, count) => {
            engine.calls.push(["group", data, dims, count]);
            const n = data.length / dims;
            const labels = Uint32Array.from({ length: n }, (_, i) => i % count);
            return { labels, centrality: new Float32Array(n).fill(0.5), silhouette: 1 / count };
          },
          plane: (data, dims, previous) => previous ?? new Float32Array((2 * data.length) / dims),
          tokenize: (text) => new Uint32Array(text.length),
          languages: (texts) => texts.map((text) => (text.startsWith("der") ? "de" : "")),
          peak: () => (device === "webgpu" ? undefined : 1e11),
          free: () => {
            engine.freed = true;
          },
        };
        const rows = (texts) => ({
          data: Float32Array.from(texts.flatMap((text) => [text.length, 0])),
          count: texts.length,
          dims: 2,
          warnings: [],
        });
        const run = async (method, args, result) => {
          if (engine.busy || engine.freed) throw new Error("the engine was used twice at once, or after free()");
          engine.busy = true;
          engine.calls.push([method, ...args]);
          try {
            return (await behave(method, args, engine)) ?? result();
          } finally {
            engine.busy = false;
          }
        };
        engines.push(engine);
        return engine;
      },
    },
  };
}

/**
 * From now on the package runs without threads: what would be a worker is a session in this one, around an engine without
 * wasm, which is given back. What passes between page and worker is copied, as `postMessage` does.
 */
export function withoutThreads(behave) {
  const wasm = fakeWasm(behave);
  const startWorker = () => {
    let listener = { message: () => {} };
    const session = new Session({
      boot: async () => wasm,
      openCache: async () => ({ drop: async () => {} }),
      download: async (url, options, sink) => {
        await sink.begin(4);
        sink.push(new Uint8Array(4));
        return { fromCache: false, kept: Promise.resolve() };
      },
      post: (message, transfer) => {
        const copy = structuredClone(message, { transfer });
        setImmediate(() => listener.message(copy));
      },
    });
    return {
      listen: (told) => (listener = told),
      post: (message, transfer) => {
        const copy = structuredClone(message, { transfer });
        setImmediate(() => session.receive(copy));
      },
      end: () => (listener = { message: () => {} }),
    };
  };
  usePlatform({ ...platform(), startWorker });
  return wasm;
}

/** The tensors of a safetensors file of f32 values: name → { shape, data }. */
export async function readSafetensors(file) {
  const bytes = await readFile(file);
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  const { __metadata__, ...tensors } = JSON.parse(bytes.subarray(8, start).toString());
  const entries = Object.entries(tensors).map(([name, { shape, data_offsets: [from, to] }]) => [
    name,
    { shape, data: new Float32Array(Uint8Array.from(bytes.subarray(start + from, start + to)).buffer) },
  ]);
  return Object.fromEntries(entries);
}

/** Cosine similarity of two vectors of any scale. */
export function cosine(a, b) {
  const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
