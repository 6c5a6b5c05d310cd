// The view that compares two sentences under conditions.

import { strings } from "../strings";
import { About } from "./About";
import { Announcer } from "./Announcer";
import { Engine } from "./Engine";
import { Examples } from "./Examples";
import { Later } from "./Later";
import { LoadingBar } from "./Loading";
import { Notices } from "./Notices";
import { Results } from "./Results";
import { Sentences } from "./Sentences";
import { Suggestions } from "./Suggestions";

const Hero = () => (
  <div class="hero">
    <h1>
      {strings.headline.map((line) => (
        <span key={line}>{line} </span>
      ))}
    </h1>
    <p class="lead">{strings.lead}</p>
  </div>
);

export const Compare = () => (
  <>
    <Hero />
    <Examples />
    <Sentences />
    <Later>
      <LoadingBar />
      <Notices />
      <Results />
      <Suggestions />
      <Engine />
      <About />
    </Later>
    <Announcer />
  </>
);
