// What the service worker shows in place of a page that is not kept, where there is no network: that it is so, and the ways on.

import { render } from "preact";
import { startTheme } from "../state/theme";
import { strings } from "../strings";
import { Footer } from "../ui/Footer";
import { SideHead } from "../ui/SideHead";

const words = strings.unkept;

/** What was asked for: the service worker writes it behind `#`, as a path below the site's own. No other address is led to. */
function asked(): string {
  const home = new URL("./", document.baseURI);
  try {
    const { href } = new URL(location.hash.slice(1), home);
    return href.startsWith(home.href) ? href : home.href;
  } catch {
    return home.href;
  }
}

const Unkept = () => (
  <>
    <SideHead title={words.title} lead={words.lead} />
    <main id="main" tabIndex={-1}>
      <p class="speed-tools">
        <a class="button button-strong" href="./index.html">
          {words.back}
        </a>
        <a class="button" href={asked()}>
          {words.again}
        </a>
      </p>
    </main>
    <Footer />
  </>
);

document.title = strings.documents.unkept;
startTheme();
const root = document.getElementById("app");
if (root) render(<Unkept />, root);
