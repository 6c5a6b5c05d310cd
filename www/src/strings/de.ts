// Jedes Wort der Seite auf Deutsch; en.ts sagt, was dazugehört und was englisch bleibt.

import { cosine, count, difference, fixed, listed, percent, rating, similarity } from "../format";
import type { Lessons, Strings } from "../strings";

const languages = new Intl.DisplayNames("de", { type: "language" });
const language = (code: string): string => languages.of(code) ?? code;

const megabytes = (bytes: number): string => `${fixed(bytes / 1e6, 1)} MB`;
/** Wie viel von etwas, das noch nicht fertig ist. */
const done = (share: number): string => percent(Math.floor(share * 100) / 100);
const texts = (n: number): string => `${count(n)} ${n === 1 ? "Text" : "Texte"}`;

const compared = {
  more: (size: string) => `um ${size} ähnlicher als ohne Bedingung`,
  less: (size: string) => `um ${size} weniger ähnlich als ohne Bedingung`,
  same: () => "so ähnlich wie ohne Bedingung",
};

function spoken(condition: string, s: number, unconditional: number): string {
  const { kind, size } = difference(s, unconditional);
  return `${condition}: Ähnlichkeit ${similarity(s)}, ${compared[kind](size)}.`;
}

export const strings: Strings = {
  name: "caselens",
  skip: "Zu den Sätzen springen",
  headline: ["Ähnlich?", "Je nachdem, wie man hinsieht."],
  description:
    "Geben Sie zwei Sätze und eine Bedingung ein und sehen Sie, wie ähnlich sie sich unter dieser Bedingung sind. Das Modell läuft in Ihrem Browser; was Sie eingeben, bleibt dort.",
  documents: {
    compare: "caselens: Wie ähnlich sind sich zwei Sätze unter einer Bedingung?",
    list: "caselens: eine Liste nach dem gruppieren, was Sie suchen",
    how: "caselens: So funktioniert es",
    larger: "caselens: was ein größeres Modell sagt",
    speed: "caselens: Wie schnell ist es auf diesem Gerät?",
    unkept: "caselens: Diese Seite braucht ein Netz",
  },
  lead: "Sehen Sie, wie ähnlich sich zwei Sätze unter einer Bedingung sind: Ort, Stimmung, Preis oder was Sie selbst vorgeben.",
  inEnglish: "Die Texte werden auf Englisch gelesen: Schreiben Sie Sätze und Bedingungen bitte auf Englisch.",

  views: { label: "Ansichten", names: { compare: "Vergleich", list: "Liste", how: "So geht’s", larger: "Größeres Modell" } },

  update: { ready: "Eine neue Version dieser Seite ist da.", take: "Damit neu laden" },

  theme: { toDark: "Dunkel", toLight: "Hell", label: (next) => `Farben umschalten: ${next}` },
  copy: {
    idle: "Link kopieren",
    done: "Link kopiert",
    partly: "Link ohne die Texte kopiert: Sie sind dafür zu lang",
    blocked: "Kopieren ist gesperrt: Nehmen Sie den Link aus der Adressleiste",
    tooLong: "Zu lang für einen Link: Kürzen Sie die Sätze",
  },

  examples: {
    title: "Beispiel wählen oder",
    own: "eigenes Paar schreiben",
    names: [
      ["Alltag", "Im Park"],
      ["Menschen", "Am Strand"],
      ["Tiere", "Zwei Hunde"],
      ["Sport", "Tennisspiel"],
      ["Reise", "Zwei Unterkünfte"],
      ["Bewertung", "Zwei Kameras"],
      ["Rezept", "Paprika, Äpfel"],
      ["Support", "Zwei Anfragen"],
      ["Nachrichten", "Auf den Straßen"],
      ["Stimmungen", "Am Telefon"],
      ["Film", "Zwei Witwer"],
      ["Verkehr", "Nach Wien"],
    ],
  },

  undo: {
    undo: "Rückgängig",
    key: "Strg+Z",
    removed: (condition) => `„${condition}“ entfernt.`,
    cleared: "Die Seite ist leer.",
    swapped: "Die Sätze sind vertauscht.",
    replaced: "Das Beispiel hat Ihre Eingaben ersetzt.",
  },

  sentences: {
    title: "Zwei Sätze",
    first: "Erster Satz",
    second: "Zweiter Satz",
    own: "Eigener Satz",
    swap: "Sätze vertauschen",
    placeholder: "Eigener Satz, auf Englisch",
    cut: "Länger, als das Modell auf einmal liest: Das Ende wurde beim Vergleich weggelassen.",
    foreign: (found, trained) =>
      `Das sieht nach dieser Sprache aus: ${language(found)}. Das Modell wurde nur hiermit trainiert: ${listed(trained.map(language))}. Seine Zahlen sagen hier wenig.`,
    foreignAmong: (texts, found, trained) =>
      `${texts === 1 ? "1 Text sieht" : `${count(texts)} Texte sehen`} nach ${found.map(language).join(", ")} aus; das Modell wurde mit ${trained.map(language).join(", ")} trainiert. Was es dazu sagt, bedeutet wenig.`,
  },

  attention: {
    unit: "% Aufmerksamkeit",
    share: (text, share) => `${text} ${percent(share)}`,
    looks: (first, second) => `Achtet im ersten Satz auf ${first.join(", ")}; im zweiten Satz auf ${second.join(", ")}.`,
  },

  conditions: {
    title: "Unter welcher Bedingung?",
    heading: "Bedingung",
    label: (n) => `Bedingung ${n}`,
    add: "Bedingung hinzufügen",
    placeholder: "Eigene Bedingung",
    remove: (text) => (text ? `${text} entfernen` : "Die leere Bedingung entfernen"),
    keys: "Zeigen Sie auf eine Bedingung, um die Sätze durch sie zu sehen. Die Eingabetaste führt zur nächsten Bedingung; aus mehreren eingefügten Zeilen werden mehrere Bedingungen; die Rücktaste entfernt eine leere; Strg+Z holt Entferntes zurück.",
    pasted: (lines, kept, max) =>
      `Von ${count(lines)} eingefügten Zeilen ${kept === 1 ? "wurde eine" : `wurden ${count(kept)}`} übernommen: jede Bedingung einmal, und mehr als ${max} nimmt diese Seite nicht.`,
    repeated: (place) => `Dasselbe wie Bedingung ${place}, deshalb wird nicht noch einmal verglichen.`,
    cut: "Neben dieser Bedingung war nicht genug Platz für den ganzen Text: Das Ende eines Satzes wurde weggelassen.",
    unknown: (n) =>
      n === 1
        ? "Ein Stück der Texte kennt das Modell nicht und liest es als Lücke."
        : `${n} Stücke der Texte kennt das Modell nicht und liest sie als Lücken.`,
    advice: {
      value: "Das sagt, was der Fall ist. Nennen Sie, was verglichen werden soll: „the colour“ statt „the colour is green“.",
      sentence: "Eine Bedingung handelt von dem, was die Sätze sagen: „the dog“ statt „the dog in the sentence“.",
    },
  },

  results: {
    unaided: "Bloßes Auge",
    unaidedNote: "ohne Bedingung",
    similarity: "Ähnlichkeit",
    against: "Unterschied",
    none: "–",
    outOf: "/ 5",
    more: "ähnlicher",
    less: "unähnlicher",
    same: "unverändert",
    under: (condition) => `unter „${condition}“`,
    needSentences: "Geben Sie beide Sätze ein, um sie zu vergleichen.",
    needCondition: "Geben Sie eine Bedingung ein, unter der die Sätze verglichen werden.",
    beforehand: "Antworten, die dasselbe Modell vorab berechnet hat.",
    unsaid: { both: "keiner der Sätze sagt etwas dazu", first: "nur der zweite sagt etwas dazu", second: "nur der erste sagt etwas dazu" },
    spokenUnsaid: (condition, which) => `${condition}: ${which}.`,
    doubt: { foreign: "unsicher: kein Englisch", unknown: "unsicher: unbekannte Zeichen", cut: "unsicher: nicht zu Ende gelesen" },
    spokenDoubt: (condition, s, why) => `${condition}: Ähnlichkeit ${similarity(s)}, ${why}.`,
    spoken,
    spokenUnaided: (s) => `Ohne Bedingung: Ähnlichkeit ${similarity(s)}.`,
  },

  engine: {
    title: "Wo und wie das Modell läuft",
    megabytes,
    milliseconds: (ms) => `${fixed(ms, ms < 10 ? 1 : 0)} ms`,
    device: "Gerät",
    adapter: "Grafikadapter",
    instructions: "Befehlssatz",
    model: "Modell",
    dtype: "Gewichte",
    size: "Download",
    time: "Letzte Antwort",
    names: { webgpu: "WebGPU", wasm: "CPU (WebAssembly)" },
    noAdapter: "keiner",
    choose: "Rechnen auf",
    choices: { auto: "Auto", webgpu: "WebGPU", wasm: "CPU" },
  },

  encoders: {
    title: "Welcher Encoder antwortet?",
    names: { small: "Klein", large: "Groß", case: "CASE, wie veröffentlicht" },
    what: {
      small: "all-MiniLM-L6-v2, auf Bedingungen feinabgestimmt: der mitgelieferte Encoder.",
      large: "all-mpnet-base-v2, feinabgestimmt: besser bei Bewertungen und Alltagstexten, siebenmal so langsam.",
      case: "all-MiniLM-L6-v2 unverändert: Die Bedingung wird abgezogen, und darauf sitzt ein kleiner trainierter Head. Er zeigt jeden Schritt.",
    },
    inUse: (mb) => `${fixed(mb, 1)} MB, in Gebrauch`,
    kept: (mb) => `${fixed(mb, 1)} MB, auf diesem Gerät`,
    toDownload: (mb) => `${fixed(mb, 1)} MB zum Herunterladen`,
    offline: (mb) => `${fixed(mb, 1)} MB, braucht eine Internetverbindung`,
    base: { text: "all-mpnet-base-v2 stammt von sentence-transformers (Apache-2.0).", url: "https://huggingface.co/sentence-transformers/all-mpnet-base-v2" },
    answers: (name) => `„${name}“ antwortet.`,
    cancel: "Abbrechen",
    failed: (name) => `„${name}“ konnte nicht geladen werden`,
    stays: (name) => `„${name}“ antwortet weiter.`,
    ask: (name, mb) =>
      `Ihre Verbindung scheint langsam zu sein oder soll Daten sparen. Der Encoder „${name}“ ist ${fixed(mb, 1)} MB groß und wird nur einmal heruntergeladen: Danach bleibt er auf diesem Gerät.`,
    agree: (mb) => `${fixed(mb, 1)} MB herunterladen`,
    stay: (name) => `Bei „${name}“ bleiben`,
    instead: (name) => `Stattdessen „${name}“ nehmen`,
    waiting: "Noch nicht heruntergeladen: Die Seite fragt vorher.",
  },

  loading: {
    label: "Das Modell wird geladen",
    starting: "Das Modell wird geladen …",
    bytes: (loaded, total) => `Das Modell wird geladen: ${megabytes(loaded)} von ${megabytes(total)}, ${done(Math.min(1, loaded / total))}.`,
    preparing: "Das Modell wird vorbereitet …",
    meanwhile: "Sie können schon schreiben.",
    ready: "Das Modell ist bereit.",
  },

  problems: {
    retry: "Noch einmal versuchen",
    details: "Was das Programm dazu sagt",
    // While a model is loaded, the package warns of this alone.
    notKept: "Dieser Browser lässt die Seite das Modell nicht aufbewahren: Beim nächsten Besuch wird es noch einmal heruntergeladen. Alles andere geht wie sonst.",
    useCpu: "Die CPU nehmen",
    title: "Das Modell konnte nicht geladen werden",
    compareTitle: "Die Sätze konnten nicht verglichen werden",
    gpuLost: "Die GPU arbeitet nicht mehr, deshalb rechnet die Seite jetzt auf der CPU. Alles geht wie zuvor, nur etwas langsamer.",
    told: {
      "condition-too-long": "Das ist zu lang für eine Bedingung: Kürzen Sie es auf wenige Wörter.",
      "invalid-text": "Der Text enthält ein halbes Zeichen, wie es übrig bleibt, wenn mitten in einem Emoji abgeschnitten wird. Löschen Sie es oder geben Sie es neu ein.",
      integrity: "Was ankam, ist nicht das Modell, das zu dieser Seite gehört. Ein neuer Versuch lädt es noch einmal herunter.",
      http: "Eine Datei, die gebraucht wird, liegt zurzeit nicht auf dem Server dieser Seite. Versuchen Sie es später noch einmal.",
      network: "Das Modell war nicht zu erreichen. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal. Einmal geladen, bleibt es auf Ihrem Gerät und läuft auch ohne Internet.",
      "download-incomplete": "Die Verbindung brach ab, bevor das ganze Modell da war. Meist hilft ein neuer Versuch.",
      "model-format": "Die gespeicherte Kopie des Modells ist beschädigt. Ein neuer Versuch lädt es noch einmal herunter.",
      "not-enough-memory": "Auf diesem Gerät ist zu wenig Speicher für das Modell frei. Schließen Sie andere Tabs oder Programme und versuchen Sie es noch einmal.",
      "webgpu-unavailable": "Dieser Browser hat kein brauchbares WebGPU. Die CPU liefert dieselben Zahlen.",
      "gpu-lost": "Die GPU arbeitet nicht mehr. Die CPU liefert dieselben Zahlen.",
      unsupported: "Diesem Browser fehlt, womit das Modell rechnet: Er ist zu alt oder in einem abgesicherten Modus wie dem Blockierungsmodus. Aktualisieren Sie ihn, machen Sie für diese Seite eine Ausnahme, oder nehmen Sie einen anderen Browser.",
      worker: "Dieser Browser ließ die Seite ihren Rechenprozess nicht starten. Laden Sie die Seite neu; hilft das nicht, nehmen Sie einen anderen Browser oder ein Fenster, das nicht privat ist.",
      "empty-text": "Ein Text, der gebraucht wird, ist leer.",
      "unsupported-architecture": "Das Modell auf dem Server dieser Seite ist von einer Art, die sie nicht ausführen kann. Beheben kann das, wer die Seite betreibt.",
      tokenizer: "Das Modell auf dem Server dieser Seite lässt sich nicht lesen. Beheben kann das, wer die Seite betreibt.",
      "head-format": "Eine Datei, die zum Modell gehört, ist beschädigt. Ein neuer Versuch lädt sie noch einmal herunter.",
      "head-mismatch": "Die Dateien des Modells auf dem Server dieser Seite gehören nicht zusammen. Beheben kann das, wer die Seite betreibt.",
      "bundle-format": "Die gespeicherten Antworten sind beschädigt. Versuchen Sie es später noch einmal.",
      "bundle-schema": "Die gespeicherten Antworten haben eine Version, die diese Seite nicht liest. Beheben kann das, wer die Seite betreibt.",
      "bundle-mismatch": "Die gespeicherten Antworten gehören nicht zusammen oder sind nicht vollständig. Versuchen Sie es später noch einmal.",
      internal: "Das sollte nicht vorkommen. Laden Sie die Seite neu; wenn es wieder geschieht, melden Sie es bitte mit den Sätzen, die Sie eingegeben haben.",
    },
    tooLong: (place, characters) =>
      `Der ${place === 0 ? "erste" : "zweite"} Satz hat ${count(characters)} Zeichen, mehr, als auf einmal gelesen werden kann. Kürzen Sie ihn auf wenige Absätze.`,
  },

  about: {
    how: {
      title: "So funktioniert es",
      text: [
        "Ein kleines Sprachmodell liest jeden Satz zusammen mit Ihrer Bedingung und macht aus beidem einen Punkt im Raum: einen Punkt für „der Satz, was den Ort angeht“, einen anderen für „der Satz, was das Spiel angeht“. Zwei Sätze sind sich unter einer Bedingung ähnlich, wenn ihre Punkte nah beieinander liegen.",
        "Die Kreise zeigen es: Die Ähnlichkeit ist der Anteil eines Kreises, den das grüne Stück bedeckt. Die gestrichelte Linie steht für das bloße Auge, also für die Ähnlichkeit der Sätze ohne Bedingung; so sagt jeder Balken, was die Bedingung näher zusammengebracht oder weiter auseinandergerückt hat. Nehmen Sie diesen Unterschied als Hinweis: Das Modell hat gelernt, mit einer Bedingung zu lesen, und ist ohne eine weniger sicher.",
      ],
    },
    right: {
      title: "Wie oft stimmt es?",
      of: {
        small: "",
        large: "Diese Zahlen gehören zu dem Encoder, der jetzt antwortet: „Groß“.",
        case: "Diese Zahlen gehören zu dem Encoder, der jetzt antwortet: „CASE, wie veröffentlicht“.",
      },
      failures: {
        title: "Wo es danebenliegt: Beispiele",
        lead: "Diese Paare beurteilt der mitgelieferte Encoder anders, als Menschen es täten. Öffnen Sie eines und versuchen Sie, mit welchen Worten es gelingt.",
        kinds: { roles: "Wer wem etwas tut", irony: "Ironie", units: "Einheiten", time: "Uhrzeiten", arithmetic: "Rechnen", world: "Was man über die Welt weiß" },
        model: (s: string) => `das Modell sagt ${s};`,
        people: { alike: "Menschen würden sagen: gleich.", unlike: "Menschen würden sagen: nicht gleich." },
        open: "Dieses Paar öffnen",
      },
      strong: {
        title: "Meist richtig",
        text: ({ accuracy, rows, spearman }) =>
          `Bei dem, was ein kurzer Satz ausdrücklich sagt: Orte, Farben, Tätigkeiten, Produkte, Gefühle, wie viele Personen. Wenn Menschen ein Paar unter einer von zwei Bedingungen höher bewerten, gibt ihnen das Modell in ${fixed(accuracy, 0)} von 100 Fällen recht. Beim Ordnen von ${count(rows)} Paaren nach dem Urteil von Menschen erreicht es eine Spearman-Korrelation von ${count(spearman)} von 100.`,
      },
      weak: {
        title: "Oft falsch",
        text: ({ unseen }) =>
          `Bei Bedingungen, die anders sind als die gelernten (Spearman ${count(unseen)}, wo es die Bedingung noch nie gesehen hatte), wer wem etwas tut, Datum und Uhrzeit, Einheiten und Rechnen, Ironie, Wissen über die Welt und Texten mit vielen Aussagen. Es klingt genauso sicher, wenn es irrt: Trauen Sie eher der Reihenfolge zweier Bedingungen als einer einzelnen Zahl.`,
      },
      reads: {
        title: "Liest Englisch",
        text: {
          small: "Es wurde mit kurzen englischen Sätzen trainiert, mehr als die Hälfte davon Bildunterschriften. Von anderen Sprachen versteht es so gut wie nichts.",
          large: "Es wurde mit englischen Sätzen trainiert, viele davon Bildunterschriften. Von anderen Sprachen versteht es so gut wie nichts.",
          case: "Sein Encoder wurde mit englischen Texten trainiert, sein Head nur mit Bildunterschriften. Von anderen Sprachen versteht es so gut wie nichts.",
        },
      },
      from: {
        title: "Woher es kommt",
        text: "C-STS (Conditional Semantic Textual Similarity) heißt die Aufgabe: Paare von Bildunterschriften, die Menschen unter einer Bedingung bewertet haben. CASE (Condition-Aware Sentence Embeddings) ist das Verfahren, aus dem diese Seite entstanden ist; seine Autoren haben C-STS neu bewertet, und damit wurde das Modell trainiert und gemessen.",
        papers: [
          { text: "C-STS (Deshpande et al., EMNLP 2023)", url: "https://arxiv.org/abs/2305.15093" },
          { text: "CASE (Zhang et al., EACL 2026)", url: "https://arxiv.org/abs/2503.17279" },
        ],
      },
    },
    privacy: {
      title: "Von Grund auf privat",
      text: "Das Modell läuft in diesem Browser-Tab. Es wird einmal heruntergeladen und auf Ihrem Gerät gespeichert, sodass sich die Seite danach auch ohne Internet öffnet; die Sätze, die Sie eingeben, werden nie verschickt. Ein geteilter Link enthält sie hinter dem #, und diesen Teil schicken Browser nicht an den Server.",
    },
  },

  list: {
    headline: ["Listen gruppieren", "nach dem, was Sie suchen."],
    lead: "Fügen Sie Bewertungen, Anfragen oder Bildunterschriften ein, nennen Sie eine Bedingung, und sehen Sie, wie sich die Gruppen mit ihr ändern.",
    examples: "Fertige Listen",
    names: { captions: ["Bilder", "Bildunterschriften"], tickets: ["Support", "Anfragen"], reviews: ["Restaurants", "Bewertungen"] },
    texts: {
      title: "Die Texte",
      label: "Ein Text je Zeile",
      lost: "Dieser Link kam ohne seine Texte: Sie waren dafür zu lang. Fügen Sie sie hier ein, oder öffnen Sie die Datei, aus der sie stammen.",
      placeholder: "Fügen Sie eine Liste ein, oder ziehen Sie eine Datei hierher: CSV, Excel, JSON oder reiner Text",
      count: texts,
      sampled: (n, of) =>
        `Eine Zufallsauswahl aus ${count(of)} Texten, in ihrer Reihenfolge und jedes Mal dieselbe: Diese Seite gruppiert bis zu ${count(n)}.`,
      blank: (n) => (n === 1 ? "In einer Zeile ist diese Spalte leer." : `In ${count(n)} Zeilen ist diese Spalte leer.`),
      cutShort: (n, max) =>
        `${n === 1 ? "Ein Text ist" : `${count(n)} Texte sind`} länger als ${count(max)} Zeichen: Was darüber hinausgeht, wird weggelassen.`,
      invisible: (n) =>
        n === 1
          ? "Eine Zeile enthält nur unsichtbare Zeichen und wird weggelassen."
          : `${count(n)} Zeilen enthalten nur unsichtbare Zeichen und werden weggelassen.`,
      drop: "Zum Öffnen hier loslassen",
      thisList: "Diese Liste",
      reader: "Das Leseprogramm für solche Dateien",
      writer: "Das Schreibprogramm für CSV",
      open: "Datei öffnen",
      header: "Die erste Zeile ist eine Überschrift",
      column: "Spalte",
      columnName: (n) => `Spalte ${n}`,
      unreadable: (name) => `${name} ließ sich nicht öffnen. Ist die Datei noch da, und darf dieser Browser sie lesen?`,
      files: {
        empty: (name) => `${name} enthält keine Texte.`,
        noText: (name) => `${name} ist weder Text noch Tabelle noch Liste. Speichern Sie die Datei als CSV, Excel (.xlsx), JSON oder reinen Text, und öffnen Sie dann diese.`,
        oldOffice: (name) => `${name} hat ein älteres Office-Format oder ist mit einem Passwort geschützt. Speichern Sie die Datei als .xlsx oder CSV ohne Passwort, und öffnen Sie dann diese.`,
        noWorkbook: (name) => `${name} ließ sich nicht als Excel-Arbeitsmappe lesen. Speichern Sie die Datei als .xlsx oder CSV, und öffnen Sie dann diese.`,
        largeWorkbook: (name, bytes) => `${name} ist entpackt größer als ${megabytes(bytes)} und damit zu groß für diese Seite. Speichern Sie das Blatt als CSV, und öffnen Sie dann dieses.`,
        noJson: (name) => `${name} ist kein gültiges JSON und besteht auch nicht aus JSON-Zeilen: Etwas darin ist abgeschnitten oder falsch geschrieben.`,
        noList: (name) => `${name} ist JSON ohne Liste: Gebraucht wird ein Array aus Texten oder aus Objekten, die je einen Text enthalten.`,
        unread: (bytes) => `Nur die ersten ${megabytes(bytes)} der Datei wurden gelesen.`,
        spread: (bytes, of) => `Von den ${megabytes(of)} der Datei wurden ${megabytes(bytes)} gelesen: Zeilen aus allen ihren Teilen.`,
        windows1252: "Die Datei ist nicht in UTF-8 und wurde als Windows-1252 gelesen: Falls Buchstaben falsch aussehen, speichern Sie sie als UTF-8 und öffnen Sie sie noch einmal.",
        damaged: (n) =>
          n === 1
            ? "Ein Zeichen der Datei war nicht zu lesen und steht als \uFFFD da."
            : `${count(n)} Zeichen der Datei waren nicht zu lesen und stehen als \uFFFD da.`,
        unclosed: (row) => `Zeile ${count(row)} öffnet ein Anführungszeichen, das nie geschlossen wird: Ab dort gelten Anführungszeichen als Teil der Texte.`,
        oddQuotes: (row, n) =>
          `Zeile ${count(row)}${n > 1 ? ` und ${count(n - 1)} weitere enthalten` : " enthält"} ein Anführungszeichen, das keine Zelle beendet: Prüfen Sie, ob die Texte dort vollständig sind.`,
        wide: (row, n) =>
          `Zeile ${count(row)}${n > 1 ? ` und ${count(n - 1)} weitere haben` : " hat"} mehr Zellen, als es Spalten gibt: Was darüber hinausgeht, wurde an die letzte Spalte angehängt.`,
        badLines: (line, n) =>
          n === 1 ? `Zeile ${count(line)} ist kein JSON und wird weggelassen.` : `${count(n)} Zeilen sind kein JSON und werden weggelassen, als erste Zeile ${count(line)}.`,
        saved: "Diese Datei hat die Seite selbst gespeichert: Bedingung, Zahl und Namen der Gruppen werden wieder übernommen.",
        sheet: (name, n) => `Gelesen wurde das Blatt „${name}“, das erste von ${n}, auf denen etwas steht.`,
      },
    },
    condition: {
      label: "Gruppieren nach",
      placeholder: "Bedingung auf Englisch, etwa the price",
      chips: "Bedingungen zum Ausprobieren",
      count: "Zahl der Gruppen",
      automatic: "Automatisch",
    },
    missing: (what) => `${what} konnte nicht geladen werden. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal; hilft das nicht, laden Sie die Seite neu.`,
    working: (share) => `Es wird gruppiert: ${done(share)}`,
    underWay: (n, condition) => `${texts(n)} ${n === 1 ? "wird" : "werden"}${condition ? ` nach „${condition}“` : ""} gruppiert …`,
    read: (n, of) => `${count(n)} von ${count(of)} gelesen`,
    left: (seconds) => `noch etwa ${seconds < 60 ? `${seconds} s` : `${count(seconds / 60)} min`}`,
    cancel: "Abbrechen",
    stopped: "Vor dem Ende abgebrochen.",
    earlier: "Was unten steht, stammt von vor der letzten Änderung.",
    again: "Neu gruppieren",
    problem: "Die Liste konnte nicht gruppiert werden",
    empty: "Fügen Sie eine Liste ein, um ihre Gruppen zu sehen.",
    groups: {
      title: "Gruppen",
      earlier: "Frühere Gruppen",
      summary: (n, groups, condition) => `${texts(n)} in ${groups} ${groups === 1 ? "Gruppe" : "Gruppen"}${condition ? ` nach „${condition}“` : ""}.`,
      size: texts,
      between: " · ",
      rename: (name) => `„${name}“ umbenennen`,
      name: (n) => `Name von Gruppe ${n}`,
      unnamed: "leer: ihre eigenen Wörter",
      keep: "Übernehmen",
      central: "der Text, der der Mitte am nächsten ist",
      elsewhere: "ausgewählt",
      member: "Ähnlichkeit mit der Mitte der Gruppe",
      unmentioned: (condition) => `Sagt nichts über „${condition}“`,
      silent: (n) => (n === 1 ? " Ein Text sagt nichts darüber." : ` ${count(n)} Texte sagen nichts darüber.`),
      unknown: (n) => `${n === 1 ? "1 Text enthält" : `${count(n)} Texte enthalten`} Zeichen, die das Modell nicht kennt.`,
      cut: (n) => `${n === 1 ? "1 Text ist" : `${count(n)} Texte sind`} länger, als das Modell auf einmal liest: Das Ende wurde weggelassen.`,
      more: (n) => `${count(n)} weitere zeigen`,
      fewer: "Weniger zeigen",
    },
    verdict: {
      few: "Das sind zu wenige Texte, um zu sagen, ob sie Gruppen bilden.",
      none: (own, without) =>
        `Nichts spricht dafür, dass dies wirklich Gruppen sind: Ihr Silhouettenwert ist ${cosine(own)}, und ebenso verstreute Punkte ganz ohne Gruppen kommen auf ${cosine(without)}. Nehmen Sie sie als Einteilung der Liste, mehr nicht.`,
      some: (own, without) =>
        `Die Gruppen heben sich etwas voneinander ab: Ihr Silhouettenwert ist ${cosine(own)}, während ebenso verstreute Punkte ganz ohne Gruppen auf ${cosine(without)} kommen. Das sagt, wie sie liegen, nicht, ob sie das sind, was Sie suchen.`,
      clear: (own, without) =>
        `Die Gruppen heben sich klar voneinander ab: Ihr Silhouettenwert ist ${cosine(own)}, während ebenso verstreute Punkte ganz ohne Gruppen auf ${cosine(without)} kommen. Das sagt, wie sie liegen, nicht, ob sie das sind, was Sie suchen.`,
    },
    map: {
      title: "Karte",
      earlier: "Frühere Karte",
      what: "Das Zeichenprogramm der Karte",
      label: (n, groups) => `Karte mit ${texts(n)} in ${groups} ${groups === 1 ? "Gruppe" : "Gruppen"}. Die Liste der Gruppen enthält dieselben Texte.`,
      role: "Karte der Texte",
      help: "So lesen und bedienen Sie die Karte",
      note: "Nah heißt ähnlich: die ersten beiden Hauptkomponenten der Texte, wie sie unter der Bedingung erscheinen. Die Ziffern stehen bei dem Text, der der Mitte seiner Gruppe am nächsten ist.",
      keys: "Ziehen verschiebt die Karte, Strg mit dem Mausrad oder zwei Finger vergrößern sie. Ein Klick wählt einen Text aus; Ziehen mit der Umschalttaste zeichnet eine Linie um mehrere. Auf der Tastatur: Die Pfeiltasten gehen von Text zu Text, Bild auf und Bild ab durch eine Gruppe, + und − vergrößern und verkleinern, 0 zeigt alles, die Eingabetaste wählt aus.",
      tools: "Werkzeuge der Karte",
      closer: "Vergrößern",
      farther: "Verkleinern",
      whole: "Alles zeigen",
      lasso: "Texte umkreisen",
      colour: "Farbe",
      byGroup: "nach Gruppe",
      by: (column) => `nach ${column}`,
      legend: "Legende",
      selectAll: (name, n) => `${name}: ${n === 1 ? "den einen Text" : `alle ${count(n)} Texte`} auswählen`,
      noValue: "ohne Angabe",
      spoken: (text, group, value, isSelected) => `${text} Gruppe: ${group}.${value && ` ${value}.`}${isSelected ? " Ausgewählt." : ""}`,
      value: (column, value) => `${column}: ${value}`,
    },
    selection: {
      title: "Ausgewählte Texte",
      count: (n) => `${texts(n)} ausgewählt`,
      copy: "Kopieren",
      copied: "Kopiert",
      blocked: "Kopieren ist gesperrt",
      save: "Als CSV speichern",
      find: "Ähnliche finden",
      show: "In der Liste zeigen",
      clear: "Auswahl aufheben",
    },
    search: {
      label: "In der Liste suchen",
      placeholder: "ein englischer Text, dem sie ähneln sollen",
      marked: "Auf der Karte eingekreist; ein Klick wählt einen aus.",
      unmentioned: "sagt nichts darüber",
      found: (condition) => (condition ? `Am ähnlichsten nach „${condition}“` : "Am ähnlichsten"),
    },
    export: { csv: "Als CSV speichern", json: "Als JSON speichern" },
  },

  pairs: {
    title: "Viele Paare aus einer Tabelle vergleichen",
    lead: "Öffnen Sie eine Tabelle mit zwei Sätzen in jeder Zeile: CSV, Excel oder JSON. Eine Spalte mit Bedingungen sagt, worunter jede Zeile verglichen wird; ohne sie gelten die Bedingungen oben.",
    open: "Tabelle öffnen",
    first: "Erster Satz",
    second: "Zweiter Satz",
    condition: "Bedingung",
    above: "die Bedingungen oben",
    oneColumn: "Die Tabelle hat nur eine Spalte. Es braucht zwei, mit je einem Satz.",
    needCondition: "Geben Sie oben eine Bedingung ein, oder wählen Sie die Spalte mit den Bedingungen.",
    count: (n) => (n === 1 ? "1 Vergleich." : `${count(n)} Vergleiche.`),
    lacking: (n) => (n === 1 ? "In 1 Zeile fehlt ein Satz oder eine Bedingung; sie wird ausgelassen." : `In ${count(n)} Zeilen fehlt ein Satz oder eine Bedingung; sie werden ausgelassen.`),
    beyond: (max) => `Nur die ersten ${count(max)} werden gerechnet.`,
    compare: "Vergleichen",
    working: (share) => `Vergleicht: ${percent(share)}`,
    problem: "Die Paare konnten nicht verglichen werden",
    results: "Die Paare und ihre Ähnlichkeiten",
    tooLong: "zu lang",
    more: (n) => `${count(n)} weitere stehen in der gespeicherten Datei.`,
    failed: (n) => `${count(n)} konnten nicht verglichen werden.`,
    agreement: (name, rho, n) => `Rangkorrelation nach Spearman mit der Spalte „${name}“ über ${count(n)} Zeilen: ${cosine(rho)}.`,
    silent: (n) => `${n === 1 ? "1 Zeile zählt" : `${count(n)} Zeilen zählen`} nicht mit, weil ein Satz nichts über die Bedingung sagt.`,
  },

  takeAlong: {
    csv: "Diesen Vergleich speichern (CSV)",
    picture: "Als Bild speichern (PNG)",
    artist: "Das Zeichenprogramm für Bilder",
    by: (name: string) => `Von caselens mit dem Encoder „${name}“ verglichen, im Browser.`,
    snippet: "In die eigene Seite einbauen",
    copied: "HTML kopiert. Es braucht die npm-Pakete caselens und caselens-csts neben Ihrer Seite.",
  },

  suggestions: {
    title: "Auch einen Blick wert",
    add: "Hinzufügen:",
    looking: "Es werden Bedingungen gesucht, die diese beiden Sätze unterscheiden …",
    slow: "Dieses Gerät braucht seine Zeit, deshalb werden keine Bedingungen vorgeschlagen: Die Suche danach würde es lange beschäftigen.",
  },

  larger: {
    title: "Was ein größeres Modell sagt",
    lead: "Dieses Modell ist zu groß für einen Browser und läuft deshalb nicht hier: Es hat diese Paare vorab gelesen, und was es aus jedem Satz unter jeder Bedingung gemacht hat, liegt neben dieser Seite. Seine trainierte Projektion wurde eben auf Ihrem Gerät darauf angewendet. Neben seinen Antworten stehen die des Modells, das auf dieser Seite läuft.",
    theirs: "Größeres Modell",
    ours: "Diese Seite",
    people: "Menschen",
    licences: "Lizenzen",
    dims: (n) => `vergleicht ${count(n)} Zahlen je Satz`,
    pair: (place) => `Paar ${place}`,
    waiting: "…",
    unread: "zu lang",
    problem: "Die Antworten des größeren Modells können nicht gezeigt werden",
  },

  how: {
    title: "So funktioniert es",
    lead: "Das Modell bei der Arbeit an Ihren eigenen Sätzen, Schritt für Schritt. Jede Zahl auf dieser Seite kommt vom Modell selbst.",
    lessons: "Lektionen",
    question: "Frage",
    reveal: "Antwort zeigen",
    close: "Lektion schließen",
    answersOf: "Die Antworten wurden für den mitgelieferten Encoder „Klein“ geschrieben: Was Sie sehen, kommt von einem anderen und kann abweichen.",
    beside: {
      title: "Neben dem mitgelieferten Encoder",
      text: (case_, small) =>
        `CASE lässt seinen Encoder, wie er veröffentlicht wurde; der mitgelieferte wurde im Ganzen für diese Aufgabe trainiert. Bei Paaren, die Menschen bewertet haben, erreicht der erste eine Spearman-Korrelation von ${count(case_)} von 100, der zweite ${count(small)}. Hier sind beide mit Ihrem Paar.`,
      open: "Beide zeigen",
      download: (mb) => `Beide zeigen (${fixed(mb, 1)} MB zum Herunterladen)`,
      close: "Nur CASE zeigen",
      caption: (condition) => `Beide Encoder, unter „${condition}“`,
      rating: "Bewertung, höchstens 5",
      leftOut: "entfällt",
      waiting: "…",
      problem: "Der mitgelieferte Encoder konnte nicht daneben gezeigt werden",
    },
    condition: "Bedingung, die erklärt wird",
    needSentences: "Geben Sie beide Sätze ein, um zu sehen, wie sie verglichen werden.",
    others: "Andere Bedingungen",
    needCondition: "Geben Sie eine Bedingung ein, um zu sehen, was sie bewirkt.",
    problem: "Die Schritte konnten nicht berechnet werden",
    present: "Präsentieren",
    print: "Arbeitsblatt drucken",
    fill: "Vollbild",
    code: {
      title: "QR-Code",
      label: "QR-Code mit dem Link dieses Schritts",
      note: "Öffnet diesen Schritt auf einem anderen Gerät.",
      tooLong: "Die Texte sind zu lang für einen QR-Code. Kopieren Sie stattdessen den Link.",
    },
    leave: "Ende (Esc)",
    previous: "Vorheriger Schritt",
    next: "Nächster Schritt",
    place: (at, of) => `${at} / ${of}`,
    switches: {
      title: "Was wäre, wenn?",
      condition: "Bedingung",
      subtract: "Abziehen",
      head: "Head",
      pooling: "Gemittelte Token",
      poolings: { all: "Alle", condition: "Die der Bedingung", sentence: "Die des Satzes", cls: "Nur das erste" },
      noHead: "hat dieses Modell nicht",
      reset: "So, wie das Modell es macht",
      own: (s) => `Ähnlichkeit ${similarity(s)}, so berechnet, wie das Modell es gelernt hat.`,
      changed: (now, own) => `Ähnlichkeit ${similarity(now)} mit diesen Schaltern; so, wie das Modell es gelernt hat, sind es ${similarity(own)}.`,
    },
    step: (n) => `Schritt ${n}`,
    skipped: "Diesen Schritt lässt das Modell aus. Schalten Sie ihn unter „Was wäre, wenn?“ ein, um zu sehen, was er bewirken würde.",
    switchedOff: "Ausgeschaltet: Dieser Schritt entfällt.",
    noHead: "Dieses Modell hat keinen Head.",
    needsCondition: "Ohne Bedingung gibt es hier nichts zu sehen.",
    sentence: (n) => (n === 1 ? "Erster Satz" : "Zweiter Satz"),
    vector: (vector) => {
      const numbers = Array.from(vector.subarray(0, 5), (value) => fixed(value, 2)).join("; ");
      const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
      return `${vector.length} Zahlen: ${numbers}; … Länge ${fixed(length, 2)}.`;
    },
    strip: (what) => `${what}, als Streifen farbiger Zellen: blau unter null, gelb darüber.`,
    steps: {
      question: {
        title: "Zwei Sätze, eine Frage",
        text: "Wie ähnlich sind sich die beiden? Für sich gelesen, ohne Bedingung, bekommen sie eine einzige Zahl für alles zugleich. Die Bedingung fragt nur nach einem.",
        plain: "Ohne Bedingung",
      },
      tokens: {
        title: "Aus Wörtern werden Token",
        text: "Der Encoder liest Bedingung und Satz zusammen, als einen Text. Er kennt rund dreißigtausend Wortstücke, seine Token; seltene Wörter zerfallen in mehrere (## heißt: Das Wort geht weiter). [CLS] und [SEP] sind eigene Zeichen: der Anfang und das Ende eines Teils.",
        more: "Vor der ersten Schicht wird jedes Token zu 384 Zahlen, der Summe dreier gelernter Listen: eine dafür, welches Stück es ist, eine für seine Position im Text (es gibt 512) und eine für sein Segment, das sagt, ob es zur Bedingung oder zum Satz gehört. Ohne Positionen wären „dog bites man“ und „man bites dog“ dasselbe.",
        moreOf: {
          large: "Vor der ersten Schicht wird jedes Token zu 768 Zahlen, der Summe zweier gelernter Listen: eine dafür, welches Stück es ist, und eine für seine Position im Text (es gibt 512). Wie weit zwei Token auseinanderliegen, zählt in der Aufmerksamkeit noch einmal. Segmente hat dieser Encoder nicht: Nur die Marken trennen die Bedingung vom Satz. Ohne Positionen wären „dog bites man“ und „man bites dog“ dasselbe.",
        },
        others: {
          large: "Der Encoder liest Bedingung und Satz zusammen, als einen Text. Er kennt rund dreißigtausend Wortstücke, seine Token; seltene Wörter zerfallen in mehrere (## heißt: Das Wort geht weiter). <s> und </s> sind eigene Zeichen: der Anfang und das Ende eines Teils.",
        },
        unknown: "[UNK] steht für alles, wofür er kein Stück hat: Solche Zeichen sehen für ihn alle gleich aus.",
      },
      attention: {
        title: "Die Bedingung schaut auf die Wörter",
        text: "In jeder Schicht schaut jedes Token auf alle anderen und nimmt etwas von ihnen auf; wie viel von welchem, ist seine Aufmerksamkeit. Hier sehen Sie, auf welche Wörter jedes Satzes die Token der Bedingung schauen: als Anteil dessen, was sie diesem Satz widmen, gemittelt über die Heads der Schicht. Das sagt nicht alles: Was von einem Wort aufgenommen wird, kann viel oder wenig sein, und jedes Token behält auch, was es schon hatte.",
        more: "Die Aufmerksamkeit ist die eine Hälfte einer Schicht. In der anderen, dem Feed-forward-Teil, geht jedes Token für sich durch ein kleines Netz: von 384 Zahlen auf 1.536 und zurück auf 384. Dort liegen zwei Drittel der Gewichte einer Schicht. Was dabei herauskommt, wird zu dem addiert, was das Token schon hatte, und geht in die nächste der sechs Schichten.",
        moreOf: {
          large: "Die Aufmerksamkeit ist die eine Hälfte einer Schicht. In der anderen, dem Feed-forward-Teil, geht jedes Token für sich durch ein kleines Netz: von 768 Zahlen auf 3.072 und zurück auf 768. Dort liegen zwei Drittel der Gewichte einer Schicht. Was dabei herauskommt, wird zu dem addiert, was das Token schon hatte, und geht in die nächste der zwölf Schichten.",
        },
        layer: "Schicht",
        of: (at, total) => `${at} von ${total}`,
        share: (text, share) => `${text}: ${percent(share)}`,
        rest: (share) => `${percent(share)} der Aufmerksamkeit der Bedingung gelten diesem Satz, der Rest der Bedingung selbst und den Zeichen.`,
      },
      embedding: {
        title: "Aus Token wird ein Vektor",
        text: "Nach der letzten Schicht ist jedes Token eine Reihe von Zahlen. Ihr Mittelwert ist das Embedding: was dieser Satz ist, soweit es die Bedingung angeht. Mit einer anderen Bedingung ändert sich das Bild, obwohl der Satz derselbe bleibt.",
        others: {
          case: "Nach der letzten Schicht ist jedes Token eine Reihe von Zahlen. Jedes Token der Bedingung hat inzwischen auf den Satz geschaut; ihr Mittelwert ist das Embedding: was dieser Satz ist, soweit es die Bedingung angeht. Mit einer anderen Bedingung ändert sich das Bild, obwohl der Satz derselbe bleibt.",
        },
        what: "Embedding jedes Satzes mit der Bedingung",
        plain: "Embedding jedes Satzes für sich",
      },
      subtraction: {
        title: "Die Bedingung wird abgezogen",
        text: "Die Wörter der Bedingung stecken in beiden Embeddings und lassen sie ähnlich aussehen, was auch immer die Sätze sagen. CASE, das Verfahren, aus dem diese Seite entstanden ist, zieht das Embedding der Bedingung allein ab, f(s, c) − f(c), und übrig bleibt der Anteil des Satzes. Der mitgelieferte Encoder ist nicht CASE selbst: Er wurde ohne diesen Schritt feinabgestimmt.",
        others: {
          large: "Die Wörter der Bedingung stecken in beiden Embeddings und lassen sie ähnlich aussehen, was auch immer die Sätze sagen. CASE, das Verfahren, aus dem diese Seite entstanden ist, zieht das Embedding der Bedingung allein ab, f(s, c) − f(c), und übrig bleibt der Anteil des Satzes. Der große Encoder ist nicht CASE selbst: Er wurde ohne diesen Schritt feinabgestimmt.",
          case: "Die Wörter der Bedingung stecken in beiden Embeddings und lassen sie ähnlich aussehen, was auch immer die Sätze sagen: Sehen Sie, wie hoch ihr Kosinus vor diesem Schritt ist. CASE zieht das Embedding der Bedingung allein ab, f(s, c) − f(c), und übrig bleibt der Anteil des Satzes.",
        },
        alone: "Die Bedingung allein",
        what: "Was von jedem Satz übrig bleibt",
      },
      head: {
        title: "Ein Head schärft nach",
        text: "Wo der Encoder bleibt, wie er veröffentlicht wurde, wird ein kleines Netz darauf trainiert: Es behält die Zahlen, von denen die Bewertungen der Menschen abhängen. Ein Encoder, der im Ganzen feinabgestimmt ist wie der mitgelieferte, hat das selbst gelernt und braucht keinen.",
        others: {
          large: "Wo der Encoder bleibt, wie er veröffentlicht wurde, wird ein kleines Netz darauf trainiert: Es behält die Zahlen, von denen die Bewertungen der Menschen abhängen. Ein Encoder, der im Ganzen feinabgestimmt ist wie der große, hat das selbst gelernt und braucht keinen.",
          case: "Der Encoder bleibt, wie er veröffentlicht wurde: Ihm hat nie jemand gesagt, was Menschen unter einer Bedingung für ähnlich halten. Dem kleinen Netz darauf schon, an elftausend bewerteten Paaren: Es behält, wovon ihre Bewertungen abhängen, in weniger Zahlen.",
        },
        what: "Jeder Satz nach dem Head",
      },
      cosine: {
        title: "Eine Zahl bleibt",
        text: "Zwei Vektoren, die in dieselbe Richtung zeigen, haben den Kosinus 1, zwei im rechten Winkel den Kosinus 0. Das ist die Ähnlichkeit; als Bewertung von 1 bis 5 ist sie 1 + 4 · Kosinus, wobei ein Kosinus unter 0 als 0 zählt, oder, bei den mitgelieferten Encodern, was Menschen Paaren mit solchem Kosinus gaben.",
        more: "Was eine Bedingung bedeutet, hat niemand in das Modell hineingeschrieben: Es wurde trainiert. Sein Encoder hatte aus mehr als einer Milliarde Textpaaren gelernt, welche zusammengehören. Dann wurden seine Kosinuswerte mit den Urteilen von Menschen über 11.342 Paare unter einer Bedingung verglichen, und mit weiteren Paaren, die ein größeres Modell beurteilt hat; nach jeweils einigen Paaren wurde jedes seiner 22 Millionen Gewichte ein wenig verschoben, sodass Kosinus und Urteil sich näherkommen, immer wieder.",
        moreOf: {
          large: "Was eine Bedingung bedeutet, hat niemand in das Modell hineingeschrieben: Es wurde trainiert. Sein Encoder hatte aus mehr als einer Milliarde Textpaaren gelernt, welche zusammengehören. Dann wurden seine Kosinuswerte mit den Urteilen von Menschen über 11.342 Paare unter einer Bedingung verglichen, und mit weiteren Paaren, die ein größeres Modell beurteilt hat; 2.230-mal wurde jedes seiner 110 Millionen Gewichte ein wenig verschoben, sodass Kosinus und Urteil sich näherkommen.",
          case: "Was eine Bedingung bedeutet, hat niemand in das Modell hineingeschrieben: Es wurde trainiert. Sein Encoder hatte aus mehr als einer Milliarde Textpaaren gelernt, welche zusammengehören, und blieb so. Nur der Kopf wurde mit den Urteilen von Menschen über 11.342 Paare unter einer Bedingung verglichen: Nach jeweils einigen Paaren wurde jedes seiner Gewichte ein wenig verschoben, sodass Kosinus und Urteil sich näherkommen, immer wieder.",
        },
        chart: "Kosinus nach jedem Schritt",
        names: { plain: "ohne Bedingung", joint: "mit Bedingung", offset: "abgezogen", projected: "nach dem Head" },
        angle: (s, degrees) => `Kosinus ${cosine(s)}: Die beiden Vektoren liegen ${degrees}° auseinander.`,
        rating: (r) => `Bewertung ${rating(r)} von 5`,
        unsaid: {
          both: "Soweit das Modell es erkennt, sagt keiner der Sätze etwas über die Bedingung: Eine Antwort gibt es nicht.",
          first: "Soweit das Modell es erkennt, sagt nur der zweite Satz etwas über die Bedingung: Eine Antwort gibt es nicht.",
          second: "Soweit das Modell es erkennt, sagt nur der erste Satz etwas über die Bedingung: Eine Antwort gibt es nicht.",
        },
      },
    },
    heads: {
      title: "Heads der Aufmerksamkeit",
      lead: "Eine Schicht hat mehrere Heads der Aufmerksamkeit, von denen jeder auf seine eigene Weise schaut; das Mittel über alle, wie oben, verbirgt das. Wohin ein Head schaut, ist ein Hinweis darauf, was das Modell nutzt, kein Beweis.",
      sentences: "Wessen Token",
      waiting: "Die Heads werden gelesen …",
      choose: (layer: number, layers: number) =>
        `Die Heads von Schicht ${layer} von ${layers}. Jede Zeile eines Bildes ist ein Token, das schaut, jede Spalte eines, auf das geschaut wird; je kräftiger die Farbe, desto größer der Anteil. Wählen Sie einen Head, um ihn näher zu sehen.`,
      head: (n: number, from: string, to: string, share: string) => `${n}: Head ${n}, dessen größter Anteil ${share} ist, von „${from}“ zu „${to}“`,
      picture: (n: number) => `Head ${n}: welches Token wohin schaut. Wählen Sie eines, um nur seine Blicke zu sehen.`,
      all: "Alle Token",
      most: "Wohin jedes Token am meisten schaut:",
      look: (from: string, to: string, share: string) => `${from} → ${to}: ${share}`,
      looks: (from: string, most: string) => `„${from}“ schaut am meisten auf ${most}.`,
      share: (to: string, share: string) => `${to}: ${share}`,
      rest: (n: number, share: string) => `${n === 1 ? "1 anderes Token" : `${n} andere Token`}: ${share}`,
      problem: "Die Heads konnten nicht gelesen werden",
    },
    space: {
      title: "Der Raum, und wie eine Bedingung ihn bewegt",
      lead: "Jedes Zeichen ist ein Satz: Zwölf sagen, wer was wo tut, und 1 und 2 sind Ihre. Wählen Sie eine Bedingung und sehen Sie, welche Sätze zusammenrücken.",
      under: "Bedingungen zum Ausprobieren",
      none: "keine Bedingung",
      waiting: "Die Sätze werden gelesen …",
      plain: "Die Sätze auf einer Ebene, ohne Bedingung",
      picture: (condition) => `Die Sätze auf einer Ebene, unter „${condition}“`,
      nearest: (text, s) => `Von den zwölf ist „${text}“ Ihrem ersten Satz am ähnlichsten: ${s}.`,
      note: (dims) => `Eine Einbettung hat ${dims} Zahlen, eine Ebene zwei: Sie zeigt die beiden Richtungen, in denen sich die Sätze am meisten unterscheiden (Hauptkomponenten). Was nah beieinander liegt, kann weiter auseinander sein, als es aussieht.`,
    },
    rate: {
      title: "Erst selbst schätzen, dann das Modell fragen",
      lead: "Acht Paare von Bildunterschriften, die Menschen bewertet haben. Sagen Sie, wie ähnlich jedes unter seiner Bedingung ist; dann sehen Sie, was das Modell sagt und was Menschen sagten.",
      place: (n, of) => `Paar ${n} von ${of}`,
      question: "Wie ähnlich sind sie sich nach:",
      ends: ["gar nicht", "gleich"],
      waiting: "Das Modell wird gefragt …",
      answer: (own, model, people) => `Sie sagen ${own}, das Modell sagt ${rating(model)}, Menschen sagten ${people}.`,
      next: "Nächstes Paar",
      again: "Von vorn",
      pair: "Paar",
      you: "Sie",
      model: "Modell",
      people: "Menschen",
      away: (own, model) => `Im Mittel liegen Sie ${rating(own)} von dem entfernt, was Menschen sagten, das Modell ${rating(model)}.`,
      source: "Die Paare und ihre Bewertungen stammen aus den neu annotierten Validierungsdaten von C-STS (LivNLP, CC BY 4.0); das Modell wurde nicht auf ihnen trainiert.",
    },
    teachers: {
      title: "Für Lehrkräfte: Ziele, Zeit, Niveau, Glossar",
      goals: {
        title: "Danach können die Lernenden …",
        items: [
          "sagen, warum zu „ähnlich“ ein „worin“ gehört, und Paare nennen, die sich unter einer Bedingung ähnlich sind und unter einer anderen nicht;",
          "einen Satz verfolgen, von den Wörtern über Token und Vektor bis zu einer Zahl;",
          "ablesen, worauf ein Modell achtet, und sagen, warum das ein Hinweis ist und kein Beweis;",
          "Fragen finden, die das Modell falsch beantwortet, und den Grund vermuten.",
        ],
      },
      frame: {
        title: "Zeit, Niveau, Voraussetzungen",
        items: [
          "45 Minuten für die Lektionen 1 und 3 mit einem Arbeitsblatt; 90 Minuten für alle sechs.",
          "Ab etwa 14 Jahren: Mehr als Winkel muss man nicht kennen. Die Lektionen 4 bis 6 sind für die, die schon Vektoren hatten.",
          "Ein Browser und einmal 14 MB; danach geht es ohne Internet. Es gibt keine Benutzerkonten, und nichts, was eingegeben wird, wird verschickt. Die Sätze sind englisch.",
        ],
      },
      plan: {
        title: "Ein Plan für 45 Minuten",
        items: [
          "10 Minuten: Verteilen Sie die ersten Blätter des Arbeitsblatts; alle schätzen allein und vergleichen dann zu zweit.",
          "10 Minuten: Präsentieren Sie Lektion 1, und stellen Sie die Frage vor der Antwort.",
          "15 Minuten: Zu zweit schreiben die Lernenden ein eigenes Satzpaar, ähnlich nach einer Bedingung und nicht nach einer anderen, und versuchen, das Modell irrezuführen.",
          "10 Minuten: Lektion 3; dann das Lösungsblatt: Wo sind Sie anderer Meinung als das Modell, und wer hat recht?",
        ],
      },
      glossary: {
        title: "Glossar",
        terms: [
          ["Token", "Ein Stück Text, für das das Modell eine Nummer hat: ein Wort oder ein Teil davon."],
          ["Vektor, Embedding", "Eine Reihe von Zahlen, die für einen Text steht; hier sind es 384, im großen Encoder 768."],
          ["Aufmerksamkeit", "Wie viel ein Token in einer Schicht von jedem anderen Token aufnimmt."],
          ["Schicht", "Eine von sechs Runden (im großen Encoder sind es zwölf), in denen jedes Token aus allen neu berechnet wird."],
          ["Head", "In einer Schicht: eine von zwölf Aufmerksamkeiten nebeneinander. Nach dem Encoder: ein kleines Netz auf einem Embedding."],
          ["Kosinus", "Wie weit zwei Vektoren in dieselbe Richtung zeigen: 1 in dieselbe, 0 im rechten Winkel."],
          ["Feinabstimmung", "Ein Modell, das schon trainiert ist, für eine Aufgabe noch etwas weiter trainieren."],
          ["Spearman-Korrelation", "Wie gut zwei Rangfolgen übereinstimmen: 100 ganz, 0 gar nicht."],
        ],
      },
    },
    sources: {
      title: "Quellen",
      papers: [
        { what: "Die Aufgabe und Paare, die Menschen bewertet haben:", text: "C-STS: Conditional Semantic Textual Similarity (Deshpande et al., EMNLP 2023)", url: "https://arxiv.org/abs/2305.15093" },
        { what: "Die Methode, aus der diese Seite entstand, mit Subtraktion und Kopf:", text: "CASE: Condition-Aware Sentence Embeddings (Zhang et al., EACL 2026)", url: "https://arxiv.org/abs/2503.17279" },
        { what: "Aufmerksamkeit, ihre Köpfe und Schichten:", text: "Attention Is All You Need (Vaswani et al., NeurIPS 2017)", url: "https://arxiv.org/abs/1706.03762" },
        { what: "Ein Encoder aus Tokens, [CLS] und [SEP]:", text: "BERT (Devlin et al., NAACL 2019)", url: "https://arxiv.org/abs/1810.04805" },
        { what: "Der Mittelwert der Tokens und der Kosinus:", text: "Sentence-BERT (Reimers and Gurevych, EMNLP 2019)", url: "https://arxiv.org/abs/1908.10084" },
        { what: "Woraus der kleine Encoder entstand:", text: "MiniLM (Wang et al., NeurIPS 2020)", url: "https://arxiv.org/abs/2002.10957" },
        { what: "Woraus der große Encoder entstand:", text: "MPNet (Song et al., NeurIPS 2020)", url: "https://arxiv.org/abs/2004.09297" },
        { what: "Warum Aufmerksamkeit ein Hinweis ist und kein Beweis:", text: "Attention is not Explanation (Jain and Wallace, NAACL 2019)", url: "https://arxiv.org/abs/1902.10186" },
      ],
    },
    worksheet: {
      pairs: (n) => (n === 1 ? "1 Paar auf dem Arbeitsblatt" : `${n} Paare auf dem Arbeitsblatt`),
      pick: "Neben dem Paar oben:",
      title: "Ähnlich? Je nachdem, wie man hinsieht.",
      name: "Name",
      task: "Zwei Sätze können sich unter einer Bedingung ähnlich sein und unter einer anderen nicht. Schätzen Sie zu jeder Bedingung, wie ähnlich sie sich sind: 0 heißt gar nicht, 1 heißt ganz und gar. Schreiben Sie auf, was den Ausschlag gab, und vergleichen Sie dann mit den Zahlen des Modells auf dem Lösungsblatt.",
      columns: ["Bedingung", "Meine Schätzung (0–1)", "Weil …"],
      ownRows: "Zwei eigene Bedingungen:",
      answers: "Die Antworten des Modells",
      of: (name) => `Vom Encoder „${name}“.`,
      none: "ohne Bedingung",
      similarity: "Ähnlichkeit",
      unanswered: "Das Modell hatte noch keine Antworten, als dies gedruckt wurde.",
      think: "Wo weicht Ihre Schätzung um mehr als 0,3 vom Modell ab? Wer hat recht?",
    },
  },

  unkept: {
    title: "Diese Seite braucht ein Netz",
    lead: "caselens selbst läuft auch ohne. Die API-Referenz und die Lizenzen werden aber nicht auf diesem Gerät aufbewahrt und lassen sich gerade nicht laden.",
    back: "Zurück zu caselens",
    again: "Noch einmal versuchen",
  },

  speed: {
    title: "Wie schnell ist es auf diesem Gerät?",
    lead: "Lässt den mitgelieferten Encoder in diesem Browser laufen: Stapel in vier Größen, auf der CPU und auf WebGPU. Das dauert etwa anderthalb Minuten.",
    back: "Zur Demo",
    begin: "Messen",
    again: "Noch einmal messen",
    stop: "Anhalten",
    copy: "Als Markdown kopieren",
    copied: "Kopiert",
    blocked: "Kopieren ist gesperrt",
    measuring: (name) => `Es wird gemessen: ${name} …`,
    cpu: (threads) => `CPU, ${threads === 1 ? "ein Worker" : `${threads} Worker`}`,
    shapes: {
      a: "2 × 25 Token",
      b: "32 × 25 Token",
      c: "32 × 128 Token",
      d: "32 × 8–128 Token, gemischt",
    },
    milliseconds: (n) => `${n} ms`,
    texts: (n) => `${n} Texte/s`,
    operations: (gops, share) =>
      `${gops} GOP/s${share === undefined ? "" : share >= 0.995 ? ", die gemessene Spitze" : `, ${percent(share)} der Spitze`}`,
    start: "Start bis zur ersten Antwort",
    note: "Jede Zahl ist die mittlere Zeit (der Median) eines Stapels über anderthalb Sekunden. GOP/s zählt zwei Rechenschritte je Gewicht und Token sowie die Produkte der Aufmerksamkeit. Die Spitze ist, was die Prozessoren der Worker in einer Schleife desselben Befehls erreichen. Andere Tabs, ein schwacher Akku und ein warmes Gerät bremsen. Beim Start kommen die Dateien aus dem Cache des Browsers, wenn sie dort liegen.",
  },

  footer: {
    language: "Sprache",
    speed: "Wie schnell ist es auf diesem Gerät?",
    reference: "API-Referenz (englisch)",
    licence: "caselens ist freie Software unter MIT oder Apache-2.0.",
    notices: "Wessen Arbeit darin steckt und unter welchen Lizenzen",
    credits: [
      {
        text: "Encoder: all-MiniLM-L6-v2 von sentence-transformers (Apache-2.0),",
        url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
      },
      {
        text: "feinabgestimmt auf C-STS in der Neubewertung durch die Autoren von CASE (CC BY 4.0).",
        url: "https://github.com/LivNLP/CSTS-reannotation",
      },
      {
        text: "Schrift: Atkinson Hyperlegible Next (OFL 1.1).",
        url: "https://www.brailleinstitute.org/freefont/",
      },
    ],
  },
};

export const lessons: Lessons = [
  {
    title: "Ein Paar, zwei Antworten",
    question: "Sie spielt Schach im Park, er spielt Fußball im Park. Sind sich die beiden Sätze ähnlich?",
    answer:
      "Es kommt darauf an, wonach man fragt. Nach dem Ort sind sie fast gleich, nach dem Spiel nicht, und ohne Bedingung liegt die Zahl irgendwo dazwischen. Deshalb geht zu jedem Satz eine Bedingung in das Modell.",
    sentences: ["She plays chess in the park", "He plays football in the park"],
    conditions: ["the place", "the game", "the person"],
    chosen: 0,
  },
  {
    title: "Was bewirkt die Bedingung?",
    question: "Schalten Sie die Bedingung aus. Was geschieht mit der Ähnlichkeit, und welche Schritte bleiben übrig?",
    answer:
      "Ohne Bedingung wird jeder Satz für sich gelesen, und nur der Mittelwert seiner Token bleibt: eine Zahl für alles zugleich, in der dasselbe rote Sofa die verschiedenen Tiere aufwiegt. Schalten Sie die Bedingung wieder ein, und die beiden erweisen sich nach dem Tier als unähnlich; wählen Sie die Möbel, und sie sind fast gleich. Kein Wort der Sätze hat sich geändert.",
    sentences: ["A black dog sleeps on a red sofa.", "A white cat sleeps on a red sofa."],
    conditions: ["the type of animal", "the furniture"],
    chosen: 0,
  },
  {
    title: "Wohin schaut es?",
    question: "Auf welche Wörter sollte „the number of people“ (die Zahl der Personen) schauen? Raten Sie, und sehen Sie dann im Schritt zur Aufmerksamkeit nach.",
    answer:
      "In der letzten Schicht gilt die meiste Aufmerksamkeit im ersten Satz dem Wort „Three“, und im zweiten bekommt „A lone“ mehr als jedes andere Wort: dort, wo auch Sie hinschauen würden. Aber ein guter Teil bleibt bei der Bedingung selbst und den Zeichen, und die ersten Schichten schauen woandershin. Aufmerksamkeit ist eines von vielem, was die Antwort formt: ein Hinweis, kein Beweis.",
    sentences: ["Three children build a sandcastle on the beach.", "A lone surfer waits for a wave on the beach."],
    conditions: ["the number of people", "the location"],
    chosen: 0,
  },
  {
    title: "Schicht für Schicht",
    question: "Gehen Sie im Schritt zur Aufmerksamkeit durch die Schichten des Encoders. Schauen die frühen Schichten auf dieselben Wörter wie die letzte?",
    answer:
      "Nein. In der ersten Schicht sind die Anteile fast gleich; in der letzten gehen die meisten an „spotless“ (blitzsauber) und „filthy“ (verdreckt). Aber ein guter Teil, ein Fünftel und mehr, geht immer noch an Wörter und Zeichen, die nichts über die Sauberkeit sagen: Das Modell schaut nicht nur auf die richtige Stelle. Jede Schicht liest, was die vorige geschrieben hat, und keine einzelne ist „die“ Erklärung.",
    sentences: [
      "The hotel by the harbour was spotless, but breakfast cost thirty euros.",
      "Our hostel by the harbour was filthy, though breakfast was free.",
    ],
    conditions: ["the cleanliness", "the price of breakfast", "the location"],
    chosen: 0,
  },
  {
    title: "Die Bedingung abziehen",
    question: "Das klassische Rezept, CASE, zieht das Embedding der Bedingung selbst ab. Schalten Sie das Abziehen ein: Hilft es hier?",
    answer:
      "Nein: Schlafen und Rennen werden ähnlicher, nicht unähnlicher. Dieser Encoder wurde ohne diesen Schritt feinabgestimmt: Mit dem, was abgezogen wird, verschwindet ein Teil dessen, was er auszudrücken gelernt hat. CASE hat den Schritt für Encoder gemacht, die bleiben, wie sie sind: Dort lassen die Wörter der Bedingung je zwei Lesarten ähnlich aussehen und werden deshalb abgezogen.",
    sentences: ["A black dog sleeps on a red sofa.", "A brown dog runs through a green field."],
    conditions: ["the activity", "the type of animal"],
    chosen: 0,
  },
  {
    title: "Welche Token zählen?",
    question: "Das Embedding ist der Mittelwert aller Token. Was, wenn nur die der Bedingung oder nur das erste bleiben? Wählen Sie sie unter „Was wäre, wenn?“.",
    answer:
      "Jedes Token hat die ganze Eingabe gelesen, deshalb führt jede Wahl zu einer Antwort. Die Token der Bedingung kommen dem Mittelwert aller nahe; mit dem ersten Token allein werden sich ein Akku, der in einer Stunde leer ist, und einer, der tagelang hält, ähnlicher. Der mitgelieferte Encoder wurde mit dem Mittelwert aller Token trainiert und arbeitet so am besten.",
    sentences: [
      "The camera takes beautiful photos, but its battery dies within an hour.",
      "The camera takes blurry photos, but its battery lasts for days.",
    ],
    conditions: ["the photo quality", "the battery life", "the type of product"],
    chosen: 1,
  },
];
