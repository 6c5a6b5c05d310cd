// The page in Japanese.

import { cosine, difference, rating, similarity } from "../format";
import type { Lessons, Strings } from "../strings";

/** A language's name, by its ISO 639-1 code. */
const languages = new Intl.DisplayNames("ja", { type: "language" });
const language = (code: string): string => languages.of(code) ?? code;

const count = (n: number): string => n.toLocaleString("ja");
const decimal = (value: number, digits: number): string =>
  value.toLocaleString("ja", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−");
const percent = (share: number): string => `${Math.floor(share * 100)}%`;
const rounded = (share: number): string => `${Math.round(100 * share)}%`;
const megabytes = (bytes: number): string => `${decimal(bytes / 1e6, 1)}MB`;
const size = (mb: number): string => `${decimal(mb, 1)}MB`;

/** How a similarity compares with the naked eye's, for screen readers. */
const compared = {
  more: (size: string) => `条件なしより${size}高い`,
  less: (size: string) => `条件なしより${size}低い`,
  same: () => "条件なしと同じ",
};

function spoken(condition: string, s: number, unconditional: number): string {
  const { kind, size } = difference(s, unconditional);
  return `${condition}：類似度${similarity(s)}、${compared[kind](size)}。`;
}

/** What each of the examples is about, and its title: in the order of state/examples.ts. */
const exampleNames: readonly (readonly [string, string])[] = [
  ["日常", "公園で"],
  ["人", "浜辺で"],
  ["動物", "2匹の犬"],
  ["スポーツ", "テニスの試合"],
  ["旅行", "2つの宿"],
  ["レビュー", "2台のカメラ"],
  ["レシピ", "パプリカとりんご"],
  ["サポート", "2件の問い合わせ"],
  ["ニュース", "街の通りで"],
  ["気分", "電話で"],
  ["映画", "妻を亡くした2人"],
  ["交通", "ウィーンへ"],
];

export const strings: Strings = {
  name: "caselens",
  skip: "文の入力欄へ移動",
  headline: ["似ていますか？", "見方しだいです。"],
  // What search engines and bookmarks show of the page.
  description: "2つの文と条件を入力すると、その条件で文がどのくらい似ているかがわかります。モデルはブラウザーの中で動き、入力した内容は外に出ません。",
  // The names of the browser's tab.
  documents: {
    compare: "caselens：ある条件で見ると、2つの文はどのくらい似ている？",
    list: "caselens：知りたい観点でリストを分ける",
    how: "caselens：しくみ",
    larger: "caselens：より大きなモデルの答え",
    speed: "caselens：この端末ではどのくらい速い？",
    unkept: "caselens：このページには接続が必要です",
  },
  lead: "2つの文がどのくらい似ているかを、条件を決めて調べます。条件は、場所、気分、値段など、自由に決められます。",
  // Beside the fields for texts: that they are to be in English.
  inEnglish: "モデルが読めるのは英語です。文も条件も英語で入力してください。",

  views: { label: "画面", names: { compare: "比較", list: "リスト", how: "しくみ", larger: "大きなモデル" } },

  update: { ready: "このページの新しいバージョンがあります。", take: "再読み込みして更新" },

  theme: { toDark: "ダーク", toLight: "ライト", label: (next: string) => `${next}テーマに切り替える` },
  copy: {
    idle: "リンクをコピー",
    done: "コピーしました",
    partly: "テキストを除いてリンクをコピーしました。テキストはリンクに入れるには長すぎます",
    blocked: "コピーが許可されていません。アドレスバーのリンクを使ってください",
    tooLong: "リンクに入れるには長すぎます。文を短くしてください",
  },

  examples: { title: "例を試すか、", own: "自分の文で始める", names: exampleNames },

  undo: {
    undo: "元に戻す",
    key: "Ctrl+Z",
    removed: (condition: string) => `「${condition}」を削除しました。`,
    cleared: "ページを空にしました。",
    swapped: "2つの文を入れ替えました。",
    replaced: "入力した内容を例で置き換えました。",
  },

  sentences: {
    title: "2つの文",
    first: "1つ目の文",
    second: "2つ目の文",
    own: "自由に入力",
    swap: "文を入れ替える",
    placeholder: "英語の文を入力",
    cut: "モデルが一度に読める長さを超えています。文の終わりは比較に入っていません。",
    foreign: (found: string, trained: readonly string[]) =>
      `この文は${language(found)}のようです。モデルは${trained.map(language).join("、")}で学習したため、この数値はあまり当てになりません。`,
    foreignAmong: (texts: number, found: readonly string[], trained: readonly string[]) =>
      `${count(texts)}件のテキストは${found.map(language).join("・")}のようです。モデルは${trained.map(language).join("・")}で学習しているため、これらについての答えはあまり当てになりません。`,
  },

  attention: {
    unit: "アテンション（%）",
    share: (text: string, share: number) => `${text} ${rounded(share)}`,
    looks: (first: readonly string[], second: readonly string[]) =>
      `見ている語は、1つ目の文では${first.join("、")}。2つ目の文では${second.join("、")}。`,
  },

  conditions: {
    title: "どの条件で比べますか？",
    heading: "条件",
    label: (n: number) => `条件${n}`,
    add: "条件を追加",
    placeholder: "条件を英語で入力",
    remove: (text: string) => (text ? `「${text}」を削除` : "空の条件を削除"),
    keys: "条件を指し示すと、その条件を通して2つの文を見られます。Enterで次の条件へ進みます。複数行を貼り付けると、行ごとに1つの条件になります。空の条件でBackspaceを押すと、その条件を削除します。Ctrl+Zで削除したものを元に戻します。",
    pasted: (lines: number, kept: number, max: number) =>
      `貼り付けた${count(lines)}行のうち、${count(kept)}行を使います。同じ条件は1度だけ、最大${max}件までです。`,
    repeated: (place: number) => `条件${place}と同じなので、もう一度は比較しません。`,
    cut: "この条件と合わせると長すぎるため、文の終わりを省きました。",
    unknown: (n: number) => `テキストのうち${n}か所はモデルの知らない文字です。モデルはそこを空白として読みます。`,
    advice: {
      value: "これは答えを言っています。比べたいことを書いてください（例：「the colour is green」ではなく「the colour」）。",
      sentence: "条件には文の内容について書いてください（例：「the dog in the sentence」ではなく「the dog」）。",
    },
  },

  results: {
    unaided: "肉眼",
    unaidedNote: "条件なし",
    similarity: "類似度",
    against: "肉眼との差",
    none: "–",
    outOf: "/ 5",
    more: "より近い",
    less: "より遠い",
    same: "変化なし",
    under: (condition: string) => `「${condition}」で見ると`,
    needSentences: "比べる文を2つとも入力してください。",
    needCondition: "文を比べる条件を入力してください。",
    beforehand: "同じモデルがあらかじめ計算した答えです。",
    unsaid: { both: "どちらの文にもない", first: "2つ目の文だけにある", second: "1つ目の文だけにある" },
    spokenUnsaid: (condition: string, which: string) => `${condition}：${which}。`,
    doubt: { foreign: "不確か：英語でない", unknown: "不確か：未知の文字", cut: "不確か：終わりまで読めず" },
    spokenDoubt: (condition: string, s: number, why: string) => `${condition}：類似度${similarity(s)}、${why}。`,
    spoken,
    spokenUnaided: (s: number) => `条件なし：類似度${similarity(s)}。`,
  },

  engine: {
    title: "モデルを動かしている場所と方法",
    megabytes,
    milliseconds: (ms: number) => `${ms < 10 ? decimal(ms, 1) : Math.round(ms)}ミリ秒`,
    device: "実行先",
    adapter: "アダプター",
    instructions: "命令セット",
    model: "モデル",
    dtype: "重み",
    size: "ダウンロード",
    time: "直近の応答",
    names: { webgpu: "WebGPU", wasm: "CPU（WebAssembly）" } as Record<string, string>,
    noAdapter: "なし",
    choose: "実行先",
    choices: { auto: "自動", webgpu: "WebGPU", wasm: "CPU" },
  },

  encoders: {
    title: "どのエンコーダーが答えますか？",
    names: { small: "小型", large: "大型", case: "CASE（公表どおり）" },
    what: {
      small: "all-MiniLM-L6-v2を条件向けにファインチューニングした、同梱のエンコーダーです。",
      large: "all-mpnet-base-v2をファインチューニングしたものです。レビューや日常の文章に強く、時間は7倍かかります。",
      case: "all-MiniLM-L6-v2をそのまま使います。条件を引き算し、その上で小さなヘッドを学習しています。すべてのステップが見られます。",
    },
    // What choosing it costs.
    inUse: (mb: number) => `${size(mb)}、使用中`,
    kept: (mb: number) => `${size(mb)}、この端末に保存済み`,
    toDownload: (mb: number) => `${size(mb)}のダウンロードが必要`,
    offline: (mb: number) => `${size(mb)}、ネットワークが必要`,
    base: {
      text: "all-mpnet-base-v2はsentence-transformersによるものです（Apache-2.0）。",
      url: "https://huggingface.co/sentence-transformers/all-mpnet-base-v2",
    },
    answers: (name: string) => `「${name}」が答えています。`,
    cancel: "キャンセル",
    failed: (name: string) => `「${name}」を読み込めませんでした`,
    stays: (name: string) => `引き続き「${name}」が答えます。`,
    ask: (name: string, mb: number) =>
      `接続が遅いか、データを節約する設定のようです。エンコーダー「${name}」には${size(mb)}のダウンロードが1回必要です。その後はこの端末に残ります。`,
    agree: (mb: number) => `${size(mb)}をダウンロード`,
    stay: (name: string) => `「${name}」を使い続ける`,
    instead: (name: string) => `代わりに「${name}」を使う`,
    waiting: "まだダウンロードしていません。始める前に確認します。",
  },

  loading: {
    label: "モデルの読み込み",
    starting: "モデルを読み込んでいます…",
    /** `total`: all that is to be loaded. */
    bytes: (loaded: number, total: number) =>
      `モデルを読み込んでいます：${megabytes(total)}中${megabytes(loaded)}、${percent(Math.min(1, loaded / total))}。`,
    preparing: "モデルを準備しています…",
    meanwhile: "その間も入力できます。",
    ready: "モデルの準備ができました。",
  },

  problems: {
    retry: "再試行",
    details: "プログラムからのメッセージ",
    // While a model is loaded, the package warns of this alone.
    notKept: "このブラウザーでは、モデルを保存できません。次に開くときに、もう一度ダウンロードします。ほかはすべて使えます。",
    useCpu: "CPUを使う",
    title: "モデルを読み込めませんでした",
    compareTitle: "文を比較できませんでした",
    gpuLost: "GPUが動かなくなったため、CPUに切り替えました。少し遅くなりますが、すべてこれまでどおり使えます。",
    // What happened and what to do, by the error's code. Codes that are not listed are told as `internal`.
    told: {
      "condition-too-long": "条件としては長すぎます。数語に短くしてください。",
      "invalid-text": "テキストに、絵文字を途中で切ったときのような半端な文字があります。削除するか、入力し直してください。",
      integrity: "届いたモデルは、このページのものではありません。もう一度試すと、新しくダウンロードします。",
      http: "必要なファイルが、今このページのサーバーにありません。しばらくしてからもう一度お試しください。",
      network: "モデルを取得できませんでした。接続を確認して、もう一度お試しください。一度読み込めば端末に残り、オフラインでも使えます。",
      "download-incomplete": "モデルの全体が届く前に接続が切れました。たいていは、もう一度試すとうまくいきます。",
      "model-format": "保存されているモデルが壊れています。もう一度試すと、新しくダウンロードします。",
      "not-enough-memory": "この端末には、モデルに必要な空きメモリがありません。ほかのタブやプログラムを閉じて、もう一度お試しください。",
      "webgpu-unavailable": "このブラウザーではWebGPUを使えません。CPUでも同じ数値が出ます。",
      "gpu-lost": "GPUが動かなくなりました。CPUでも同じ数値が出ます。",
      unsupported:
        "このブラウザーには、モデルの計算に必要な機能がありません。古すぎるか、ロックダウンモードのような制限の強いモードになっています。ブラウザーを更新するか、このサイトを例外に加えるか、別のブラウザーをお試しください。",
      worker:
        "ブラウザーが、計算を行う部分の起動を許可しませんでした。ページを再読み込みしてください。それでも動かないときは、別のブラウザーか、プライベートでないウィンドウをお試しください。",
      "empty-text": "必要なテキストが空です。",
      "unsupported-architecture": "このページのサーバーにあるモデルは、このページでは動かせない種類のものです。サイトの運営者が直す必要があります。",
      tokenizer: "このページのサーバーにあるモデルを読めません。サイトの運営者が直す必要があります。",
      "head-format": "モデルのファイルの一つが壊れています。もう一度試すと、新しくダウンロードします。",
      "head-mismatch": "このページのサーバーにあるモデルのファイルどうしが合っていません。サイトの運営者が直す必要があります。",
      "bundle-format": "保存された答えが壊れています。しばらくしてからもう一度お試しください。",
      "bundle-schema": "保存された答えは、このページでは読めない版のものです。サイトの運営者が直す必要があります。",
      "bundle-mismatch": "保存された答えのファイルどうしが合っていないか、足りません。しばらくしてからもう一度お試しください。",
      internal: "起きるはずのない問題です。ページを再読み込みしてください。また起きるときは、入力した文を添えてお知らせください。",
    } as Record<string, string>,
    tooLong: (place: 0 | 1, characters: number) =>
      `${place === 0 ? "1つ目" : "2つ目"}の文は${count(characters)}文字あり、一度に読める長さを超えています。数段落までに短くしてください。`,
  },

  about: {
    how: {
      title: "しくみ",
      text: [
        "小さな言語モデルが、それぞれの文を条件と一緒に読み、その組を空間の中の1点に変えます。「場所について見た文」で1点、「ゲームについて見た文」で別の1点です。ある条件で2つの文の点が近ければ、その条件で2つの文は似ています。",
        "円がそれを表します。円のうち緑の部分が占める割合が類似度です。破線は肉眼、つまり条件なしで見た文の類似度です。そのため、どのバーからも、条件によって2つの文が近づいたのか遠ざかったのかがわかります。ただし、その差は手がかりとして見てください。モデルは条件を読むように学習しており、条件がないと確かさが下がります。",
      ],
    },
    right: {
      title: "どのくらい正しいですか？",
      // Whose figures these are.
      of: {
        small: "",
        large: "これらは、いま答えているエンコーダー「大型」の数値です。",
        case: "これらは、いま答えているエンコーダー「CASE（公表どおり）」の数値です。",
      },
      failures: {
        title: "間違える例を見る",
        lead: "付属のエンコーダーの答えが人の判断と食い違う組です。開いて、どんな言葉なら正しく答えるか試してください。",
        kinds: { roles: "だれがだれに何をするか", irony: "皮肉", units: "単位", time: "時刻", arithmetic: "計算", world: "世の中についての知識" },
        model: (s: string) => `モデルの答えは${s}。`,
        people: { alike: "人なら「同じ」と答えます。", unlike: "人なら「同じではない」と答えます。" },
        open: "この組を開く",
      },
      strong: {
        title: "よく当たること",
        text: ({ accuracy, rows, spearman }: { accuracy: number; rows: number; spearman: number }) =>
          `場所、色、行動、製品、感情、人数など、短い文がはっきり述べていることです。2つの条件のうち一方で人が高く評価した組では、100件中${Math.round(accuracy)}件でモデルも人と同じ側を選びます。${count(rows)}組を人の評価順に並べる課題では、スピアマンの相関係数は100を満点として${count(spearman)}です。`,
      },
      weak: {
        title: "よく外れること",
        text: ({ unseen }: { unseen: number }) =>
          `学習したものと違う条件（一度も見たことのない条件では、スピアマン${count(unseen)}）、誰が誰に何をするか、日付と時刻、単位と計算、皮肉、世の中についての知識が要ること、多くのことを述べる文章です。間違っているときも、自信があるように見えます。1つの数値よりも、2つの条件の順序を信頼してください。`,
      },
      reads: {
        title: "読めるのは英語です",
        text: {
          small: "英語の短い文で学習しました。その半分以上は写真の説明文です。ほかの言語はほとんど理解しません。",
          large: "英語の文で学習しました。その多くは写真の説明文です。ほかの言語はほとんど理解しません。",
          case: "エンコーダーは英語の文章で、ヘッドは写真の説明文だけで学習しました。ほかの言語はほとんど理解しません。",
        },
      },
      from: {
        title: "由来",
        text: "C-STS（Conditional Semantic Textual Similarity、条件付き意味的テキスト類似度）は課題の名前で、人が条件ごとに評価した説明文の組からなります。CASE（Condition-Aware Sentence Embeddings、条件を考慮した文埋め込み）は、このページのもとになった手法です。その著者たちはC-STSに評価を付け直しており、モデルはそのデータで学習し、評価しています。",
        papers: [
          { text: "C-STS（Deshpande et al., EMNLP 2023）", url: "https://arxiv.org/abs/2305.15093" },
          { text: "CASE（Zhang et al., EACL 2026）", url: "https://arxiv.org/abs/2503.17279" },
        ],
      },
    },
    privacy: {
      title: "データを送らないつくり",
      text: "モデルは、このブラウザーのタブの中で動きます。一度だけダウンロードして端末に保存するので、その後はネットワークがなくてもページを開けます。入力した文がどこかに送られることはありません。共有リンクでは文が#の後に入りますが、ブラウザーはその部分をサーバーに送りません。",
    },
  },

  list: {
    headline: ["リストを分けます。", "知りたい観点で。"],
    lead: "レビュー、問い合わせ、説明文などを貼り付けて条件を決めると、それに応じてグループが変わります。",
    examples: "用意されたリスト",
    names: { captions: ["写真", "説明文"], tickets: ["サポート", "問い合わせ"], reviews: ["レストラン", "レビュー"] },
    texts: {
      title: "テキスト",
      label: "1行に1つのテキスト",
      lost: "このリンクにはテキストが入っていません。長すぎたためです。ここに貼り付けるか、元のファイルを開いてください。",
      placeholder: "英語のリストを貼り付けるか、ファイルをここにドロップ：CSV、Excel、JSON、プレーンテキスト",
      count: (n: number) => `${count(n)}件のテキスト`,
      sampled: (n: number, of: number) =>
        `${count(of)}件から無作為に選んだものです。順序は元のままで、毎回同じものが選ばれます。このページで分けられるのは${count(n)}件までです。`,
      blank: (n: number) => `${count(n)}行は、この列にテキストがありません。`,
      cutShort: (n: number, max: number) => `${count(n)}件のテキストが${count(max)}文字を超えています。超えた部分は使いません。`,
      invisible: (n: number) => `${count(n)}行は目に見えない文字だけなので、除きました。`,
      drop: "ファイルをドロップして開く",
      thisList: "このリスト",
      reader: "この種類のファイルを読む機能",
      writer: "CSVを書き出す機能",
      open: "ファイルを開く",
      header: "1行目は見出し",
      column: "列",
      columnName: (n: number) => `列${n}`,
      unreadable: (name: string) => `${name}を開けませんでした。ファイルがまだあるか、このブラウザーに読み取りが許可されているかを確認してください。`,
      // Why a file was not taken, and what is worth knowing of one that was.
      files: {
        empty: (name: string) => `${name}にはテキストがありません。`,
        noText: (name: string) => `${name}はテキストでも表でもリストでもありません。CSV、Excel（.xlsx）、JSON、プレーンテキストのどれかで保存し直して開いてください。`,
        oldOffice: (name: string) => `${name}は古いOffice形式か、パスワードで保護されています。パスワードなしの.xlsxかCSVで保存し直して開いてください。`,
        noWorkbook: (name: string) => `${name}をExcelブックとして読めませんでした。.xlsxかCSVで保存し直して開いてください。`,
        largeWorkbook: (name: string, bytes: number) => `${name}は展開すると${megabytes(bytes)}を超え、このページでは開けません。シートをCSVで保存して開いてください。`,
        noJson: (name: string) => `${name}は正しいJSONでもJSON Linesでもありません。途中で切れているか、書き方に誤りがあります。`,
        noList: (name: string) => `${name}はリストのないJSONです。テキストの配列か、テキストを1つずつ持つオブジェクトの配列が必要です。`,
        unread: (bytes: number) => `ファイルの最初の${megabytes(bytes)}だけを読みました。`,
        spread: (bytes: number, of: number) => `ファイル${megabytes(of)}のうち${megabytes(bytes)}を、全体にわたる行から読みました。`,
        windows1252: "ファイルがUTF-8ではないため、Windows-1252として読みました。文字がおかしいときは、UTF-8で保存し直して開いてください。",
        damaged: (n: number) => `ファイルの${count(n)}文字を読めなかったため、\uFFFDで表しています。`,
        unclosed: (row: number) => `${count(row)}行目の引用符が閉じていません。そこから先の引用符は、テキストの一部として読みました。`,
        oddQuotes: (row: number, n: number) =>
          `${count(row)}行目${n > 1 ? `とほかの${count(n - 1)}行` : ""}に、セルの終わりではない引用符があります。そこのテキストが欠けていないか確認してください。`,
        wide: (row: number, n: number) =>
          `${count(row)}行目${n > 1 ? `とほかの${count(n - 1)}行` : ""}は、セルが列の数より多くあります。余った分は最後の列に加えました。`,
        badLines: (line: number, n: number) =>
          n === 1 ? `${count(line)}行目はJSONではないため、除きました。` : `${count(n)}行はJSONではないため、除きました。最初は${count(line)}行目です。`,
        saved: "このページで保存したファイルです。条件、グループの数、グループの名前を引き継ぎます。",
        sheet: (name: string, n: number) => `シート「${name}」を読みました。中身のある${n}枚のうち最初のものです。`,
      },
    },
    condition: {
      label: "分ける条件",
      placeholder: "英語の条件（例：the price）",
      chips: "試せる条件",
      count: "グループの数",
      automatic: "自動",
    },
    missing: (what: string) => `${what}を読み込めませんでした。接続を確認して、もう一度お試しください。それでもだめなら、ページを再読み込みしてください。`,
    working: (share: number) => `グループに分けています：${percent(share)}`,
    underWay: (texts: number, condition: string) => `${count(texts)}件のテキストを${condition ? `「${condition}」で` : ""}グループに分けています…`,
    read: (n: number, of: number) => `${count(of)}件中${count(n)}件を読みました`,
    left: (seconds: number) => `残り約${seconds < 60 ? `${seconds}秒` : `${count(seconds / 60)}分`}`,
    cancel: "キャンセル",
    stopped: "途中で止めました。",
    earlier: "以下は、最後の変更より前の結果です。",
    again: "もう一度分ける",
    problem: "リストをグループに分けられませんでした",
    empty: "リストを貼り付けると、グループが表示されます。",
    groups: {
      title: "グループ",
      earlier: "前のグループ",
      summary: (texts: number, groups: number, condition: string) =>
        `${condition ? `「${condition}」で、` : ""}${count(texts)}件のテキストを${groups}個のグループに分けました。`,
      size: (n: number) => `${count(n)}件`,
      between: " · ",
      rename: (name: string) => `「${name}」の名前を変える`,
      name: (n: number) => `グループ${n}の名前`,
      unnamed: "空なら特徴的な語",
      keep: "決定",
      central: "最も中心にあるテキスト",
      elsewhere: "選択中",
      member: "グループの中心との類似度",
      unmentioned: (condition: string) => `「${condition}」に触れていない`,
      silent: (n: number) => `${n}件はそれに触れていません。`,
      unknown: (n: number) => `${count(n)}件のテキストに、モデルの知らない文字があります。`,
      cut: (n: number) => `${count(n)}件のテキストは、モデルが一度に読める長さを超えています。終わりは入っていません。`,
      more: (n: number) => `さらに${n}件を表示`,
      fewer: "表示を減らす",
    },
    // What is judged of the groups: how far apart they lie, and no more.
    verdict: {
      few: "テキストが少なすぎて、グループになっているかどうかはわかりません。",
      none: (own: number, without: number) =>
        `グループになっている様子はありません。シルエット係数は${cosine(own)}で、グループのない同じような散らばりの点では${cosine(without)}です。リストをいくつかに分ける方法の1つと考えてください。`,
      some: (own: number, without: number) =>
        `グループは少し離れています。シルエット係数は${cosine(own)}で、グループのない同じような散らばりの点では${cosine(without)}です。これは点の位置についての数値で、探しているグループかどうかはわかりません。`,
      clear: (own: number, without: number) =>
        `グループははっきり離れています。シルエット係数は${cosine(own)}で、グループのない同じような散らばりの点では${cosine(without)}です。これは点の位置についての数値で、探しているグループかどうかはわかりません。`,
    },
    map: {
      title: "マップ",
      earlier: "前のマップ",
      what: "マップを描く機能",
      label: (texts: number, groups: number) => `${groups}個のグループに分けた${texts}件のテキストのマップ。グループの一覧にも同じテキストがあります。`,
      role: "テキストのマップ",
      help: "マップの見方と使い方",
      note: "近いものほど似ています。条件で見たテキストの、第1・第2主成分を描いています。番号は、各グループの最も中心にあるテキストの位置です。",
      keys: "ドラッグでマップを動かし、Ctrl+ホイールか2本指で拡大・縮小します。クリックでテキストを1件選び、Shift+ドラッグで複数を線で囲みます。キーボードでは、矢印キーでテキストからテキストへ、Page UpとPage Downでグループの中を移動し、+と−で拡大・縮小、0で全体を表示、Enterで選択します。",
      tools: "マップのツール",
      closer: "拡大",
      farther: "縮小",
      whole: "全体を表示",
      lasso: "テキストを囲む",
      colour: "色分け",
      byGroup: "グループ別",
      by: (column: string) => `${column}別`,
      legend: "凡例",
      selectAll: (name: string, n: number) => `${name}：${count(n)}件のテキストを選択`,
      noValue: "値なし",
      // The text at hand, as it is spoken.
      spoken: (text: string, group: string, value: string, isSelected: boolean) =>
        `${text}　グループ：${group}。${value && `${value}。`}${isSelected ? "選択中。" : ""}`,
      value: (column: string, value: string) => `${column}：${value}`,
    },
    selection: {
      title: "選択したテキスト",
      count: (n: number) => `${count(n)}件を選択中`,
      copy: "コピー",
      copied: "コピーしました",
      blocked: "コピーが許可されていません",
      save: "CSVで保存",
      find: "似たものを探す",
      show: "一覧で見る",
      clear: "選択を解除",
    },
    search: {
      label: "リスト内を検索",
      placeholder: "似たものを探すための英語のテキスト",
      marked: "マップ上で丸く囲んだものです。クリックで選択します。",
      unmentioned: "それに触れていない",
      found: (condition: string) => (condition ? `「${condition}」で最も似たもの` : "最も似たもの"),
    },
    export: { csv: "CSVで保存", json: "JSONで保存" },
  },

  pairs: {
    title: "表にある多くの組を比べる",
    lead: "各行に2つの文がある表を開いてください（CSV、Excel、JSON）。条件の列があれば、行ごとにその条件で比べます。なければ、上の条件で比べます。",
    open: "表を開く",
    first: "1つ目の文",
    second: "2つ目の文",
    condition: "条件",
    above: "上の条件",
    oneColumn: "表の列が1つしかありません。文の列が2つ必要です。",
    needCondition: "上に条件を書くか、条件の列を選んでください。",
    count: (n) => `比較は${count(n)}件です。`,
    lacking: (n) => `${count(n)}行には文か条件がないため、省きます。`,
    beyond: (max) => `はじめの${count(max)}件だけを比べます。`,
    compare: "比べる",
    working: (share) => `比較しています：${percent(share)}`,
    problem: "組を比べられませんでした",
    results: "組とその類似度",
    tooLong: "長すぎます",
    more: (n) => `残りの${count(n)}件は、保存するファイルに入ります。`,
    failed: (n) => `${count(n)}件は比べられませんでした。`,
    agreement: (name, rho, n) => `「${name}」列とのスピアマンの順位相関（${count(n)}行）：${cosine(rho)}。`,
    silent: (n) => `文が条件について何も述べていない${count(n)}行は数えていません。`,
  },

  takeAlong: {
    csv: "この比較を保存（CSV）",
    picture: "画像として保存（PNG）",
    artist: "画像を描く機能",
    by: (name: string) => `caselensがエンコーダー「${name}」でブラウザー内で比較しました。`,
    snippet: "自分のページに載せる",
    copied: "HTMLをコピーしました。ページのそばにnpmパッケージのcaselensとcaselens-cstsが必要です。",
  },

  suggestions: {
    title: "試してみたい条件",
    add: "追加：",
    looking: "2つの文の違いがよく出る条件を探しています…",
    slow: "この端末では時間がかかるため、条件の提案はしません。探すと端末が長い間忙しくなります。",
  },

  larger: {
    title: "より大きなモデルの答え",
    lead: "このモデルはブラウザーには大きすぎるため、ここでは動きません。前もってこれらの組を読んでおり、それぞれの文を条件ごとに読んだ結果が、このページと一緒に置かれています。学習済みの射影は、いまお使いの端末で、その結果に適用しました。隣にあるのは、このページで動くモデルの答えです。",
    theirs: "大きなモデル",
    ours: "このページ",
    people: "人",
    licences: "ライセンス",
    dims: (n: number) => `1文につき${count(n)}個の数を比較`,
    pair: (place: number) => `組${place}`,
    waiting: "…",
    unread: "長すぎます",
    problem: "より大きなモデルの答えを表示できません",
  },

  how: {
    title: "しくみ",
    lead: "入力した文でモデルがどう働くかを、1ステップずつ見ていきます。このページの数値は、すべてモデル自身が出したものです。",
    lessons: "レッスン",
    question: "問い",
    reveal: "答えを見る",
    close: "レッスンを閉じる",
    answersOf: "答えは、同梱のエンコーダー「小型」について書かれています。いま見ているのは別のエンコーダーのもので、答えと違うことがあります。",
    beside: {
      title: "同梱のエンコーダーとの比較",
      text: (case_: number, small: number) =>
        `CASEはエンコーダーを公表されたまま使います。同梱のエンコーダーは、この課題のために全体を学習し直したものです。人が評価した組でのスピアマンの相関係数は、100を満点として、前者が${count(case_)}、後者が${count(small)}です。入力した文の組で、両方を見てみましょう。`,
      open: "両方を表示",
      download: (mb: number) => `両方を表示（${size(mb)}をダウンロード）`,
      close: "CASEだけを表示",
      caption: (condition: string) => `2つのエンコーダー、「${condition}」で見た場合`,
      rating: "評価（5点満点）",
      leftOut: "なし",
      waiting: "…",
      problem: "同梱のエンコーダーを並べて表示できませんでした",
    },
    condition: "説明する条件",
    needSentences: "文を2つとも入力すると、比べ方が見られます。",
    others: "ほかの条件",
    needCondition: "条件を入力すると、その働きが見られます。",
    problem: "ステップを計算できませんでした",
    present: "発表モード",
    print: "ワークシートを印刷",
    fill: "全画面表示",
    code: {
      title: "QRコード",
      label: "このステップのリンクのQRコード",
      note: "別の端末でこのステップを開きます。",
      tooLong: "テキストが長すぎてQRコードにできません。代わりにリンクをコピーしてください。",
    },
    leave: "終了（Esc）",
    previous: "前のステップ",
    next: "次のステップ",
    place: (at: number, of: number) => `${at} / ${of}`,
    switches: {
      title: "もし変えたら？",
      condition: "条件",
      subtract: "引き算",
      head: "ヘッド",
      pooling: "平均するトークン",
      poolings: { all: "すべて", condition: "条件のトークン", sentence: "文のトークン", cls: "先頭だけ" },
      noHead: "このモデルにはありません",
      reset: "モデル本来の方法に戻す",
      own: (s: number) => `類似度は${similarity(s)}です。モデルが学習したとおりの方法です。`,
      changed: (now: number, own: number) => `この設定では類似度は${similarity(now)}です。モデル本来の方法では${similarity(own)}です。`,
    },
    step: (n: number) => `ステップ${n}`,
    skipped: "このモデルには、このステップがありません。「もし変えたら？」でオンにすると、どうなるかが見られます。",
    switchedOff: "オフになっているため、このステップは行いません。",
    noHead: "このモデルにはヘッドがありません。",
    needsCondition: "条件がないと、ここに見るものはありません。",
    sentence: (n: number) => (n === 1 ? "1つ目の文" : "2つ目の文"),
    vector: (vector: Float32Array) => {
      const numbers = Array.from(vector.subarray(0, 5), (value) => decimal(value, 2)).join("、");
      const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
      return `${vector.length}個の数：${numbers}、…　長さ${decimal(length, 2)}。`;
    },
    strip: (what: string) => `${what}を色付きのマスの帯で表したもの。0より小さいと青、大きいと黄色です。`,
    steps: {
      question: {
        title: "2つの文、1つの問い",
        text: "この2つの文はどのくらい似ているでしょうか。条件なしで文だけを読むと、すべてをまとめた1つの数値になります。条件は、1つのことだけをたずねます。",
        plain: "条件なし",
      },
      tokens: {
        title: "語がトークンになる",
        text: "エンコーダーは、条件と文を1つのテキストとして一緒に読みます。知っているのはおよそ3万個の語の断片、つまりトークンです。珍しい語はいくつかに分かれます（##は語の続きの印）。[CLS]と[SEP]はエンコーダー自身の記号で、始まりと、各部分の終わりを表します。",
        more: "最初の層の前に、トークンはそれぞれ384個の数になります。学習された3つの数の列の和です。どの断片かを表すもの、文章の中での位置（512まであります）を表すもの、そして条件と文のどちらに属するかを示すセグメントを表すものです。位置がなければ “dog bites man” と “man bites dog” は同じになってしまいます。",
        moreOf: {
          large: "最初の層の前に、トークンはそれぞれ768個の数になります。学習された2つの数の列の和です。どの断片かを表すものと、文章の中での位置（512まであります）を表すものです。2つのトークンがどれだけ離れているかは、アテンションでもう一度効きます。このエンコーダーにセグメントはなく、条件と文を分けるのは記号だけです。位置がなければ “dog bites man” と “man bites dog” は同じになってしまいます。",
        },
        others: {
          large: "エンコーダーは、条件と文を1つのテキストとして一緒に読みます。知っているのはおよそ3万個の語の断片、つまりトークンです。珍しい語はいくつかに分かれます（##は語の続きの印）。<s>と</s>はエンコーダー自身の記号で、始まりと、各部分の終わりを表します。",
        },
        unknown: "[UNK]は、当てはまる断片がないことを表します。そのような文字は、エンコーダーにはどれも同じに見えます。",
      },
      attention: {
        title: "条件が語を見る",
        text: "どの層でも、各トークンはほかのすべてのトークンを見て、それぞれから何かを取り入れます。どれからどのくらい取り入れるかがアテンションです。ここでは、条件のトークンが各文のどの語を見ているかを、その文に向けた分の中での割合で、層のヘッドの平均として示します。これですべてがわかるわけではありません。語から取り入れるものは多いことも少ないこともあり、どのトークンも元の内容を持ち続けるからです。",
        more: "アテンションは層の半分です。もう半分のフィードフォワード部では、トークンが一つずつ小さなネットワークを通り、384個の数が1,536個になり、また384個に戻ります。層の重みの3分の2はここにあります。得られたものはトークンがもともと持っていたものに足され、6つある層の次へ進みます。",
        moreOf: {
          large: "アテンションは層の半分です。もう半分のフィードフォワード部では、トークンが一つずつ小さなネットワークを通り、768個の数が3,072個になり、また768個に戻ります。層の重みの3分の2はここにあります。得られたものはトークンがもともと持っていたものに足され、12ある層の次へ進みます。",
        },
        layer: "層",
        of: (at: number, count: number) => `${count}層中${at}層目`,
        share: (text: string, share: number) => `${text}：${rounded(share)}`,
        rest: (share: number) => `条件のアテンションのうち${rounded(share)}がこの文に向かい、残りは条件自身と記号に向かいます。`,
      },
      embedding: {
        title: "トークンが1つのベクトルになる",
        text: "最後の層の後では、どのトークンも数の並びです。その平均が埋め込みで、条件から見たこの文の内容を表します。条件を変えると、文は同じでも図が変わります。",
        others: {
          case: "最後の層の後では、どのトークンも数の並びです。条件のトークンは、ここまでにどれも文を見ています。その平均が埋め込みで、条件から見たこの文の内容を表します。条件を変えると、文は同じでも図が変わります。",
        },
        what: "条件と一緒に読んだ各文の埋め込み",
        plain: "文だけを読んだ埋め込み",
      },
      subtraction: {
        title: "条件を取り除く",
        text: "条件の語は両方の埋め込みに入っているので、文の内容に関係なく、2つを似たものに見せます。このページのもとになった手法CASEは、条件だけの埋め込みを引き算します：f(s, c) − f(c)。残るのは文の部分です。ここに同梱のエンコーダーはCASEそのものではなく、このステップなしでファインチューニングしたものです。",
        others: {
          large: "条件の語は両方の埋め込みに入っているので、文の内容に関係なく、2つを似たものに見せます。このページのもとになった手法CASEは、条件だけの埋め込みを引き算します：f(s, c) − f(c)。残るのは文の部分です。大型のエンコーダーはCASEそのものではなく、このステップなしでファインチューニングしたものです。",
          case: "条件の語は両方の埋め込みに入っているので、文の内容に関係なく、2つを似たものに見せます。このステップの前のコサインがどれほど高いかを見てください。CASEは条件だけの埋め込みを引き算します：f(s, c) − f(c)。残るのは文の部分です。",
        },
        alone: "条件だけ",
        what: "各文に残ったもの",
      },
      head: {
        title: "ヘッドで研ぎ澄ます",
        text: "エンコーダーを公表されたまま使うときは、その上で小さなネットワークを学習します。人の評価を左右する数だけを残すためのものです。同梱のエンコーダーのように全体をファインチューニングしたものは、それを自分で学んでいるので、ヘッドは要りません。",
        others: {
          large: "エンコーダーを公表されたまま使うときは、その上で小さなネットワークを学習します。人の評価を左右する数だけを残すためのものです。大型のエンコーダーのように全体をファインチューニングしたものは、それを自分で学んでいるので、ヘッドは要りません。",
          case: "エンコーダーは公表されたままで、ある条件で「似ている」とは人にとってどういうことかを教わっていません。その上の小さなネットワークは、評価の付いた1万1千組でそれを教わり、評価を左右するものを、より少ない数で残します。",
        },
        what: "ヘッドを通した各文",
      },
      cosine: {
        title: "1つの数が残る",
        text: "同じ向きの2つのベクトルのコサインは1、直角なら0です。これが類似度です。1から5の評価にすると1 + 4 · コサインになり、0より小さいコサインは0と数えます。付属のエンコーダーでは、同じくらいのコサインの組に人がつけた評価から読み取ります。",
        more: "条件の意味は、だれかがモデルに書き込んだのではなく、訓練で学んだものです。エンコーダーはまず、10億を超えるテキストの組から、どれとどれが対になるかを学びました。次に、人が条件のもとで評価した11,342組と、より大きなモデルが評価した組について、コサインが評価と比べられました。数組ごとに2,200万の重みの一つ一つが少しずつ動かされ、コサインと評価が近づくように、何度もくり返されました。",
        moreOf: {
          large: "条件の意味は、だれかがモデルに書き込んだのではなく、訓練で学んだものです。エンコーダーはまず、10億を超えるテキストの組から、どれとどれが対になるかを学びました。次に、人が条件のもとで評価した11,342組と、より大きなモデルが評価した組について、コサインが評価と比べられました。2,230回にわたって1億1千万の重みの一つ一つが少しずつ動かされ、コサインと評価が近づけられました。",
          case: "条件の意味は、だれかがモデルに書き込んだのではなく、訓練で学んだものです。エンコーダーはまず、10億を超えるテキストの組から、どれとどれが対になるかを学び、そのままです。人が条件のもとで評価した11,342組と比べられたのはヘッドだけです。数組ごとにその重みの一つ一つが少しずつ動かされ、コサインと評価が近づくように、何度もくり返されました。",
        },
        chart: "各ステップの後のコサイン",
        names: { plain: "条件なし", joint: "条件あり", offset: "引き算の後", projected: "ヘッドの後" },
        angle: (s: number, degrees: number) => `コサイン${cosine(s)}：2つのベクトルの間の角度は${degrees}°です。`,
        rating: (r: number) => `評価は5点満点で${rating(r)}`,
        unsaid: {
          both: "モデルが判断できるかぎりでは、どちらの文も条件について何も述べていません。そのため答えは出せません。",
          first: "モデルが判断できるかぎりでは、条件について述べているのは2つ目の文だけです。そのため答えは出せません。",
          second: "モデルが判断できるかぎりでは、条件について述べているのは1つ目の文だけです。そのため答えは出せません。",
        },
      },
    },
    heads: {
      title: "アテンションヘッド",
      lead: "一つの層には複数のアテンションヘッドがあり、それぞれが独自の見方をします。上のような全体の平均では、それが隠れてしまいます。ヘッドがどこを見ているかは、モデルが何を使っているかの手がかりであって、証拠ではありません。",
      sentences: "どちらの文のトークンか",
      waiting: "ヘッドを読み取っています…",
      choose: (layer: number, layers: number) =>
        `${layers}層のうち第${layer}層のヘッドです。図の各行は見るトークン、各列は見られるトークンで、色が強いほど割合が大きくなります。ヘッドを選ぶと詳しく見られます。`,
      head: (n: number, from: string, to: string, share: string) => `${n}：ヘッド${n}、最大の割合は「${from}」から「${to}」への${share}`,
      picture: (n: number) => `ヘッド${n}：どのトークンがどこを見ているか。一つ選ぶと、その視線だけが表示されます。`,
      all: "すべてのトークン",
      most: "各トークンが最もよく見ている先：",
      look: (from: string, to: string, share: string) => `${from} → ${to}：${share}`,
      looks: (from: string, most: string) => `「${from}」が最もよく見ているのは、${most}です。`,
      share: (to: string, share: string) => `${to}：${share}`,
      rest: (n: number, share: string) => `その他${n}個のトークン：${share}`,
      problem: "ヘッドを読み取れませんでした",
    },
    space: {
      title: "空間と、条件による動き",
      lead: "印はそれぞれ1つの文です。12の文は、だれがどこで何をするかを述べ、1と2はあなたの文です。条件を選ぶと、どの文が近づくかが見えます。",
      under: "試してみる条件",
      none: "条件なし",
      waiting: "文を読んでいます…",
      plain: "条件なしで平面に置いた文",
      picture: (condition) => `「${condition}」で平面に置いた文`,
      nearest: (text, s) => `12の文のうち、1つ目の文にいちばん近いのは「${text}」です：${s}。`,
      note: (dims) => `埋め込みは${dims}個の数ですが、平面は2つしか示せません。文がいちばん違う2つの方向（主成分）を描いています。近くに見える印も、実際にはもっと離れていることがあります。`,
    },
    rate: {
      title: "まず自分で評価してから、モデルに聞く",
      lead: "人が評価した8組の説明文です。それぞれ、条件から見てどれくらい似ているかを答えてください。そのあとに、モデルの答えと人の答えが出ます。",
      place: (n, of) => `${of}組のうち${n}組目`,
      question: "次の点でどれくらい似ていますか：",
      ends: ["まったく違う", "同じ"],
      waiting: "モデルに聞いています…",
      answer: (own, model, people) => `あなたは${own}、モデルは${rating(model)}、人は${people}です。`,
      next: "次の組",
      again: "はじめから",
      pair: "組",
      you: "あなた",
      model: "モデル",
      people: "人",
      away: (own, model) => `人の答えとの差は、平均であなたが${rating(own)}、モデルが${rating(model)}です。`,
      source: "組と評価は、あらためて注釈されたC-STSの検証データから取りました（LivNLP、CC BY 4.0）。モデルの学習には使っていません。",
    },
    teachers: {
      title: "先生方へ：目標、時間、レベル、用語集",
      goals: {
        title: "学習後にできるようになること",
        items: [
          "「似ている」には「何について」が必要な理由を説明し、ある条件では似ていて別の条件では似ていない文の組を挙げる。",
          "文が語からトークンへ、ベクトルへ、そして1つの数へと変わる流れを追う。",
          "モデルがどこを見ているかを読み取り、それが手がかりであって証拠ではない理由を説明する。",
          "モデルが間違える問いを見つけ、その理由を推測する。",
        ],
      },
      frame: {
        title: "時間、レベル、必要なもの",
        items: [
          "レッスン1と3をワークシートで行うなら45分、6つすべてなら90分。",
          "14歳くらいから。必要な知識は角度だけです。レッスン4から6は、ベクトルを習った人向けです。",
          "ブラウザーと、最初に1回、14MBのダウンロード。その後はオフラインで使えます。アカウントは要らず、入力したものは送られません。文は英語です。",
        ],
      },
      plan: {
        title: "45分の授業案",
        items: [
          "10分：ワークシートの問題の紙を配ります。まず1人で予想し、それから隣の人と比べます。",
          "10分：レッスン1を発表モードで見せ、答えの前に問いを出します。",
          "15分：2人1組で、ある条件では似ていて別の条件では似ていない文の組を自分たちで作り、モデルを間違えさせてみます。",
          "10分：レッスン3。続いて解答の紙を見ます。モデルと意見が違うのはどこですか。正しいのはどちらですか。",
        ],
      },
      glossary: {
        title: "用語集",
        terms: [
          ["トークン", "モデルが番号を付けているテキストの断片。1つの語、または語の一部。"],
          ["ベクトル、埋め込み", "テキストを表す数の並び。ここでは384個、大型のエンコーダーでは768個。"],
          ["アテンション（注意）", "1つの層で、あるトークンがほかの各トークンからどのくらい取り入れるか。"],
          ["層", "すべてのトークンをもとに、各トークンを計算し直す段階。6つあり、大型のエンコーダーには12ある。"],
          ["ヘッド", "層の中では、並んで働く12個のアテンションの1つ。エンコーダーの後では、埋め込みの上に置く小さなネットワーク。"],
          ["コサイン", "2つのベクトルの向きがどのくらい同じか。同じなら1、直角なら0。"],
          ["ファインチューニング", "学習済みのモデルを、ある課題のためにもう少し学習させること。"],
          ["スピアマンの相関係数", "2つの順位がどのくらい一致するか。100は完全に一致、0はまったく一致しない。"],
        ],
      },
    },
    sources: {
      title: "出典",
      papers: [
        { what: "課題と、人が評価した文の組：", text: "C-STS: Conditional Semantic Textual Similarity (Deshpande et al., EMNLP 2023)", url: "https://arxiv.org/abs/2305.15093" },
        { what: "このページのもとになった方法（引き算とヘッド）：", text: "CASE: Condition-Aware Sentence Embeddings (Zhang et al., EACL 2026)", url: "https://arxiv.org/abs/2503.17279" },
        { what: "アテンションとそのヘッド、層：", text: "Attention Is All You Need (Vaswani et al., NeurIPS 2017)", url: "https://arxiv.org/abs/1706.03762" },
        { what: "トークンと[CLS]、[SEP]を使うエンコーダー：", text: "BERT (Devlin et al., NAACL 2019)", url: "https://arxiv.org/abs/1810.04805" },
        { what: "トークンの平均とコサイン：", text: "Sentence-BERT (Reimers and Gurevych, EMNLP 2019)", url: "https://arxiv.org/abs/1908.10084" },
        { what: "小さいエンコーダーのもと：", text: "MiniLM (Wang et al., NeurIPS 2020)", url: "https://arxiv.org/abs/2002.10957" },
        { what: "大きいエンコーダーのもと：", text: "MPNet (Song et al., NeurIPS 2020)", url: "https://arxiv.org/abs/2004.09297" },
        { what: "アテンションが手がかりであって証明ではない理由：", text: "Attention is not Explanation (Jain and Wallace, NAACL 2019)", url: "https://arxiv.org/abs/1902.10186" },
      ],
    },
    worksheet: {
      pairs: (n: number) => `ワークシートに${n}組`,
      pick: "上の組のほかに：",
      title: "似ていますか？　見方しだいです。",
      name: "名前",
      task: "2つの文は、ある条件では似ていて、別の条件では似ていないことがあります。条件ごとに、どのくらい似ているかを予想しましょう。0はまったく似ていない、1は完全に同じという意味です。そう考えた理由を書き、解答の紙にあるモデルの数値と比べましょう。",
      columns: ["条件", "予想（0–1）", "理由"],
      ownRows: "自分で考えた条件を2つ：",
      answers: "モデルの答え",
      of: (name: string) => `エンコーダー「${name}」によるものです。`,
      none: "条件なし",
      similarity: "類似度",
      unanswered: "印刷したとき、モデルの答えはまだありませんでした。",
      think: "モデルと0.3より大きく違うのはどこですか。正しいのはどちらですか。",
    },
  },

  unkept: {
    title: "このページには接続が必要です",
    lead: "caselens自体は接続がなくても使えます。ただしAPIリファレンスとライセンスはこの端末に保存されないため、いまは読み込めません。",
    back: "caselensに戻る",
    again: "もう一度試す",
  },

  speed: {
    title: "この端末ではどのくらい速い？",
    lead: "同梱のエンコーダーをこのブラウザーで動かし、4通りの大きさのバッチで、CPUとWebGPUの速さを測ります。1分半ほどかかります。",
    back: "デモへ",
    begin: "測定",
    again: "もう一度測定",
    stop: "停止",
    copy: "Markdownでコピー",
    copied: "コピーしました",
    blocked: "コピーが許可されていません",
    measuring: (name: string) => `測定中：${name}…`,
    cpu: (threads: number) => `CPU（ワーカー${threads}個）`,
    shapes: {
      a: "2 × 25トークン",
      b: "32 × 25トークン",
      c: "32 × 128トークン",
      d: "32 × 8–128トークン、混在",
    } as Record<string, string>,
    milliseconds: (n: string) => `${n}ミリ秒`,
    texts: (n: string) => `毎秒${n}件`,
    // Operations a second, and the share of the processor’s peak where that is known.
    operations: (gops: string, share: number | undefined) =>
      `${gops} GOP/s${share === undefined ? "" : share >= 0.995 ? "、測定した最大性能" : `、最大性能の${rounded(share)}`}`,
    start: "起動から最初の答えまで",
    note: "数値はどれも、1秒半の間に測った1バッチの時間の中央値です。GOP/sは、重みとトークンごとに2回の演算と、アテンションの積を数えています。最大性能は、ワーカーのプロセッサーが同じ命令の繰り返しで出せる速さです。ほかのタブ、バッテリーの残量不足、端末の熱があると遅くなります。起動のとき、ファイルがブラウザーのキャッシュにあればそれを使います。",
  },

  footer: {
    language: "言語",
    speed: "この端末ではどのくらい速い？",
    reference: "APIリファレンス",
    licence: "caselensは、MITまたはApache-2.0のもとで公開されている自由ソフトウェアです。",
    notices: "含まれている著作物とそのライセンス",
    credits: [
      {
        text: "エンコーダー：sentence-transformersのall-MiniLM-L6-v2（Apache-2.0）を、",
        url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
      },
      {
        text: "CASEの著者たちが評価を付け直したC-STS（CC BY 4.0）でファインチューニングしたもの。",
        url: "https://github.com/LivNLP/CSTS-reannotation",
      },
      {
        text: "書体：Atkinson Hyperlegible Next（OFL 1.1）。",
        url: "https://www.brailleinstitute.org/freefont/",
      },
    ],
  },
};

export const lessons: Lessons = [
  {
    title: "1つの組、2つの答え",
    question: "「彼女は公園でチェスをする」と「彼は公園でサッカーをする」。この2つの文は似ていますか。",
    answer:
      "何についてたずねるかによります。場所ならほとんど同じですが、ゲームなら違います。条件がなければ、数値はその間のどこかになります。だからこそ、それぞれの文と一緒に条件もモデルに入れるのです。",
    sentences: ["She plays chess in the park", "He plays football in the park"],
    conditions: ["the place", "the game", "the person"],
    chosen: 0,
  },
  {
    title: "条件は何をする？",
    question: "条件をオフにしてください。類似度はどうなり、どのステップが残りますか。",
    answer:
      "条件がないと、文はそれだけで読まれ、残るのはトークンの平均だけです。すべてをまとめた1つの数値なので、動物が違っても、同じ赤いソファーがそれを埋め合わせます。条件をもう一度オンにすると、動物については似ていないことがわかります。家具（the furniture）を選ぶと、2つの文はほとんど同じになります。文は1語も変わっていません。",
    sentences: ["A black dog sleeps on a red sofa.", "A white cat sleeps on a red sofa."],
    conditions: ["the type of animal", "the furniture"],
    chosen: 0,
  },
  {
    title: "どこを見ている？",
    question: "「the number of people」（人数）は、どの語を見るべきでしょうか。予想してから、アテンションのステップを見てください。",
    answer:
      "最後の層では、1つ目の文に向かうアテンションの大部分が「Three」に集まり、2つ目の文では「A lone」がほかのどの語よりも多く受け取ります。人が見るのと同じ場所です。しかし、かなりの部分は条件自身と記号に残り、初めのほうの層は別の場所を見ています。アテンションは、答えを形づくる多くのものの1つです。手がかりであって、証拠ではありません。",
    sentences: ["Three children build a sandcastle on the beach.", "A lone surfer waits for a wave on the beach."],
    conditions: ["the number of people", "the location"],
    chosen: 0,
  },
  {
    title: "層を1つずつ",
    question: "アテンションのステップで、エンコーダーの層を順に動かしてください。初めのほうの層は、最後の層と同じ語を見ていますか。",
    answer:
      "いいえ。最初の層では、割合はほとんど均等です。最後の層では、「spotless」（しみ一つない）と「filthy」（不潔な）が最も多く受け取ります。しかし、かなりの部分、5分の1かそれ以上は、清潔さと関係のない語や記号に向かったままです。モデルは正しい場所だけを見ているわけではありません。各層は前の層が書いたものを読むので、どれか1つの層だけが「説明」になることはありません。",
    sentences: [
      "The hotel by the harbour was spotless, but breakfast cost thirty euros.",
      "Our hostel by the harbour was filthy, though breakfast was free.",
    ],
    conditions: ["the cleanliness", "the price of breakfast", "the location"],
    chosen: 0,
  },
  {
    title: "条件を引き算する",
    question: "元の手法CASEは、条件そのものの埋め込みを引き算します。引き算をオンにしてください。ここでは役に立ちますか。",
    answer:
      "いいえ。眠ることと走ることは、違いが広がるどころか、より似てしまいます。このエンコーダーは、そのステップなしでファインチューニングしたものです。引き算すると、表せるようになったことの一部も一緒に消えます。CASEがこのステップを作ったのは、エンコーダーをそのまま使うためです。その場合、条件の語があるだけで、どんな2つの読みも似て見えるので、それを取り除くのです。",
    sentences: ["A black dog sleeps on a red sofa.", "A brown dog runs through a green field."],
    conditions: ["the activity", "the type of animal"],
    chosen: 0,
  },
  {
    title: "どのトークンが効く？",
    question: "埋め込みは、すべてのトークンの平均です。条件のトークンだけ、または先頭のトークンだけを残したらどうなるでしょうか。「もし変えたら？」で選んでください。",
    answer:
      "どのトークンも入力全体を読んでいるので、どれを選んでも答えが出ます。条件のトークンなら、全体の平均に近くなります。先頭のトークンだけでは、1時間で切れるバッテリーと何日ももつバッテリーが、より似たものになります。同梱のエンコーダーは、すべてのトークンの平均で学習したので、そのとおりに使うのが最善です。",
    sentences: [
      "The camera takes beautiful photos, but its battery dies within an hour.",
      "The camera takes blurry photos, but its battery lasts for days.",
    ],
    conditions: ["the photo quality", "the battery life", "the type of product"],
    chosen: 1,
  },
];
