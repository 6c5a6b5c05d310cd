// Licences, and whose work this stands on.

import { Fragment } from "preact";
import { strings } from "../strings";

export const Footer = () => (
  <footer class="foot">
    <p>
      <a href="./speed.html">{strings.footer.speed}</a> · <a href="./api/index.html">{strings.footer.reference}</a>
    </p>
    <p>
      {strings.footer.licence} <a href="./THIRD-PARTY-NOTICES.txt">{strings.footer.notices}</a>
    </p>
    <p>
      {strings.footer.credits.map(({ text, url }) => (
        <Fragment key={url}>
          <a href={url}>{text}</a>{" "}
        </Fragment>
      ))}
    </p>
  </footer>
);
