// Light or dark: the system's choice until the person makes one, which is remembered.

import { effect, signal } from "@preact/signals";

export type Theme = "light" | "dark";

const key = "caselens-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const systemTheme = (): Theme => (system.matches ? "dark" : "light");
const remembered = document.documentElement.dataset["theme"];

const chosen = signal<Theme | undefined>(
  remembered === "light" || remembered === "dark" ? remembered : undefined,
);
export const theme = signal<Theme>(chosen.value ?? systemTheme());

export function toggleTheme(): void {
  chosen.value = theme.value === "dark" ? "light" : "dark";
}

export function startTheme(): void {
  system.addEventListener("change", () => {
    if (!chosen.value) theme.value = systemTheme();
  });
  effect(() => {
    if (!chosen.value) return;
    theme.value = chosen.value;
    document.documentElement.dataset["theme"] = chosen.value;
    try {
      localStorage.setItem(key, chosen.value);
    } catch {
      // Private windows may forbid storage; the choice then lasts as long as the page.
    }
  });
}
