// Switches between light and dark.

import { theme, toggleTheme } from "../state/theme";
import { strings } from "../strings";

export function ThemeToggle() {
  const next = theme.value === "dark" ? strings.theme.toLight : strings.theme.toDark;
  return (
    <button type="button" class="button" onClick={toggleTheme} aria-label={strings.theme.label(next)}>
      <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
        <circle cx="10" cy="10" r="7" />
        <path class="icon-fill" d="M10 3a7 7 0 0 1 0 14z" />
      </svg>
      <span class="button-word" aria-hidden="true">{next}</span>
    </button>
  );
}
