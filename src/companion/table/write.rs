//! Tables with one column more, to files and pipes: whoever reads a pipe has each batch as soon as it is made.

use std::{io::Write, sync::Arc};

use arrow_array::{Array, ArrayRef, FixedSizeListArray, Float32Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_json::{
    ReaderBuilder, WriterBuilder, reader::infer_json_schema_from_iterator, writer::LineDelimited,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use parquet::{arrow::ArrowWriter, basic::Compression, file::properties::WriterProperties};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use super::{Format, Object, Rows, arrow_error, parquet_error};
use crate::error::{Error, Result};

/// Bytes of rows that Parquet collects before it writes them.
const ROW_GROUP: usize = 64 << 20;

pub struct WriteOptions {
    /// What errors call the output.
    pub what: String,
    pub format: Format,
    /// The name of the new column.
    pub column: String,
    /// Numbers of an embedding.
    pub dims: usize,
}

/// A vector for each row, or none.
pub type Vectors = Vec<Option<Vec<f32>>>;

/// Writes rows and their embeddings in one format.
pub struct Writer<W: Write + Send> {
    options: WriteOptions,
    sink: Sink<W>,
    /// The columns of the input; JSON objects take those of the first batch, and stay objects in JSON lines.
    columns: SchemaRef,
    row: usize,
}

enum Sink<W: Write + Send> {
    Lines(W),
    Csv(Box<csv::Writer<W>>),
    Stream(StreamWriter<W>),
    File(FileWriter<W>),
    Parquet(Box<ArrowWriter<W>>),
}

impl<W: Write + Send> Writer<W> {
    /// Begins a table like `first`.
    ///
    /// # Errors
    /// It has a column of the new one's name already, or the output cannot be written.
    pub fn new(out: W, options: WriteOptions, first: &Rows) -> Result<Self> {
        options.check_new(first)?;
        let failed = arrow_error(&options.what, options.format);
        let columns = match first {
            Rows::Columns(batch) => batch.schema(),
            // They are not made columns of: whatever their other fields hold passes through.
            Rows::Objects(_) if matches!(options.format, Format::Text | Format::Jsonl) => {
                SchemaRef::new(Schema::empty())
            }
            Rows::Objects(objects) => {
                infer(objects).map_err(|e| no_columns(objects, &e, &options.what))?
            }
        };
        let mut fields = columns.fields().to_vec();
        fields.push(options.field());
        let schema = Arc::new(Schema::new_with_metadata(
            fields,
            columns.metadata().clone(),
        ));
        let sink = match options.format {
            Format::Text | Format::Jsonl => Ok(Sink::Lines(out)),
            Format::Csv => {
                let mut csv = csv::Writer::from_writer(out);
                csv.write_record(schema.fields().iter().map(|f| f.name()))
                    .map(|()| Sink::Csv(Box::new(csv)))
                    .map_err(csv_error)
            }
            Format::Arrow => StreamWriter::try_new(out, &schema).map(Sink::Stream),
            Format::Feather => FileWriter::try_new(out, &schema).map(Sink::File),
            Format::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .build();
                ArrowWriter::try_new(out, schema, Some(properties))
                    .map(|writer| Sink::Parquet(Box::new(writer)))
                    .map_err(parquet_error)
            }
        };
        Ok(Self {
            sink: sink.map_err(failed)?,
            options,
            columns,
            row: 0,
        })
    }

    /// Writes rows with an embedding each, `[dims]`.
    ///
    /// # Errors
    /// They have a column of the new one's name, other columns than the rows before them where that is not allowed,
    /// or the output cannot be written.
    pub fn write(&mut self, rows: &Rows, vectors: &Vectors) -> Result<()> {
        self.options.check_new(rows)?;
        let failed = arrow_error(&self.options.what, self.options.format);
        let written = match (&mut self.sink, rows) {
            (Sink::Lines(out), _) if self.options.format == Format::Text => {
                numbers(out, vectors).map_err(ArrowError::from)
            }
            (Sink::Lines(out), Rows::Objects(objects)) => {
                json_lines(out, objects, &self.options.column, vectors)
            }
            (_, Rows::Columns(batch)) => self.write_columns(batch, vectors),
            (_, Rows::Objects(objects)) => {
                let batch = self.to_columns(objects)?;
                self.write_columns(&batch, vectors)
            }
        };
        self.row += rows.len();
        written.map_err(failed)
    }

    /// Writes what the format has at its end, and gives the output back.
    pub fn finish(self) -> Result<()> {
        let written = match self.sink {
            Sink::Lines(mut out) => out.flush().map_err(ArrowError::from),
            Sink::Csv(mut csv) => csv.flush().map_err(ArrowError::from),
            Sink::Stream(mut stream) => stream.finish().and_then(|()| stream.flush()),
            Sink::File(mut file) => file.finish().and_then(|()| file.flush()),
            Sink::Parquet(writer) => writer
                .into_inner()
                .map_err(parquet_error)
                .and_then(|mut out| Ok(out.flush()?)),
        };
        written.map_err(arrow_error(&self.options.what, self.options.format))
    }

    fn write_columns(
        &mut self,
        batch: &RecordBatch,
        vectors: &Vectors,
    ) -> std::result::Result<(), ArrowError> {
        let mut columns = batch.columns().to_vec();
        columns.push(self.options.array(vectors)?);
        let mut fields = batch.schema().fields().to_vec();
        fields.push(self.options.field());
        let schema = Schema::new_with_metadata(fields, self.columns.metadata().clone());
        let batch = RecordBatch::try_new(Arc::new(schema), columns)?;
        match &mut self.sink {
            Sink::Lines(out) => {
                let mut writer = WriterBuilder::new()
                    .with_explicit_nulls(true)
                    .build::<_, LineDelimited>(&mut *out);
                writer.write(&batch)?;
                writer.finish()?;
                Ok(out.flush()?)
            }
            Sink::Csv(csv) => cells(csv, &batch, vectors),
            Sink::Stream(stream) => stream.write(&batch).and_then(|()| stream.flush()),
            Sink::File(file) => file.write(&batch).and_then(|()| file.flush()),
            Sink::Parquet(writer) => {
                writer.write(&batch).map_err(parquet_error)?;
                match writer.in_progress_size() > ROW_GROUP {
                    true => writer.flush().map_err(parquet_error),
                    false => Ok(()),
                }
            }
        }
    }

    fn to_columns(&self, objects: &[Object]) -> Result<RecordBatch> {
        let convert = || {
            let mut decoder = ReaderBuilder::new(self.columns.clone())
                .with_coerce_primitive(true)
                .with_strict_mode(true)
                .build_decoder()?;
            decoder.serialize(&values(objects)?)?;
            let empty = || RecordBatch::new_empty(self.columns.clone());
            Ok(decoder.flush()?.unwrap_or_else(empty))
        };
        convert().map_err(|e: ArrowError| Error::Data {
            file: self.options.what.clone(),
            row: self.row + 1,
            reason: format!(
                "from here on rows differ from those before them, which columns do not allow ({e}). Write JSON lines, or raise --batch-rows: the first batch says which columns there are"
            ),
        })
    }
}

impl WriteOptions {
    /// Refuses rows that have a column of the new one's name, though it be of nulls alone.
    fn check_new(&self, rows: &Rows) -> Result<()> {
        let taken = match rows {
            Rows::Columns(batch) => batch.column_by_name(&self.column).is_some(),
            Rows::Objects(objects) => {
                let mut fields = objects.iter().flat_map(|object| &object.0);
                fields.any(|(name, _)| *name == self.column)
            }
        };
        match taken {
            true => Err(Error::InvalidArgument(format!(
                "the input has a column `{}` already. Name the new one with --embedding-column.",
                self.column
            ))),
            false => Ok(()),
        }
    }

    fn item() -> FieldRef {
        Arc::new(Field::new("item", DataType::Float32, false))
    }

    fn width(&self) -> i32 {
        i32::try_from(self.dims).unwrap_or(i32::MAX)
    }

    fn field(&self) -> FieldRef {
        let list = DataType::FixedSizeList(Self::item(), self.width());
        Arc::new(Field::new(&self.column, list, true))
    }

    fn array(&self, vectors: &Vectors) -> std::result::Result<ArrayRef, ArrowError> {
        let none = vec![0.0; self.dims];
        let numbers: Vec<f32> = vectors
            .iter()
            .flat_map(|vector| vector.as_ref().unwrap_or(&none))
            .copied()
            .collect();
        let valid = vectors.iter().map(Option::is_some).collect::<Vec<_>>();
        let array = FixedSizeListArray::try_new(
            Self::item(),
            self.width(),
            Arc::new(Float32Array::from(numbers)),
            Some(valid.into()),
        )?;
        Ok(Arc::new(array))
    }
}

/// A line of numbers for each vector, an empty one for none.
fn numbers(out: &mut impl Write, vectors: &Vectors) -> std::io::Result<()> {
    for vector in vectors {
        let numbers: Vec<_> = vector.iter().flatten().map(f32::to_string).collect();
        writeln!(out, "{}", numbers.join(" "))?;
    }
    out.flush()
}

/// Columns for JSON objects, in the order in which the objects have their fields.
fn infer(objects: &[Object]) -> std::result::Result<SchemaRef, ArrowError> {
    let values = values(objects)?;
    let found = infer_json_schema_from_iterator(values.iter().map(Ok))?;
    let mut fields: Vec<FieldRef> = Vec::new();
    for (name, _) in objects.iter().flat_map(|object| &object.0) {
        if !fields.iter().any(|field| field.name() == name) {
            fields.push(Arc::new(found.field_with_name(name)?.clone()));
        }
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// Says with which row the objects stop making columns.
fn no_columns(objects: &[Object], reason: &ArrowError, what: &str) -> Error {
    let all: Vec<usize> = (1..=objects.len()).collect();
    let row = 1 + all.partition_point(|&rows| infer(&objects[..rows]).is_ok());
    Error::InvalidArgument(format!(
        "the fields of row {row} and of those before it make no columns for {what} ({reason}). Write JSON lines, where they pass through as they are."
    ))
}

fn values(objects: &[Object]) -> std::result::Result<Vec<Value>, ArrowError> {
    let value = |object: &Object| {
        let fields = object.0.iter();
        let fields = fields
            .map(|(name, raw)| Ok((name.clone(), serde_json::from_str(raw.get())?)))
            .collect::<serde_json::Result<_>>();
        fields
            .map(Value::Object)
            .map_err(|e| ArrowError::JsonError(e.to_string()))
    };
    objects.iter().map(value).collect()
}

/// The objects as they came, with the embedding at their end.
fn json_lines(
    out: &mut impl Write,
    objects: &[Object],
    column: &str,
    vectors: &Vectors,
) -> std::result::Result<(), ArrowError> {
    struct Line<'a>(&'a Object, &'a str, &'a Option<Vec<f32>>);
    impl Serialize for Line<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            for (name, value) in &self.0.0 {
                map.serialize_entry(name, value)?;
            }
            map.serialize_entry(self.1, self.2)?;
            map.end()
        }
    }
    for (object, vector) in objects.iter().zip(vectors) {
        serde_json::to_writer(&mut *out, &Line(object, column, vector))
            .map_err(|e| ArrowError::from(std::io::Error::from(e)))?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

/// Rows as text: the embedding as a JSON array, and nothing where there is no value.
fn cells<W: Write>(
    csv: &mut csv::Writer<W>,
    batch: &RecordBatch,
    vectors: &Vectors,
) -> std::result::Result<(), ArrowError> {
    let options = FormatOptions::default();
    let columns = &batch.columns()[..batch.num_columns() - 1];
    let formatters = columns
        .iter()
        .map(|column| ArrayFormatter::try_new(column, &options))
        .collect::<std::result::Result<Vec<_>, _>>()?;
    for (row, vector) in vectors.iter().enumerate() {
        for (formatter, column) in formatters.iter().zip(columns) {
            let cell = match column.is_null(row) {
                true => String::new(),
                false => formatter.value(row).try_to_string()?,
            };
            csv.write_field(cell).map_err(csv_error)?;
        }
        let cell = vector.as_ref().map(serde_json::to_string).transpose();
        let cell = cell.map_err(|e| ArrowError::JsonError(e.to_string()))?;
        csv.write_field(cell.unwrap_or_default())
            .map_err(csv_error)?;
        csv.write_record(None::<&[u8]>).map_err(csv_error)?;
    }
    Ok(csv.flush()?)
}

/// The operating system's own errors stay what they are: a closed pipe is told by its kind.
fn csv_error(error: csv::Error) -> ArrowError {
    let said = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        _ => ArrowError::CsvError(said),
    }
}
