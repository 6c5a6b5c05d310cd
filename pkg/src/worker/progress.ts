// One rising number from several downloads whose sizes may be unknown or become known late.

import type { Progress } from "../types.js";

const PHASES: readonly Progress["phase"][] = ["download", "prepare", "ready"];
/** Share of the bar for the download; the rest is for building the model. */
const DOWNLOAD_SHARE = 0.9;
/** Where a download of unknown size reaches half of its share: about a quantised small encoder, in bytes. */
const HALF_WAY = 16e6;
/** Smaller steps are not worth a message. */
const STEP = 0.004;

interface Part {
  loaded: number;
  /** Undefined before the server has answered, null when it did not say. */
  total: number | null | undefined;
}

/** Adds up the downloads of one load and reports the sum, never backwards. */
export class ProgressMeter {
  readonly #parts: Part[] = [];
  readonly #report: (progress: Progress) => void;
  #last: Progress = { phase: "download", loaded: 0, total: null, progress: 0 };
  #reported = -1;

  constructor(report: (progress: Progress) => void) {
    this.#report = report;
  }

  /** Registers one download. Call it for every file before the first byte is read. */
  part(): PartMeter {
    const part: Part = { loaded: 0, total: undefined };
    this.#parts.push(part);
    return {
      size: (bytes) => {
        part.total = bytes;
        this.#update();
      },
      at: (bytes) => {
        part.loaded = bytes;
        if (part.total && bytes > part.total) part.total = null; // it was the size of something else
        this.#update();
      },
    };
  }

  /** All bytes are here; the model is being built. */
  prepare(): void {
    const { loaded } = this.#sum();
    this.#emit({ phase: "prepare", loaded, total: loaded, progress: DOWNLOAD_SHARE });
  }

  /** The model can be used. Nothing is reported after this. */
  ready(): void {
    const { loaded } = this.#last;
    this.#emit({ phase: "ready", loaded, total: loaded, progress: 1 });
  }

  #sum(): { loaded: number; total: number | null } {
    let loaded = 0;
    let total: number | null = 0;
    for (const part of this.#parts) {
      loaded += part.loaded;
      total = total === null || part.total === null || part.total === undefined ? null : total + part.total;
    }
    return { loaded, total };
  }

  #update(): void {
    const { loaded, total } = this.#sum();
    const share = total === null ? loaded / (loaded + HALF_WAY) : total === 0 ? 1 : loaded / total;
    this.#emit({ phase: "download", loaded, total, progress: DOWNLOAD_SHARE * share });
  }

  #emit(next: Progress): void {
    const last = this.#last;
    // A file that has to be fetched again, or a size that arrives late, must not turn the bar back.
    const loaded = Math.max(last.loaded, next.loaded);
    const now: Progress = {
      phase: PHASES.indexOf(next.phase) < PHASES.indexOf(last.phase) ? last.phase : next.phase,
      loaded,
      total: next.total === null ? null : Math.max(next.total, loaded),
      progress: Math.max(last.progress, next.progress),
    };
    this.#last = now;
    if (now.phase === last.phase && this.#reported >= 0 && now.progress < this.#reported + STEP) return;
    this.#reported = now.progress;
    this.#report(now);
  }
}

/** Reports one download to its {@link ProgressMeter}. */
export interface PartMeter {
  /** The size of the file in bytes, as the server states it; null when it does not. */
  size(bytes: number | null): void;
  /** How many bytes have been read. */
  at(bytes: number): void;
}
