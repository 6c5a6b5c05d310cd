// Name, the views, and the two controls that concern the whole page.

import { strings } from "../strings";
import { Mark } from "../ui/Discs";
import { ThemeToggle } from "../ui/ThemeToggle";
import { CopyLink } from "./CopyLink";
import { Nav } from "./Nav";

/** Moves the focus without writing #main into the address, which holds the page's state. */
function skip(event: Event): void {
  event.preventDefault();
  const main = document.getElementById("main");
  const field = main?.querySelector<HTMLElement>("textarea") ?? main;
  field?.focus();
}

export const Header = () => (
  <header class="head">
    <a class="skip" href="#main" onClick={skip}>
      {strings.skip}
    </a>
    <div class="head-bar">
      <p class="brand">
        <Mark />
        {strings.name}
      </p>
      <Nav />
      <div class="head-tools">
        <CopyLink />
        <ThemeToggle />
      </div>
    </div>
  </header>
);
