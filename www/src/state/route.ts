// Which view the address names, and with what in it.
//
// `#/name?query` is a view; a hash without a path (`#s1=…`, or none at all) is the comparison, whose links
// were there first. The query is the view's own: see the table in main.tsx.

import { signal } from "@preact/signals";

/** Whether a larger model's answers lie beside the page: the build says it. */
declare const __LARGER__: boolean;

const all = ["compare", "list", "how", "larger"] as const;
export type View = (typeof all)[number];
/** The views, in the order in which they are offered. */
export const views: readonly View[] = all.filter((name) => name !== "larger" || __LARGER__);

interface Route {
  readonly view: View;
  /** The view's state as `key=value&…`; empty when the address names the view alone. */
  readonly query: string;
}

/** How a view's state gets into the address and back. */
export interface ViewLink {
  /** The state as a query; undefined when it is too long to share. Reads signals: the address follows them. */
  encode(): string | undefined;
  /** What the query leaves out because it is too long to share: the tab's history keeps it with the address. */
  beside?: () => string | undefined;
  /**
   * Takes on the state of a query, and of what was kept beside it. `bare` says that the address names the view alone: what is
   * typed stays.
   */
  decode(query: string, bare: boolean, beside?: string | undefined): void;
}

const isView = (name: string): name is View => (views as readonly string[]).includes(name);

/** What a hash names; what cannot be read is the comparison. */
export function parseRoute(hash: string): Route {
  const path = /^#\/([^?]*)\??(.*)$/s.exec(hash);
  if (!path) return { view: "compare", query: hash.replace(/^#/, "") };
  const [, name = "", query = ""] = path;
  return { view: isView(name) ? name : "compare", query };
}

/** The hash of a route. */
export function formatRoute({ view, query }: Route): string {
  if (view === "compare") return `#${query || "/"}`;
  return `#/${view}${query && `?${query}`}`;
}

/** The view that is shown. */
export const view = signal<View>(parseRoute(location.hash).view);
