// Says that a new version of the page is ready, and lets it take over.

import { nextVersion, takeOver } from "../state/offline";
import { strings } from "../strings";

export const Update = () => (
  <div class="update" role="status">
    {nextVersion.value && (
      <p class="notice">
        {strings.update.ready}{" "}
        <button type="button" class="button" onClick={takeOver}>
          {strings.update.take}
        </button>
      </p>
    )}
  </div>
);
