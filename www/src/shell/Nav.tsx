// The ways to look at the page's subject: one link a view, each with that view's state in it.

import { hashOf } from "../state/history";
import { view, views } from "../state/route";
import { strings } from "../strings";

export const Nav = () => (
  <nav class="nav" aria-label={strings.views.label}>
    <ul>
      {views.map((name) => (
        <li key={name}>
          <a href={hashOf(name)} aria-current={view.value === name ? "page" : undefined}>
            {strings.views.names[name]}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);
