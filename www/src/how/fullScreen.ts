// Presenting fills the screen where the browser lets it; leaving the one leaves the other.

import { presenting } from "./state";

/** Whether a browser offers it at all: phones may not. */
export const canFill = (): boolean => document.fullscreenEnabled;

/** Without a click or a key just before, browsers refuse: a presentation that a link opens begins in its window. */
export const fillScreen = (): void => void document.documentElement.requestFullscreen?.().catch(() => {});

export const emptyScreen = (): void => void (document.fullscreenElement && document.exitFullscreen().catch(() => {}));

/** Escape ends a full screen without telling the page of the key. */
export function onFullScreen(): void {
  if (!document.fullscreenElement) presenting.value = false;
}
