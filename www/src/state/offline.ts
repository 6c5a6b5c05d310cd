// The page without a network: a service worker keeps its files, and a new version waits until it is asked for.

import { signal } from "@preact/signals";
import { engine } from "./engine";

/** A version that is ready to take over. */
export const nextVersion = signal<ServiceWorker | undefined>(undefined);

function watch(worker: ServiceWorker | null): void {
  worker?.addEventListener("statechange", () => {
    // Where no version was before there is nothing to take over from.
    if (worker.state === "installed" && navigator.serviceWorker.controller) nextVersion.value = worker;
  });
}

/** Lets the new version take over; all open pages reload with it, their state being in their addresses. */
export const takeOver = (): void => nextVersion.value?.postMessage("take over");

async function register(): Promise<void> {
  const controlled = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (controlled) location.reload();
  });
  try {
    const registration = await navigator.serviceWorker.register(new URL("sw.js", document.baseURI), { updateViaCache: "none" });
    if (registration.waiting && controlled) nextVersion.value = registration.waiting;
    watch(registration.installing);
    registration.addEventListener("updatefound", () => watch(registration.installing));
  } catch {
    // Private windows and settings may forbid it; the page then needs the network.
  }
}

/** Begins once the model is there, or cannot be had: its download comes first, and what is asked for first holds back this too. */
export function startOffline(): void {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  const stop = engine.subscribe(({ phase }) => {
    if (phase === "loading" || phase === "asking") return;
    queueMicrotask(() => stop());
    void register();
  });
}
