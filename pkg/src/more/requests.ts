// The caller's own `fetch`, at the service of the worker: functions do not cross to a worker, so its requests come here.
//
// Each request has a port of its own. A chunk is sent when the worker asks for more, so that a body waits with its server.

import { inWords } from "../words.js";
import type { FromRequest, ToRequest, WorkerRequest } from "../protocol.js";
import type { Fetch } from "../types.js";

/** Answers requests with `fetch`. */
export class Requests {
  /** Belongs to the worker. */
  readonly port: MessagePort;
  readonly #here: MessagePort;
  readonly #running = new Set<AbortController>();

  constructor(fetch: Fetch) {
    const { port1, port2 } = new MessageChannel();
    this.port = port2;
    this.#here = port1;
    port1.onmessage = ({ data }: MessageEvent<WorkerRequest>) => void this.#answer(fetch, data);
    // In Node an open port would keep the process alive.
    (port1 as { unref?(): void }).unref?.();
  }

  /** Leaves the requests that are being answered, and answers no more. */
  close(): void {
    this.#here.close();
    for (const running of this.#running) running.abort();
  }

  async #answer(fetch: Fetch, request: WorkerRequest): Promise<void> {
    const running = new AbortController();
    this.#running.add(running);
    await answer(fetch, request, running);
    this.#running.delete(running);
  }
}

/** Fulfilled when the whole answer is with the worker, or it does not want the rest. */
function answer(fetch: Fetch, { url, init, port }: WorkerRequest, running: AbortController): Promise<void> {
  const post = (message: FromRequest, transfer: Transferable[] = []) => port.postMessage(message, transfer);
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return new Promise((resolve) => {
    const end = () => {
      port.close();
      resolve();
    };
    const attempt = async (work: () => Promise<void>) => {
      try {
        await work();
      } catch (error) {
        post({ type: "failed", why: inWords(error) });
        end();
      }
    };
    running.signal.addEventListener("abort", end);
    port.onmessage = ({ data }: MessageEvent<ToRequest>) => {
      if (data === "leave") return running.abort();
      void attempt(async () => {
        const { value } = (await reader?.read()) ?? {};
        if (value) {
          // A copy: what the caller's stream holds stays the caller's.
          const chunk = new Uint8Array(value);
          return post({ type: "chunk", chunk }, [chunk.buffer]);
        }
        post({ type: "end" });
        end();
      });
    };
    void attempt(async () => {
      const response = await fetch(url, { ...init, signal: running.signal });
      reader = response.body?.getReader();
      post({ type: "answer", status: response.status, headers: [...response.headers], kind: response.type });
    });
  });
}
