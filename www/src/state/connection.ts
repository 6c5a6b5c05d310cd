// What browsers tell of the connection: whether there is one, and whether a download is to be asked for first.

import { signal } from "@preact/signals";

/** https://wicg.github.io/netinfo/, where a browser has it. */
interface NetworkInformation {
  readonly saveData?: boolean;
  readonly effectiveType?: string;
}

/** Whether megabytes may cost money or minutes here: then they are asked for first. */
export function isMetered(): boolean {
  const { connection } = navigator as Navigator & { readonly connection?: NetworkInformation };
  return connection?.saveData === true || ["slow-2g", "2g", "3g"].includes(connection?.effectiveType ?? "");
}

export const online = signal(navigator.onLine);

export function startConnection(): void {
  const look = (): void => void (online.value = navigator.onLine);
  addEventListener("online", look);
  addEventListener("offline", look);
}
