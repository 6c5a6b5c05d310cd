// Draws the page; it measures when it is asked to.

import { render } from "preact";
import { describePage } from "../state/languages";
import { startTheme } from "../state/theme";
import { strings } from "../strings";
import { Speed } from "./Speed";

document.title = strings.documents.speed;
describePage(strings.speed.lead);
startTheme();
const root = document.getElementById("app");
if (root) render(<Speed />, root);
