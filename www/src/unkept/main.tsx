// How it looks and its words first, then the page.

import "@fontsource-variable/atkinson-hyperlegible-next/wght.css";
import "../styles/tokens.css";
import "../styles/base.css";
import "../styles/layout.css";
import "../styles/speed.css";
import "../styles/touch.css";

import { loadWords } from "../strings";

void loadWords().then(() => import("./page"));
