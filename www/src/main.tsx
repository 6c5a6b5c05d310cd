// Draws the page, then, once it is on the screen, loads the model.

import "@fontsource-variable/atkinson-hyperlegible-next/wght.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/bench.css";
import "./styles/results.css";
import "./styles/engine.css";
import "./styles/list.css";
import "./styles/how.css";
import "./styles/larger.css";
import "./styles/present.css";
import "./styles/print.css";

import { render } from "preact";
import { App } from "./components/App";
import { startGrouping } from "./list/grouping";
import { startHow } from "./how/state";
import { startLarger } from "./larger/state";
import { startAnswers } from "./state/answers";
import { startAttention } from "./state/attention";
import { startEngine } from "./state/engine";
import { startHistory } from "./state/history";
import { startOffline } from "./state/offline";
import { startSuggestions } from "./state/suggestions";
import { startTheme } from "./state/theme";

startTheme();
startHistory();
startAnswers();
startGrouping();
startSuggestions();
startAttention();
startHow();
startLarger();

const root = document.getElementById("app");
if (root) render(<App />, root);

// In a background tab no frame comes; the timer starts the download there.
let started = false;
const start = (): void => {
  if (!started) {
    startEngine();
    startOffline();
  }
  started = true;
};
requestAnimationFrame(() => setTimeout(start));
setTimeout(start, 500);
