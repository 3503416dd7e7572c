//! Writing: values as Parquet files.
//!
//! Invariant: the columns of all batches of one file have one schema, which follows from the spec of what is written and not from
//! whether a batch happens to have nulls. What Arrow knows of types beyond Parquet stands in the file's metadata. Units of time that Parquet
//! does not have are written in those that it has (`times.rs`).

use super::annotated::annotated;
use super::order::Orders;
use super::project::item;
use super::said;
use super::times::stored;
use super::unordered::unordered;
use crate::arrow::{in_schema, record_batch};
use crate::caught::caught;
use arrow_array::types::{Decimal128Type, Decimal256Type, DecimalType};
use arrow_array::{Array, PrimitiveArray, RecordBatch};
use arrow_data::ArrayData;
use arrow_schema::{DECIMAL64_MAX_PRECISION, DataType, Field, Schema, SchemaRef};
use extenso_core::Value;
use extenso_graph::save::archive::write_atomically;
use extenso_types::{Error, Nest, Path, Result, Segment};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter, encode_arrow_schema};
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::io::Write;

/// How large a row group grows before it is written, in bytes.
const ROW_GROUP: usize = 64 << 20;

/// Writes a batch as the bytes of a Parquet file, one row for each item of the outer axis.
///
/// A dict of values has a column for each, a record one for each field, and another value one that is named `value`.
/// Errors: a value that Arrow has no array for; values, or parts of one, with another number of rows; a time in seconds that milliseconds do
/// not hold, and a date that is no whole day; a decimal of more digits than its type has; a type that Parquet does not have, such as
/// unions and records without fields, with the column.
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
pub fn write_parquet(value: &Nest<Value>, path: impl AsRef<std::path::Path>) -> Result<()> {
    let written = |bytes: Vec<u8>| write_atomically(path, &bytes).map_err(Error::from);
    encode_parquet(value).and_then(written).map_err(|e| e.at("write_parquet"))
}

/// Writes batches one after another as the rows of one Parquet file, a row group at a time.
pub struct ParquetWriter<W: Write + Send> {
    state: State<W>,
}

enum State<W: Write + Send> {
    /// No batch has said yet what the columns are.
    New(W),
    /// With the columns, and the orders of categories so far, where some have one.
    Open(Box<ArrowWriter<W>>, SchemaRef, Option<Orders>),
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
        held(&batch)?;
        let (mut writer, schema, mut orders) = match std::mem::replace(&mut self.state, State::Failed) {
            State::New(sink) => {
                let schema = batch.schema();
                let writer = writing(|| ArrowWriter::try_new_with_options(sink, schema.clone(), options(&schema)?))?;
                let ordered = schema.fields().iter().any(|field| unordered(field).is_some());
                (Box::new(writer), schema, ordered.then(Orders::default))
            }
            State::Open(writer, schema, orders) => (writer, schema, orders),
            State::Failed => return Err(Error::value("the file failed before").wanted("a new one")),
        };
        let batch = in_schema(batch, &schema)?;
        if let Some(orders) = &mut orders {
            orders.add(&batch);
        }
        writing(|| writer.write(&batch))?;
        self.state = State::Open(writer, schema, orders);
        Ok(())
    }

    /// Ends the row group, so that the next batch begins another.
    ///
    /// Errors: what the operating system refuses.
    pub fn end_group(&mut self) -> Result<()> {
        match &mut self.state {
            State::Open(writer, ..) => writing(|| writer.flush()),
            State::New(_) | State::Failed => Ok(()),
        }
    }

    /// Writes what is left and the file's end, and gives the sink back.
    ///
    /// Errors: no batch was written, so that there are no columns; what the operating system refuses.
    pub fn finish(self) -> Result<W> {
        match self.state {
            State::Open(mut writer, schema, orders) => {
                if let Some(orders) = orders {
                    let said = encode_arrow_schema(&orders.told(&schema));
                    writer.append_key_value_metadata(KeyValue::new(ARROW_SCHEMA_META_KEY.to_string(), said));
                }
                writing(|| writer.into_inner())
            }
            State::New(_) => Err(Error::value("no batch was written").wanted("one at least, which may have no rows")),
            State::Failed => Err(Error::value("the file failed before").wanted("a new one")),
        }
    }
}

/// Checks that Parquet, and who reads it, has the types of all columns.
///
/// Errors: a type that it has not, with the column and what to do.
fn held(batch: &RecordBatch) -> Result<()> {
    if batch.num_columns() == 0 {
        let error = Error::dtype("the records have no fields, and rows of no columns are none in Parquet");
        return Err(error.wanted("a field at least"));
    }
    let at = |field: &Field| Path::root().child(Segment::field(field.name().as_str()));
    let schema = batch.schema();
    schema.fields().iter().zip(batch.columns()).try_for_each(|(field, column)| {
        below(&at(field), field.data_type())?;
        digits(&at(field), &column.to_data())
    })
}

/// Checks that no decimal has more digits than its column: as many bytes are written as these take.
///
/// Errors: one that has, with the column.
fn digits(at: &Path, data: &ArrayData) -> Result<()> {
    fn beyond<T: DecimalType>(data: &ArrayData, digits: u8) -> Option<u8> {
        let decimals = PrimitiveArray::<T>::from(data.clone());
        decimals.iter().flatten().any(|value| !T::is_valid_decimal_precision(value, digits)).then_some(digits)
    }
    let beyond = match data.data_type() {
        DataType::Decimal128(digits, _) => beyond::<Decimal128Type>(data, *digits),
        DataType::Decimal256(digits, _) => beyond::<Decimal256Type>(data, *digits),
        _ => return data.child_data().iter().try_for_each(|child| self::digits(at, child)),
    };
    match beyond {
        Some(digits) => Err(Error::value(format!("column '{at}' has a decimal of more than {digits} digits"))
            .wanted(format!("at most {digits}, as its type says"))
            .hint("Give it more digits by `to_decimal`.")),
        None => Ok(()),
    }
}

fn below(at: &Path, data_type: &DataType) -> Result<()> {
    let no = |what: &str, wanted: &str| {
        Err(Error::dtype(format!("column '{at}' is {what}, which Parquet does not have")).wanted(wanted))
    };
    match (data_type, item(data_type)) {
        (DataType::Struct(fields), _) if fields.is_empty() => no("of records without fields", "a field at least"),
        (DataType::Struct(fields), _) => fields
            .iter()
            .try_for_each(|field| below(&at.child(Segment::field(field.name().as_str())), field.data_type())),
        (_, Some(item)) => below(&at.child(Segment::Each), item.data_type()),
        (DataType::Union(..), _) => no("a union", "a field for each of its types"),
        (DataType::Interval(_), _) => {
            let error =
                Error::dtype(format!("column '{at}' is of intervals, which are read of Parquet and not written"));
            Err(error.wanted("durations, or the parts of the intervals as numbers"))
        }
        (DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale), _) if *scale < 0 => {
            no("of decimals of a negative scale", "a scale of 0 or more, by `to_decimal`")
        }
        (DataType::Dictionary(_, words), _) if !are_words(words) => {
            no(&format!("of categories that are {words}"), "the values themselves, by `decoded`, or texts or integers")
        }
        _ => Ok(()),
    }
}

/// Whether dictionaries of such words are read again.
fn are_words(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float16 => false,
        // Those of more digits are bytes in Parquet.
        DataType::Decimal128(digits, scale) => *digits <= DECIMAL64_MAX_PRECISION && *scale >= 0,
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) | DataType::Duration(_) => true,
        DataType::Time32(_) | DataType::Time64(_) | DataType::FixedSizeBinary(_) => true,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => true,
        other => other.is_integer() || other.is_floating(),
    }
}

/// How a file of this schema is written. Where categories have an order, what the schema says of it is known at the end.
fn options(schema: &Schema) -> parquet::errors::Result<ArrowWriterOptions> {
    let options = match annotated(schema)? {
        Some(columns) => ArrowWriterOptions::new().with_parquet_schema(columns),
        None => ArrowWriterOptions::new(),
    };
    let properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_max_row_group_bytes(Some(ROW_GROUP));
    let ordered = schema.fields().iter().any(|field| unordered(field).is_some());
    Ok(options.with_properties(properties.build()).with_skip_arrow_metadata(ordered))
}

/// Calls the writer, whose errors and panics are about the sink or about a type that Parquet does not have.
fn writing<T>(f: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T> {
    let refused = |what: &dyn std::fmt::Display| {
        Error::dtype(format!("Parquet refuses the value: {what}")).wanted("types that Parquet has")
    };
    match caught(f) {
        Ok(done) => done.map_err(|e| match e {
            parquet::errors::ParquetError::External(e) => outside(e),
            other => refused(&other),
        }),
        Err(panic) => Err(refused(&said(&*panic).unwrap_or("it cannot be written"))),
    }
}

/// The error of what the writer was given to write to.
pub(super) fn outside(e: Box<dyn std::error::Error + Send + Sync>) -> Error {
    e.downcast::<std::io::Error>().map_or_else(|e| Error::io(e.to_string()), |e| Error::from(*e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use extenso_core::{ExtensionType, Tensor};
    use extenso_types::{DType, Shape};

    #[test]
    fn types_that_parquet_has_not_are_refused_by_the_column() {
        use extenso_ext::{CategoricalTensor, StructTensor};
        let refused = |value: Value, wanted: &str| {
            let error = encode_parquet(&Nest::Leaf(value)).expect_err(wanted).to_string();
            assert!(error.starts_with(wanted), "{error}");
        };
        let read = |rows: &str| crate::read_json(rows.as_bytes(), &Default::default()).expect("reads").value;
        refused(read("{}\n{}"), "the records have no fields");
        refused(read(r#"{"a": [{"b": {}}]}"#), "column 'a[*].b' is of records without fields, which Parquet does not");
        let words: [(Value, bool); 3] = [
            (Tensor::bools(&[2], &[true, false]).expect("words").into(), false),
            (extenso_core::ops::cast(Tensor::from_vec(vec![1.5, 2.5]), DType::F16).expect("words"), false),
            (Tensor::from_vec(vec![1.5, 2.5]).into(), true),
        ];
        for (words, is_held) in words {
            let codes = Tensor::new::<i8>(&[3], &[1, 0, 1]).expect("codes");
            let value = CategoricalTensor::new(codes, words, false).expect("categories").into_value();
            let rows = StructTensor::from_fields(Shape::known(&[3]), [("c", value)]).expect("records").into_value();
            if is_held {
                let bytes = encode_parquet(&Nest::Leaf(rows.clone())).expect("writes");
                let again = crate::read_parquet(&bytes.into(), &Default::default()).expect("reads").value;
                assert_eq!(again.to_string(), rows.to_string());
            } else {
                refused(rows, "column 'c' is of categories that are");
            }
        }
    }

    #[test]
    fn a_panic_of_the_writer_is_an_error() {
        let error = writing::<()>(|| std::panic::panic_any("no such type")).expect_err("a panic").to_string();
        assert!(error.starts_with("Parquet refuses the value: no such type"), "{error}");
        assert!(writing::<()>(|| std::panic::panic_any(7)).is_err());
    }
}
