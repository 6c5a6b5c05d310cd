// The head of a page beside the main one: the way back to that, and what this one is for.

import type { ComponentChildren } from "preact";
import { strings } from "../strings";
import { Mark } from "./Discs";
import { ThemeToggle } from "./ThemeToggle";

interface Props {
  readonly title: string;
  readonly lead: string;
  /** What stands beside the theme's switch. */
  readonly children?: ComponentChildren;
}

export const SideHead = ({ title, lead, children }: Props) => (
  <header class="head">
    <div class="head-bar">
      <p class="brand">
        <a class="brand" href="./index.html">
          <Mark />
          {strings.name}
        </a>
      </p>
      <div class="head-tools">
        {children}
        <ThemeToggle />
      </div>
    </div>
    <div class="hero">
      <h1>{title}</h1>
      <p class="lead">{lead}</p>
    </div>
  </header>
);
