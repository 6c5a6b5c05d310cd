// The page: what stands around every view, and the view that the address names.

import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Compare } from "../compare/Compare";
import { How } from "../how/How";
import { Larger } from "../larger/Larger";
import { List } from "../list/List";
import { shareableAddress } from "../state/history";
import { view, type View } from "../state/route";
import { strings } from "../strings";
import { Footer } from "../ui/Footer";
import { Later } from "../ui/Later";
import { Header } from "./Header";
import { Update } from "./Update";

const components: Record<View, ComponentType> = { compare: Compare, list: List, how: How, larger: Larger };

export function App() {
  const Shown = components[view.value];
  const title = strings.documents[view.value];
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <>
      <Header />
      <Update />
      <main id="main" tabIndex={-1}>
        <Shown />
      </main>
      <Later>
        <Footer leave={shareableAddress} />
      </Later>
    </>
  );
}
