// How far a call about many texts has come, and who is told.

/** How far a call about many texts has come. */
export interface ListProgress {
  /** `embed`: texts are read; `group`: groups are looked for. */
  readonly phase: "embed" | "group";
  /** 0 to 1. It never falls, and is 1 when the call is done. */
  readonly progress: number;
}

/** Options of calls that tell how far they are. */
export interface ProgressOptions {
  /** Told how the call goes. What it throws rejects the call. */
  onProgress?: ((progress: ListProgress) => void) | undefined;
}

/** Tells of each part of the texts that is read; of the last one the call tells itself, when it is done. */
export function toldOfReading(onProgress: ProgressOptions["onProgress"]): ((share: number) => void) | undefined {
  return onProgress && ((share) => share < 1 && onProgress({ phase: "embed", progress: share }));
}
