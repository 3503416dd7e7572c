//! Writing: values as Parquet files.
//!
//! Invariant: the columns of all batches of one file have one schema, which follows from the spec of what is written and not from
//! whether a batch happens to have nulls. What Arrow knows of types beyond Parquet stands in the file's metadata. Units of time that Parquet
//! does not have are written in those that it has (`times.rs`).

use super::said;
use super::times::stored;
use crate::arrow::{in_schema, record_batch};
use crate::caught::caught;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use extenso_core::Value;
use extenso_graph::save::archive::write_atomically;
use extenso_types::{Error, Nest, Result};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::io::Write;
use std::path::Path;

/// How large a row group grows before it is written, in bytes.
const ROW_GROUP: usize = 64 << 20;

/// Writes a batch as the bytes of a Parquet file, one row for each item of the outer axis.
///
/// A dict of values has a column for each, a record one for each field, and another value one that is named `value`.
/// Errors: a value that Arrow has no array for; values, or parts of one, with another number of rows; a time in seconds that milliseconds do
/// not hold, and a date that is no whole day.
///
/// ```
/// # use extenso_ext::constant;
/// # use extenso_formats::{ParquetOptions, encode_parquet, read_parquet};
/// # use extenso_types::Nest;
/// let file = encode_parquet(&Nest::dict([("x", Nest::Leaf(constant(vec![vec![1], vec![]]).unwrap()))])).unwrap();
/// let read = read_parquet(&file.into(), &ParquetOptions::default()).unwrap();
/// assert_eq!(extenso_ext::to_literal(&read.value).unwrap().to_string(), r#"[{"x": [1]}, {"x": []}]"#);
/// ```
pub fn encode_parquet(value: &Nest<Value>) -> Result<Vec<u8>> {
    let mut writer = ParquetWriter::new(Vec::new());
    writer.write(value)?;
    writer.finish()
}

/// Writes a batch as a Parquet file, which appears under its name whole or not at all.
///
/// Errors: those of [`encode_parquet`]; what the operating system refuses.
pub fn write_parquet(value: &Nest<Value>, path: impl AsRef<Path>) -> Result<()> {
    let bytes = encode_parquet(value)?;
    write_atomically(path, &bytes).map_err(|e| Error::io(e.to_string()))
}

/// Writes batches one after another as the rows of one Parquet file, a row group at a time.
pub struct ParquetWriter<W: Write + Send> {
    state: State<W>,
}

enum State<W: Write + Send> {
    /// No batch has said yet what the columns are.
    New(W),
    Open(Box<ArrowWriter<W>>, SchemaRef),
    Failed,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// A file without rows.
    pub fn new(sink: W) -> ParquetWriter<W> {
        ParquetWriter { state: State::New(sink) }
    }

    /// Writes one more batch, of the columns of those before.
    ///
    /// Errors: those of [`encode_parquet`]; other columns than before; what the operating system refuses.
    pub fn write(&mut self, value: &Nest<Value>) -> Result<()> {
        let batch = RecordBatch::from(stored(record_batch(value)?.into())?);
        let (mut writer, schema) = match std::mem::replace(&mut self.state, State::Failed) {
            State::New(sink) => {
                let schema = batch.schema();
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_max_row_group_bytes(Some(ROW_GROUP))
                    .build();
                let writer = writing(|| ArrowWriter::try_new(sink, schema.clone(), Some(properties)))?;
                (Box::new(writer), schema)
            }
            State::Open(writer, schema) => (writer, schema),
            State::Failed => return Err(Error::value("the file failed before").wanted("a new one")),
        };
        let batch = in_schema(batch, &schema)?;
        writing(|| writer.write(&batch))?;
        self.state = State::Open(writer, schema);
        Ok(())
    }

    /// Ends the row group, so that the next batch begins another.
    ///
    /// Errors: what the operating system refuses.
    pub fn end_group(&mut self) -> Result<()> {
        match &mut self.state {
            State::Open(writer, _) => writing(|| writer.flush()),
            State::New(_) | State::Failed => Ok(()),
        }
    }

    /// Writes what is left and the file's end, and gives the sink back.
    ///
    /// Errors: no batch was written, so that there are no columns; what the operating system refuses.
    pub fn finish(self) -> Result<W> {
        match self.state {
            State::Open(writer, _) => writing(|| writer.into_inner()),
            State::New(_) => Err(Error::value("no batch was written").wanted("one at least, which may have no rows")),
            State::Failed => Err(Error::value("the file failed before").wanted("a new one")),
        }
    }
}

/// Calls the writer, whose errors and panics are about the sink or about a type that Parquet does not have.
fn writing<T>(f: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T> {
    let refused = |what: &dyn std::fmt::Display| {
        Error::dtype(format!("Parquet refuses the value: {what}"))
            .wanted("types that Parquet has: no unions, records without fields, or decimals of a negative scale")
    };
    match caught(f) {
        Ok(done) => done.map_err(|e| match e {
            parquet::errors::ParquetError::External(e) => Error::io(e.to_string()),
            other => refused(&other),
        }),
        Err(panic) => Err(refused(&said(&*panic).unwrap_or("it cannot be written"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_writer_is_an_error() {
        let error = writing::<()>(|| std::panic::panic_any("no such type")).expect_err("a panic").to_string();
        assert!(error.starts_with("Parquet refuses the value: no such type"), "{error}");
        assert!(writing::<()>(|| std::panic::panic_any(7)).is_err());
    }
}
