// The page's language, licences, and whose work this stands on.

import { Fragment } from "preact";
import { language } from "../language";
import { languages, ownName, speak } from "../state/languages";
import { strings } from "../strings";

/** `leave` brings the address up to date before the page is opened anew. */
interface Props {
  readonly leave?: () => void;
}

const Language = ({ leave }: Props) => (
  <label class="foot-language">
    {strings.footer.language}{" "}
    <select value={language} onChange={(event) => speak(event.currentTarget.value, leave)}>
      {languages.map((code) => (
        <option key={code} value={code} lang={code}>
          {ownName(code)}
        </option>
      ))}
    </select>
  </label>
);

export const Footer = ({ leave }: Props) => (
  <footer class="foot">
    {languages.length > 0 && <Language {...(leave && { leave })} />}
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
