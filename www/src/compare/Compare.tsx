// The view that compares two sentences under conditions.

import { strings } from "../strings";
import { Engine } from "../ui/Engine";
import { Later } from "../ui/Later";
import { LoadingBar } from "../ui/Loading";
import { Notices } from "../ui/Notices";
import { About } from "./About";
import { Announcer } from "./Announcer";
import { Examples } from "./Examples";
import { Pairs } from "./Pairs";
import { Results } from "./Results";
import { Sentences } from "./Sentences";
import { Suggestions } from "./Suggestions";
import { TakeAlong } from "./TakeAlong";

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
      <TakeAlong />
      <Pairs />
      <About />
      <Engine choice time />
    </Later>
    <Announcer />
  </>
);
