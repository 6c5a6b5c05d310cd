// The page, from top to bottom.

import { About } from "./About";
import { Announcer } from "./Announcer";
import { Engine } from "./Engine";
import { Examples } from "./Examples";
import { Footer } from "./Footer";
import { Header } from "./Header";
import { LoadingBar } from "./Loading";
import { Notices } from "./Notices";
import { Results } from "./Results";
import { Sentences } from "./Sentences";

export const App = () => (
  <>
    <Header />
    <main id="main" tabIndex={-1}>
      <Examples />
      <Sentences />
      <LoadingBar />
      <Notices />
      <Results />
      <Engine />
      <About />
    </main>
    <Footer />
    <Announcer />
  </>
);
