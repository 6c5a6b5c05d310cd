//! `caselens embed` on tables: what pyarrow wrote comes out with its rows, its columns and one more, in every
//! format; rows that cannot be embedded; and pipes whose other end waits.

use crate::{common, program};
use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, Command},
    sync::Arc,
};

use crate::common::Folder;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Int64Array, RecordBatch, StringArray,
    TimestampSecondArray, cast::AsArray,
};
use arrow_ipc::{
    reader::{FileReader, StreamReader},
    writer::StreamWriter,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    basic::{Compression, ZstdLevel},
    file::properties::WriterProperties,
};
use serde_json::{Value, json};

/// `caselens embed` with a tiny encoder.
const EMBED: [&str; 7] = [
    "embed",
    "--head",
    "none",
    "--order",
    "cs",
    "--model",
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/bert-tiny"),
];

fn embed(args: &[&str]) -> Child {
    program::start(&[&EMBED, args].concat())
}

fn ok(args: &[&str], input: &[u8]) -> Vec<u8> {
    program::ok(&[&EMBED, args].concat(), input)
}

fn refused(args: &[&str], input: &[u8]) -> String {
    program::refused(&[&EMBED, args].concat(), input)
}

fn table(name: &str) -> String {
    let path = common::fixture("tables").join(name);
    path.display().to_string()
}

fn json_lines(bytes: &[u8]) -> Vec<Value> {
    bytes
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect()
}

/// The rows of tests/fixtures/make_tables.py.
fn rows() -> Vec<Value> {
    let row = |id: u64, sentence: &str, condition: &str, score: Value, tags: Value| json!({"id": id, "sentence": sentence, "condition": condition, "score": score, "day": "2024-02-29", "tags": tags});
    vec![
        row(
            7,
            "a small dog near the river",
            "the animal",
            json!(0.5),
            json!(["a", "b"]),
        ),
        row(
            8,
            "the old fisherman waits",
            "the place",
            json!(null),
            json!([]),
        ),
        row(
            9,
            "a cat, on the market",
            "the animal",
            json!(-1.25),
            json!(null),
        ),
        row(
            10,
            "two birds in the garden",
            "the place",
            json!(3.0),
            json!(["c"]),
        ),
        row(
            11,
            "a horse in the street",
            "the animal",
            json!(null),
            json!(["d", null]),
        ),
    ]
}

/// Takes a row's embedding out of it.
fn embedding(row: &mut Value) -> Vec<f32> {
    let vector = row.as_object_mut().unwrap().remove("embedding").unwrap();
    serde_json::from_value(vector).unwrap()
}

/// The embeddings of [`rows`], from JSON lines.
fn expected() -> Vec<Vec<f32>> {
    let input: String = rows().iter().map(|row| format!("{row}\n")).collect();
    let mut written = json_lines(&ok(&[], input.as_bytes()));
    let vectors: Vec<_> = written.iter_mut().map(embedding).collect();
    assert_eq!(written, rows());
    for vector in &vectors {
        assert_eq!(vector.len(), 64);
        let norm: f32 = vector.iter().map(|x| x * x).sum();
        assert!((norm - 1.0).abs() < 1e-4);
    }
    assert_ne!(vectors[0], vectors[2]);
    vectors
}

/// Vectors from other batches differ in their last digits.
fn assert_close(found: &[Vec<f32>], expected: &[Vec<f32>]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!(common::relative_error(a, b) < 1e-5);
    }
}

#[test]
fn what_pyarrow_wrote_is_read() {
    let expected = expected();
    for name in [
        "stream.arrows",
        "zstd.arrows",
        "lz4.feather",
        "snappy.parquet",
        "zstd.parquet",
        "gzip.parquet",
        "brotli.parquet",
        "lz4.parquet",
    ] {
        // In batches of two, which end elsewhere than the file's.
        let args = ["--input", &table(name), "--batch-rows", "2", "--json"];
        let mut written = json_lines(&ok(&args, b""));
        let vectors: Vec<_> = written.iter_mut().map(embedding).collect();
        assert_eq!(written, rows(), "{name}");
        assert_close(&vectors, &expected);
    }
    // And from a pipe, where nothing says which format it is.
    for name in ["stream.arrows", "lz4.feather"] {
        let mut written = json_lines(&ok(&["--json"], &std::fs::read(table(name)).unwrap()));
        written.iter_mut().for_each(|row| drop(embedding(row)));
        assert_eq!(written, rows(), "{name}");
    }
}

/// All batches of a table that was written, as one.
fn read(path: &str) -> RecordBatch {
    let file = std::fs::File::open(path).unwrap();
    let extension = Path::new(path).extension().unwrap().to_str().unwrap();
    let batches: Vec<RecordBatch> = match extension {
        "arrows" => StreamReader::try_new(file, None)
            .unwrap()
            .map(Result::unwrap)
            .collect(),
        "feather" => FileReader::try_new(file, None)
            .unwrap()
            .map(Result::unwrap)
            .collect(),
        _ => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            builder.build().unwrap().map(Result::unwrap).collect()
        }
    };
    assert_eq!(batches.len(), 1, "{path}");
    batches.into_iter().next().unwrap()
}

fn vectors(column: &FixedSizeListArray) -> Vec<Vec<f32>> {
    let vector = |i| {
        column
            .value(i)
            .as_primitive::<arrow_array::types::Float32Type>()
            .values()
            .to_vec()
    };
    (0..column.len()).map(vector).collect()
}

#[test]
fn tables_are_written_with_a_column_of_vectors() {
    let folder = Folder::new("tables");
    let expected = expected();
    for name in ["out.arrows", "out.feather", "out.parquet"] {
        let path = folder.file(name);
        ok(&["--input", &table("lz4.feather"), "--output", &path], b"");
        let batch = read(&path);
        let source = read(&table("lz4.feather"));
        assert_eq!(batch.num_columns(), source.num_columns() + 1, "{name}");
        for (i, field) in source.schema().fields().iter().enumerate() {
            assert_eq!(batch.schema().field(i), field.as_ref(), "{name}");
            assert_eq!(batch.column(i), source.column(i), "{name}");
        }
        let column = batch
            .column_by_name("embedding")
            .unwrap()
            .as_fixed_size_list();
        assert_eq!((column.value_length(), column.null_count()), (64, 0));
        assert_close(&vectors(column), &expected);
    }
    assert_eq!(
        std::fs::read_dir(&folder.0).unwrap().count(),
        3,
        "something else was left behind"
    );

    // From other forms to columns and to cells.
    let input: String = rows().iter().map(|row| format!("{row}\n")).collect();
    let path = folder.file("objects.parquet");
    ok(
        &["--output", &path, "--embedding-column", "vector"],
        input.as_bytes(),
    );
    let batch = read(&path);
    // serde_json sorts the fields of `rows`.
    let schema = batch.schema();
    let names: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    assert_eq!(
        names,
        [
            "condition",
            "day",
            "id",
            "score",
            "sentence",
            "tags",
            "vector"
        ]
    );
    assert_eq!(
        batch
            .column(2)
            .as_primitive::<arrow_array::types::Int64Type>()
            .value(4),
        11
    );
    assert!(batch.column(3).is_null(1) && batch.column(5).is_null(2));
    assert_close(&vectors(batch.column(6).as_fixed_size_list()), &expected);

    let path = folder.file("cells.csv");
    ok(
        &["--input", &table("stream.arrows"), "--output", &path],
        b"",
    );
    let text = folder.read("cells.csv");
    assert!(text.starts_with("id,sentence,condition,score,day,tags,embedding\n7,a small dog near the river,the animal,0.5,2024-02-29,\"[a, b]\",\"["), "{text}");
    // An empty cell is no value, on either side.
    let mut again = json_lines(&ok(
        &["--input", &path, "--json", "--embedding-column", "again"],
        b"",
    ));
    assert_eq!(again[1]["score"], Value::Null);
    let again: Vec<Vec<f32>> = again
        .iter_mut()
        .map(|row| {
            let cell = row["embedding"].as_str().unwrap();
            assert_close(
                &[serde_json::from_str(cell).unwrap()],
                &[serde_json::from_value(row["again"].clone()).unwrap()],
            );
            serde_json::from_str(cell).unwrap()
        })
        .collect();
    assert_close(&again, &expected);
}

#[test]
fn pyarrow_reads_what_is_written() {
    let python = common::python();
    let there = Command::new(&python)
        .args(["-c", "import pyarrow"])
        .output();
    if !there.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: {python} has no pyarrow; CASELENS_PYTHON names another Python");
        return;
    }
    let folder = Folder::new("pyarrow");
    let expected = expected();
    for name in ["out.arrows", "out.feather", "out.parquet"] {
        let path = folder.file(name);
        ok(
            &["--input", &table("stream.arrows"), "--output", &path],
            b"",
        );
        let output = Command::new(&python)
            .arg(common::fixture("read_table.py"))
            .arg(&path)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {said}");
        let mut read: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            read["types"]["embedding"], "fixed_size_list<item: float not null>[64]",
            "{name}"
        );
        assert_eq!(
            read["types"]["condition"],
            "dictionary<values=string, indices=int32, ordered=0>"
        );
        let read = read["rows"].as_array_mut().unwrap();
        let vectors: Vec<_> = read.iter_mut().map(embedding).collect();
        assert_eq!(*read, rows(), "{name}");
        assert_close(&vectors, &expected);
    }
}

#[test]
fn json_lines_keep_their_text() {
    // Numbers beyond 64 bits and of chosen digits, fields that come and go, and conditions that come late.
    let input = b"{\"n\": 123456789012345678901234567890, \"text\": \"a dog\", \"x\": 1.50}\n\
        {\"text\": \"a cat\", \"deep\": {\"b\": [1, null], \"a\": 2}}\n{\"text\": \"a cat\", \"condition\": \"the animal\", \"z\": null}\n";
    let written = String::from_utf8(ok(&["--batch-rows", "1"], input)).unwrap();
    let lines: Vec<_> = written.lines().collect();
    assert!(
        lines[0].starts_with(
            "{\"n\":123456789012345678901234567890,\"text\":\"a dog\",\"x\":1.50,\"embedding\":["
        ),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].starts_with(
            "{\"text\":\"a cat\",\"deep\":{\"b\": [1, null], \"a\": 2},\"embedding\":["
        ),
        "{}",
        lines[1]
    );
    assert!(
        lines[2].starts_with(
            "{\"text\":\"a cat\",\"condition\":\"the animal\",\"z\":null,\"embedding\":["
        ),
        "{}",
        lines[2]
    );
    let mut rows = json_lines(written.as_bytes());
    let cat = embedding(&mut rows[1]);
    assert_ne!(cat, embedding(&mut rows[2]));
    // Of two values of one name the last counts, as for most who read JSON.
    let twice = ok(&[], b"{\"text\": \"a dog\", \"text\": \"a cat\"}\n");
    assert_eq!(cat, embedding(&mut json_lines(&twice)[0]));
}

#[test]
fn moments_are_written_in_their_time_zone() {
    let paris = DataType::Timestamp(TimeUnit::Second, Some("Europe/Paris".into()));
    let columns = Arc::new(Schema::new(vec![
        Field::new("text", DataType::Utf8, false),
        Field::new("when", paris, false),
    ]));
    let cells: [Arc<dyn Array>; 2] = [
        Arc::new(StringArray::from(vec!["a dog"])),
        Arc::new(TimestampSecondArray::from(vec![1_719_792_000]).with_timezone("Europe/Paris")),
    ];
    let batch = RecordBatch::try_new(columns.clone(), cells.into()).unwrap();
    let mut out = StreamWriter::try_new(Vec::new(), &columns).unwrap();
    out.write(&batch).unwrap();
    let input = out.into_inner().unwrap();
    for format in ["jsonl", "csv"] {
        let written = ok(&["--output-format", format], &input);
        let written = String::from_utf8(written).unwrap();
        assert!(written.contains("2024-07-01T02:00:00+02:00"), "{written}");
    }
}

#[test]
fn a_table_without_rows_keeps_its_columns() {
    let folder = Folder::new("empty");
    let schema = Schema::new(vec![Field::new("text", DataType::LargeUtf8, true)]);
    let mut input = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    input.finish().unwrap();
    let path = folder.file("out.feather");
    ok(&["--output", &path], input.get_ref());
    let reader = FileReader::try_new(std::fs::File::open(&path).unwrap(), None).unwrap();
    assert_eq!(reader.schema().fields().len(), 2);
    assert_eq!(
        reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(),
        0
    );
    assert!(ok(&[], b"").is_empty());
}

#[test]
fn rows_that_cannot_be_embedded_are_named_or_left_empty() {
    let long = "the old fisherman waits near the river ".repeat(60);
    let columns = Schema::new(vec![
        Field::new("text", DataType::Utf8, true),
        Field::new("condition", DataType::Utf8, true),
    ]);
    let batch = |texts: Vec<Option<&str>>, conditions: Vec<Option<&str>>| {
        let columns = Arc::new(columns.clone());
        let cells: [Arc<dyn Array>; 2] = [
            Arc::new(StringArray::from(texts)),
            Arc::new(StringArray::from(conditions)),
        ];
        let batch = RecordBatch::try_new(columns.clone(), cells.into()).unwrap();
        let mut out = StreamWriter::try_new(Vec::new(), &columns).unwrap();
        out.write(&batch).unwrap();
        out.into_inner().unwrap()
    };
    let input = batch(
        vec![
            Some("a dog"),
            None,
            Some("a cat"),
            Some("  "),
            Some("a bird"),
        ],
        vec![
            Some("the animal"),
            Some("the size"),
            Some(&long),
            None,
            None,
        ],
    );
    let said = refused(&["--json"], &input);
    assert!(
        said.contains("standard input, row 2: the column `text` is empty"),
        "{said}"
    );
    let said = refused(
        &["--json", "--batch-rows", "1"],
        &batch(vec![Some("a cat")], vec![Some(&long)]),
    );
    assert!(said.contains("row 1: condition takes"), "{said}");

    let args = [&EMBED, &["--json", "--on-error", "null"][..]].concat();
    let output = program::run(&args, &input);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let rows = json_lines(&output.stdout);
    let empty: Vec<_> = rows.iter().map(|row| row["embedding"].is_null()).collect();
    assert_eq!(empty, [false, true, true, true, false]);
    for row in ["row 2", "row 3", "row 4"] {
        assert!(said.contains(row), "{said}");
    }
    // The same as without the others.
    let alone = batch(
        vec![Some("a dog"), Some("a bird")],
        vec![Some("the animal"), None],
    );
    let mut alone = json_lines(&ok(&["--json"], &alone));
    let of = |row: &mut Value| embedding(row);
    let mut rows = rows;
    assert_close(
        &[of(&mut rows[0]), of(&mut rows[4])],
        &[of(&mut alone[0]), of(&mut alone[1])],
    );
    // In a column of vectors, an empty place.
    let bytes = ok(&["--on-error", "null"], &input);
    let batch = StreamReader::try_new(&bytes[..], None)
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!(batch.column(2).null_count(), 3);
    assert!(batch.column(2).is_valid(4));
}

#[test]
fn a_partner_that_waits_gets_each_batch() {
    // Arrow: the answer to the first batch comes before the second is written.
    let mut child = embed(&["--input-format", "arrow"]);
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("text", DataType::Utf8, false),
    ]));
    let mut to = StreamWriter::try_new(child.stdin.take().unwrap(), &schema).unwrap();
    let mut from = None;
    let mut output = child.stdout.take();
    for (id, text) in [(1, "a dog"), (2, "a cat"), (3, "a bird")] {
        let cells: [Arc<dyn Array>; 2] = [
            Arc::new(Int64Array::from(vec![id])),
            Arc::new(StringArray::from(vec![text])),
        ];
        to.write(&RecordBatch::try_new(schema.clone(), cells.into()).unwrap())
            .unwrap();
        let from = from
            .get_or_insert_with(|| StreamReader::try_new(output.take().unwrap(), None).unwrap());
        let answer = from.next().unwrap().unwrap();
        assert_eq!(
            answer
                .column(0)
                .as_primitive::<arrow_array::types::Int64Type>()
                .values(),
            &[id]
        );
    }
    to.finish().unwrap();
    drop(to);
    assert!(from.unwrap().next().is_none());
    assert!(child.wait().unwrap().success());

    // Lines likewise.
    let mut child = embed(&[]);
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap());
    for text in ["a dog", "a cat"] {
        writeln!(to, "{text}").unwrap();
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        assert_eq!(line.split(' ').count(), 64);
    }
    drop(to);
    assert_eq!(from.read(&mut [0]).unwrap(), 0);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_partner_that_has_seen_enough_is_no_failure() {
    // More than buffers hold, in every format: no two vectors are the same.
    let words = ["dog", "cat", "bird", "horse"];
    let line = |i: usize| [i, i / 4, i / 16, i / 64].map(|i| words[i % 4]).join(" ") + "\n";
    let input: String = (0..256).map(line).collect();
    for format in ["text", "jsonl", "csv", "arrow", "feather", "parquet"] {
        let mut child = embed(&["--output-format", format]);
        drop(child.stdout.take());
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && said.is_empty(),
            "{format}: {said}"
        );
    }
}

#[test]
fn a_byte_order_mark_is_of_no_text() {
    let lines = b"{\"text\": \"a dog\"}\n";
    let marked = [b"\xef\xbb\xbf", &lines[..]].concat();
    assert_eq!(ok(&[], &marked), ok(&[], lines));
    let csv = ["--input-format", "csv", "--json"];
    let marked = ok(&csv, b"\xef\xbb\xbftext,n\na dog,1\n");
    assert_eq!(marked, ok(&csv, b"text,n\na dog,1\n"));
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_written_to_and_a_link_stays() {
    use std::os::unix::fs::FileTypeExt;
    let folder = Folder::new("not-files");
    let expected = ok(&[], b"a dog\n");

    let pipe = folder.file("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    // Open on both sides: nobody waits for the other.
    let mut reader = std::fs::File::options()
        .read(true)
        .write(true)
        .open(&pipe)
        .unwrap();
    ok(&["--output", &pipe], b"a dog\n");
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    let mut found = vec![0; expected.len()];
    reader.read_exact(&mut found).unwrap();
    assert_eq!(found, expected);

    let (file, link) = (folder.write("file.txt", "old"), folder.file("link.txt"));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    ok(&["--output", &link], b"a dog\n");
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(folder.read("file.txt").as_bytes(), expected);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 3);
}

#[test]
fn damaged_tables_are_answered_or_refused() {
    let folder = Folder::new("damaged");
    let mut state = 7u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    for name in [
        "stream.arrows",
        "zstd.arrows",
        "lz4.feather",
        "zstd.parquet",
        "gzip.parquet",
        "brotli.parquet",
        "lz4.parquet",
    ] {
        let whole = std::fs::read(table(name)).unwrap();
        let path = folder.file(name);
        let args = [&EMBED, &["--json", "--input", &path][..]].concat();
        for _ in 0..40 {
            let mut bytes = whole.clone();
            for _ in 0..=random(2) {
                let place = random(bytes.len());
                bytes[place] = [0, 0x7f, 0xff, bytes[place] ^ 1 << random(8)][random(4)];
            }
            std::fs::write(&path, &bytes).unwrap();
            let output = program::run(&args, b"");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(0 | 2)),
                "{name}: {said}"
            );
        }
    }
}

#[test]
fn memory_is_not_taken_on_a_files_word() {
    let mut bytes = std::fs::read(table("zstd.arrows")).unwrap();
    let frame = bytes
        .windows(4)
        .position(|word| word == [0x28, 0xb5, 0x2f, 0xfd]);
    // What a buffer takes stands before its compressed bytes.
    let size = frame.unwrap() - 8;
    for claim in [3u64 << 30, 65 << 20] {
        bytes[size..size + 8].copy_from_slice(&claim.to_le_bytes());
        let said = refused(&["--json"], &bytes);
        assert!(said.contains("too large"), "{said}");
    }
    // A page that holds what it says, of a text that nobody has: a few thousand bytes that unpack to 70 MB.
    let folder = Folder::new("pages");
    let path = folder.file("page.parquet");
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a".repeat(70 << 20)]));
    let batch = RecordBatch::try_from_iter([("text", text)]).unwrap();
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder().set_compression(zstd).build();
    let out = std::fs::File::create(&path).unwrap();
    let mut out = ArrowWriter::try_new(out, batch.schema(), Some(properties)).unwrap();
    out.write(&batch).unwrap();
    out.close().unwrap();
    let said = refused(&["--input", &path], b"");
    assert!(said.contains("too large"), "{said}");
}

#[test]
fn bad_tables_are_refused_and_leave_no_file() {
    let folder = Folder::new("bad-tables");
    let stream = std::fs::read(table("stream.arrows")).unwrap();
    let parquet = std::fs::read(table("snappy.parquet")).unwrap();
    let path = folder.write("kept.parquet", "what was there");
    let says = |args: &[&str], input: &[u8], expected: &str| {
        let said = refused(args, input);
        assert!(said.contains(expected), "{args:?}: {said}");
    };
    // Half a message, behind rows that are kept beside what was to be written.
    let unfinished = folder.file("kept.unfinished.parquet");
    let said = refused(&["--output", &path], &stream[..stream.len() - 200]);
    let kept = format!("the first 3 rows are in {unfinished}");
    assert!(said.contains("Arrow IPC") && said.contains(&kept), "{said}");
    let read = ok(
        &[
            "--input",
            &unfinished,
            "--embedding-column",
            "again",
            "--json",
        ],
        b"",
    );
    assert_eq!(read.iter().filter(|&&byte| byte == b'\n').count(), 3);
    std::fs::remove_file(&unfinished).unwrap();
    // A byte of the schema gone wrong, and nothing.
    says(&["--output", &path], &stream[..100], "Arrow IPC");
    says(&["--input-format", "arrow"], b"", "Arrow IPC");
    says(&["--input-format", "arrow"], b"a text", "Arrow IPC");
    says(&[], &parquet, "--input");
    let cut = folder.file("cut.parquet");
    std::fs::write(&cut, &parquet[..parquet.len() - 40]).unwrap();
    says(&["--input", &cut, "--output", &path], b"", "Parquet");
    // Columns that are not there, hold something else, or are there already.
    says(
        &["--text-column", "body"],
        &stream,
        "id, sentence, condition",
    );
    says(&["--text-column", "id"], &stream, "Int64");
    says(&["--condition-column", "under"], &stream, "`under`");
    says(&["--embedding-column", "score"], &stream, "`score`");
    let late = b"{\"text\": \"a\"}\n{\"text\": \"b\", \"embedding\": null}\n";
    for rows in ["1", "2"] {
        says(&["--batch-rows", rows], late, "`embedding`");
    }
    // Lines that are not what they should be.
    says(
        &["--output", &path],
        b"{\"text\": \"a\"}\n{\"text\": 5}\n",
        "row 2",
    );
    says(
        &["--output", &path],
        b"{\"text\": \"a\"}\n{text}\n",
        "row 2",
    );
    says(
        &["--output", &path, "--batch-rows", "1"],
        b"{\"text\": \"a\"}\n{\"text\": \"b\", \"n\": 1}\n",
        "row 2",
    );
    std::fs::remove_file(&unfinished).unwrap();
    says(&["--input-format", "csv"], b"text,n\na,1\nb\n", "row 2");
    says(&["--input-format", "csv"], b"body\na\n", "`text`");
    says(&[], b"a\n\n", "row 2");
    // A name that promises another kind of file, unless the format is told.
    let vectors = folder.file("out.safetensors");
    says(&["--output", &vectors], b"a\n", ".safetensors");
    ok(&["--output", &vectors, "--output-format", "csv"], b"a\n");
    std::fs::remove_file(&vectors).unwrap();
    // A line without an end.
    let endless = folder.file("endless");
    std::fs::write(&endless, vec![b'a'; 257 << 20]).unwrap();
    for format in ["text", "jsonl"] {
        let args = ["--input-format", format, "--input", &endless];
        says(&args, b"", "row 1: it is longer than 256 MiB");
    }
    std::fs::remove_file(&endless).unwrap();
    assert_eq!(folder.read("kept.parquet"), "what was there");
    assert_eq!(
        std::fs::read_dir(&folder.0).unwrap().count(),
        2,
        "a part was left behind"
    );
}
