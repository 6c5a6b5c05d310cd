// The page in French.

import { cosine, difference, rating, similarity } from "../format";
import type { Lessons, Strings } from "../strings";

/** A language's name, by its ISO 639-1 code. */
const languages = new Intl.DisplayNames("fr", { type: "language" });
const language = (code: string): string => languages.of(code) ?? code;

const count = (n: number): string => n.toLocaleString("fr");
const decimal = (value: number, digits: number): string =>
  value.toLocaleString("fr", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−");
const percent = (share: number): string => `${Math.floor(share * 100)} %`;
const rounded = (share: number): string => `${Math.round(100 * share)} %`;
const megabytes = (bytes: number): string => `${decimal(bytes / 1e6, 1)} Mo`;
const size = (mb: number): string => `${decimal(mb, 1)} Mo`;
const quoted = (text: string): string => `« ${text} »`;

/** In French 0 and 1 are singular. */
const isOne = (n: number): boolean => n < 2;
const counted = (n: number, one: string, many: string): string => `${count(n)} ${isOne(n) ? one : many}`;

/** How a similarity compares with the naked eye's, for screen readers. */
const compared = {
  more: (size: string) => `soit ${size} de plus que sans condition`,
  less: (size: string) => `soit ${size} de moins que sans condition`,
  same: () => "la même que sans condition",
};

function spoken(condition: string, s: number, unconditional: number): string {
  const { kind, size } = difference(s, unconditional);
  return `${condition} : similarité ${similarity(s)}, ${compared[kind](size)}.`;
}

/** What each of the examples is about, and its title: in the order of state/examples.ts. */
const exampleNames: readonly (readonly [string, string])[] = [
  ["Quotidien", "Au parc"],
  ["Personnes", "À la plage"],
  ["Animaux", "Deux chiens"],
  ["Sport", "Match de tennis"],
  ["Voyage", "Deux séjours"],
  ["Avis", "Deux appareils"],
  ["Recette", "Poivrons, pommes"],
  ["Assistance", "Deux tickets"],
  ["Actualité", "Dans les rues"],
  ["Humeurs", "Au téléphone"],
  ["Cinéma", "Deux veufs"],
  ["Transport", "Vers Vienne"],
];

export const strings: Strings = {
  name: "caselens",
  skip: "Aller aux phrases",
  headline: ["Semblables ?", "Tout dépend du regard."],
  // What search engines and bookmarks show of the page.
  description: "Écrivez deux phrases et une condition, et voyez à quel point elles se ressemblent. Le modèle s’exécute dans votre navigateur ; ce que vous écrivez y reste.",
  // The names of the browser's tab.
  documents: {
    compare: "caselens : à quel point deux phrases se ressemblent-elles selon une condition ?",
    list: "caselens : grouper une liste selon ce que l’on cherche",
    how: "caselens : fonctionnement",
    larger: "caselens : ce qu’en dit un plus grand modèle",
    speed: "caselens : quelle vitesse sur cet appareil ?",
    unkept: "caselens : cette page a besoin du réseau",
  },
  lead: "Voyez à quel point deux phrases se ressemblent selon une condition : le lieu, l’humeur, le prix, ou une autre de votre choix.",
  // Beside the fields for texts: that they are to be in English.
  inEnglish: "Le modèle lit l’anglais : écrivez les phrases et les conditions en anglais.",

  views: { label: "Vues", names: { compare: "Comparer", list: "Liste", how: "Fonctionnement", larger: "Plus grand modèle" } },

  update: { ready: "Une nouvelle version de cette page est prête.", take: "Recharger la page" },

  theme: { toDark: "Sombre", toLight: "Clair", label: (next: string) => `Passer au thème ${next.toLowerCase()}` },
  copy: {
    idle: "Copier le lien",
    done: "Lien copié",
    partly: "Lien copié sans les textes : ils sont trop longs pour un lien",
    blocked: "Copie bloquée : prenez le lien dans la barre d’adresse",
    tooLong: "Trop long pour un lien : raccourcissez les phrases",
  },

  examples: { title: "Essayez un exemple, ou", own: "partez de vos propres phrases", names: exampleNames },

  undo: {
    undo: "Annuler",
    key: "Ctrl+Z",
    removed: (condition: string) => `Condition ${quoted(condition)} retirée.`,
    cleared: "La page est vide.",
    swapped: "Les phrases ont changé de place.",
    replaced: "L’exemple a remplacé ce que vous aviez saisi.",
  },

  sentences: {
    title: "Deux phrases",
    first: "Première phrase",
    second: "Seconde phrase",
    own: "Écrivez la vôtre",
    swap: "Échanger les phrases",
    placeholder: "Écrivez votre phrase, en anglais",
    cut: "Plus longue que ce que le modèle lit en une fois : sa fin n’est pas comparée.",
    foreign: (found: string, trained: readonly string[]) =>
      `Cette phrase semble être en ${language(found)} ; le modèle a été entraîné en ${trained.map(language).join(", ")}. Ses nombres ne veulent pas dire grand-chose.`,
    foreignAmong: (texts: number, found: readonly string[], trained: readonly string[]) =>
      `${counted(texts, "texte semble", "textes semblent")} être en ${found.map(language).join(", ")} ; le modèle a été entraîné en ${trained.map(language).join(", ")}. Ce qu’il en dit ne signifie pas grand-chose.`,
  },

  attention: {
    unit: "% d’attention",
    share: (text: string, share: number) => `${text} ${rounded(share)}`,
    looks: (first: readonly string[], second: readonly string[]) =>
      `Regarde, dans la première phrase, ${first.join(", ")} ; dans la seconde, ${second.join(", ")}.`,
  },

  conditions: {
    title: "Selon quelle condition ?",
    heading: "Condition",
    label: (n: number) => `Condition ${n}`,
    add: "Ajouter une condition",
    placeholder: "Votre condition, en anglais",
    remove: (text: string) => `Retirer ${text ? quoted(text) : "la condition vide"}`,
    keys: "Pointez une condition pour voir les phrases à travers elle. Entrée passe à la condition suivante ; plusieurs lignes collées deviennent plusieurs conditions ; Retour arrière retire une condition vide ; Ctrl+Z rétablit ce qui a été retiré.",
    pasted: (lines: number, kept: number, max: number) =>
      `Sur ${counted(lines, "ligne collée", "lignes collées")}, ${count(kept)} ${isOne(kept) ? "a été gardée" : "ont été gardées"} : chaque condition une seule fois, et ${max} au plus sur cette page.`,
    repeated: (place: number) => `Identique à la condition ${place} : elle n’est pas comparée deux fois.`,
    cut: "Tout le texte ne tenait pas à côté de cette condition : la fin d’une phrase a été laissée de côté.",
    unknown: (n: number) =>
      `${counted(n, "morceau", "morceaux")} des textes ${isOne(n) ? "est inconnu" : "sont inconnus"} du modèle, qui ${isOne(n) ? "le" : "les"} lit comme un blanc.`,
    advice: {
      value: "Ceci affirme quelque chose. Nommez ce qui est à comparer : « the colour » au lieu de « the colour is green ».",
      sentence: "Une condition porte sur ce que disent les phrases : « the dog » au lieu de « the dog in the sentence ».",
    },
  },

  results: {
    unaided: "À l’œil nu",
    unaidedNote: "sans condition",
    similarity: "Similarité",
    against: "Par rapport à l’œil nu",
    none: "–",
    outOf: "/ 5",
    more: "de plus",
    less: "de moins",
    same: "inchangé",
    under: (condition: string) => `selon ${quoted(condition)}`,
    needSentences: "Saisissez les deux phrases pour les comparer.",
    needCondition: "Saisissez une condition selon laquelle comparer les phrases.",
    beforehand: "Réponses calculées à l’avance par le même modèle.",
    unsaid: { both: "aucune phrase ne le dit", first: "seule la seconde le dit", second: "seule la première le dit" },
    spokenUnsaid: (condition: string, which: string) => `${condition} : ${which}.`,
    doubt: { foreign: "incertain : pas en anglais", unknown: "incertain : caractères inconnus", cut: "incertain : lu en partie" },
    spokenDoubt: (condition: string, s: number, why: string) => `${condition} : similarité ${similarity(s)}, ${why}.`,
    spoken,
    spokenUnaided: (s: number) => `Sans condition : similarité ${similarity(s)}.`,
  },

  engine: {
    title: "Où et comment le modèle s’exécute",
    megabytes,
    milliseconds: (ms: number) => `${ms < 10 ? decimal(ms, 1) : Math.round(ms)} ms`,
    device: "Exécution",
    adapter: "Adaptateur",
    instructions: "Instructions",
    model: "Modèle",
    dtype: "Poids",
    size: "Téléchargement",
    time: "Dernière réponse",
    names: { webgpu: "WebGPU", wasm: "CPU (WebAssembly)" } as Record<string, string>,
    noAdapter: "aucun",
    choose: "Exécuter sur",
    choices: { auto: "Auto", webgpu: "WebGPU", wasm: "CPU" },
  },

  encoders: {
    title: "Quel encodeur répond ?",
    names: { small: "Petit", large: "Grand", case: "CASE, tel que publié" },
    what: {
      small: "all-MiniLM-L6-v2, affiné pour les conditions : l’encodeur fourni.",
      large: "all-mpnet-base-v2, affiné : meilleur sur les avis et les textes de tous les jours, sept fois plus lent.",
      case: "all-MiniLM-L6-v2 inchangé : la condition est soustraite, et une petite tête est entraînée par-dessus. Il montre toutes les étapes.",
    },
    // What choosing it costs.
    inUse: (mb: number) => `${size(mb)}, en service`,
    kept: (mb: number) => `${size(mb)}, sur cet appareil`,
    toDownload: (mb: number) => `${size(mb)} à télécharger`,
    offline: (mb: number) => `${size(mb)}, demande un réseau`,
    base: {
      text: "all-mpnet-base-v2 est l’œuvre de sentence-transformers (Apache-2.0).",
      url: "https://huggingface.co/sentence-transformers/all-mpnet-base-v2",
    },
    answers: (name: string) => `L’encodeur ${quoted(name)} répond.`,
    cancel: "Annuler",
    failed: (name: string) => `L’encodeur ${quoted(name)} n’a pas pu être chargé`,
    stays: (name: string) => `L’encodeur ${quoted(name)} continue de répondre.`,
    ask: (name: string, mb: number) =>
      `Votre connexion semble lente, ou réglée pour économiser les données. L’encodeur ${quoted(name)} représente ${size(mb)} à télécharger, une seule fois : il reste ensuite sur cet appareil.`,
    agree: (mb: number) => `Télécharger ${size(mb)}`,
    stay: (name: string) => `Garder ${quoted(name)}`,
    instead: (name: string) => `Prendre plutôt ${quoted(name)}`,
    waiting: "Pas encore téléchargé : la page demande d’abord.",
  },

  loading: {
    label: "Chargement du modèle",
    starting: "Chargement du modèle…",
    /** `total`: all that is to be loaded. */
    bytes: (loaded: number, total: number) =>
      `Chargement du modèle : ${megabytes(loaded)} sur ${megabytes(total)}, ${percent(Math.min(1, loaded / total))}.`,
    preparing: "Préparation du modèle…",
    meanwhile: "Vous pouvez déjà écrire.",
    ready: "Le modèle est prêt.",
  },

  problems: {
    retry: "Réessayer",
    details: "Ce qu’en dit le programme",
    // While a model is loaded, the package warns of this alone.
    notKept: "Ce navigateur ne laisse pas la page garder le modèle : il sera téléchargé de nouveau à la prochaine visite. Tout le reste marche.",
    useCpu: "Utiliser le CPU",
    title: "Le modèle n’a pas pu être chargé",
    compareTitle: "Les phrases n’ont pas pu être comparées",
    gpuLost: "Le GPU a cessé de fonctionner, la page est donc passée au CPU. Tout marche comme avant, un peu plus lentement.",
    // What happened and what to do, by the error's code. Codes that are not listed are told as `internal`.
    told: {
      "condition-too-long": "C’est trop long pour une condition : raccourcissez-la à quelques mots.",
      "invalid-text": "Le texte contient une moitié de caractère, comme il en reste d’un emoji coupé en deux. Supprimez-la, ou saisissez le caractère de nouveau.",
      integrity: "Le modèle reçu n’est pas celui de cette page. Si vous réessayez, il sera téléchargé de nouveau.",
      http: "Un fichier nécessaire n’est pas sur le serveur de cette page en ce moment. Réessayez plus tard.",
      network: "Le modèle n’a pas pu être joint. Vérifiez votre connexion, puis réessayez. Une fois chargé, il reste sur votre appareil et marche hors ligne.",
      "download-incomplete": "La connexion s’est interrompue avant l’arrivée du modèle complet. En général, il suffit de réessayer.",
      "model-format": "La copie enregistrée du modèle est abîmée. Si vous réessayez, il sera téléchargé de nouveau.",
      "not-enough-memory": "Cet appareil n’a pas assez de mémoire libre pour le modèle. Fermez d’autres onglets ou programmes, puis réessayez.",
      "webgpu-unavailable": "Ce navigateur n’offre pas de WebGPU utilisable. Le CPU donne les mêmes nombres.",
      "gpu-lost": "Le GPU a cessé de fonctionner. Le CPU donne les mêmes nombres.",
      unsupported:
        "Il manque à ce navigateur de quoi calculer le modèle : il est trop ancien, ou dans un mode renforcé comme le mode Isolement. Mettez-le à jour, faites une exception pour ce site ou essayez un autre navigateur.",
      worker:
        "Ce navigateur n’a pas laissé la page démarrer ce qui fait les calculs. Rechargez la page ; si cela ne suffit pas, essayez un autre navigateur, ou une fenêtre qui n’est pas privée.",
      "empty-text": "Un texte nécessaire est vide.",
      "unsupported-architecture": "Le modèle qui se trouve sur le serveur de cette page est d’un type qu’elle ne sait pas faire tourner. Seul l’exploitant du site peut y remédier.",
      tokenizer: "Le modèle qui se trouve sur le serveur de cette page est illisible. Seul l’exploitant du site peut y remédier.",
      "head-format": "Un fichier du modèle est abîmé. Si vous réessayez, il sera téléchargé de nouveau.",
      "head-mismatch": "Les fichiers du modèle qui se trouvent sur le serveur de cette page ne vont pas ensemble. Seul l’exploitant du site peut y remédier.",
      "bundle-format": "Les réponses enregistrées sont abîmées. Réessayez plus tard.",
      "bundle-schema": "Les réponses enregistrées sont d’une version que cette page ne lit pas. Seul l’exploitant du site peut y remédier.",
      "bundle-mismatch": "Les réponses enregistrées ne vont pas ensemble, ou sont incomplètes. Réessayez plus tard.",
      internal: "Cela ne devrait pas arriver. Rechargez la page ; si le problème revient, merci de le signaler avec les phrases que vous avez saisies.",
    } as Record<string, string>,
    tooLong: (place: 0 | 1, characters: number) =>
      `La ${place === 0 ? "première" : "seconde"} phrase compte ${count(characters)} caractères, plus que ce qui peut être lu en une fois. Réduisez-la à quelques paragraphes.`,
  },

  about: {
    how: {
      title: "Fonctionnement",
      text: [
        "Un petit modèle de langue lit chaque phrase avec votre condition, et fait de chaque paire un point dans l’espace : un point pour « la phrase, quant au lieu », un autre pour « quant au jeu ». Deux phrases se ressemblent selon une condition quand leurs points sont proches.",
        "Les disques le montrent : la part d’un disque que couvre la partie verte est la similarité. Le trait pointillé marque l’œil nu, c’est-à-dire la similarité des phrases seules : chaque barre dit donc ce que la condition a rapproché ou éloigné. Prenez cet écart comme un indice : le modèle a été entraîné à lire une condition, et sans elle il est moins sûr.",
      ],
    },
    right: {
      title: "Est-ce fiable ?",
      // Whose figures these are.
      of: {
        small: "",
        large: "Ces chiffres sont ceux de l’encodeur qui répond en ce moment, « Grand ».",
        case: "Ces chiffres sont ceux de l’encodeur qui répond en ce moment, « CASE, tel que publié ».",
      },
      failures: {
        title: "Voir où il se trompe",
        lead: "L’encodeur fourni juge ces paires autrement que des personnes. Ouvrez-en une et cherchez les mots avec lesquels il voit juste.",
        kinds: { roles: "Qui fait quoi à qui", irony: "Ironie", units: "Unités", time: "Heures", arithmetic: "Calcul", world: "Ce que l’on sait du monde" },
        model: (s: string) => `le modèle dit ${s} ;`,
        people: { alike: "des personnes diraient : pareil.", unlike: "des personnes diraient : pas pareil." },
        open: "Ouvrir cette paire",
      },
      strong: {
        title: "Souvent juste",
        text: ({ accuracy, rows, spearman }: { accuracy: number; rows: number; spearman: number }) =>
          `Sur ce qu’une phrase courte dit clairement : lieux, couleurs, activités, produits, sentiments, nombre de personnes. Quand des personnes donnent à une paire une note plus haute selon une condition que selon une autre, le modèle va dans leur sens dans ${Math.round(accuracy)} cas sur 100. Quand il classe ${count(rows)} paires, la corrélation de Spearman avec le classement fait par des personnes est de ${count(spearman)} sur 100.`,
      },
      weak: {
        title: "Souvent faux",
        text: ({ unseen }: { unseen: number }) =>
          `Sur les conditions qui diffèrent de celles qu’il a apprises (Spearman ${count(unseen)} là où il n’avait jamais vu la condition), qui fait quoi à qui, les dates et les heures, les unités et le calcul, l’ironie, ce qu’il faut savoir du monde, et les textes qui affirment beaucoup de choses. Il paraît tout aussi sûr quand il se trompe : fiez-vous à l’ordre de deux conditions plus qu’à un nombre isolé.`,
      },
      reads: {
        title: "Lit l’anglais",
        text: {
          small: "Il a été entraîné sur de courtes phrases en anglais, pour plus de la moitié des légendes de photos. Des autres langues, il ne comprend presque rien.",
          large: "Il a été entraîné sur des phrases en anglais, dont beaucoup de légendes de photos. Des autres langues, il ne comprend presque rien.",
          case: "Son encodeur a été entraîné sur des textes en anglais, sa tête uniquement sur des légendes de photos. Des autres langues, il ne comprend presque rien.",
        },
      },
      from: {
        title: "D’où cela vient",
        text: "C-STS (Conditional Semantic Textual Similarity, similarité textuelle sémantique conditionnelle) est la tâche : des paires de légendes que des personnes ont notées selon une condition. CASE (Condition-Aware Sentence Embeddings, plongements de phrases qui tiennent compte d’une condition) est la méthode dont cette page est issue ; ses auteurs ont aussi réannoté C-STS, et c’est là-dessus que le modèle est entraîné et mesuré.",
        papers: [
          { text: "C-STS (Deshpande et al., EMNLP 2023)", url: "https://arxiv.org/abs/2305.15093" },
          { text: "CASE (Zhang et al., EACL 2026)", url: "https://arxiv.org/abs/2503.17279" },
        ],
      },
    },
    privacy: {
      title: "Privé par construction",
      text: "Le modèle s’exécute dans cet onglet du navigateur. Il est téléchargé une fois et gardé sur votre appareil : la page s’ouvre ensuite sans réseau. Les phrases que vous saisissez ne sont jamais envoyées. Un lien partagé les contient après le #, que les navigateurs n’envoient pas au serveur.",
    },
  },

  list: {
    headline: ["Groupez une liste", "selon ce que vous cherchez."],
    lead: "Collez des avis, des tickets ou des légendes, nommez une condition, et voyez les groupes changer avec elle.",
    examples: "Listes prêtes",
    names: { captions: ["Images", "Légendes"], tickets: ["Assistance", "Tickets"], reviews: ["Restaurants", "Avis"] },
    texts: {
      title: "Les textes",
      label: "Un texte par ligne",
      lost: "Ce lien est arrivé sans ses textes : ils étaient trop longs. Collez-les ici, ou ouvrez le fichier d’où ils viennent.",
      placeholder: "Collez une liste en anglais, ou déposez un fichier ici : CSV, Excel, JSON ou texte brut",
      count: (n: number) => counted(n, "texte", "textes"),
      sampled: (n: number, of: number) =>
        `Un échantillon aléatoire des ${count(of)} textes fournis, dans leur ordre et le même à chaque fois : cette page en groupe jusqu’à ${count(n)}.`,
      blank: (n: number) => `${counted(n, "ligne n’a", "lignes n’ont")} pas de texte dans cette colonne.`,
      cutShort: (n: number, max: number) =>
        `${counted(n, "texte dépasse", "textes dépassent")} ${count(max)} caractères : ce qui vient après est laissé de côté.`,
      invisible: (n: number) =>
        `${counted(n, "ligne ne contient", "lignes ne contiennent")} que des caractères invisibles et ${isOne(n) ? "est laissée" : "sont laissées"} de côté.`,
      drop: "Déposez le fichier pour l’ouvrir",
      thisList: "cette liste",
      reader: "ce qui lit ce type de fichier",
      writer: "ce qui écrit du CSV",
      open: "Ouvrir un fichier",
      header: "La première ligne est un en-tête",
      column: "Colonne",
      columnName: (n: number) => `Colonne ${n}`,
      unreadable: (name: string) => `${name} n’a pas pu être ouvert. Est-il toujours là, et ce navigateur a-t-il le droit de le lire ?`,
      // Why a file was not taken, and what is worth knowing of one that was.
      files: {
        empty: (name: string) => `${name} ne contient aucun texte.`,
        noText: (name: string) => `${name} n’est ni un texte, ni un tableau, ni une liste. Enregistrez-le en CSV, Excel (.xlsx), JSON ou texte brut, puis ouvrez ce fichier.`,
        oldOffice: (name: string) => `${name} est dans un ancien format Office, ou protégé par un mot de passe. Enregistrez-le en .xlsx ou CSV sans mot de passe, puis ouvrez ce fichier.`,
        noWorkbook: (name: string) => `${name} n’a pas pu être lu comme un classeur Excel. Enregistrez-le en .xlsx ou CSV, puis ouvrez ce fichier.`,
        largeWorkbook: (name: string, bytes: number) => `${name} dépasse ${megabytes(bytes)} une fois décompressé, plus que ce que cette page ouvre. Enregistrez la feuille en CSV, puis ouvrez ce fichier.`,
        noJson: (name: string) => `${name} n’est pas du JSON valide, ni du JSON par lignes : il y a dedans quelque chose de coupé ou de mal écrit.`,
        noList: (name: string) => `${name} est du JSON sans liste : il faut un tableau de textes, ou d’objets qui en contiennent un chacun.`,
        unread: (bytes: number) => `Seuls les premiers ${megabytes(bytes)} du fichier ont été lus.`,
        spread: (bytes: number, of: number) => `Sur les ${megabytes(of)} du fichier, ${megabytes(bytes)} ont été lus : des lignes prises partout.`,
        windows1252: "Le fichier n’est pas en UTF-8 et a été lu comme du Windows-1252 : si des lettres semblent fausses, enregistrez-le en UTF-8 et rouvrez-le.",
        damaged: (n: number) =>
          `${counted(n, "caractère du fichier n’a pas pu être lu et apparaît", "caractères du fichier n’ont pas pu être lus et apparaissent")} comme \uFFFD.`,
        unclosed: (row: number) => `La ligne ${count(row)} ouvre un guillemet qui ne se referme jamais : à partir de là, les guillemets ont été lus comme une partie des textes.`,
        oddQuotes: (row: number, n: number) =>
          `La ligne ${count(row)}${n > 1 ? ` et ${counted(n - 1, "autre contiennent", "autres contiennent")}` : " contient"} un guillemet qui ne termine pas une cellule : vérifiez que les textes y sont entiers.`,
        wide: (row: number, n: number) =>
          `La ligne ${count(row)}${n > 1 ? ` et ${counted(n - 1, "autre ont", "autres ont")}` : " a"} plus de cellules qu’il n’y a de colonnes : ce qui dépasse a été ajouté à la dernière colonne.`,
        badLines: (line: number, n: number) =>
          isOne(n)
            ? `La ligne ${count(line)} n’est pas du JSON et est laissée de côté.`
            : `${count(n)} lignes ne sont pas du JSON et sont laissées de côté ; la première est la ligne ${count(line)}.`,
        saved: "Ce fichier a été enregistré par cette page : sa condition, son nombre de groupes et les noms de ses groupes sont repris.",
        sheet: (name: string, n: number) => `La feuille ${quoted(name)} a été lue, la première des ${n} qui ne sont pas vides.`,
      },
    },
    condition: {
      label: "Grouper selon",
      placeholder: "une condition en anglais, par exemple the price",
      chips: "Conditions à essayer",
      count: "Nombre de groupes",
      automatic: "Automatique",
    },
    missing: (what: string) => `Impossible de charger ${what}. Vérifiez votre connexion, puis réessayez ; si cela ne suffit pas, rechargez la page.`,
    working: (share: number) => `Formation des groupes : ${percent(share)}`,
    underWay: (texts: number, condition: string) =>
      `Formation des groupes : ${counted(texts, "texte", "textes")}${condition ? `, selon ${quoted(condition)}` : ""}…`,
    read: (n: number, of: number) => `${count(n)} sur ${count(of)} lus`,
    left: (seconds: number) => `encore ${seconds < 60 ? `${seconds} s` : `${count(seconds / 60)} min`} environ`,
    cancel: "Annuler",
    stopped: "Arrêté avant la fin.",
    earlier: "Ce qui suit date d’avant le dernier changement.",
    again: "Regrouper",
    problem: "La liste n’a pas pu être groupée",
    empty: "Collez une liste pour voir ses groupes.",
    groups: {
      title: "Groupes",
      earlier: "Groupes d’avant",
      summary: (texts: number, groups: number, condition: string) =>
        `${counted(texts, "texte", "textes")} en ${counted(groups, "groupe", "groupes")}${condition ? ` selon ${quoted(condition)}` : ""}.`,
      size: (n: number) => counted(n, "texte", "textes"),
      between: " · ",
      rename: (name: string) => `Renommer ${quoted(name)}`,
      name: (n: number) => `Nom du groupe ${n}`,
      unnamed: "vide : ses propres mots",
      keep: "Garder",
      central: "le texte le plus central",
      elsewhere: "sélectionné",
      member: "similarité avec le centre du groupe",
      unmentioned: (condition: string) => `Ne dit rien de ${quoted(condition)}`,
      silent: (n: number) => ` ${counted(n, "texte n’en dit", "textes n’en disent")} rien.`,
      unknown: (n: number) => `${counted(n, "texte contient", "textes contiennent")} des caractères que le modèle ne connaît pas.`,
      cut: (n: number) => `${counted(n, "texte est plus long", "textes sont plus longs")} que ce que le modèle lit en une fois : la fin n’est pas prise en compte.`,
      more: (n: number) => `Afficher ${n} de plus`,
      fewer: "Afficher moins",
    },
    // What is judged of the groups: how far apart they lie, and no more.
    verdict: {
      few: "Ces textes sont trop peu nombreux pour dire s’ils forment des groupes.",
      none: (own: number, without: number) =>
        `Rien n’indique que ce soient des groupes : leur silhouette est de ${cosine(own)}, et des points répartis de la même façon, sans aucun groupe, donnent ${cosine(without)}. Voyez-y une manière de découper la liste.`,
      some: (own: number, without: number) =>
        `Les groupes sont un peu séparés : leur silhouette est de ${cosine(own)}, là où des points répartis de la même façon, sans aucun groupe, donnent ${cosine(without)}. Cela dit comment ils sont placés, pas s’ils sont ce que vous cherchez.`,
      clear: (own: number, without: number) =>
        `Les groupes sont bien séparés : leur silhouette est de ${cosine(own)}, là où des points répartis de la même façon, sans aucun groupe, donnent ${cosine(without)}. Cela dit comment ils sont placés, pas s’ils sont ce que vous cherchez.`,
    },
    map: {
      title: "Carte",
      earlier: "Carte d’avant",
      what: "ce qui dessine la carte",
      label: (texts: number, groups: number) =>
        `Carte de ${counted(texts, "texte", "textes")} en ${counted(groups, "groupe", "groupes")}. La liste des groupes contient les mêmes textes.`,
      role: "carte de textes",
      help: "Comment lire et utiliser la carte",
      note: "Proche veut dire semblable : la carte montre les deux premières composantes principales des textes, vus selon la condition. Les numéros marquent le texte le plus central de chaque groupe.",
      keys: "Glisser déplace la carte ; Ctrl avec la molette, ou deux doigts, change le zoom. Un clic sélectionne un texte ; glisser avec Maj en entoure plusieurs d’un trait. Au clavier : les flèches vont de texte en texte, Page préc. et Page suiv. parcourent un groupe, + et − changent le zoom, 0 affiche tout, Entrée sélectionne.",
      tools: "Outils de la carte",
      closer: "Zoom avant",
      farther: "Zoom arrière",
      whole: "Tout afficher",
      lasso: "Entourer des textes",
      colour: "Couleur",
      byGroup: "par groupe",
      by: (column: string) => `par ${column}`,
      legend: "Légende",
      selectAll: (name: string, n: number) => `${name} : sélectionner ${isOne(n) ? "son texte" : `ses ${count(n)} textes`}`,
      noValue: "sans valeur",
      // The text at hand, as it is spoken.
      spoken: (text: string, group: string, value: string, isSelected: boolean) =>
        `${text} Groupe : ${group}.${value && ` ${value}.`}${isSelected ? " Sélectionné." : ""}`,
      value: (column: string, value: string) => `${column} : ${value}`,
    },
    selection: {
      title: "Textes sélectionnés",
      count: (n: number) => counted(n, "texte sélectionné", "textes sélectionnés"),
      copy: "Copier",
      copied: "Copié",
      blocked: "La copie est bloquée",
      save: "Exporter en CSV",
      find: "Textes proches",
      show: "Voir dans la liste",
      clear: "Effacer",
    },
    search: {
      label: "Chercher dans la liste",
      placeholder: "un texte en anglais, pour trouver ceux qui lui ressemblent",
      marked: "Cerclés sur la carte ; un clic en sélectionne un.",
      unmentioned: "n’en dit rien",
      found: (condition: string) => (condition ? `Les plus semblables selon ${quoted(condition)}` : "Les plus semblables"),
    },
    export: { csv: "Exporter en CSV", json: "Exporter en JSON" },
  },

  pairs: {
    title: "Comparer de nombreuses paires d’un tableau",
    lead: "Ouvrez un tableau avec deux phrases par ligne : CSV, Excel ou JSON. Une colonne de conditions dit sous laquelle chaque ligne est comparée ; sans elle, ce sont les conditions ci-dessus.",
    open: "Ouvrir un tableau",
    first: "Première phrase",
    second: "Deuxième phrase",
    condition: "Condition",
    above: "les conditions ci-dessus",
    oneColumn: "Le tableau n’a qu’une colonne. Il en faut deux, avec une phrase chacune.",
    needCondition: "Écrivez une condition ci-dessus, ou choisissez la colonne qui en contient.",
    count: (n) => `${counted(n, "comparaison", "comparaisons")}.`,
    lacking: (n) => `Il manque une phrase ou une condition dans ${counted(n, "ligne", "lignes")}, ${isOne(n) ? "laissée" : "laissées"} de côté.`,
    beyond: (max) => `Seules les ${count(max)} premières sont faites.`,
    compare: "Comparer",
    working: (share) => `Comparaison : ${percent(share)}`,
    problem: "Les paires n’ont pas pu être comparées",
    results: "Les paires et leurs similarités",
    tooLong: "trop longue",
    more: (n) => `${counted(n, "autre est", "autres sont")} dans le fichier enregistré.`,
    failed: (n) => `${counted(n, "n’a pas pu être comparée", "n’ont pas pu être comparées")}.`,
    agreement: (name, rho, n) => `Corrélation de Spearman avec la colonne « ${name} » sur ${counted(n, "ligne", "lignes")} : ${cosine(rho)}.`,
    silent: (n) => `${counted(n, "ligne n’est pas comptée", "lignes ne sont pas comptées")}, car une phrase ne dit rien de la condition.`,
  },

  takeAlong: {
    csv: "Enregistrer cette comparaison (CSV)",
    picture: "Enregistrer comme image (PNG)",
    artist: "ce qui dessine l’image",
    by: (name: string) => `Comparé par caselens avec l’encodeur ${quoted(name)}, dans le navigateur.`,
    snippet: "Mettre sur votre page",
    copied: "HTML copié. Il lui faut les paquets npm caselens et caselens-csts à côté de votre page.",
  },

  suggestions: {
    title: "À essayer aussi",
    add: "Ajouter",
    looking: "Recherche de conditions qui distinguent ces deux phrases…",
    slow: "Cet appareil prend son temps : aucune condition n’est suggérée, car en chercher l’occuperait longtemps.",
  },

  larger: {
    title: "Ce qu’en dit un plus grand modèle",
    lead: "Ce modèle est trop grand pour un navigateur, il ne s’exécute donc pas ici : il a lu ces paires à l’avance, et ce qu’il a tiré de chaque phrase selon chaque condition est conservé à côté de cette page. Sa projection entraînée vient d’y être appliquée sur votre appareil. À côté de ses réponses figurent celles du modèle qui s’exécute dans cette page.",
    theirs: "Plus grand modèle",
    ours: "Cette page",
    people: "Humains",
    licences: "Licences",
    dims: (n: number) => `compare ${count(n)} nombres par phrase`,
    pair: (place: number) => `Paire ${place}`,
    waiting: "…",
    unread: "trop long",
    problem: "Les réponses du plus grand modèle ne peuvent pas être affichées",
  },

  how: {
    title: "Fonctionnement",
    lead: "Le modèle au travail sur vos propres phrases, étape par étape. Tous les nombres de cette page sont ceux du modèle lui-même.",
    lessons: "Leçons",
    question: "Question",
    reveal: "Afficher la réponse",
    close: "Fermer la leçon",
    answersOf: "Les réponses ont été écrites pour l’encodeur fourni, « Petit » : ce que vous voyez vient d’un autre, et peut être différent.",
    beside: {
      title: "Face à l’encodeur fourni",
      text: (case_: number, small: number) =>
        `CASE laisse son encodeur tel qu’il a été publié ; l’encodeur fourni a été entraîné en entier, pour cette tâche. Sur des paires notées par des personnes, le premier atteint une corrélation de Spearman de ${count(case_)} sur 100, le second de ${count(small)}. Voici les deux sur votre paire.`,
      open: "Voir les deux",
      download: (mb: number) => `Voir les deux (${size(mb)} à télécharger)`,
      close: "Voir CASE seul",
      caption: (condition: string) => `Les deux encodeurs, selon ${quoted(condition)}`,
      rating: "Note sur 5",
      leftOut: "omis",
      waiting: "…",
      problem: "L’encodeur fourni n’a pas pu être affiché à côté",
    },
    condition: "Condition à expliquer",
    needSentences: "Saisissez les deux phrases pour voir comment elles sont comparées.",
    others: "Autres conditions",
    needCondition: "Saisissez une condition pour voir ce qu’elle fait.",
    problem: "Les étapes n’ont pas pu être calculées",
    present: "Présenter",
    print: "Imprimer une fiche",
    fill: "Plein écran",
    code: {
      title: "Code QR",
      label: "Code QR du lien de cette étape",
      note: "Ouvre cette étape sur un autre appareil.",
      tooLong: "Les textes sont trop longs pour un code QR. Copiez plutôt le lien.",
    },
    leave: "Fin (Échap)",
    previous: "Étape précédente",
    next: "Étape suivante",
    place: (at: number, of: number) => `${at} / ${of}`,
    switches: {
      title: "Et si ?",
      condition: "Condition",
      subtract: "Soustraction",
      head: "Tête",
      pooling: "Tokens moyennés",
      poolings: { all: "Tous", condition: "Ceux de la condition", sentence: "Ceux de la phrase", cls: "Le premier seul" },
      noHead: "ce modèle n’en a pas",
      reset: "Comme le fait le modèle",
      own: (s: number) => `Similarité ${similarity(s)}, calculée comme le modèle a été entraîné à le faire.`,
      changed: (now: number, own: number) =>
        `Similarité ${similarity(now)} avec ces réglages ; le modèle, à sa manière, donne ${similarity(own)}.`,
    },
    step: (n: number) => `Étape ${n}`,
    skipped: "Ce modèle saute cette étape. Activez-la sous « Et si ? » pour voir ce qu’elle ferait.",
    switchedOff: "Désactivée : cette étape est sautée.",
    noHead: "Ce modèle n’a pas de tête.",
    needsCondition: "Sans condition, il n’y a rien à voir ici.",
    sentence: (n: number) => (n === 1 ? "Première phrase" : "Seconde phrase"),
    vector: (vector: Float32Array) => {
      const numbers = Array.from(vector.subarray(0, 5), (value) => decimal(value, 2)).join(" ; ");
      const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
      return `${vector.length} nombres : ${numbers} ; … Longueur ${decimal(length, 2)}.`;
    },
    strip: (what: string) => `${what}, en bande de cellules colorées, bleues au-dessous de zéro et jaunes au-dessus.`,
    steps: {
      question: {
        title: "Deux phrases, une question",
        text: "À quel point ces deux phrases se ressemblent-elles ? Lues seules, sans condition, elles reçoivent un seul nombre pour tout à la fois. La condition n’interroge que sur une chose.",
        plain: "Sans condition",
      },
      tokens: {
        title: "Les mots deviennent des tokens",
        text: "L’encodeur lit la condition et la phrase ensemble, comme un seul texte. Il connaît quelque trente mille morceaux de mots, ses tokens ; un mot rare se divise en plusieurs (## marque la suite d’un mot). [CLS] et [SEP] sont ses propres marques : le début, et la fin d’une partie.",
        more: "Avant la première couche, chaque token devient 384 nombres, la somme de trois listes apprises : l’une pour le morceau qu’il est, l’autre pour sa position dans le texte (il y en a 512), la troisième pour son segment, qui dit s’il appartient à la condition ou à la phrase. Sans les positions, « dog bites man » et « man bites dog » seraient la même chose.",
        moreOf: {
          large: "Avant la première couche, chaque token devient 768 nombres, la somme de deux listes apprises : l’une pour le morceau qu’il est, l’autre pour sa position dans le texte (il y en a 512). La distance entre deux tokens compte encore une fois dans l’attention. Cet encodeur n’a pas de segments : seules les marques séparent la condition de la phrase. Sans les positions, « dog bites man » et « man bites dog » seraient la même chose.",
        },
        others: {
          large: "L’encodeur lit la condition et la phrase ensemble, comme un seul texte. Il connaît quelque trente mille morceaux de mots, ses tokens ; un mot rare se divise en plusieurs (## marque la suite d’un mot). <s> et </s> sont ses propres marques : le début, et la fin d’une partie.",
        },
        unknown: "[UNK] remplace ce pour quoi il n’a pas de morceau : tous ces caractères se ressemblent pour lui.",
      },
      attention: {
        title: "La condition regarde les mots",
        text: "Dans chaque couche, chaque token regarde tous les autres et prend quelque chose à chacun ; la part prise à chacun est son attention. Voici où, parmi les mots de chaque phrase, regardent les tokens de la condition, en part de ce qu’ils accordent à cette phrase, en moyenne sur les têtes de la couche. Cela ne dit pas tout : ce qui est pris d’un mot peut être beaucoup ou peu, et chaque token garde aussi ce qu’il avait.",
        more: "L’attention est une moitié d’une couche. Dans l’autre, la partie « feed-forward », chaque token passe seul par un petit réseau : de 384 nombres à 1 536, puis de nouveau à 384. Deux tiers des poids d’une couche s’y trouvent. Ce qui en sort s’ajoute à ce que le token avait déjà et passe à la suivante des six couches.",
        moreOf: {
          large: "L’attention est une moitié d’une couche. Dans l’autre, la partie « feed-forward », chaque token passe seul par un petit réseau : de 768 nombres à 3 072, puis de nouveau à 768. Deux tiers des poids d’une couche s’y trouvent. Ce qui en sort s’ajoute à ce que le token avait déjà et passe à la suivante des douze couches.",
        },
        layer: "Couche",
        of: (at: number, count: number) => `${at} sur ${count}`,
        share: (text: string, share: number) => `${text} : ${rounded(share)}`,
        rest: (share: number) =>
          `${rounded(share)} de l’attention de la condition va à cette phrase, le reste à la condition elle-même et aux marques.`,
      },
      embedding: {
        title: "Les tokens deviennent un vecteur",
        text: "Après la dernière couche, chaque token est une liste de nombres. Leur moyenne est le plongement : ce qu’est cette phrase, quant à la condition. Changez la condition et l’image change, alors que la phrase reste.",
        others: {
          case: "Après la dernière couche, chaque token est une liste de nombres. Chacun des tokens de la condition a maintenant regardé la phrase ; leur moyenne est le plongement : ce qu’est cette phrase, quant à la condition. Changez la condition et l’image change, alors que la phrase reste.",
        },
        what: "Plongement de chaque phrase avec la condition",
        plain: "Plongement de chaque phrase seule",
      },
      subtraction: {
        title: "La condition est retirée",
        text: "Les mots de la condition sont dans les deux plongements et les font se ressembler, quoi que disent les phrases. CASE, la méthode dont cette page est issue, soustrait le plongement de la condition seule, f(s, c) − f(c) ; ce qui reste est la part de la phrase. L’encodeur fourni ici n’est pas CASE lui-même : il a été affiné sans cette étape.",
        others: {
          large: "Les mots de la condition sont dans les deux plongements et les font se ressembler, quoi que disent les phrases. CASE, la méthode dont cette page est issue, soustrait le plongement de la condition seule, f(s, c) − f(c) ; ce qui reste est la part de la phrase. Le grand encodeur n’est pas CASE lui-même : il a été affiné sans cette étape.",
          case: "Les mots de la condition sont dans les deux plongements et les font se ressembler, quoi que disent les phrases : voyez comme leur cosinus est élevé avant cette étape. CASE soustrait le plongement de la condition seule, f(s, c) − f(c) ; ce qui reste est la part de la phrase.",
        },
        alone: "La condition seule",
        what: "Ce qui reste de chaque phrase",
      },
      head: {
        title: "Une tête précise le résultat",
        text: "Quand l’encodeur reste tel qu’il a été publié, un petit réseau est entraîné par-dessus : il garde les nombres dont dépendent les notes données par des personnes. Un encodeur affiné en entier, comme celui fourni ici, l’a appris lui-même et n’en a pas besoin.",
        others: {
          large: "Quand l’encodeur reste tel qu’il a été publié, un petit réseau est entraîné par-dessus : il garde les nombres dont dépendent les notes données par des personnes. Un encodeur affiné en entier, comme le grand, l’a appris lui-même et n’en a pas besoin.",
          case: "L’encodeur reste tel qu’il a été publié : personne ne lui a dit ce que des personnes entendent par semblable selon une condition. Un petit réseau placé par-dessus l’a appris, sur onze mille paires notées : il garde ce dont dépendent leurs notes, en moins de nombres.",
        },
        what: "Chaque phrase après la tête",
      },
      cosine: {
        title: "Il reste un nombre",
        text: "Deux vecteurs de même direction ont un cosinus de 1, deux vecteurs à angle droit un cosinus de 0. C’est la similarité ; en note de 1 à 5, c’est 1 + 4 · cosinus, où un cosinus inférieur à 0 compte pour 0, ou, avec les encodeurs fournis, ce que des personnes ont donné à des paires d’un tel cosinus.",
        more: "Personne n’a écrit dans le modèle ce que veut dire une condition : il a été entraîné. Son encodeur avait appris, sur plus d’un milliard de paires de textes, lesquels vont ensemble. Ses cosinus ont ensuite été comparés aux notes que des personnes ont données à 11 342 paires sous une condition, et à d’autres paires notées par un modèle plus grand ; toutes les quelques paires, chacun de ses 22 millions de poids a été déplacé un peu, pour rapprocher cosinus et note, encore et encore.",
        moreOf: {
          large: "Personne n’a écrit dans le modèle ce que veut dire une condition : il a été entraîné. Son encodeur avait appris, sur plus d’un milliard de paires de textes, lesquels vont ensemble. Ses cosinus ont ensuite été comparés aux notes que des personnes ont données à 11 342 paires sous une condition, et à d’autres paires notées par un modèle plus grand ; 2 230 fois, chacun de ses 110 millions de poids a été déplacé un peu, pour rapprocher cosinus et note.",
          case: "Personne n’a écrit dans le modèle ce que veut dire une condition : il a été entraîné. Son encodeur avait appris, sur plus d’un milliard de paires de textes, lesquels vont ensemble, et il est resté tel quel. Seule la tête a été comparée aux notes que des personnes ont données à 11 342 paires sous une condition : toutes les quelques paires, chacun de ses poids a été déplacé un peu, pour rapprocher cosinus et note, encore et encore.",
        },
        chart: "Cosinus après chaque étape",
        names: { plain: "sans condition", joint: "avec condition", offset: "soustraite", projected: "après la tête" },
        angle: (s: number, degrees: number) => `Cosinus ${cosine(s)} : l’angle entre les deux vecteurs est de ${degrees}°.`,
        rating: (r: number) => `Note ${rating(r)} sur 5`,
        unsaid: {
          both: "Aucune des deux phrases ne dit quoi que ce soit de la condition, pour autant que le modèle puisse en juger : il n’y a pas de réponse à donner.",
          first: "Seule la seconde phrase dit quelque chose de la condition, pour autant que le modèle puisse en juger : il n’y a pas de réponse à donner.",
          second: "Seule la première phrase dit quelque chose de la condition, pour autant que le modèle puisse en juger : il n’y a pas de réponse à donner.",
        },
      },
    },
    heads: {
      title: "Têtes d’attention",
      lead: "Une couche a plusieurs têtes d’attention, dont chacune regarde à sa façon ; la moyenne de toutes, comme ci-dessus, le cache. Là où une tête regarde est un indice de ce que le modèle utilise, pas une preuve.",
      sentences: "Les tokens de quelle phrase",
      waiting: "Lecture des têtes …",
      choose: (layer: number, layers: number) =>
        `Les têtes de la couche ${layer} sur ${layers}. Chaque ligne d’une image est un token qui regarde, chaque colonne un token regardé ; plus la couleur est forte, plus la part est grande. Choisissez une tête pour la voir de près.`,
      head: (n: number, from: string, to: string, share: string) => `${n} : tête ${n}, dont la plus grande part est de ${share}, de « ${from} » à « ${to} »`,
      picture: (n: number) => `Tête ${n} : quel token regarde où. Choisissez-en un pour ne voir que ses regards.`,
      all: "Tous les tokens",
      most: "Où chaque token regarde le plus :",
      look: (from: string, to: string, share: string) => `${from} → ${to} : ${share}`,
      looks: (from: string, most: string) => `« ${from} » regarde le plus ${most}.`,
      share: (to: string, share: string) => `${to} : ${share}`,
      rest: (n: number, share: string) => `${n === 1 ? "1 autre token" : `${n} autres tokens`} : ${share}`,
      problem: "Les têtes n’ont pas pu être lues",
    },
    space: {
      title: "L’espace, et comment une condition le déplace",
      lead: "Chaque marque est une phrase : douze disent qui fait quoi et où, et 1 et 2 sont les vôtres. Choisissez une condition et voyez quelles phrases se rapprochent.",
      under: "Conditions à essayer",
      none: "sans condition",
      waiting: "Les phrases sont lues…",
      plain: "Les phrases sur un plan, sans condition",
      picture: (condition) => `Les phrases sur un plan, selon « ${condition} »`,
      nearest: (text, s) => `Parmi les douze, « ${text} » ressemble le plus à votre première phrase : ${s}.`,
      note: (dims) => `Un plongement a ${dims} nombres, un plan deux : il montre les deux directions où les phrases diffèrent le plus (composantes principales). Des marques proches peuvent être plus éloignées qu’il n’y paraît.`,
    },
    rate: {
      title: "Noter d’abord, puis demander au modèle",
      lead: "Huit paires de légendes que des personnes ont notées. Dites à quel point chacune se ressemble selon sa condition ; vous voyez ensuite ce que dit le modèle et ce que les gens ont dit.",
      place: (n, of) => `Paire ${n} sur ${of}`,
      question: "À quel point se ressemblent-elles selon :",
      ends: ["pas du tout", "identiques"],
      waiting: "On demande au modèle…",
      answer: (own, model, people) => `Vous dites ${own}, le modèle dit ${rating(model)}, les gens ont dit ${people}.`,
      next: "Paire suivante",
      again: "Recommencer",
      pair: "Paire",
      you: "Vous",
      model: "Modèle",
      people: "Les gens",
      away: (own, model) => `En moyenne, vous êtes à ${rating(own)} de ce que les gens ont dit, le modèle à ${rating(model)}.`,
      source: "Les paires et leurs notes viennent des données de validation de C-STS annotées à nouveau (LivNLP, CC BY 4.0) ; le modèle n’a pas été entraîné sur elles.",
    },
    teachers: {
      title: "Pour les enseignants : objectifs, durée, niveau, glossaire",
      goals: {
        title: "À la fin, les élèves savent…",
        items: [
          "dire pourquoi « semblable » demande un « selon quoi », et donner des paires semblables selon une condition mais pas selon une autre ;",
          "suivre une phrase : des mots aux tokens, puis à un vecteur, puis à un seul nombre ;",
          "lire où regarde un modèle, et dire pourquoi c’est un indice et non une preuve ;",
          "trouver des questions auxquelles le modèle répond mal, et supposer pourquoi.",
        ],
      },
      frame: {
        title: "Durée, niveau, matériel",
        items: [
          "45 minutes pour les leçons 1 et 3 avec une fiche ; 90 minutes pour les six.",
          "À partir de 14 ans environ : il suffit de connaître les angles. Les leçons 4 à 6 s’adressent à ceux qui ont déjà rencontré des vecteurs.",
          "Un navigateur, et 14 Mo à télécharger une fois ; ensuite, tout marche hors ligne. Aucun compte n’est nécessaire, et rien de ce qui est saisi n’est envoyé. Les phrases sont en anglais.",
        ],
      },
      plan: {
        title: "Un plan pour 45 minutes",
        items: [
          "10 minutes : distribuer les premières feuilles de la fiche ; chacun devine seul, puis compare avec son voisin.",
          "10 minutes : présenter la leçon 1, et poser sa question avant de donner la réponse.",
          "15 minutes : par deux, les élèves écrivent leur propre paire de phrases, semblables selon une condition et non selon une autre, et essaient de mettre le modèle en défaut.",
          "10 minutes : la leçon 3, puis la feuille de réponses : où n’êtes-vous pas d’accord avec le modèle, et qui a raison ?",
        ],
      },
      glossary: {
        title: "Glossaire",
        terms: [
          ["Token", "Un morceau de texte pour lequel le modèle a un numéro : un mot, ou une partie de mot."],
          ["Vecteur, plongement (embedding)", "Une liste de nombres qui représente un texte : 384 ici, 768 dans le grand encodeur."],
          ["Attention", "Ce qu’un token prend de chaque autre token, dans une couche."],
          ["Couche", "L’un des six tours (douze dans le grand encodeur) où chaque token est recalculé à partir de tous."],
          ["Tête", "Dans une couche : l’une de douze attentions côte à côte. Après l’encodeur : un petit réseau placé sur un plongement."],
          ["Cosinus", "À quel point deux vecteurs ont la même direction : 1 la même, 0 à angle droit."],
          ["Affinage (fine-tuning)", "Entraîner encore un peu, pour une tâche précise, un modèle déjà entraîné."],
          ["Corrélation de Spearman", "À quel point deux classements s’accordent : 100 tout à fait, 0 pas du tout."],
        ],
      },
    },
    sources: {
      title: "Références",
      papers: [
        { what: "La tâche, et des paires notées par des personnes :", text: "C-STS: Conditional Semantic Textual Similarity (Deshpande et al., EMNLP 2023)", url: "https://arxiv.org/abs/2305.15093" },
        { what: "La méthode dont cette page est issue, avec soustraction et tête :", text: "CASE: Condition-Aware Sentence Embeddings (Zhang et al., EACL 2026)", url: "https://arxiv.org/abs/2503.17279" },
        { what: "L’attention, ses têtes et ses couches :", text: "Attention Is All You Need (Vaswani et al., NeurIPS 2017)", url: "https://arxiv.org/abs/1706.03762" },
        { what: "Un encodeur de tokens, avec [CLS] et [SEP] :", text: "BERT (Devlin et al., NAACL 2019)", url: "https://arxiv.org/abs/1810.04805" },
        { what: "La moyenne des tokens, et le cosinus :", text: "Sentence-BERT (Reimers and Gurevych, EMNLP 2019)", url: "https://arxiv.org/abs/1908.10084" },
        { what: "L’origine du petit encodeur :", text: "MiniLM (Wang et al., NeurIPS 2020)", url: "https://arxiv.org/abs/2002.10957" },
        { what: "L’origine du grand encodeur :", text: "MPNet (Song et al., NeurIPS 2020)", url: "https://arxiv.org/abs/2004.09297" },
        { what: "Pourquoi l’attention est un indice et non une preuve :", text: "Attention is not Explanation (Jain and Wallace, NAACL 2019)", url: "https://arxiv.org/abs/1902.10186" },
      ],
    },
    worksheet: {
      pairs: (n: number) => `${counted(n, "paire", "paires")} sur la fiche`,
      pick: "En plus de la paire ci-dessus :",
      title: "Semblables ? Tout dépend du regard.",
      name: "Nom",
      task: "Deux phrases peuvent se ressembler selon une condition et différer selon une autre. Pour chaque condition, devinez à quel point elles se ressemblent : 0 veut dire pas du tout, 1 tout à fait. Notez ce qui vous a décidé, puis comparez avec les nombres du modèle sur la feuille de réponses.",
      columns: ["Condition", "Mon avis (0–1)", "Parce que…"],
      ownRows: "Deux conditions de votre choix :",
      answers: "Les réponses du modèle",
      of: (name: string) => `Par l’encodeur ${quoted(name)}.`,
      none: "sans condition",
      similarity: "Similarité",
      unanswered: "Le modèle n’avait pas de réponse au moment de l’impression.",
      think: "Où votre avis s’écarte-t-il de celui du modèle de plus de 0,3 ? Qui a raison ?",
    },
  },

  unkept: {
    title: "Cette page a besoin du réseau",
    lead: "caselens fonctionne aussi sans réseau. Mais sa référence de l’API et ses licences ne sont pas conservées sur cet appareil, et ne peuvent pas être chargées pour l’instant.",
    back: "Retour à caselens",
    again: "Réessayer",
  },

  speed: {
    title: "Quelle vitesse sur cet appareil ?",
    lead: "Exécute l’encodeur fourni dans ce navigateur, sur des lots de quatre formes, sur le CPU et sur WebGPU. Cela prend environ une minute et demie.",
    back: "Vers la démo",
    begin: "Mesurer",
    again: "Mesurer de nouveau",
    stop: "Arrêter",
    copy: "Copier en Markdown",
    copied: "Copié",
    blocked: "La copie est bloquée",
    measuring: (name: string) => `Mesure en cours : ${name}…`,
    cpu: (threads: number) => `CPU, ${counted(threads, "worker", "workers")}`,
    shapes: {
      a: "2 × 25 tokens",
      b: "32 × 25 tokens",
      c: "32 × 128 tokens",
      d: "32 × 8–128 tokens, mêlés",
    } as Record<string, string>,
    milliseconds: (n: string) => `${n} ms`,
    texts: (n: string) => `${n} textes/s`,
    // Operations a second, and the share of the processor’s peak where that is known.
    operations: (gops: string, share: number | undefined) =>
      `${gops} GOP/s${share === undefined ? "" : share >= 0.995 ? ", le maximum mesuré" : `, ${rounded(share)} du maximum`}`,
    start: "Du démarrage à la 1re réponse",
    note: "Chaque chiffre est la durée médiane d’un lot, mesurée pendant une seconde et demie. Les GOP/s comptent deux opérations par poids et par token, ainsi que les produits de l’attention. Le maximum est ce que les processeurs des workers atteignent dans une boucle de la même instruction. D’autres onglets, une batterie faible ou un appareil chaud ralentissent la mesure. Au démarrage, les fichiers sont pris dans le cache du navigateur s’ils y sont.",
  },

  footer: {
    language: "Langue",
    speed: "Quelle vitesse sur cet appareil ?",
    reference: "Référence de l’API",
    licence: "caselens est un logiciel libre, sous licence MIT ou Apache-2.0.",
    notices: "Les travaux qu’il contient, et leurs licences",
    credits: [
      {
        text: "Encodeur : all-MiniLM-L6-v2, de sentence-transformers (Apache-2.0),",
        url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
      },
      {
        text: "affiné sur C-STS, réannoté par les auteurs de CASE (CC BY 4.0).",
        url: "https://github.com/LivNLP/CSTS-reannotation",
      },
      {
        text: "Police : Atkinson Hyperlegible Next (OFL 1.1).",
        url: "https://www.brailleinstitute.org/freefont/",
      },
    ],
  },
};

export const lessons: Lessons = [
  {
    title: "Une paire, deux réponses",
    question: "Elle joue aux échecs dans le parc, il joue au football dans le parc. Les deux phrases se ressemblent-elles ?",
    answer:
      "Cela dépend de ce que l’on demande. Par le lieu elles sont presque pareilles, par le jeu elles ne le sont pas, et sans condition le nombre se situe quelque part entre les deux. C’est pourquoi une condition entre dans le modèle avec chaque phrase.",
    sentences: ["She plays chess in the park", "He plays football in the park"],
    conditions: ["the place", "the game", "the person"],
    chosen: 0,
  },
  {
    title: "Que fait la condition ?",
    question: "Désactivez la condition. Que devient la similarité, et quelles étapes restent ?",
    answer:
      "Sans condition, chaque phrase est lue seule et il ne reste que la moyenne de ses tokens : un seul nombre pour tout à la fois, où le même canapé rouge compense les animaux différents. Réactivez la condition, et les deux phrases se révèlent différentes par l’animal ; choisissez le meuble (« the furniture »), et elles sont presque pareilles. Pas un mot des phrases n’a changé.",
    sentences: ["A black dog sleeps on a red sofa.", "A white cat sleeps on a red sofa."],
    conditions: ["the type of animal", "the furniture"],
    chosen: 0,
  },
  {
    title: "Où regarde-t-elle ?",
    question: "Quels mots « the number of people » (le nombre de personnes) devrait-elle regarder ? Devinez, puis voyez l’étape de l’attention.",
    answer:
      "Dans la dernière couche, la plus grande part de l’attention accordée à la première phrase va à « Three », et dans la seconde, « A lone » en reçoit plus que tout autre mot : c’est là que vous regarderiez, vous aussi. Mais une bonne part reste sur la condition elle-même et sur les marques, et les premières couches regardent ailleurs. L’attention n’est que l’une des nombreuses choses qui façonnent la réponse : un indice, pas une preuve.",
    sentences: ["Three children build a sandcastle on the beach.", "A lone surfer waits for a wave on the beach."],
    conditions: ["the number of people", "the location"],
    chosen: 0,
  },
  {
    title: "Couche par couche",
    question: "Parcourez les couches de l’encodeur à l’étape de l’attention. Les premières couches regardent-elles les mêmes mots que la dernière ?",
    answer:
      "Non. Dans la première couche, les parts sont presque égales ; dans la dernière, la plus grande part va à « spotless » (impeccable) et à « filthy » (crasseuse). Mais une bonne part, un cinquième et plus, va encore à des mots et à des marques qui ne disent rien de la propreté : le modèle ne regarde pas seulement au bon endroit. Chaque couche lit ce que la précédente a écrit, et aucune n’est à elle seule « l’explication ».",
    sentences: [
      "The hotel by the harbour was spotless, but breakfast cost thirty euros.",
      "Our hostel by the harbour was filthy, though breakfast was free.",
    ],
    conditions: ["the cleanliness", "the price of breakfast", "the location"],
    chosen: 0,
  },
  {
    title: "Soustraire la condition",
    question: "La recette classique, CASE, soustrait le plongement de la condition elle-même. Activez la soustraction : est-elle utile ici ?",
    answer:
      "Non : dormir et courir deviennent plus semblables, pas moins. Cet encodeur a été affiné sans cette étape : une part de ce qu’il a appris à dire s’en va avec ce qui est soustrait. CASE a conçu cette étape pour des encodeurs qui restent tels quels : chez eux, les mots de la condition font se ressembler deux lectures quelconques, et c’est pour cela qu’on les retire.",
    sentences: ["A black dog sleeps on a red sofa.", "A brown dog runs through a green field."],
    conditions: ["the activity", "the type of animal"],
    chosen: 0,
  },
  {
    title: "Quels tokens comptent ?",
    question: "Le plongement est la moyenne de tous les tokens. Et si l’on ne garde que ceux de la condition, ou seulement le premier ? Choisissez-les sous « Et si ? ».",
    answer:
      "Chaque token a lu toute l’entrée, donc chaque choix donne une réponse. Les tokens de la condition donnent presque le même résultat que la moyenne de tous ; avec le premier token seul, une batterie vide en une heure et une batterie qui tient plusieurs jours deviennent plus semblables. L’encodeur fourni a été entraîné avec la moyenne de tous les tokens, et c’est ainsi qu’il vaut mieux l’utiliser.",
    sentences: [
      "The camera takes beautiful photos, but its battery dies within an hour.",
      "The camera takes blurry photos, but its battery lasts for days.",
    ],
    conditions: ["the photo quality", "the battery life", "the type of product"],
    chosen: 1,
  },
];
