// Licences.

import { strings } from "../strings";

export const Footer = () => (
  <footer class="foot">
    <p>{strings.footer.licence}</p>
    <p>{strings.footer.credits}</p>
  </footer>
);
