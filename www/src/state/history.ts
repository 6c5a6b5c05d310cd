// Keeps the address bar and the page in step.
//
// Typing rewrites the current history entry; a deliberate step (an example, another device, another view)
// makes a new one, so that Back undoes it.

import { effect } from "@preact/signals";
import { formatRoute, parseRoute, view, type View, type ViewLink } from "./route";

const pauseMs = 300;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Each view's part of the address. */
let links: Readonly<Record<View, ViewLink>>;

/** The hash of a view as it is now; of the view alone when its state is too long to share. */
export const hashOf = (view: View): string => formatRoute({ view, query: links[view].encode() ?? "" });

/** What is still to be written will not be. */
function forget(): void {
  clearTimeout(timer);
  timer = undefined;
}

function write(method: "pushState" | "replaceState"): boolean {
  forget();
  const link = links[view.value];
  if (link.encode() === undefined) return false;
  const [hash, beside] = [hashOf(view.value), link.beside?.() ?? null];
  try {
    if (hash !== location.hash || beside !== history.state) history[method](beside, "", hash);
  } catch {
    // Browsers limit how often the address may change; the next change writes it.
  }
  return true;
}

function read(): void {
  const route = parseRoute(location.hash);
  view.value = route.view;
  const bare = location.hash.startsWith("#/") && route.query === "";
  const beside: unknown = history.state;
  links[route.view].decode(route.query, bare, typeof beside === "string" ? beside : undefined);
  forget();
}

/** Runs a deliberate step and gives it a history entry of its own. */
export function step(change: () => void): void {
  write("replaceState");
  change();
  write("pushState");
}

/** Brings the address up to date and answers it, and whether all is in it; undefined when the state is too long to share. */
export const shareableAddress = (): { readonly address: string; readonly whole: boolean } | undefined =>
  write("replaceState") ? { address: location.href, whole: links[view.value].beside?.() === undefined } : undefined;

/** Takes on the state that the address holds, and keeps it there. Everything above needs this to have begun. */
export function startHistory(views: Readonly<Record<View, ViewLink>>): void {
  links = views;
  read();
  addEventListener("popstate", () => {
    forget(); // what was typed belongs to the entry that was left
    // After the click on a link, not within it: drawing a view takes its time.
    setTimeout(read);
  });
  // A click may lead elsewhere: what was typed just before it belongs here.
  addEventListener("click", () => void (timer !== undefined && write("replaceState")), { capture: true });
  let first = true;
  effect(() => {
    links[view.value].encode();
    if (!first) {
      forget();
      timer = setTimeout(() => write("replaceState"), pauseMs);
    }
    first = false;
  });
}
