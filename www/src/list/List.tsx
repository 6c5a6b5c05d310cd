// The view that groups and searches a list of texts under a condition.

import { strings } from "../strings";
import { Engine } from "../ui/Engine";
import { Later } from "../ui/Later";
import { LoadingBar, LoadingWords } from "../ui/Loading";
import { Notices } from "../ui/Notices";
import { GroupBy } from "./GroupBy";
import { Groups } from "./Groups";
import { MapPlace } from "./MapPlace";
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
        <MapPlace />
        <div class="grouped-texts">
          <Search />
          <Groups />
        </div>
      </div>
      <Engine />
    </Later>
  </>
);
