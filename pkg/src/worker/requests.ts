// Requests that the page answers, with the caller's own `fetch`.

import type { FromRequest, ToRequest, WorkerRequest } from "../protocol.js";
import type { Fetch } from "../types.js";

/** A `fetch` whose requests go through a port to the page. */
export function fetchThrough(page: MessagePort): Fetch {
  return (url, { signal, ...init }) =>
    new Promise((resolve, reject) => {
      const { port1: port, port2 } = new MessageChannel();
      const send = (message: ToRequest) => port.postMessage(message);
      let body: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
      const close = () => {
        port.onmessage = null; // also for what is on its way
        port.close();
      };
      const fail = (error: unknown) => {
        close();
        reject(error);
        body?.error(error); // does nothing where the body is at its end
      };
      const leave = () => {
        send("leave");
        close();
      };
      signal?.addEventListener("abort", () => {
        leave();
        fail(signal.reason);
      });
      port.onmessage = ({ data }: MessageEvent<FromRequest>) => {
        switch (data.type) {
          case "answer": {
            const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
              { start: (controller) => void (body = controller), pull: () => send("more"), cancel: leave },
              { highWaterMark: 1 },
            );
            return resolve(responseOf(data, stream));
          }
          case "chunk":
            return body?.enqueue(data.chunk);
          case "end":
            close();
            return body?.close();
          case "failed":
            return fail(new TypeError(data.why));
        }
      };
      const request: WorkerRequest = { url, init, port: port2 };
      page.postMessage(request, [port2]);
    });
}

/** As the page's answer: of which kind it is cannot be said to the constructor. */
function responseOf({ status, headers, kind }: Extract<FromRequest, { type: "answer" }>, body: ReadableStream): Response {
  const empty = [101, 204, 205, 304].includes(status);
  const response = new Response(empty ? null : body, { status: status < 200 || status > 599 ? 502 : status, headers: headers.map(([name, value]) => [name, value]) });
  return Object.defineProperty(response, "type", { value: kind });
}
