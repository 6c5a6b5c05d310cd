// The view that groups and searches a list of texts under a condition.

import { Engine } from "../components/Engine";
import { Later } from "../components/Later";
import { LoadingBar, LoadingWords } from "../components/Loading";
import { Notices } from "../components/Notices";
import { strings } from "../strings";
import { GroupBy } from "./GroupBy";
import { Groups } from "./Groups";
import { MapChart } from "./MapChart";
import { Search } from "./Search";
import { Texts } from "./Texts";
import { Work } from "./Work";

const words = strings.list;

export const List = () => (
  <>
    <div class="hero">
      <h1>
        {words.headline.map((line) => (
          <span key={line}>{line} </span>
        ))}
      </h1>
      <p class="lead">{words.lead}</p>
    </div>
    <Texts />
    <GroupBy />
    <Later>
      <LoadingBar />
      <p class="missing">
        <LoadingWords />
      </p>
      <Notices />
      <Work />
      <div class="grouped">
        <MapChart />
        <div class="grouped-texts">
          <Search />
          <Groups />
        </div>
      </div>
      <Engine />
    </Later>
  </>
);
