//! Tables as people's programs write them: encodings, delimiters, JSON of every form, blank lines.

use crate::{
    common::{self, Folder},
    program::{caselens, json, ok, refused},
};

fn model() -> [String; 4] {
    let model = common::fixture("roberta-tiny").display().to_string();
    ["--model".into(), model, "--head".into(), "none".into()]
}

/// The texts that `embed` reads from a file of this name.
fn texts(name: &str, bytes: &[u8]) -> Vec<String> {
    let folder = Folder::new(&format!("reading-{name}"));
    let path = folder.0.join(name);
    std::fs::write(&path, bytes).unwrap();
    let path = path.display().to_string();
    let model = model();
    let lens: Vec<&str> = model.iter().map(String::as_str).collect();
    let rows = json(
        &[&["embed", "--json", "--input", &path], &lens[..]].concat(),
        "",
    );
    let text = |row: &serde_json::Value| {
        assert!(row["embedding"].is_array(), "{row}");
        // A column is given back as it was called.
        let text = row.get("text").or(row.get("Text"));
        text.unwrap().as_str().unwrap().to_owned()
    };
    rows.iter().map(text).collect()
}

fn utf16(text: &str) -> Vec<u8> {
    [0xfeff]
        .into_iter()
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect()
}

#[test]
fn a_table_is_read_as_it_was_meant() {
    let two = ["Café crème", "foo, bar"];
    let semicolons = "text;label\r\nCafé crème;1\r\nfoo, bar;2\r\n";
    let windows: Vec<u8> = semicolons.chars().map(|c| c as u32 as u8).collect();
    let files: [(&str, Vec<u8>); 12] = [
        ("semicolons.csv", semicolons.into()),
        ("said.csv", format!("sep=;\r\n{semicolons}").into()),
        ("windows.csv", windows),
        ("utf16.csv", utf16(semicolons)),
        (
            "tabs.tsv",
            "text\tlabel\nCafé crème\t1\nfoo, bar\t2\n".into(),
        ),
        (
            "tabs.csv",
            "label\ttext\n1\tCafé crème\n2\tfoo, bar\n".into(),
        ),
        (
            "commas.csv",
            "label, Text \n1,Café crème\n2,\"foo, bar\"\n".into(),
        ),
        ("texts.json", "[\"Café crème\", \"foo, bar\"]".into()),
        (
            "objects.json",
            "\n[\n{\"text\": \"Café crème\"},\n{\"text\": \"foo, bar\"}\n]\n".into(),
        ),
        (
            "array.jsonl",
            "[{\"text\": \"Café crème\"}, {\"text\": \"foo, bar\"}]".into(),
        ),
        (
            "blank.jsonl",
            "\u{feff}{\"text\": \"Café crème\"}\r\n\r\n{\"text\": \"foo, bar\"}\r\n\r\n".into(),
        ),
        (
            "named",
            "\n [ {\"text\": \"Café crème\"}, {\"text\": \"foo, bar\"} ]".into(),
        ),
    ];
    for (name, bytes) in files {
        assert_eq!(texts(name, &bytes), two, "{name}");
    }
}

#[test]
fn what_only_passes_through_passes_through() {
    let model = model();
    let lens: Vec<&str> = model.iter().map(String::as_str).collect();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for other in ["[1,{\"a\":null}]", "1e400", "{\"a\":[1,\"b\"]}", &deep] {
        let line = format!("{{\"text\":\"a\",\"x\":{other}}}\n");
        let args = [&["embed", "--json"], &lens[..]].concat();
        let printed = String::from_utf8(ok(&args, line.as_bytes())).unwrap();
        assert!(printed.starts_with(&line[..line.len() - 2]), "{printed}");
    }
    // Where it would have to become a column, the row is named that makes none.
    let rows = b"{\"text\":\"a\",\"x\":1}\n{\"text\":\"b\",\"x\":{\"y\":2}}\n";
    let args = [&["embed", "--output-format", "csv"], &lens[..]].concat();
    let said = refused(&args, rows);
    assert!(
        said.contains("row 2") && said.contains("JSON lines"),
        "{said}"
    );
}

#[test]
fn which_of_two_columns_of_one_name_is_meant_is_not_guessed() {
    let model = model();
    let lens: Vec<&str> = model.iter().map(String::as_str).collect();
    let csv = ["embed", "--json", "--input-format", "csv"];
    let said = refused(&[&csv, &lens[..]].concat(), b"text,text\na dog,a cat\n");
    assert!(said.contains("more than one column `text`"), "{said}");
    // Of two that differ in their capitals one has the very name.
    ok(&[&csv, &lens[..]].concat(), b"Text,text\na dog,a cat\n");
}

#[test]
fn a_label_may_have_a_typeset_minus_and_a_column_any_capitals() {
    let folder = Folder::new("reading-labels");
    let table = folder.write(
        "data.csv",
        "Sentence1,SENTENCE2,condition,Label\na,b,c,1\na,b,d,2\na,e,c,\u{2212}1\na,f,d,5\n",
    );
    let model = model();
    let lens: Vec<&str> = model.iter().map(String::as_str).collect();
    let args = [&["evaluate", "--data", &table, "--json"], &lens[..]].concat();
    let (code, printed, said) = caselens(&args);
    assert_eq!(code, 0, "{said}");
    let report: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["rows"], 3, "{printed}");
}

#[test]
fn what_is_no_table_is_refused_in_words() {
    let folder = Folder::new("reading-refused");
    let model = model();
    let lens: Vec<&str> = model.iter().map(String::as_str).collect();
    for (name, bytes, words) in [
        (
            "book.csv",
            &b"PK\x03\x04\x14\x00"[..],
            "Save the sheet as CSV",
        ),
        ("packed.csv", &[0x1f, 0x8b, 8, 0], "Unpack it"),
        ("empty.csv", b"", "is empty"),
        ("texts.bz2", b"BZh91AY&SY\0\0", "Unpack it"),
        ("paper.pdf", b"%PDF-1.7\n%\xe2\xe3\n", "is a PDF"),
        (
            "picture.png",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            "is no text",
        ),
        (
            "picture.csv",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            "is no text",
        ),
        ("notes.odt", b"a text", "not read from .odt files"),
        ("number.json", b"[{\"text\": \"a\"}, 5]", "row 2"),
        ("cut.json", b"[{\"text\": \"a\"}", "no array in JSON"),
        ("more.csv", b"id,text\n1,A dog, a cat\n", "that hold `,` in"),
        ("more.tsv", b"text\na\tb\n", "that hold a tab in"),
        (
            "less.csv",
            b"text,label\n\"open,1\nb,2\n",
            "close every quote",
        ),
    ] {
        let path = folder.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        let path = path.display().to_string();
        let said = refused(
            &[&["embed", "--json", "--input", &path], &lens[..]].concat(),
            b"",
        );
        assert!(said.contains(words), "{name}: {said}");
    }
    // What is named otherwise is read by what is said of it, and a name that says nothing by its bytes.
    let odd = folder.write("notes.md", "a text\n");
    let said = ["embed", "--json", "--input", &odd];
    refused(&[&said, &lens[..]].concat(), b"");
    let told = ["embed", "--json", "--input", &odd, "--input-format", "text"];
    assert_eq!(json(&[&told, &lens[..]].concat(), "").len(), 1);
    // A pair without an end.
    let endless = vec![b'a'; 257 << 20];
    let said = refused(&[&["score"], &lens[..]].concat(), &endless);
    assert!(said.contains("row 1") && said.contains("256 MiB"), "{said}");
    // An array that is too long for memory.
    let long = folder.0.join("long.json");
    std::fs::write(&long, [b"[", &endless[..]].concat()).unwrap();
    let long = long.display().to_string();
    let said = refused(&[&["embed", "--input", &long], &lens[..]].concat(), b"");
    assert!(said.contains("array of more than 256 MiB"), "{said}");
    std::fs::remove_file(&long).unwrap();
    // A quote that nobody closes.
    let path = folder.0.join("open.csv");
    let mut text = String::from("text,label\n\"open,1\n");
    text.push_str(&"foo,2\n".repeat((257 << 20) / 6));
    std::fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    let said = refused(
        &[&["embed", "--json", "--input", &path], &lens[..]].concat(),
        b"",
    );
    assert!(said.contains("row 1") && said.contains("256 MiB"), "{said}");
}

#[test]
fn pairs_on_standard_input_may_begin_with_a_mark() {
    let model = model();
    let lens: Vec<&str> = model.iter().map(String::as_str).collect();
    let line = "{\"sentence1\":\"a\",\"sentence2\":\"b\",\"condition\":\"c\"}";
    let input = format!("\u{feff}{line}\r\n\r\n{line}");
    assert_eq!(
        json(&[&["score", "--json"], &lens[..]].concat(), &input).len(),
        2
    );
}

#[test]
fn similarities_in_another_encoding_are_read_or_refused_with_their_row() {
    let folder = Folder::new("reading-similarities");
    let data = folder.write(
        "data.csv",
        "sentence1,sentence2,condition,label\na,b,c,1\na,b,d,2\n",
    );
    let model = model();
    let lens: Vec<&str> = model.iter().map(String::as_str).collect();
    let path = folder.0.join("similarities.jsonl");
    let rows = b"{\"similarity\": 0.5, \"by\": \"Andr\xe9\"}\n{\"similarity\": 0.25}\n";
    std::fs::write(&path, rows).unwrap();
    let similarities = path.display().to_string();
    let args = ["evaluate", "--data", &data, "--similarities", &similarities];
    let (code, _, said) = caselens(&[&args, &lens[..]].concat());
    assert!(code == 0 && said.contains("Windows-1252"), "{code}: {said}");
    std::fs::write(&path, b"{\"similarity\": 0.5}\n{\"similarity\": \xff}\n").unwrap();
    let said = refused(&[&args, &lens[..]].concat(), b"");
    assert!(said.contains("row 2"), "{said}");
}
