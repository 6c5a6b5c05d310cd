// How it looks and its words first, then the page.

import "@fontsource-variable/atkinson-hyperlegible-next/wght.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/bench.css";
import "./styles/results.css";
import "./styles/pairs.css";
import "./styles/engine.css";
import "./styles/encoders.css";
import "./styles/list.css";
import "./styles/how.css";
import "./styles/heads.css";
import "./styles/larger.css";
import "./styles/present.css";
import "./styles/touch.css";
import "./styles/print.css";
import "./styles/forced.css";

import { loadWords } from "./strings";

void loadWords().then(() => import("./page"));
