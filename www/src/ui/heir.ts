// Who gets the focus when what holds it leaves the page: without an heir it falls to the top of the document.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * A reference for an element that hands the focus on when it goes while it, or something in it, has the focus.
 * @param heir is asked while the element is still in its place; a heading may be one.
 */
export function useHeir<E extends HTMLElement>(heir: (place: E) => HTMLElement | null | undefined): RefObject<E | null> {
  const place = useRef<E>(null);
  useLayoutEffect(() => {
    const own = place.current;
    return () => {
      if (!own?.contains(document.activeElement)) return;
      const next = heir(own);
      if (next && next.tabIndex < 0) next.tabIndex = -1; // so that what is no control can have it
      next?.focus();
    };
  }, []);
  return place;
}

/** The first heading after an element, else the page's main part. */
export const headingAfter = (place: HTMLElement): HTMLElement | null =>
  [...document.querySelectorAll<HTMLElement>("main :is(h1, h2, h3)")].find(
    (heading) => !place.contains(heading) && place.compareDocumentPosition(heading) & Node.DOCUMENT_POSITION_FOLLOWING,
  ) ?? document.getElementById("main");
