// Where many pairs at once are compared.

import { strings } from "../strings";
import { Fetched } from "../ui/Fetched";

const fetch = async () => (await import("../pairs/Panel")).Panel;

export const Pairs = () => <Fetched class="pairs" title={strings.pairs.title} fetch={fetch} />;
