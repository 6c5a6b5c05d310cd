// Draws the page; it measures when it is asked to.

import "@fontsource-variable/atkinson-hyperlegible-next/wght.css";
import "../styles/tokens.css";
import "../styles/base.css";
import "../styles/layout.css";
import "../styles/speed.css";

import { render } from "preact";
import { startTheme } from "../state/theme";
import { Speed } from "./Speed";

startTheme();
const root = document.getElementById("app");
if (root) render(<Speed />, root);
