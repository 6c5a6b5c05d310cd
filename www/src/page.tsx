// Draws the page, then, once it is on the screen, loads the model.

import { render } from "preact";
import { App } from "./shell/App";
import { fetchView, fetchViews } from "./shell/views";
import { startBeside } from "./how/beside";
import { howLink } from "./how/link";
import { startSheet } from "./how/sheet";
import { startHow } from "./how/state";
import { largerLink } from "./larger/link";
import { startLarger } from "./larger/state";
import { startGrouping } from "./list/grouping";
import { listLink } from "./list/link";
import { startAnswers } from "./state/answers";
import { compareLink } from "./state/compareLink";
import { startConnection } from "./state/connection";
import { startEngine } from "./state/engine";
import { startHistory } from "./state/history";
import { startOffline } from "./state/offline";
import { describePage } from "./state/languages";
import { view } from "./state/route";
import { startSuggestions } from "./state/suggestions";
import { startTheme } from "./state/theme";
import { strings } from "./strings";

describePage(strings.description);
startTheme();
startConnection();
startHistory({ compare: compareLink, list: listLink, how: howLink, larger: largerLink });
startAnswers();
startGrouping();
startSuggestions();
startHow();
startSheet();
startBeside();
startLarger();

// In the page's own typeface where that came with the modules: laying the text out in a fallback first costs a second
// layout, and shifts it. And in a task of its own, apart from the modules' evaluation and the end of parsing.
const typeface = document.fonts.load("1em 'Atkinson Hyperlegible Next Variable'");
const soon = new Promise((resolve) => setTimeout(resolve, 100));
void Promise.all([Promise.race([typeface, soon]).catch(() => undefined), fetchView(view.value)]).then(() => setTimeout(draw));

function draw(): void {
  const root = document.getElementById("app");
  if (root) render(<App />, root);
  new PerformanceObserver((paints) => {
    if (paints.getEntriesByName("first-contentful-paint").length > 0) start();
  }).observe({ type: "paint", buffered: true });
  // In a background tab nothing is painted; the timer starts the download there.
  setTimeout(start, 2000);
}

let started = false;
function start(): void {
  if (started) return;
  started = true;
  startEngine();
  fetchViews();
  startOffline();
}
