// The page in Spanish.

import { cosine, difference, rating, similarity } from "../format";
import type { Lessons, Strings } from "../strings";

/** A language's name, by its ISO 639-1 code. */
const languages = new Intl.DisplayNames("es", { type: "language" });
const language = (code: string): string => languages.of(code) ?? code;

const count = (n: number): string => n.toLocaleString("es");
const decimal = (value: number, digits: number): string =>
  value.toLocaleString("es", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−");
const percent = (share: number): string => `${Math.floor(share * 100)} %`;
const rounded = (share: number): string => `${Math.round(100 * share)} %`;
const megabytes = (bytes: number): string => `${decimal(bytes / 1e6, 1)} MB`;
const size = (mb: number): string => `${decimal(mb, 1)} MB`;
const quoted = (text: string): string => `«${text}»`;

const counted = (n: number, one: string, many: string): string => `${count(n)} ${n === 1 ? one : many}`;

/** How a similarity compares with the naked eye's, for screen readers. */
const compared = {
  more: (size: string) => `${size} más que sin condición`,
  less: (size: string) => `${size} menos que sin condición`,
  same: () => "la misma que sin condición",
};

function spoken(condition: string, s: number, unconditional: number): string {
  const { kind, size } = difference(s, unconditional);
  return `${condition}: similitud ${similarity(s)}, ${compared[kind](size)}.`;
}

/** What each of the examples is about, and its title: in the order of state/examples.ts. */
const exampleNames: readonly (readonly [string, string])[] = [
  ["Cotidiano", "En el parque"],
  ["Personas", "En la playa"],
  ["Animales", "Dos perros"],
  ["Deporte", "Partido de tenis"],
  ["Viajes", "Dos estancias"],
  ["Reseña", "Dos cámaras"],
  ["Receta", "Pimientos, manzanas"],
  ["Soporte", "Dos incidencias"],
  ["Noticias", "En las calles"],
  ["Emociones", "Al teléfono"],
  ["Cine", "Dos viudos"],
  ["Transporte", "A Viena"],
];

export const strings: Strings = {
  name: "caselens",
  skip: "Ir a las frases",
  headline: ["¿Se parecen?", "Depende de cómo se mire."],
  // What search engines and bookmarks show of the page.
  description: "Escribe dos frases y una condición, y mira cuánto se parecen según ella. El modelo se ejecuta en tu navegador; lo que escribes se queda ahí.",
  // The names of the browser's tab.
  documents: {
    compare: "caselens: ¿cuánto se parecen dos frases según una condición?",
    list: "caselens: agrupar una lista por lo que se busca",
    how: "caselens: cómo funciona",
    larger: "caselens: qué dice un modelo más grande",
    speed: "caselens: ¿qué velocidad alcanza en este dispositivo?",
    unkept: "caselens: esta página necesita conexión",
  },
  lead: "Mira cuánto se parecen dos frases según una condición: el lugar, el ánimo, el precio o la que tú elijas.",
  // Beside the fields for texts: that they are to be in English.
  inEnglish: "El modelo lee inglés: escribe las frases y las condiciones en inglés.",

  views: { label: "Vistas", names: { compare: "Comparar", list: "Lista", how: "Cómo funciona", larger: "Modelo mayor" } },

  update: { ready: "Hay una nueva versión de esta página.", take: "Recargar la página" },

  theme: { toDark: "Oscuro", toLight: "Claro", label: (next: string) => `Cambiar al tema ${next.toLowerCase()}` },
  copy: {
    idle: "Copiar enlace",
    done: "Enlace copiado",
    partly: "Enlace copiado sin los textos: son demasiado largos para un enlace",
    blocked: "No se permite copiar: toma el enlace de la barra de direcciones",
    tooLong: "Demasiado largo para un enlace: acorta las frases",
  },

  examples: { title: "Prueba un ejemplo, o", own: "empieza con tus propias frases", names: exampleNames },

  undo: {
    undo: "Deshacer",
    key: "Ctrl+Z",
    removed: (condition: string) => `Se ha quitado ${quoted(condition)}.`,
    cleared: "La página está vacía.",
    swapped: "Las frases han cambiado de lugar.",
    replaced: "El ejemplo ha sustituido lo que habías escrito.",
  },

  sentences: {
    title: "Dos frases",
    first: "Primera frase",
    second: "Segunda frase",
    own: "Escribe la tuya",
    swap: "Intercambiar las frases",
    placeholder: "Escribe tu propia frase, en inglés",
    cut: "Más larga de lo que el modelo lee de una vez: su final no se ha comparado.",
    foreign: (found: string, trained: readonly string[]) =>
      `Esto parece ${language(found)}; el modelo se entrenó en ${trained.map(language).join(", ")}. Sus números significan poco.`,
    foreignAmong: (texts: number, found: readonly string[], trained: readonly string[]) =>
      `${counted(texts, "texto parece", "textos parecen")} estar en ${found.map(language).join(", ")}; el modelo se entrenó en ${trained.map(language).join(", ")}. Lo que dice de ${texts === 1 ? "él" : "ellos"} significa poco.`,
  },

  attention: {
    unit: "% de atención",
    share: (text: string, share: number) => `${text} ${rounded(share)}`,
    looks: (first: readonly string[], second: readonly string[]) =>
      `En la primera frase mira ${first.join(", ")}; en la segunda, ${second.join(", ")}.`,
  },

  conditions: {
    title: "¿Según qué condición?",
    heading: "Condición",
    label: (n: number) => `Condición ${n}`,
    add: "Añadir una condición",
    placeholder: "Tu condición, en inglés",
    remove: (text: string) => `Quitar ${text ? quoted(text) : "la condición vacía"}`,
    keys: "Señala una condición para ver las frases a través de ella. Intro pasa a la condición siguiente; varias líneas pegadas se convierten en varias condiciones; Retroceso quita una condición vacía; Ctrl+Z recupera lo que se quitó.",
    pasted: (lines: number, kept: number, max: number) =>
      `De ${counted(lines, "línea pegada", "líneas pegadas")} ${kept === 1 ? "se ha conservado" : "se han conservado"} ${count(kept)}: cada condición una sola vez, y ${max} como máximo en esta página.`,
    repeated: (place: number) => `Es igual que la condición ${place}, así que no se compara otra vez.`,
    cut: "No cabía todo el texto junto a esta condición: se ha omitido el final de una frase.",
    unknown: (n: number) =>
      `El modelo no conoce ${counted(n, "fragmento", "fragmentos")} de los textos y ${n === 1 ? "lo" : "los"} lee como un hueco.`,
    advice: {
      value: "Esto afirma algo. Nombra lo que se ha de comparar: «the colour» en lugar de «the colour is green».",
      sentence: "Una condición trata de lo que dicen las frases: «the dog» en lugar de «the dog in the sentence».",
    },
  },

  results: {
    unaided: "A simple vista",
    unaidedNote: "sin condición",
    similarity: "Similitud",
    against: "Frente a la simple vista",
    none: "–",
    outOf: "/ 5",
    more: "más cerca",
    less: "más lejos",
    same: "sin cambio",
    under: (condition: string) => `según ${quoted(condition)}`,
    needSentences: "Escribe las dos frases para compararlas.",
    needCondition: "Escribe una condición para comparar las frases.",
    beforehand: "Respuestas calculadas de antemano por el mismo modelo.",
    unsaid: { both: "ninguna frase lo dice", first: "solo lo dice la segunda", second: "solo lo dice la primera" },
    spokenUnsaid: (condition: string, which: string) => `${condition}: ${which}.`,
    doubt: { foreign: "incierto: no es inglés", unknown: "incierto: signos desconocidos", cut: "incierto: leído a medias" },
    spokenDoubt: (condition: string, s: number, why: string) => `${condition}: similitud ${similarity(s)}, ${why}.`,
    spoken,
    spokenUnaided: (s: number) => `Sin condición: similitud ${similarity(s)}.`,
  },

  engine: {
    title: "Dónde y cómo se ejecuta el modelo",
    megabytes,
    milliseconds: (ms: number) => `${ms < 10 ? decimal(ms, 1) : Math.round(ms)} ms`,
    device: "Ejecución",
    adapter: "Adaptador",
    instructions: "Instrucciones",
    model: "Modelo",
    dtype: "Pesos",
    size: "Descarga",
    time: "Última respuesta",
    names: { webgpu: "WebGPU", wasm: "CPU (WebAssembly)" } as Record<string, string>,
    noAdapter: "ninguno",
    choose: "Ejecutar en",
    choices: { auto: "Auto", webgpu: "WebGPU", wasm: "CPU" },
  },

  encoders: {
    title: "¿Qué codificador responde?",
    names: { small: "Pequeño", large: "Grande", case: "CASE, como se publicó" },
    what: {
      small: "all-MiniLM-L6-v2, ajustado para las condiciones: el que viene incluido.",
      large: "all-mpnet-base-v2, ajustado: mejor con reseñas y textos cotidianos, siete veces más lento.",
      case: "all-MiniLM-L6-v2 sin tocar: se resta la condición y encima se entrena una pequeña cabeza. Muestra todos los pasos.",
    },
    // What choosing it costs.
    inUse: (mb: number) => `${size(mb)}, en uso`,
    kept: (mb: number) => `${size(mb)}, en este dispositivo`,
    toDownload: (mb: number) => `${size(mb)} por descargar`,
    offline: (mb: number) => `${size(mb)}, necesita conexión`,
    base: {
      text: "all-mpnet-base-v2 es de sentence-transformers (Apache-2.0).",
      url: "https://huggingface.co/sentence-transformers/all-mpnet-base-v2",
    },
    answers: (name: string) => `Responde ${quoted(name)}.`,
    cancel: "Cancelar",
    failed: (name: string) => `No se pudo cargar ${quoted(name)}`,
    stays: (name: string) => `${quoted(name)} sigue respondiendo.`,
    ask: (name: string, mb: number) =>
      `Tu conexión parece lenta o está configurada para ahorrar datos. El codificador ${quoted(name)} supone descargar ${size(mb)}, una sola vez: después se queda en este dispositivo.`,
    agree: (mb: number) => `Descargar ${size(mb)}`,
    stay: (name: string) => `Seguir con ${quoted(name)}`,
    instead: (name: string) => `Usar ${quoted(name)} en su lugar`,
    waiting: "Aún sin descargar: la página pregunta antes.",
  },

  loading: {
    label: "Cargando el modelo",
    starting: "Cargando el modelo…",
    /** `total`: all that is to be loaded. */
    bytes: (loaded: number, total: number) =>
      `Cargando el modelo: ${megabytes(loaded)} de ${megabytes(total)}, ${percent(Math.min(1, loaded / total))}.`,
    preparing: "Preparando el modelo…",
    meanwhile: "Mientras tanto puedes escribir.",
    ready: "El modelo está listo.",
  },

  problems: {
    retry: "Reintentar",
    details: "Lo que dice el programa",
    // While a model is loaded, the package warns of this alone.
    notKept: "Este navegador no deja que la página guarde el modelo: se descargará de nuevo en la próxima visita. Todo lo demás funciona.",
    useCpu: "Usar la CPU",
    title: "No se pudo cargar el modelo",
    compareTitle: "No se pudieron comparar las frases",
    gpuLost: "La GPU ha dejado de funcionar, así que la página ha pasado a la CPU. Todo funciona como antes, un poco más despacio.",
    // What happened and what to do, by the error's code. Codes that are not listed are told as `internal`.
    told: {
      "condition-too-long": "Es demasiado largo para una condición: redúcela a unas pocas palabras.",
      "invalid-text": "El texto contiene medio carácter, como el que queda al cortar un emoji por la mitad. Bórralo o escribe el carácter de nuevo.",
      integrity: "El modelo que llegó no es el de esta página. Si vuelves a intentarlo, se descargará de nuevo.",
      http: "Un archivo necesario no está en el servidor de esta página en este momento. Inténtalo más tarde.",
      network: "No se pudo acceder al modelo. Comprueba tu conexión y vuelve a intentarlo. Una vez cargado, se queda en tu dispositivo y funciona sin conexión.",
      "download-incomplete": "La conexión se cortó antes de que llegara el modelo entero. Volver a intentarlo suele bastar.",
      "model-format": "La copia guardada del modelo está dañada. Si vuelves a intentarlo, se descargará de nuevo.",
      "not-enough-memory": "Este dispositivo tiene muy poca memoria libre para el modelo. Cierra otras pestañas o programas y vuelve a intentarlo.",
      "webgpu-unavailable": "Este navegador no ofrece un WebGPU utilizable. La CPU da los mismos números.",
      "gpu-lost": "La GPU ha dejado de funcionar. La CPU da los mismos números.",
      unsupported:
        "A este navegador le falta aquello con lo que se calcula el modelo: es demasiado antiguo o está en un modo reforzado, como el modo de aislamiento (Lockdown Mode). Actualízalo, haz una excepción para este sitio o prueba otro navegador.",
      worker:
        "Este navegador no ha dejado que la página inicie lo que hace los cálculos. Recarga la página; si eso no ayuda, prueba otro navegador o una ventana que no sea privada.",
      "empty-text": "Falta un texto: está vacío.",
      "unsupported-architecture": "El modelo que hay en el servidor de esta página es de un tipo que la página no puede ejecutar. Solo puede arreglarlo quien gestiona el sitio.",
      tokenizer: "El modelo que hay en el servidor de esta página no se puede leer. Solo puede arreglarlo quien gestiona el sitio.",
      "head-format": "Un archivo del modelo está dañado. Si vuelves a intentarlo, se descargará de nuevo.",
      "head-mismatch": "Los archivos del modelo que hay en el servidor de esta página no corresponden entre sí. Solo puede arreglarlo quien gestiona el sitio.",
      "bundle-format": "Las respuestas guardadas están dañadas. Inténtalo más tarde.",
      "bundle-schema": "Las respuestas guardadas son de una versión que esta página no lee. Solo puede arreglarlo quien gestiona el sitio.",
      "bundle-mismatch": "Las respuestas guardadas no corresponden entre sí o están incompletas. Inténtalo más tarde.",
      internal: "Esto no debería ocurrir. Recarga la página; si vuelve a pasar, avísanos, por favor, con las frases que escribiste.",
    } as Record<string, string>,
    tooLong: (place: 0 | 1, characters: number) =>
      `La ${place === 0 ? "primera" : "segunda"} frase tiene ${count(characters)} caracteres, más de los que se pueden leer de una vez. Redúcela a unos pocos párrafos.`,
  },

  about: {
    how: {
      title: "Cómo funciona",
      text: [
        "Un pequeño modelo de lenguaje lee cada frase junto con tu condición y convierte esa pareja en un punto del espacio: un punto para «la frase, en cuanto al lugar», otro para «en cuanto al juego». Dos frases se parecen según una condición cuando sus puntos están cerca.",
        "Los discos lo muestran: la parte de un disco que cubre la zona verde es la similitud. La línea discontinua marca lo que se ve a simple vista, es decir, la similitud de las frases solas; así, cada barra dice qué ha acercado o alejado la condición. Toma esa diferencia como un indicio: el modelo se entrenó para leer una condición, y sin ella está menos seguro.",
      ],
    },
    right: {
      title: "¿Cuánto acierta?",
      // Whose figures these are.
      of: {
        small: "",
        large: "Estas cifras son las del codificador que responde ahora, «Grande».",
        case: "Estas cifras son las del codificador que responde ahora, «CASE, como se publicó».",
      },
      failures: {
        title: "Ver dónde se equivoca",
        lead: "El codificador incluido juzga estas parejas de otra manera que las personas. Abre una y prueba con qué palabras acierta.",
        kinds: { roles: "Quién hace qué a quién", irony: "Ironía", units: "Unidades", time: "Horas", arithmetic: "Cálculo", world: "Lo que se sabe del mundo" },
        model: (s: string) => `el modelo dice ${s};`,
        people: { alike: "la gente diría: lo mismo.", unlike: "la gente diría: no es lo mismo." },
        open: "Abrir esta pareja",
      },
      strong: {
        title: "Suele acertar",
        text: ({ accuracy, rows, spearman }: { accuracy: number; rows: number; spearman: number }) =>
          `En lo que una frase corta dice claramente: lugares, colores, actividades, productos, sentimientos, cuántas personas hay. Cuando las personas puntúan más alto una pareja según una de dos condiciones, el modelo coincide con ellas en ${Math.round(accuracy)} de cada 100 casos. Al ordenar ${count(rows)} parejas como las ordenan las personas, alcanza una correlación de Spearman de ${count(spearman)} sobre 100.`,
      },
      weak: {
        title: "Suele fallar",
        text: ({ unseen }: { unseen: number }) =>
          `En condiciones distintas de las que aprendió (Spearman ${count(unseen)} cuando nunca había visto la condición), quién hace qué a quién, fechas y horas, unidades y cálculos, ironía, lo que hay que saber del mundo y textos con muchas afirmaciones. Cuando se equivoca parece igual de seguro: fíate más del orden de dos condiciones que de un número suelto.`,
      },
      reads: {
        title: "Lee inglés",
        text: {
          small: "Se entrenó con frases cortas en inglés, más de la mitad de ellas pies de foto. De otros idiomas no entiende casi nada.",
          large: "Se entrenó con frases en inglés, muchas de ellas pies de foto. De otros idiomas no entiende casi nada.",
          case: "Su codificador se entrenó con textos en inglés; su cabeza, solo con pies de foto. De otros idiomas no entiende casi nada.",
        },
      },
      from: {
        title: "De dónde viene",
        text: "C-STS (Conditional Semantic Textual Similarity, similitud textual semántica condicional) es la tarea: parejas de pies de foto que unas personas puntuaron según una condición. CASE (Condition-Aware Sentence Embeddings, embeddings de frases que tienen en cuenta la condición) es el método del que surgió esta página; sus autores también volvieron a anotar C-STS, y con eso se entrena y se mide el modelo.",
        papers: [
          { text: "C-STS (Deshpande et al., EMNLP 2023)", url: "https://arxiv.org/abs/2305.15093" },
          { text: "CASE (Zhang et al., EACL 2026)", url: "https://arxiv.org/abs/2503.17279" },
        ],
      },
    },
    privacy: {
      title: "Privado por construcción",
      text: "El modelo se ejecuta en esta pestaña del navegador. Se descarga una vez y se guarda en tu dispositivo, de modo que a partir de entonces la página se abre sin conexión; las frases que escribes no se envían nunca a ningún sitio. Un enlace compartido las lleva después de #, parte que los navegadores no envían al servidor.",
    },
  },

  list: {
    headline: ["Agrupa una lista", "por lo que buscas."],
    lead: "Pega reseñas, incidencias o pies de foto, nombra una condición y mira cómo cambian con ella los grupos.",
    examples: "Listas preparadas",
    names: { captions: ["Imágenes", "Pies de foto"], tickets: ["Soporte", "Incidencias"], reviews: ["Restaurantes", "Reseñas"] },
    texts: {
      title: "Los textos",
      label: "Un texto por línea",
      lost: "Este enlace ha llegado sin sus textos: eran demasiado largos. Pégalos aquí o abre el archivo del que proceden.",
      placeholder: "Pega una lista en inglés o suelta aquí un archivo: CSV, Excel, JSON o texto sin formato",
      count: (n: number) => counted(n, "texto", "textos"),
      sampled: (n: number, of: number) =>
        `Una muestra aleatoria de los ${count(of)} que se dieron, en su orden y siempre la misma: esta página agrupa hasta ${count(n)}.`,
      blank: (n: number) => `${counted(n, "fila no tiene", "filas no tienen")} texto en esta columna.`,
      cutShort: (n: number, max: number) =>
        `${counted(n, "texto tiene", "textos tienen")} más de ${count(max)} caracteres: lo que sobra se omite.`,
      invisible: (n: number) =>
        `${counted(n, "línea solo contiene caracteres invisibles y se omite", "líneas solo contienen caracteres invisibles y se omiten")}.`,
      drop: "Suelta el archivo para abrirlo",
      thisList: "esta lista",
      reader: "lo que lee este tipo de archivo",
      writer: "lo que escribe CSV",
      open: "Abrir archivo",
      header: "La primera fila es un encabezado",
      column: "Columna",
      columnName: (n: number) => `Columna ${n}`,
      unreadable: (name: string) => `No se pudo abrir ${name}. ¿Sigue ahí y tiene este navegador permiso para leerlo?`,
      // Why a file was not taken, and what is worth knowing of one that was.
      files: {
        empty: (name: string) => `${name} no contiene textos.`,
        noText: (name: string) => `${name} no es un texto, una tabla ni una lista. Guárdalo como CSV, Excel (.xlsx), JSON o texto sin formato y ábrelo así.`,
        oldOffice: (name: string) => `${name} está en un formato antiguo de Office o protegido con contraseña. Guárdalo como .xlsx o CSV sin contraseña y ábrelo así.`,
        noWorkbook: (name: string) => `${name} no se pudo leer como libro de Excel. Guárdalo como .xlsx o CSV y ábrelo así.`,
        largeWorkbook: (name: string, bytes: number) => `${name} ocupa más de ${megabytes(bytes)} descomprimido, más de lo que esta página abre. Guarda la hoja como CSV y ábrela así.`,
        noJson: (name: string) => `${name} no es JSON válido ni JSON por líneas: algo está cortado o mal escrito.`,
        noList: (name: string) => `${name} es JSON sin lista: hace falta un array de textos, o de objetos que contengan uno cada uno.`,
        unread: (bytes: number) => `Solo se leyeron los primeros ${megabytes(bytes)} del archivo.`,
        spread: (bytes: number, of: number) => `De los ${megabytes(of)} del archivo se leyeron ${megabytes(bytes)}: filas de todas sus partes.`,
        windows1252: "El archivo no está en UTF-8 y se leyó como Windows-1252: si hay letras que no se ven bien, guárdalo en UTF-8 y ábrelo de nuevo.",
        damaged: (n: number) =>
          `${counted(n, "carácter del archivo no se pudo leer y aparece", "caracteres del archivo no se pudieron leer y aparecen")} como \uFFFD.`,
        unclosed: (row: number) => `La fila ${count(row)} abre unas comillas que no se cierran: a partir de ahí, las comillas se leyeron como parte de los textos.`,
        oddQuotes: (row: number, n: number) =>
          `La fila ${count(row)}${n > 1 ? ` y ${count(n - 1)} más contienen` : " contiene"} unas comillas que no terminan una celda: comprueba que los textos estén enteros ahí.`,
        wide: (row: number, n: number) =>
          `La fila ${count(row)}${n > 1 ? ` y ${count(n - 1)} más tienen` : " tiene"} más celdas que columnas hay: lo que sobra se añadió a la última columna.`,
        badLines: (line: number, n: number) =>
          n === 1
            ? `La línea ${count(line)} no es JSON y se omite.`
            : `${count(n)} líneas no son JSON y se omiten; la primera es la línea ${count(line)}.`,
        saved: "Este archivo lo guardó esta página: se recuperan su condición, su número de grupos y los nombres de sus grupos.",
        sheet: (name: string, n: number) => `Se leyó la hoja ${quoted(name)}, la primera de las ${n} que contienen algo.`,
      },
    },
    condition: {
      label: "Agrupar por",
      placeholder: "una condición en inglés, por ejemplo the price",
      chips: "Condiciones para probar",
      count: "Número de grupos",
      automatic: "Automático",
    },
    missing: (what: string) => `No se pudo cargar ${what}. Comprueba tu conexión y vuelve a intentarlo; si eso no ayuda, recarga la página.`,
    working: (share: number) => `Agrupando: ${percent(share)}`,
    underWay: (texts: number, condition: string) =>
      `Agrupando ${counted(texts, "texto", "textos")}${condition ? ` por ${quoted(condition)}` : ""}…`,
    read: (n: number, of: number) => `${count(n)} de ${count(of)} leídos`,
    left: (seconds: number) => seconds === 1 ? "queda 1 s" : seconds === 60 ? "queda 1 min" : `quedan unos ${seconds < 60 ? `${seconds} s` : `${count(seconds / 60)} min`}`,
    cancel: "Cancelar",
    stopped: "Se detuvo antes de terminar.",
    earlier: "Lo que aparece debajo es anterior al último cambio.",
    again: "Reagrupar",
    problem: "No se pudo agrupar la lista",
    empty: "Pega una lista para ver sus grupos.",
    groups: {
      title: "Grupos",
      earlier: "Grupos anteriores",
      summary: (texts: number, groups: number, condition: string) =>
        `${counted(texts, "texto", "textos")} en ${counted(groups, "grupo", "grupos")}${condition ? ` por ${quoted(condition)}` : ""}.`,
      size: (n: number) => counted(n, "texto", "textos"),
      between: " · ",
      rename: (name: string) => `Cambiar el nombre de ${quoted(name)}`,
      name: (n: number) => `Nombre del grupo ${n}`,
      unnamed: "vacío: sus propias palabras",
      keep: "Guardar",
      central: "el texto más central",
      elsewhere: "seleccionado",
      member: "similitud con el centro del grupo",
      unmentioned: (condition: string) => `No dice nada de ${quoted(condition)}`,
      silent: (n: number) => ` ${counted(n, "texto no dice", "textos no dicen")} nada al respecto.`,
      unknown: (n: number) => `${counted(n, "texto contiene", "textos contienen")} caracteres que el modelo no conoce.`,
      cut: (n: number) => `${counted(n, "texto es más largo", "textos son más largos")} de lo que el modelo lee de una vez: el final quedó fuera.`,
      more: (n: number) => `Mostrar ${n} más`,
      fewer: "Mostrar menos",
    },
    // What is judged of the groups: how far apart they lie, and no more.
    verdict: {
      few: "Son muy pocos textos para saber si forman grupos.",
      none: (own: number, without: number) =>
        `Nada indica que sean grupos: su silueta es ${cosine(own)}, y unos puntos repartidos de la misma manera, sin ningún grupo, dan ${cosine(without)}. Tómalos como una forma de dividir la lista en partes.`,
      some: (own: number, without: number) =>
        `Los grupos están algo separados: su silueta es ${cosine(own)}, mientras que unos puntos repartidos de la misma manera, sin ningún grupo, dan ${cosine(without)}. Eso dice cómo están situados, no si son lo que buscas.`,
      clear: (own: number, without: number) =>
        `Los grupos están bien separados: su silueta es ${cosine(own)}, mientras que unos puntos repartidos de la misma manera, sin ningún grupo, dan ${cosine(without)}. Eso dice cómo están situados, no si son lo que buscas.`,
    },
    map: {
      title: "Mapa",
      earlier: "Mapa anterior",
      what: "lo que dibuja el mapa",
      label: (texts: number, groups: number) =>
        `Mapa de ${counted(texts, "texto", "textos")} en ${counted(groups, "grupo", "grupos")}. La lista de grupos contiene los mismos textos.`,
      role: "mapa de textos",
      help: "Cómo leer y usar el mapa",
      note: "Cerca significa parecido: el mapa muestra los dos primeros componentes principales de los textos, vistos según la condición. Los números marcan el texto más central de cada grupo.",
      keys: "Arrastrar mueve el mapa; Ctrl con la rueda, o dos dedos, lo acercan o alejan. Un clic selecciona un texto; arrastrar con Mayús traza una línea alrededor de varios. Con el teclado: las flechas van de texto en texto, Re Pág y Av Pág recorren un grupo, + y − acercan y alejan, 0 muestra todo, Intro selecciona.",
      tools: "Herramientas del mapa",
      closer: "Acercar",
      farther: "Alejar",
      whole: "Mostrar todo",
      lasso: "Rodear textos",
      colour: "Color",
      byGroup: "por grupo",
      by: (column: string) => `por ${column}`,
      legend: "Leyenda",
      selectAll: (name: string, n: number) => `${name}: seleccionar ${n === 1 ? "su texto" : `sus ${count(n)} textos`}`,
      noValue: "sin valor",
      // The text at hand, as it is spoken.
      spoken: (text: string, group: string, value: string, isSelected: boolean) =>
        `${text} Grupo: ${group}.${value && ` ${value}.`}${isSelected ? " Seleccionado." : ""}`,
      value: (column: string, value: string) => `${column}: ${value}`,
    },
    selection: {
      title: "Textos seleccionados",
      count: (n: number) => counted(n, "texto seleccionado", "textos seleccionados"),
      copy: "Copiar",
      copied: "Copiado",
      blocked: "No se permite copiar",
      save: "Guardar en CSV",
      find: "Buscar parecidos",
      show: "Ver en la lista",
      clear: "Borrar",
    },
    search: {
      label: "Buscar en la lista",
      placeholder: "un texto en inglés al que se parezcan",
      marked: "Rodeados en el mapa; un clic selecciona uno.",
      unmentioned: "no dice nada de eso",
      found: (condition: string) => (condition ? `Los más parecidos según ${quoted(condition)}` : "Los más parecidos"),
    },
    export: { csv: "Guardar en CSV", json: "Guardar en JSON" },
  },

  pairs: {
    title: "Comparar muchas parejas de una tabla",
    lead: "Abre una tabla con dos frases en cada fila: CSV, Excel o JSON. Una columna de condiciones dice bajo cuál se compara cada fila; sin ella valen las condiciones de arriba.",
    open: "Abrir una tabla",
    first: "Primera frase",
    second: "Segunda frase",
    condition: "Condición",
    above: "las condiciones de arriba",
    oneColumn: "La tabla tiene una sola columna. Hacen falta dos, con una frase cada una.",
    needCondition: "Escribe una condición arriba o elige la columna que las contiene.",
    count: (n) => `${counted(n, "comparación", "comparaciones")}.`,
    lacking: (n) => `En ${counted(n, "fila falta", "filas falta")} una frase o una condición; ${n === 1 ? "se omite" : "se omiten"}.`,
    beyond: (max) => `Solo se hacen las primeras ${count(max)}.`,
    compare: "Comparar",
    working: (share) => `Comparando: ${percent(share)}`,
    problem: "No se han podido comparar las parejas",
    results: "Las parejas y sus similitudes",
    tooLong: "demasiado larga",
    more: (n) => `${counted(n, "más está", "más están")} en el archivo que se guarda.`,
    failed: (n) => `${counted(n, "no se ha podido comparar", "no se han podido comparar")}.`,
    agreement: (name, rho, n) => `Correlación de Spearman con la columna «${name}» en ${counted(n, "fila", "filas")}: ${cosine(rho)}.`,
    silent: (n) => `${counted(n, "fila no se cuenta", "filas no se cuentan")}, porque una frase no dice nada sobre la condición.`,
  },

  takeAlong: {
    csv: "Guardar esta comparación (CSV)",
    picture: "Guardar como imagen (PNG)",
    artist: "lo que dibuja la imagen",
    by: (name: string) => `Comparado por caselens con el codificador «${name}», en el navegador.`,
    snippet: "Ponerlo en tu página",
    copied: "HTML copiado. Necesita los paquetes npm caselens y caselens-csts junto a tu página.",
  },

  suggestions: {
    title: "Otras ideas",
    add: "Añadir",
    looking: "Buscando condiciones que distingan estas dos frases…",
    slow: "Este dispositivo va despacio, así que no se sugieren condiciones: buscarlas lo tendría ocupado mucho tiempo.",
  },

  larger: {
    title: "Qué dice un modelo más grande",
    lead: "Este modelo es demasiado grande para un navegador, así que no se ejecuta aquí: leyó estas parejas de antemano, y lo que obtuvo de cada frase según cada condición está guardado junto a esta página. Su proyección entrenada se acaba de aplicar a eso en tu dispositivo. Junto a sus respuestas están las del modelo que se ejecuta en esta página.",
    theirs: "Modelo mayor",
    ours: "Esta página",
    people: "Personas",
    licences: "Licencias",
    dims: (n: number) => `compara ${count(n)} números por frase`,
    pair: (place: number) => `Pareja ${place}`,
    waiting: "…",
    unread: "muy largo",
    problem: "No se pueden mostrar las respuestas del modelo más grande",
  },

  how: {
    title: "Cómo funciona",
    lead: "El modelo en acción con tus propias frases, paso a paso. Todos los números de esta página son del propio modelo.",
    lessons: "Lecciones",
    question: "Pregunta",
    reveal: "Mostrar la respuesta",
    close: "Cerrar la lección",
    answersOf: "Las respuestas se escribieron para el codificador incluido, «Pequeño»: lo que ves es de otro y puede ser distinto.",
    beside: {
      title: "Junto al codificador incluido",
      text: (case_: number, small: number) =>
        `CASE deja su codificador como se publicó; el incluido se entrenó entero para esta tarea. Con parejas puntuadas por personas, el primero alcanza una correlación de Spearman de ${count(case_)} sobre 100; el segundo, de ${count(small)}. Aquí están los dos con tu pareja.`,
      open: "Ver los dos",
      download: (mb: number) => `Ver los dos (${size(mb)} por descargar)`,
      close: "Ver solo CASE",
      caption: (condition: string) => `Los dos codificadores, según ${quoted(condition)}`,
      rating: "Nota sobre 5",
      leftOut: "omitido",
      waiting: "…",
      problem: "No se pudo mostrar al lado el codificador incluido",
    },
    condition: "Condición que se explica",
    needSentences: "Escribe las dos frases para ver cómo se comparan.",
    others: "Otras condiciones",
    needCondition: "Escribe una condición para ver qué hace.",
    problem: "No se pudieron calcular los pasos",
    present: "Presentar",
    print: "Imprimir una ficha",
    fill: "Pantalla completa",
    code: {
      title: "Código QR",
      label: "Código QR del enlace de este paso",
      note: "Abre este paso en otro dispositivo.",
      tooLong: "Los textos son demasiado largos para un código QR. Copie el enlace en su lugar.",
    },
    leave: "Salir (Esc)",
    previous: "Paso anterior",
    next: "Paso siguiente",
    place: (at: number, of: number) => `${at} / ${of}`,
    switches: {
      title: "¿Y si…?",
      condition: "Condición",
      subtract: "Resta",
      head: "Cabeza",
      pooling: "Tokens promediados",
      poolings: { all: "Todos", condition: "Los de la condición", sentence: "Los de la frase", cls: "Solo el primero" },
      noHead: "este modelo no tiene",
      reset: "Como lo hace el modelo",
      own: (s: number) => `Similitud ${similarity(s)}, calculada como se entrenó al modelo para hacerlo.`,
      changed: (now: number, own: number) =>
        `Similitud ${similarity(now)} con estos ajustes; a su manera, el modelo da ${similarity(own)}.`,
    },
    step: (n: number) => `Paso ${n}`,
    skipped: "Este modelo omite este paso. Actívalo en «¿Y si…?» para ver qué haría.",
    switchedOff: "Desactivado: este paso se omite.",
    noHead: "Este modelo no tiene cabeza.",
    needsCondition: "Sin una condición no hay nada que ver aquí.",
    sentence: (n: number) => (n === 1 ? "Primera frase" : "Segunda frase"),
    vector: (vector: Float32Array) => {
      const numbers = Array.from(vector.subarray(0, 5), (value) => decimal(value, 2)).join("; ");
      const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
      return `${vector.length} números: ${numbers}; … Longitud ${decimal(length, 2)}.`;
    },
    strip: (what: string) => `${what}, como tira de celdas de color: azul por debajo de cero y amarillo por encima.`,
    steps: {
      question: {
        title: "Dos frases, una pregunta",
        text: "¿Cuánto se parecen estas dos? Leídas por sí solas, sin condición, reciben un único número para todo a la vez. La condición pregunta por una sola cosa.",
        plain: "Sin condición",
      },
      tokens: {
        title: "Las palabras pasan a ser tokens",
        text: "El codificador lee la condición y la frase juntas, como un solo texto. Conoce unos treinta mil trozos de palabras, sus tokens; las palabras raras se dividen en varios (## marca la continuación de una palabra). [CLS] y [SEP] son marcas propias: el principio, y el final de una parte.",
        more: "Antes de la primera capa, cada token se convierte en 384 números, la suma de tres listas aprendidas: una según qué trozo es, otra según su posición en el texto (hay 512) y otra según su segmento, que dice si pertenece a la condición o a la frase. Sin posiciones, «dog bites man» y «man bites dog» serían lo mismo.",
        moreOf: {
          large: "Antes de la primera capa, cada token se convierte en 768 números, la suma de dos listas aprendidas: una según qué trozo es y otra según su posición en el texto (hay 512). La distancia entre dos tokens cuenta otra vez en la atención. Este codificador no tiene segmentos: solo las marcas separan la condición de la frase. Sin posiciones, «dog bites man» y «man bites dog» serían lo mismo.",
        },
        others: {
          large: "El codificador lee la condición y la frase juntas, como un solo texto. Conoce unos treinta mil trozos de palabras, sus tokens; las palabras raras se dividen en varios (## marca la continuación de una palabra). <s> y </s> son marcas propias: el principio, y el final de una parte.",
        },
        unknown: "[UNK] sustituye aquello para lo que no tiene ningún trozo: todos esos caracteres le parecen iguales.",
      },
      attention: {
        title: "La condición mira las palabras",
        text: "En cada capa, cada token mira a todos los demás y toma algo de ellos; cuánto toma de cada uno es su atención. Aquí se ve adónde miran los tokens de la condición entre las palabras de cada frase, como parte de lo que dan a esa frase, en promedio entre las cabezas de la capa. No lo dice todo: lo que se toma de una palabra puede ser mucho o poco, y cada token conserva además lo que ya tenía.",
        more: "La atención es una mitad de cada capa. En la otra, la parte «feed-forward», cada token pasa por sí solo por una red pequeña: de 384 números a 1536 y de vuelta a 384. Ahí están dos tercios de los pesos de una capa. Lo que sale se suma a lo que el token ya tenía y pasa a la siguiente de las seis capas.",
        moreOf: {
          large: "La atención es una mitad de cada capa. En la otra, la parte «feed-forward», cada token pasa por sí solo por una red pequeña: de 768 números a 3072 y de vuelta a 768. Ahí están dos tercios de los pesos de una capa. Lo que sale se suma a lo que el token ya tenía y pasa a la siguiente de las doce capas.",
        },
        layer: "Capa",
        of: (at: number, count: number) => `${at} de ${count}`,
        share: (text: string, share: number) => `${text}: ${rounded(share)}`,
        rest: (share: number) =>
          `El ${rounded(share)} de la atención de la condición va a esta frase; el resto, a la propia condición y a las marcas.`,
      },
      embedding: {
        title: "Los tokens pasan a ser un vector",
        text: "Tras la última capa, cada token es una lista de números. Su media es el embedding: lo que es esta frase en cuanto a la condición. Si cambias la condición, cambia la imagen, aunque la frase sea la misma.",
        others: {
          case: "Tras la última capa, cada token es una lista de números. A estas alturas, cada token de la condición ha mirado la frase; la media de estos es el embedding: lo que es esta frase en cuanto a la condición. Si cambias la condición, cambia la imagen, aunque la frase sea la misma.",
        },
        what: "Embedding de cada frase con la condición",
        plain: "Embedding de cada frase por sí sola",
      },
      subtraction: {
        title: "Se quita la condición",
        text: "Las palabras de la propia condición están en los dos embeddings y hacen que se parezcan, digan lo que digan las frases. CASE, el método del que surgió esta página, resta el embedding de la condición sola, f(s, c) − f(c), y lo que queda es la parte de la frase. El codificador incluido aquí no es el propio CASE: se ajustó sin este paso.",
        others: {
          large: "Las palabras de la propia condición están en los dos embeddings y hacen que se parezcan, digan lo que digan las frases. CASE, el método del que surgió esta página, resta el embedding de la condición sola, f(s, c) − f(c), y lo que queda es la parte de la frase. El codificador grande no es el propio CASE: se ajustó sin este paso.",
          case: "Las palabras de la propia condición están en los dos embeddings y hacen que se parezcan, digan lo que digan las frases: mira lo alto que es su coseno antes de este paso. CASE resta el embedding de la condición sola, f(s, c) − f(c), y lo que queda es la parte de la frase.",
        },
        alone: "La condición sola",
        what: "Lo que queda de cada frase",
      },
      head: {
        title: "Una cabeza lo afina",
        text: "Cuando el codificador se deja como se publicó, se entrena encima una red pequeña: conserva los números de los que dependen las notas que dan las personas. Un codificador que se ajusta entero, como el incluido aquí, lo ha aprendido por sí mismo y no la necesita.",
        others: {
          large: "Cuando el codificador se deja como se publicó, se entrena encima una red pequeña: conserva los números de los que dependen las notas que dan las personas. Un codificador que se ajusta entero, como el grande, lo ha aprendido por sí mismo y no la necesita.",
          case: "El codificador se deja como se publicó: nunca se le dijo qué entienden las personas por parecido según una condición. A una red pequeña puesta encima sí, con once mil parejas puntuadas: conserva aquello de lo que dependen esas notas, en menos números.",
        },
        what: "Cada frase después de la cabeza",
      },
      cosine: {
        title: "Queda un solo número",
        text: "Dos vectores que apuntan en la misma dirección tienen un coseno de 1; dos en ángulo recto, de 0. Esa es la similitud; como nota del 1 al 5 es 1 + 4 · coseno, donde un coseno menor que 0 cuenta como 0, o, con los codificadores incluidos, lo que las personas dieron a parejas con ese coseno.",
        more: "Nadie escribió en el modelo qué significa una condición: se entrenó. Su codificador había aprendido, con más de mil millones de parejas de textos, cuáles van juntos. Después se compararon sus cosenos con las notas que la gente dio a 11.342 parejas bajo una condición, y con otras parejas puntuadas por un modelo mayor; cada pocas parejas, cada uno de sus 22 millones de pesos se movió un poco para acercar coseno y nota, una y otra vez.",
        moreOf: {
          large: "Nadie escribió en el modelo qué significa una condición: se entrenó. Su codificador había aprendido, con más de mil millones de parejas de textos, cuáles van juntos. Después se compararon sus cosenos con las notas que la gente dio a 11.342 parejas bajo una condición, y con otras parejas puntuadas por un modelo mayor; 2230 veces, cada uno de sus 110 millones de pesos se movió un poco para acercar coseno y nota.",
          case: "Nadie escribió en el modelo qué significa una condición: se entrenó. Su codificador había aprendido, con más de mil millones de parejas de textos, cuáles van juntos, y se quedó así. Solo la cabeza se comparó con las notas que la gente dio a 11.342 parejas bajo una condición: cada pocas parejas, cada uno de sus pesos se movió un poco para acercar coseno y nota, una y otra vez.",
        },
        chart: "Coseno tras cada paso",
        names: { plain: "sin condición", joint: "con condición", offset: "restada", projected: "tras la cabeza" },
        angle: (s: number, degrees: number) => `Coseno ${cosine(s)}: el ángulo entre los dos vectores es de ${degrees}°.`,
        rating: (r: number) => `Nota ${rating(r)} sobre 5`,
        unsaid: {
          both: "Ninguna de las dos frases dice nada sobre la condición, hasta donde el modelo puede saber: no hay respuesta que dar.",
          first: "Solo la segunda frase dice algo sobre la condición, hasta donde el modelo puede saber: no hay respuesta que dar.",
          second: "Solo la primera frase dice algo sobre la condición, hasta donde el modelo puede saber: no hay respuesta que dar.",
        },
      },
    },
    heads: {
      title: "Cabezas de atención",
      lead: "Una capa tiene varias cabezas de atención, y cada una mira a su manera; la media de todas, como arriba, lo oculta. Hacia dónde mira una cabeza es un indicio de lo que usa el modelo, no una prueba.",
      sentences: "Los tokens de qué frase",
      waiting: "Se leen las cabezas …",
      choose: (layer: number, layers: number) =>
        `Las cabezas de la capa ${layer} de ${layers}. Cada fila de una imagen es un token que mira, cada columna uno que es mirado; cuanto más fuerte el color, mayor la parte. Elige una cabeza para verla de cerca.`,
      head: (n: number, from: string, to: string, share: string) => `${n}: cabeza ${n}, cuya parte mayor es ${share}, de «${from}» a «${to}»`,
      picture: (n: number) => `Cabeza ${n}: qué token mira adónde. Elige uno para ver solo sus miradas.`,
      all: "Todos los tokens",
      most: "Adónde mira más cada token:",
      look: (from: string, to: string, share: string) => `${from} → ${to}: ${share}`,
      looks: (from: string, most: string) => `«${from}» mira más a ${most}.`,
      share: (to: string, share: string) => `${to}: ${share}`,
      rest: (n: number, share: string) => `${n === 1 ? "Otro token" : `Otros ${n} tokens`}: ${share}`,
      problem: "No se pudieron leer las cabezas",
    },
    space: {
      title: "El espacio, y cómo lo mueve una condición",
      lead: "Cada marca es una frase: doce dicen quién hace qué y dónde, y 1 y 2 son las tuyas. Elige una condición y mira qué frases se acercan.",
      under: "Condiciones para probar",
      none: "sin condición",
      waiting: "Se leen las frases…",
      plain: "Las frases en un plano, sin condición",
      picture: (condition) => `Las frases en un plano, según «${condition}»`,
      nearest: (text, s) => `De las doce, «${text}» es la más parecida a tu primera frase: ${s}.`,
      note: (dims) => `Un embedding tiene ${dims} números y un plano, dos: muestra las dos direcciones en que más difieren las frases (componentes principales). Marcas cercanas pueden estar más lejos de lo que parece.`,
    },
    rate: {
      title: "Puntúa primero y pregunta después al modelo",
      lead: "Ocho parejas de pies de foto que unas personas puntuaron. Di cuánto se parece cada una según su condición; después verás lo que dice el modelo y lo que dijeron esas personas.",
      place: (n, of) => `Pareja ${n} de ${of}`,
      question: "Cuánto se parecen según:",
      ends: ["nada", "iguales"],
      waiting: "Se pregunta al modelo…",
      answer: (own, model, people) => `Tú dices ${own}, el modelo dice ${rating(model)}, las personas dijeron ${people}.`,
      next: "Siguiente pareja",
      again: "Empezar de nuevo",
      pair: "Pareja",
      you: "Tú",
      model: "Modelo",
      people: "Personas",
      away: (own, model) => `De media estás a ${rating(own)} de lo que dijeron las personas; el modelo, a ${rating(model)}.`,
      source: "Las parejas y sus puntuaciones son de los datos de validación de C-STS anotados de nuevo (LivNLP, CC BY 4.0); el modelo no se entrenó con ellas.",
    },
    teachers: {
      title: "Para docentes: objetivos, tiempo, nivel, glosario",
      goals: {
        title: "Al terminar, el alumnado sabe…",
        items: [
          "decir por qué «parecido» necesita un «en qué», y dar parejas que se parecen según una condición y no según otra;",
          "seguir una frase desde las palabras a los tokens, a un vector y a un solo número;",
          "leer adónde mira un modelo, y decir por qué eso es un indicio y no una prueba;",
          "encontrar preguntas que el modelo responde mal, y suponer por qué.",
        ],
      },
      frame: {
        title: "Tiempo, nivel, qué hace falta",
        items: [
          "45 minutos para las lecciones 1 y 3 con una ficha; 90 minutos para las seis.",
          "A partir de unos 14 años: basta con saber qué es un ángulo. Las lecciones 4 a 6 son para quienes ya conocen los vectores.",
          "Un navegador, y 14 MB una sola vez; después funciona sin conexión. No hay cuentas, y nada de lo que se escribe se envía. Las frases están en inglés.",
        ],
      },
      plan: {
        title: "Un plan para 45 minutos",
        items: [
          "10 minutos: repartir las primeras hojas de la ficha; cada cual responde a solas y luego compara con quien tenga al lado.",
          "10 minutos: presentar la lección 1 y hacer su pregunta antes de dar la respuesta.",
          "15 minutos: por parejas, el alumnado escribe dos frases propias, parecidas según una condición y no según otra, e intenta que el modelo falle.",
          "10 minutos: la lección 3; después, la hoja de respuestas: ¿en qué hay desacuerdo con el modelo, y quién tiene razón?",
        ],
      },
      glossary: {
        title: "Glosario",
        terms: [
          ["Token", "Un trozo de texto para el que el modelo tiene un número: una palabra o una parte de ella."],
          ["Vector, embedding", "Una lista de números que representa un texto; aquí 384, en el codificador grande 768."],
          ["Atención", "Cuánto toma un token de cada uno de los demás, en una capa."],
          ["Capa", "Cada una de las seis rondas (doce en el codificador grande) en las que cada token se calcula de nuevo a partir de todos."],
          ["Cabeza", "En una capa: una de doce atenciones en paralelo. Después del codificador: una red pequeña sobre un embedding."],
          ["Coseno", "Hasta qué punto dos vectores apuntan en la misma dirección: 1 si es la misma, 0 si forman un ángulo recto."],
          ["Ajuste fino (fine-tuning)", "Entrenar un poco más, para una tarea, un modelo ya entrenado."],
          ["Correlación de Spearman", "Hasta qué punto coinciden dos clasificaciones: 100 del todo, 0 nada."],
        ],
      },
    },
    sources: {
      title: "Fuentes",
      papers: [
        { what: "La tarea, y pares que valoraron personas:", text: "C-STS: Conditional Semantic Textual Similarity (Deshpande et al., EMNLP 2023)", url: "https://arxiv.org/abs/2305.15093" },
        { what: "El método del que nació esta página, con la resta y la cabeza:", text: "CASE: Condition-Aware Sentence Embeddings (Zhang et al., EACL 2026)", url: "https://arxiv.org/abs/2503.17279" },
        { what: "La atención, sus cabezas y sus capas:", text: "Attention Is All You Need (Vaswani et al., NeurIPS 2017)", url: "https://arxiv.org/abs/1706.03762" },
        { what: "Un codificador de tokens, con [CLS] y [SEP]:", text: "BERT (Devlin et al., NAACL 2019)", url: "https://arxiv.org/abs/1810.04805" },
        { what: "La media de los tokens, y el coseno:", text: "Sentence-BERT (Reimers and Gurevych, EMNLP 2019)", url: "https://arxiv.org/abs/1908.10084" },
        { what: "De dónde viene el codificador pequeño:", text: "MiniLM (Wang et al., NeurIPS 2020)", url: "https://arxiv.org/abs/2002.10957" },
        { what: "De dónde viene el codificador grande:", text: "MPNet (Song et al., NeurIPS 2020)", url: "https://arxiv.org/abs/2004.09297" },
        { what: "Por qué la atención es un indicio y no una prueba:", text: "Attention is not Explanation (Jain and Wallace, NAACL 2019)", url: "https://arxiv.org/abs/1902.10186" },
      ],
    },
    worksheet: {
      pairs: (n: number) => `${counted(n, "pareja", "parejas")} en la ficha`,
      pick: "Además de la pareja de arriba:",
      title: "¿Se parecen? Depende de cómo se mire.",
      name: "Nombre",
      task: "Dos frases pueden parecerse según una condición y ser distintas según otra. Para cada condición, adivina cuánto se parecen: 0 es nada, 1 es del todo. Anota qué te hizo decidir y luego compara con los números del modelo en la hoja de respuestas.",
      columns: ["Condición", "Mi idea (0–1)", "Porque…"],
      ownRows: "Dos condiciones tuyas:",
      answers: "Las respuestas del modelo",
      of: (name: string) => `Del codificador ${quoted(name)}.`,
      none: "sin condición",
      similarity: "Similitud",
      unanswered: "El modelo no tenía respuestas cuando se imprimió esto.",
      think: "¿Dónde difieres del modelo en más de 0,3? ¿Quién tiene razón?",
    },
  },

  unkept: {
    title: "Esta página necesita conexión",
    lead: "caselens funciona también sin conexión, pero la referencia de la API y las licencias no se guardan en este dispositivo y ahora no se pueden cargar.",
    back: "Volver a caselens",
    again: "Intentar de nuevo",
  },

  speed: {
    title: "¿Qué velocidad alcanza en este dispositivo?",
    lead: "Ejecuta el codificador incluido en este navegador, con lotes de cuatro formas, en la CPU y en WebGPU. Tarda alrededor de un minuto y medio.",
    back: "A la demo",
    begin: "Medir",
    again: "Medir de nuevo",
    stop: "Detener",
    copy: "Copiar en Markdown",
    copied: "Copiado",
    blocked: "No se permite copiar",
    measuring: (name: string) => `Midiendo: ${name}…`,
    cpu: (threads: number) => `CPU, ${counted(threads, "worker", "workers")}`,
    shapes: {
      a: "2 × 25 tokens",
      b: "32 × 25 tokens",
      c: "32 × 128 tokens",
      d: "32 × 8–128 tokens, variados",
    } as Record<string, string>,
    milliseconds: (n: string) => `${n} ms`,
    texts: (n: string) => `${n} textos/s`,
    // Operations a second, and the share of the processor’s peak where that is known.
    operations: (gops: string, share: number | undefined) =>
      `${gops} GOP/s${share === undefined ? "" : share >= 0.995 ? ", el máximo medido" : `, ${rounded(share)} del máximo`}`,
    start: "Del inicio a la 1.ª respuesta",
    note: "Cada cifra es la mediana del tiempo de un lote durante segundo y medio. Los GOP/s cuentan dos operaciones por cada peso y token, además de los productos de la atención. El máximo es lo que alcanzan los procesadores de los workers en un bucle de la misma instrucción. Otras pestañas, la batería baja y un dispositivo caliente lo hacen más lento. En el inicio, los archivos se toman de la caché del navegador si están en ella.",
  },

  footer: {
    language: "Idioma",
    speed: "¿Qué velocidad alcanza en este dispositivo?",
    reference: "Referencia de la API",
    licence: "caselens es software libre con licencia MIT o Apache-2.0.",
    notices: "De quién es el trabajo que contiene y con qué licencias",
    credits: [
      {
        text: "Codificador: all-MiniLM-L6-v2, de sentence-transformers (Apache-2.0),",
        url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
      },
      {
        text: "ajustado con C-STS, reanotado por los autores de CASE (CC BY 4.0).",
        url: "https://github.com/LivNLP/CSTS-reannotation",
      },
      {
        text: "Tipografía: Atkinson Hyperlegible Next (OFL 1.1).",
        url: "https://www.brailleinstitute.org/freefont/",
      },
    ],
  },
};

export const lessons: Lessons = [
  {
    title: "Una pareja, dos respuestas",
    question: "Ella juega al ajedrez en el parque, él juega al fútbol en el parque. ¿Se parecen las dos frases?",
    answer:
      "Depende de lo que se pregunte. Por el lugar son casi iguales, por el juego no, y sin condición el número queda en algún punto intermedio. Por eso en el modelo entra una condición junto con cada frase.",
    sentences: ["She plays chess in the park", "He plays football in the park"],
    conditions: ["the place", "the game", "the person"],
    chosen: 0,
  },
  {
    title: "¿Qué hace la condición?",
    question: "Desactiva la condición. ¿Qué pasa con la similitud, y qué pasos quedan?",
    answer:
      "Sin condición, cada frase se lee por sí sola y solo queda la media de sus tokens: un único número para todo a la vez, en el que el mismo sofá rojo compensa los animales distintos. Vuelve a activar la condición, y las dos resultan distintas por el animal; elige los muebles («the furniture»), y son casi iguales. No ha cambiado ni una palabra de las frases.",
    sentences: ["A black dog sleeps on a red sofa.", "A white cat sleeps on a red sofa."],
    conditions: ["the type of animal", "the furniture"],
    chosen: 0,
  },
  {
    title: "¿Adónde mira?",
    question: "¿Qué palabras debería mirar «the number of people» (el número de personas)? Adivina y luego mira el paso de la atención.",
    answer:
      "En la última capa, la mayor parte de la atención a la primera frase va a «Three», y en la segunda «A lone» recibe más que cualquier otra palabra: donde también mirarías tú. Pero una buena parte se queda en la propia condición y en las marcas, y las primeras capas miran a otro sitio. La atención es una de las muchas cosas que dan forma a la respuesta: un indicio, no una prueba.",
    sentences: ["Three children build a sandcastle on the beach.", "A lone surfer waits for a wave on the beach."],
    conditions: ["the number of people", "the location"],
    chosen: 0,
  },
  {
    title: "Capa por capa",
    question: "Recorre las capas del codificador en el paso de la atención. ¿Miran las primeras capas las mismas palabras que la última?",
    answer:
      "No. En la primera capa las partes son casi iguales; en la última, la mayor va a «spotless» (impecable) y a «filthy» (mugriento). Pero una buena parte, un quinto y más, sigue yendo a palabras y marcas que no dicen nada de la limpieza: el modelo no mira solo el lugar correcto. Cada capa lee lo que escribió la anterior, y ninguna es por sí sola «la» explicación.",
    sentences: [
      "The hotel by the harbour was spotless, but breakfast cost thirty euros.",
      "Our hostel by the harbour was filthy, though breakfast was free.",
    ],
    conditions: ["the cleanliness", "the price of breakfast", "the location"],
    chosen: 0,
  },
  {
    title: "Restar la condición",
    question: "La receta clásica, CASE, resta el embedding de la propia condición. Activa la resta: ¿ayuda aquí?",
    answer:
      "No: dormir y correr pasan a parecerse más, no menos. Este codificador se ajustó sin ese paso: parte de lo que aprendió a decir se va con lo que se resta. CASE creó el paso para codificadores que se dejan como están: en ellos, las palabras de la propia condición hacen que dos lecturas cualesquiera se parezcan, y por eso se quitan.",
    sentences: ["A black dog sleeps on a red sofa.", "A brown dog runs through a green field."],
    conditions: ["the activity", "the type of animal"],
    chosen: 0,
  },
  {
    title: "¿Qué tokens cuentan?",
    question: "El embedding es la media de todos los tokens. ¿Y si solo se conservan los de la condición, o solo el primero? Elígelos en «¿Y si…?».",
    answer:
      "Cada token ha leído toda la entrada, así que cualquier elección da una respuesta. Los tokens de la condición se acercan a la media de todos; con el primer token solo, una batería que se agota en una hora y una que dura días pasan a parecerse más. El codificador incluido se entrenó con la media de todos los tokens, y así es como mejor se usa.",
    sentences: [
      "The camera takes beautiful photos, but its battery dies within an hour.",
      "The camera takes blurry photos, but its battery lasts for days.",
    ],
    conditions: ["the photo quality", "the battery life", "the type of product"],
    chosen: 1,
  },
];
