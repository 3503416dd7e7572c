//! Writing: values as Parquet files.
//!
//! Invariant: the columns of all batches of one file have one schema, which follows from the spec of what is written and not from
//! whether a batch happens to have nulls. What Arrow knows of types beyond Parquet stands in the file's metadata. Units of time that Parquet
//! does not have are written in those that it has (`times.rs`).

use super::said;
use super::times::stored;
use crate::arrow::{to_arrow, to_arrow_field};
use crate::caught::caught;
use crate::records::is;
use crate::run::check_rows;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeListArray, ListArray, RecordBatch, RecordBatchOptions, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use extenso_core::Value;
use extenso_ext::{MaskedTensorSpec, UnionSpec, outer};
use extenso_graph::save::archive::write_atomically;
use extenso_types::{Dim, Error, ExtSpec, Nest, Path as Place, Result, Segment, Spec};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// The name of the only column of a value that is no record.
const VALUE: &str = "value";

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
        if batch.schema() != schema {
            let error = Error::dtype(format!("a batch has the columns {}", batch.schema()));
            return Err(error.wanted(schema.to_string()));
        }
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

/// The rows of a value as columns, whose schema follows from the spec of the value alone.
///
/// Errors: those of [`encode_parquet`].
pub fn record_batch(value: &Nest<Value>) -> Result<RecordBatch> {
    let rows = rows_of(value)?;
    let (fields, columns) = match value {
        Nest::Leaf(leaf) => match settled(&to_arrow(leaf)?, &leaf.spec()?)?.as_struct_opt() {
            Some(record) if record.nulls().is_none() => (record.fields().clone(), record.columns().to_vec()),
            _ => one_column(VALUE, leaf)?,
        },
        Nest::Static(_) => (Fields::empty(), Vec::new()),
        Nest::Tuple(_) | Nest::List(_) | Nest::Dict(_) | Nest::Record(..) => columns_of(value)?,
    };
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let schema = Arc::new(Schema::new(fields));
    RecordBatch::try_new_with_options(schema, columns, &options).map_err(|e| internal(&e))
}

/// The number of rows, which all values of a nest have alike.
///
/// Errors: a value without an outer axis; two numbers, with the paths of both.
fn rows_of(value: &Nest<Value>) -> Result<usize> {
    let (mut first, mut leaves): (Option<(Place, usize)>, Vec<Value>) = (None, Vec::new());
    for (at, value) in value.leaves() {
        let named = || if at.is_root() { "the value".to_string() } else { format!("'{at}'") };
        let rows = match outer(value) {
            Some(Dim::Known(rows)) => rows,
            // What a type that is not known here has as rows, its array tells.
            Some(_) => to_arrow(value).map_err(|e| e.at(named()))?.len(),
            None => {
                let error = Error::shape(format!("{} is {}", named(), value.spec()?));
                return Err(error.wanted("the records as outer axis"));
            }
        };
        match &first {
            Some((other, known)) if *known != rows => {
                let what = format!("'{at}' has {rows} rows, and '{other}' has {known}");
                return Err(Error::shape(what).wanted("one number of rows"));
            }
            Some(_) => {}
            None => first = Some((at, rows)),
        }
        value.push_leaves(&mut leaves)?;
    }
    let rows = first.map_or(0, |(_, rows)| rows);
    check_rows(rows, &leaves)?;
    Ok(rows)
}

/// The array, whose fields may be null where the spec says so, and not where nulls happen to be.
fn settled(array: &ArrayRef, spec: &Spec) -> Result<ArrayRef> {
    let Spec::Ext(ext) = spec else { return Ok(array.clone()) };
    let nulls = array.nulls().cloned();
    let done: std::result::Result<ArrayRef, ArrowError> = match array.data_type() {
        _ if is::<MaskedTensorSpec>(ext) => {
            return ext.component(&Segment::Itself).map_or_else(|| Ok(array.clone()), |inner| settled(array, inner));
        }
        DataType::List(field) => {
            let Some(item) = item_of(ext) else { return Ok(array.clone()) };
            let list = array.as_list::<i32>();
            let values = settled(list.values(), item)?;
            let list = ListArray::try_new(refit(field, &values, item), list.offsets().clone(), values, nulls);
            list.map(|list| Arc::new(list) as ArrayRef)
        }
        DataType::LargeList(field) => {
            let Some(item) = item_of(ext) else { return Ok(array.clone()) };
            let list = array.as_list::<i64>();
            let values = settled(list.values(), item)?;
            let list = LargeListArray::try_new(refit(field, &values, item), list.offsets().clone(), values, nulls);
            list.map(|list| Arc::new(list) as ArrayRef)
        }
        DataType::Struct(fields) => {
            let mut refitted = Vec::with_capacity(fields.len());
            let mut columns = Vec::with_capacity(fields.len());
            for (field, column) in fields.iter().zip(array.as_struct().columns()) {
                let spec = ext.component(&Segment::field(field.name().as_str()));
                let column = spec.map_or_else(|| Ok(column.clone()), |spec| settled(column, spec))?;
                refitted.push(spec.map_or_else(|| field.clone(), |spec| refit(field, &column, spec)));
                columns.push(column);
            }
            let record = StructArray::try_new_with_length(refitted.into(), columns, nulls, array.len());
            record.map(|record| Arc::new(record) as ArrayRef)
        }
        _ => Ok(array.clone()),
    };
    done.map_err(|e| internal(&e))
}

/// What the items of a list are.
fn item_of(ext: &ExtSpec) -> Option<&Spec> {
    ext.components.iter().map(|(_, spec)| spec).find(|spec| !matches!(spec, Spec::Partition(_)))
}

fn refit(field: &FieldRef, array: &ArrayRef, spec: &Spec) -> FieldRef {
    // What is missing in a union is so in its children.
    let masked = matches!(spec, Spec::Ext(ext) if is::<MaskedTensorSpec>(ext) || is::<UnionSpec>(ext));
    let field = field.as_ref().clone().with_data_type(array.data_type().clone());
    Arc::new(field.with_nullable(masked || array.null_count() > 0))
}

fn one_column(name: &str, value: &Value) -> Result<(Fields, Vec<ArrayRef>)> {
    let (field, column) = column_of(name, &Nest::Leaf(value.clone()))?;
    Ok((vec![field].into(), vec![column]))
}

fn columns_of(nest: &Nest<Value>) -> Result<(Fields, Vec<ArrayRef>)> {
    let entries: Vec<(String, &Nest<Value>)> = match nest {
        Nest::Tuple(items) | Nest::List(items) => items.iter().enumerate().map(|(i, n)| (i.to_string(), n)).collect(),
        Nest::Dict(entries) | Nest::Record(_, entries) => entries.iter().map(|(k, n)| (k.to_string(), n)).collect(),
        Nest::Leaf(_) | Nest::Static(_) => Vec::new(),
    };
    let of_data = entries.into_iter().filter(|(_, nest)| !matches!(nest, Nest::Static(_)));
    let columns: Result<Vec<(FieldRef, ArrayRef)>> = of_data.map(|(name, nest)| column_of(&name, nest)).collect();
    let (fields, columns): (Vec<FieldRef>, Vec<ArrayRef>) = columns?.into_iter().unzip();
    Ok((fields.into(), columns))
}

fn column_of(name: &str, nest: &Nest<Value>) -> Result<(FieldRef, ArrayRef)> {
    let column: ArrayRef = match nest {
        Nest::Leaf(value) => {
            let spec = value.spec()?;
            let place = |e: Error| e.at(format!("field '{name}'"));
            let (field, array) = to_arrow_field(value).map_err(place)?;
            let array = settled(&array, &spec).map_err(place)?;
            return Ok((refit(&Arc::new(field.as_ref().clone().with_name(name)), &array, &spec), array));
        }
        Nest::Static(_) | Nest::Tuple(_) | Nest::List(_) | Nest::Dict(_) | Nest::Record(..) => {
            let (fields, columns) = columns_of(nest)?;
            let rows = columns.first().map_or(0, |column| column.len());
            Arc::new(StructArray::try_new_with_length(fields, columns, None, rows).map_err(|e| internal(&e))?)
        }
    };
    Ok((Arc::new(Field::new(name, column.data_type().clone(), false)), column))
}

fn internal(e: &ArrowError) -> Error {
    Error::internal(format!("Arrow refuses what was proven: {e}"))
}
