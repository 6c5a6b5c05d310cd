// What the demo's list view makes of files and of pasted texts, as plain functions, without a browser: list-view.test.mjs shows the
// same view as people use it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { ROOT } from "./helpers.mjs";
import { pageModules } from "./pageModules.mjs";

/** The view's modules, by their names. */
let list;
let remove;
before(async () => ({ modules: list, remove } = await pageModules(["list/fields", "tables/decode", "tables/read", "tables/readable", "list/sample", "list/save", "tables/table"])));
after(() => remove?.());

/** Reads a file as the view does, and takes the column that it takes. */
async function opened(name, content) {
  const { bodyOf, columnNames, columnOf, isHeaded, textColumn } = list.table;
  const table = await list.read.readTable(new File([content], name));
  const headed = table.named ?? isHeaded(table.rows);
  const column = textColumn(table, headed);
  return { ...table, headed, column, names: columnNames(table, headed), body: bodyOf(table, headed), ...columnOf(table, headed, column) };
}
/** Reads a file that is refused, and gives the sentence that says why. */
const refused = (name, content) => list.read.readTable(new File([content], name)).then(() => assert.fail(`${name} was read`), ({ message }) => message);
const latin1 = (text) => Buffer.from(text, "latin1");
const utf16be = (text) => Buffer.from(text, "utf16le").swap16();

describe("encodings", () => {
  const text = "text,label\nCafé crème – “schön”,1\nA dog,2\n";

  test("UTF-8 and UTF-16 of either order, with a mark and without one", async () => {
    const files = {
      "utf-8": [Buffer.from(text), Buffer.from(`\ufeff${text}`)],
      "utf-16le": [Buffer.from(text, "utf16le"), Buffer.from(`\ufeff${text}`, "utf16le")],
      "utf-16be": [utf16be(text), utf16be(`\ufeff${text}`)],
    };
    for (const [encoding, contents] of Object.entries(files)) {
      for (const content of contents) {
        assert.deepEqual(list.decode.decode(content), { text, encoding, damaged: 0 });
        const { texts, names, notices } = await opened("a.csv", content);
        assert.deepEqual({ texts, names, notices }, { texts: ["Café crème – “schön”", "A dog"], names: ["text", "label"], notices: [] });
      }
    }
    // Hardly a Latin letter, but the ends of lines.
    const chinese = "我们明天去北京\n我们昨天在上海\n".repeat(20);
    assert.equal(list.decode.decode(Buffer.from(chinese, "utf16le")).text, chinese);
    assert.equal(list.decode.decode(utf16be(chinese)).text, chinese);
  });

  test("what is none of them is read as Windows-1252 and said to be", async () => {
    const file = await opened("excel.csv", latin1("Bewertung;Note\r\nGrö\xdfe sch\xf6n, Caf\xe9\r\nGut;1\r\n"));
    assert.deepEqual(file.body.map(([cell]) => cell), ["Größe schön, Café", "Gut"]);
    assert.match(file.notices.join(), /Windows-1252.*save it as UTF-8/);
  });

  test("a broken byte does not make UTF-8 another encoding, and is told; nor does the end of what is read", async () => {
    const damaged = Buffer.concat([Buffer.from("Schöne Größe übermäßig süß, Öl, Äpfel, grün\n"), Buffer.from([0xff]), Buffer.from("end")]);
    const { texts, notices } = await opened("a.txt", damaged);
    assert.deepEqual(texts, ["Schöne Größe übermäßig süß, Öl, Äpfel, grün", "\ufffdend"]);
    assert.match(notices.join(), /^1 character of the file could not be read/);
    assert.deepEqual(list.decode.decode(Buffer.from("schön").subarray(0, 4), false), { text: "sch", encoding: "utf-8", damaged: 0 });
  });
});

describe("what parts cells", () => {
  test("comma, semicolon, tab and bar, in any line ends", async () => {
    for (const delimiter of [",", ";", "\t", "|"]) {
      for (const end of ["\n", "\r\n", "\r"]) {
        const rows = ["id", "text"].join(delimiter) + end + [1, "A dog"].join(delimiter) + end + [2, `"A cat${delimiter} a man ""here"""`].join(delimiter) + end;
        const { texts, names, notices } = await opened("a.csv", rows);
        assert.deepEqual({ texts, names, notices }, { texts: ["A dog", `A cat${delimiter.trim()} a man "here"`], names: ["id", "text"], notices: [] });
      }
    }
  });

  test("a line that says it, as Excel writes it, is no row", async () => {
    const { texts, names, notices } = await opened("a.csv", "sep=;\r\ntext;label\r\nfoo, bar;1\r\n\"open;2\r\n");
    assert.deepEqual({ texts, names }, { texts: ["foo, bar", '"open'], names: ["text", "label"] });
    assert.match(notices.join(), /^Row 4 opens a quote/);
  });

  test("in a file that is called a text: tabs, and a delimiter that every line has as tables have it", async () => {
    const tabs = await opened("a.txt", Buffer.from("\ufefftext\tlabel\r\nCafé, crème\t1\r\n", "utf16le"));
    assert.deepEqual([tabs.texts, tabs.names], [["Café, crème"], ["text", "label"]]);
    const commas = await opened("a.txt", "id,text\n1,A dog\n2,A cat\n");
    assert.deepEqual([commas.texts, commas.names], [["A dog", "A cat"], ["id", "text"]]);
    for (const prose of ["Paris, France\nRome, Italy\nOslo, Norway", 'Well, "yes"\n"No," she said, "never"\nI came; I saw', "A dog, a cat\nA man", "a|b c\nd"]) {
      const { texts, headed } = await opened("a.txt", `${prose}\n`);
      assert.deepEqual([texts, headed], [prose.split("\n"), false]);
    }
  });

  test("a single column with commas is no table", async () => {
    for (const [content, texts, headed] of [
      ["text\nA dog, a cat\nA man, a plan, a canal\n", ["A dog, a cat", "A man, a plan, a canal"], true],
      ["A dog, a cat\nA man, a plan, a canal\nA house\n", ["A dog, a cat", "A man, a plan, a canal", "A house"], false],
      ['text\n"A dog, a cat"\nA plan, a canal\n"Two\nlines ""here"""\n', ["A dog, a cat", "A plan, a canal", 'Two lines "here"'], true],
      ['"Great," she said\n"A dog, a cat"\n', ['"Great," she said', "A dog, a cat"], false],
    ]) {
      const file = await opened("onecol.csv", content);
      assert.deepEqual([file.texts, file.headed, file.notices, file.names.length], [texts, headed, [], 1]);
    }
  });

  test("rows wider than the header keep their text whole and are told", async () => {
    const { texts, names, notices } = await opened("badrow.csv", "id,text\n1,A dog, a cat and a man\n2,A plan\n3,A, b,,\n");
    assert.deepEqual({ texts, names }, { texts: ["A dog, a cat and a man", "A plan", "A, b,,"], names: ["id", "text"] });
    assert.deepEqual(notices, ["Row 2 and 1 more have more cells than there are columns: what is beyond the last column was added to it."]);
  });

  test("trailing delimiters, blank rows and NULs make no columns, rows or letters", async () => {
    const { rows, notices } = await opened("a.csv", "\ufeffid,text,,\n1,A\0 dog,,\n,,,\n\n2,A cat\0,,,,\n");
    assert.deepEqual({ rows, notices }, { rows: [["id", "text"], ["1", "A dog"], ["2", "A cat"]], notices: [] });
  });

  test("a quote that never closes is told, and swallows nothing", async () => {
    const { rows, notices } = await opened("openq.csv", 'text,label\n"fine, so far",1\n"She said hi,2\nbar,3\nbaz,4\n');
    assert.deepEqual(rows, [["text", "label"], ["fine, so far", "1"], ['"She said hi', "2"], ["bar", "3"], ["baz", "4"]]);
    assert.deepEqual(notices, ["Row 3 opens a quote that never closes: from there on quotes were read as part of the texts."]);
    const single = await opened("openq.csv", 'text\n"She said hi\nbar\n');
    assert.deepEqual([single.texts, single.notices], [['"She said hi', "bar"], ["Row 2 opens a quote that never closes: from there on quotes were read as part of the texts."]]);
    const odd = await opened("odd.csv", 'text,label\n"He said "no" to me",1\nfoo,2\n');
    assert.deepEqual([odd.texts, odd.notices], [['He said "no" to me', "foo"], ["Row 2 holds a quote that does not end a cell: look whether the texts there are whole."]]);
  });
});

describe("header and column", () => {
  test("the first row is a header where it reads like one", async () => {
    const long = "The soup was cold and the waiter never came back";
    for (const [first, ...rest] of [
      ["text", "A red dog", "A blue cat"],
      ["id,text", "a1,A dog", "a2,A cat"],
      ["Kundenname,Meinung", `Meyer,${long}`, `Schmidt,${long} today`],
      ["Filiale,Umsatz", "Nord,1200", "Süd,950"],
    ]) {
      assert.deepEqual([first, (await opened("a.csv", [first, ...rest].join("\n"))).headed], [first, true]);
    }
    for (const [first, ...rest] of [
      ["1,A dog,pos", "2,A cat,neg"],
      ["pos,Great", `neg,${long}`, `pos,${long} too`],
      ["Thanks", long, long],
      [`${long},${long} twice`, "A dog,A cat"],
      ["text"],
    ]) {
      const { headed, body } = await opened("a.csv", [first, ...rest].join("\n"));
      assert.deepEqual([first, headed, body.length], [first, false, 1 + rest.length]);
    }
  });

  test("blank and duplicate names get names of their own", async () => {
    const { names } = await opened("a.csv", "id,,text,text,text (2)\n1,x,A dog,A cat,C\n2,y,B,C,D\n");
    assert.deepEqual(names, ["id", "Column 2", "text", "text (2)", "text (2) (2)"]);
    assert.deepEqual((await opened("a.csv", "1,A dog\n2,A cat\n")).names, ["Column 1", "Column 2"]);
  });

  test("texts are where a column is called so, else where most words are", async () => {
    const chosen = async (content) => {
      const { names, column } = await opened("a.csv", content);
      return names[column];
    };
    assert.equal(await chosen("id,url,what it says\n1,https://example.com/a/very/long/address/of/a/page,A dog\n"), "what it says");
    assert.equal(await chosen("text,notes\nA dog,by far the longer of the two of them\n"), "text");
    assert.equal(await chosen("text,notes\n,by far the longer of the two of them\n"), "notes");
  });

  test("what this page saved is read back: the same texts, by themselves", async () => {
    const lines = ["=1+1 is two", "-5 degrees", "@home, “alone”", "plain", "'quoted'", "A much longer text that names the group it is in"];
    const groups = [{ center: 5, members: lines.map((text, index) => ({ index, text, similarity: 0.5 })) }];
    const csv = await list.save.toCsv({ lines, groups, labels: new Uint32Array(6), points: new Float32Array(12).fill(-0.5), condition: "" }, [lines[5]]);
    assert.ok(csv.includes("'=1+1"), csv);
    const { texts, names, column, headed, notices } = await opened("caselens-groups.csv", `\ufeff${csv}`);
    assert.deepEqual({ texts, column, headed, notices }, { texts: lines, column: 0, headed: true, notices: [] });
    assert.deepEqual(names, ["text", "group", "group_name", "similarity_to_centre", "x", "y", "condition", "language", "unknown_pieces", "cut"]);
  });

  test("rows without a text and rows of invisible characters are counted, each as what it is", async () => {
    const { texts, empty, invisible } = await opened("a.csv", "id,text\n1,A dog\n2,\n3,  \n4,\u200b\u00ad\n5,\u0301\n6,A  cat\n");
    assert.deepEqual({ texts, empty, invisible }, { texts: ["A dog", "A cat"], empty: 2, invisible: 2 });
  });
});

describe("other kinds of files, whatever they are called", () => {
  test("an Excel workbook: its first sheet that holds anything", async () => {
    const content = await readFile(path.join(ROOT, "tests/fixtures/tables/workbook.xlsx"));
    for (const name of ["workbook.xlsx", "workbook.csv", "workbook"]) {
      const { rows, texts, headed, empty, notices } = await opened(name, content);
      assert.deepEqual(rows, [
        ["nr", "review", "date", "stars"],
        ["1", "Crème brûlée & <coffee>, “great”", "2026-03-01", "5"],
        ["2", "A cold soup", "2026-03-02", "1.5"],
        ["3", "", "2026-03-03", ""],
        ["4", "Two\nlines 😀", "", "true"],
      ]);
      assert.deepEqual(texts, ["Crème brûlée & <coffee>, “great”", "A cold soup", "Two lines 😀"]);
      assert.deepEqual({ headed, empty, notices }, { headed: true, empty: 1, notices: ["The sheet “Reviews” was read, the first of 2 that hold anything."] });
    }
  });

  test("JSON: an array of texts, of objects, of rows, or within an object; JSON lines", async () => {
    for (const [name, content, texts, names] of [
      ["a.json", '["A dog", "A cat\\nasleep"]', ["A dog", "A cat asleep"], ["Column 1"]],
      ["a.json", '\ufeff[{"id": 1, "text": "A dog"}, {"text": "A cat", "tags": ["x"]}]', ["A dog", "A cat"], ["id", "text", "tags"]],
      ["a.json", '{"count": 2, "rows": [{"text": "A dog"}, {"text": "A cat"}]}', ["A dog", "A cat"], ["text"]],
      ["a.json", '[["id", "text"], [1, "A dog"], [2, "A cat"]]', ["A dog", "A cat"], ["id", "text"]],
      ["a.txt", '{"text": "A dog", "n": null}\r\n\r\n{"text": "A cat", "n": 1.5}\r\n', ["A dog", "A cat"], ["text", "n"]],
      ["a.jsonl", '"A dog"\n"A cat"\n', ["A dog", "A cat"], ["Column 1"]],
    ]) {
      const file = await opened(name, content);
      assert.deepEqual([file.texts, file.names, file.notices], [texts, names, []]);
    }
    // Names are no guess in objects, nor are there any in a list.
    assert.equal((await opened("a.json", '[{"1": "A dog"}]')).named, true);
    assert.equal((await opened("a.json", '["text", "A dog"]')).named, false);
  });

  test("lines that are no JSON among those that are, are left out and told; a list that begins with a bracket is a list", async () => {
    const { texts, notices } = await opened("a.jsonl", '{"text": "A dog"}\n{"text": "A c\n{"text": "A man"}\n{"text": "A cat"}\n');
    assert.deepEqual([texts, notices], [["A dog", "A man", "A cat"], ["Line 2 is no JSON and is left out."]]);
    assert.deepEqual((await opened("a.txt", "[laughs] A dog\n[sighs] A cat\n")).texts, ["[laughs] A dog", "[sighs] A cat"]);
  });

  test("what holds no texts is refused with a sentence that says what to do", async () => {
    const zip = Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.alloc(100)]);
    const document = createRequire(path.join(ROOT, "www/package.json"))("fflate").zipSync({ "word/document.xml": Buffer.from("<w:document/>") });
    // A few bytes that unpack to 400 MB, as the zip's directory says.
    const bomb = Buffer.from(document);
    bomb.writeUInt32LE(400e6, bomb.indexOf("PK\x01\x02") + 24);
    const noise = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * i * 31 + i * 17) % 256));
    const aboutText = /is no text, table or list\. Save it as CSV, Excel \(\.xlsx\), JSON or plain text/;
    for (const [name, content, expected] of [
      ["a.csv", noise, aboutText],
      ["a.txt", Buffer.from("\0asm\x01\0\0\0".repeat(20)), aboutText],
      ["a.pdf", Buffer.from("%PDF-1.7\nall ASCII\n"), aboutText],
      ["a.png", Buffer.concat([Buffer.from([0x89]), Buffer.from("PNG\r\n\x1a\n\0\0\0\rIHDR"), noise]), aboutText],
      ["a.xls", Buffer.concat([Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]), Buffer.alloc(100)]), /older Office format.*Save it as \.xlsx or CSV/],
      ["a.docx", document, /could not be read as an Excel workbook\. Save it as/],
      ["a.xlsx", zip, /could not be read as an Excel workbook\. Save it as/],
      ["a.xlsx", bomb, /unpacks to more than 300\.0 MB, .* Save the sheet as CSV/],
      ["a.json", '[{"text": "A dog"', /is not valid JSON/],
      ["a.json", '{"text": "A dog"}', /is JSON without a list/],
      ["a.csv", "", /holds no texts/],
      ["a.csv", "\ufeff\n , \n", /holds no texts/],
      ["a.json", "[]", /holds no texts/],
    ]) {
      const message = await refused(name, content);
      assert.ok(message.startsWith(name), message);
      assert.match(message, expected);
    }
  });
});

describe("large lists", () => {
  test("of too many texts a random sample is taken: in order, from all of them alike, the same each time", () => {
    const { sampleOf } = list.sample;
    const all = Array.from({ length: 100_000 }, (_, i) => i);
    const some = sampleOf(all, 10_000);
    assert.equal(some.length, 10_000);
    assert.ok(some.every((item, i) => i === 0 || item > some[i - 1]));
    assert.deepEqual(sampleOf(all, 10_000), some);
    assert.notDeepEqual(sampleOf(all, 10_000, 2), some);
    for (let tenth = 0; tenth < 10; tenth++) {
      const share = some.filter((item) => Math.floor(item / 10_000) === tenth).length;
      assert.ok(share > 900 && share < 1100, `${share} of a tenth`); // four standard deviations
    }
    assert.equal(sampleOf(all, 100_000), all);
  });

  test("pasted lines are sampled as well, and how many there were is known", () => {
    const { lines, maxLines, readable, setText } = list.fields;
    const all = Array.from({ length: 30_000 }, (_, i) => `A cat ${i}`);
    setText(all.join("\n"));
    assert.deepEqual([lines.value.length, readable.value.length, maxLines], [10_000, 30_000, 10_000]);
    assert.ok(all.indexOf(lines.value[9000]) > 25_000);
  });

  test("of a file larger than is read, whole rows from all over it", async () => {
    const { maxBytes, readTable } = list.read;
    const row = (i) => `${i},"A dög, ${"they share a sofa. ".repeat(100)}"\n`;
    const count = Math.floor((2.2 * maxBytes) / Buffer.byteLength(row(10_000)));
    const all = ["id,text\n", ...Array.from({ length: count }, (_, i) => row(i))];
    const { rows, notices } = await readTable(new File(all, "sorted.csv"));
    assert.deepEqual(rows[0], ["id", "text"]);
    const numbers = rows.slice(1).map(([id]) => Number(id));
    assert.ok(rows.slice(1).every(([id, text]) => `${id},"${text}"\n` === all[Number(id) + 1]), "every row is one of the file's");
    assert.ok(numbers.every((number, i) => i === 0 || number > numbers[i - 1]), "each once, in their order");
    assert.ok(numbers.length > 0.42 * count && numbers.length < count / 2, `${numbers.length} of ${count}`);
    for (let part = 0; part < 10; part++) assert.ok(numbers.filter((number) => Math.floor((10 * number) / count) === part).length > 0.03 * count, `part ${part}`);
    assert.deepEqual(notices, ["Of the file’s 110.0 MB, 49.9 MB were read: rows from all over it."]);
  });

  test("of one whose cells go on over line ends, whole rows from its beginning", async () => {
    const { maxBytes, readTable } = list.read;
    const line = `"A cat\nand a dög, ${"they share a sofa. ".repeat(100)}",1\n`;
    const whole = Math.floor(maxBytes / Buffer.byteLength(line));
    const { rows, notices } = await readTable(new File([line.repeat(whole + 100)], "large.csv"));
    assert.equal(rows.length, whole);
    assert.deepEqual(rows.at(-1), [line.slice(1, -4), "1"]);
    assert.deepEqual(notices, ["Only the first 50.0 MB of the file were read."]);
  });
});

describe("lines that the tokenizer sees nothing of", () => {
  test("zero-width and control characters, lone accents and halves of pairs are no text; what has a shape is", () => {
    const { isReadable } = list.readable;
    for (const empty of ["", " \u00a0", "\u200b", "\u00ad", "\u202e", "\ufeff\u2060", "\u0301", "\ufe0f", "\u0000\u0007", "\ue000", "\ufffd", "\u200b \u0301"]) {
      assert.equal(isReadable(empty), false, JSON.stringify(empty));
    }
    for (const text of ["a", "…", "猫", "😀", "❤️", "1️⃣", "e\u0301", "\u200bx", "🇩🇪", "-"]) assert.equal(isReadable(text), true, text);
  });

  test("they are left out and counted, and so is a condition or a search of nothing else", () => {
    const { condition, lines, query, setText, sought, through, unseen } = list.fields;
    setText("A cat\n\u200b\n \n\u00ad\u202e\n\ud83d\nA dog\u200b");
    assert.deepEqual(lines.value, ["A cat", "A dog\u200b"]);
    assert.equal(unseen.value, 3);
    condition.value = "\u200b";
    query.value = "\u0301";
    assert.deepEqual([through.value, sought.value], ["", ""]);
    // Of a long line only its beginning is read.
    setText(`${"\u200b".repeat(3000)}A cat`);
    assert.deepEqual([lines.value, unseen.value], [[], 1]);
  });
});
