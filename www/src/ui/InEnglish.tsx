// That texts are to be in English, beside their fields: for who reads the page in another language.

import { strings } from "../strings";

export const InEnglish = () => (strings.inEnglish ? <p class="note in-english">{strings.inEnglish}</p> : null);
