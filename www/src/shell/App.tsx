// The page: what stands around every view, and the view that the address names.

import { useEffect } from "preact/hooks";
import { shareableAddress } from "../state/history";
import { view } from "../state/route";
import { strings } from "../strings";
import { Footer } from "../ui/Footer";
import { Later } from "../ui/Later";
import { Header } from "./Header";
import { Update } from "./Update";
import { fetchView, shown } from "./views";

/** Says that a view's file did not come. */
const Missing = () => (
  <div class="notice notice-bad" role="alert">
    <p>{strings.list.missing(strings.views.names[view.value])}</p>
    <div class="notice-tools">
      <button type="button" class="button button-strong" onClick={() => void fetchView(view.value)}>
        {strings.problems.retry}
      </button>
    </div>
  </div>
);

export function App() {
  const Shown = shown.value === "missing" ? Missing : shown.value;
  const title = strings.documents[view.value];
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => void fetchView(view.value), [view.value]);
  return (
    <>
      <Header />
      <Update />
      <main id="main" tabIndex={-1} aria-busy={!Shown}>
        {Shown && <Shown />}
      </main>
      <Later>
        <Footer leave={shareableAddress} />
      </Later>
    </>
  );
}
