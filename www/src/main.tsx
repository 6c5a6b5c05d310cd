// Draws the page, then, once it is on the screen, loads the model.

import "@fontsource-variable/atkinson-hyperlegible-next/wght.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/bench.css";
import "./styles/results.css";
import "./styles/engine.css";

import { render } from "preact";
import { App } from "./components/App";
import { startAnswers } from "./state/answers";
import { startEngine } from "./state/engine";
import { startHistory } from "./state/history";
import { startTheme } from "./state/theme";

startTheme();
startHistory();
startAnswers();

const root = document.getElementById("app");
if (root) render(<App />, root);

// In a background tab no frame comes; the timer starts the download there.
let started = false;
const start = (): void => {
  if (!started) startEngine();
  started = true;
};
requestAnimationFrame(() => setTimeout(start));
setTimeout(start, 500);
