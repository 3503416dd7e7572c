//! What columns mean, beyond what the crate that decodes makes of them.
//!
//! | in the file | what the crate makes of it | what is read here |
//! |---|---|---|
//! | INTERVAL | days and milliseconds, without months | twelve bytes, of which `cells` makes the interval |
//! | INT96 | nanoseconds, which wrap | twelve bytes, of which `cells` makes times of a unit that holds them |
//! | a time whose zone stands in the Arrow schema with another unit | UTC | that zone |
//! | ordered categories | ordered, whatever the order of the words in the file | unordered, unless the order is that of the writer, or stands in the field (`order.rs`) |
//! | categories of booleans, or of a fixed number of bytes | an error | the values, as pyarrow reads them |
//! | UUID and JSON | bytes and text, unless the Arrow schema says more | the extension types |
//! | a text | UTF-8, or no column at all | bytes that are noted to be texts, so that one that is no UTF-8 is a fault of its row |
//!
//! Invariant: leaf columns, their levels and their order are those of the file. A file without such columns is read as the crate reads it.

use super::cells;
use super::project::{LeafColumn, item};
use super::times::UNIT;
use super::unordered::{keeps_order, unordered};
use super::{ParquetSource, guarded};
use crate::arrow::{as_bytes, inside, schema_in_message};
use crate::json::base64;
use crate::records::is;
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, FieldRef, Fields, IntervalUnit, Schema, TimeUnit};
use extenso_ext::{MaskedTensorSpec, RaggedTensorSpec, TimestampTensorSpec};
use extenso_types::{ExtSpec, Result, Segment, Spec, StaticValue};

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, encode_arrow_schema};
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaData};
use parquet::schema::types::{SchemaDescriptor, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// How many bytes an interval or a time of INT96 has.
const CELL: i32 = 12;

/// The metadata of a file, whose Arrow schema may have columns of types that nobody knows.
///
/// Errors: metadata that the crate refuses.
pub fn loaded(source: &ParquetSource) -> Result<ArrowReaderMetadata> {
    let load = |options| guarded(|| ArrowReaderMetadata::load(source, options));
    load(ArrowReaderOptions::new()).or_else(|refused| {
        let bare = load(ArrowReaderOptions::new().with_skip_arrow_metadata(true))?;
        let Some(schema) = embedded(bare.metadata()) else { return Err(refused) };
        let file = bare.metadata().file_metadata();
        let mut said = file.key_value_metadata().cloned().unwrap_or_default();
        let own = said.iter_mut().filter(|entry| entry.key == ARROW_SCHEMA_META_KEY);
        own.for_each(|entry| entry.value = Some(encode_arrow_schema(&schema)));
        let file = FileMetaData::new(
            file.version(),
            file.num_rows(),
            file.created_by().map(String::from),
            Some(said),
            file.schema_descr_ptr(),
            file.column_orders().cloned(),
        );
        let file = Arc::new(ParquetMetaData::new(file, bare.metadata().row_groups().to_vec()));
        guarded(|| ArrowReaderMetadata::try_new(file, ArrowReaderOptions::new())).map_err(|_| refused)
    })
}

/// The metadata by which columns are read as what they mean.
///
/// Errors: a schema that the crate refuses.
pub fn meant(metadata: ArrowReaderMetadata) -> Result<ArrowReaderMetadata> {
    let embedded = embedded(metadata.metadata());
    let keeps_order = keeps_order(metadata.metadata());
    let schema = metadata.parquet_schema();
    let mut walk = Walk { schema, next: 0, bytes: HashMap::new(), keeps_order, changed: false };
    let fields = walk.fields(metadata.schema().fields(), embedded.as_ref().map(Schema::fields));
    if !walk.changed {
        return Ok(metadata);
    }
    let bytes = walk.bytes;
    let file = if bytes.is_empty() { Ok(metadata.metadata().clone()) } else { of_bytes(metadata.metadata(), &bytes) };
    with_fields(file?, metadata.schema(), fields)
}

/// The metadata whose times of INT96 have these units, each by the number of its leaf column.
///
/// Errors: none that columns have that were read before.
pub fn in_units(metadata: ArrowReaderMetadata, units: &[(usize, TimeUnit)]) -> Result<ArrowReaderMetadata> {
    if units.is_empty() {
        return Ok(metadata);
    }
    fn below(field: &FieldRef, next: &mut usize, units: &[(usize, TimeUnit)]) -> FieldRef {
        inside(field, &mut |field| below(field, next, units)).unwrap_or_else(|| {
            let number = *next;
            *next += 1;
            match (units.iter().find(|(leaf, _)| *leaf == number), cells::of(field)) {
                (Some((_, unit)), Some(DataType::Timestamp(_, zone))) => {
                    noted(field, &DataType::Timestamp(*unit, zone))
                }
                _ => field.clone(),
            }
        })
    }
    let mut next = 0;
    let fields = metadata.schema().fields().iter().map(|field| below(field, &mut next, units)).collect();
    with_fields(metadata.metadata().clone(), metadata.schema(), fields)
}

/// The units that a spec has for times that are read of twelve bytes, each with the number of its leaf column.
pub fn units_of(columns: &[LeafColumn], spec: &Spec) -> Vec<(usize, TimeUnit)> {
    let wanted = |column: &LeafColumn| {
        let wanted = at(spec, column.path.segments()).filter(|_| column.is_cells)?;
        match wanted.static_data.get("unit") {
            Some(StaticValue::Str(name)) if is::<TimestampTensorSpec>(wanted) => cells::unit(name),
            _ => None,
        }
    };
    columns.iter().filter_map(|column| Some((column.number, wanted(column)?))).collect()
}

/// The spec of an extension type at a path, where there is one, without the masks around it.
fn at<'a>(spec: &'a Spec, path: &[Segment]) -> Option<&'a ExtSpec> {
    let Spec::Ext(ext) = spec else { return None };
    if is::<MaskedTensorSpec>(ext) {
        return at(ext.component(&Segment::Itself)?, path);
    }
    match path.split_first() {
        Some((Segment::Each, rest)) if is::<RaggedTensorSpec>(ext) => {
            let values = ext.components.iter().find(|(_, spec)| !matches!(spec, Spec::Partition(_)));
            at(&values?.1, rest)
        }
        // The axes of a dense tensor are its own.
        Some((Segment::Each, rest)) => at(spec, rest),
        Some((field, rest)) => at(ext.component(field)?, rest),
        None => Some(ext),
    }
}

pub(super) fn with_fields(file: Arc<ParquetMetaData>, schema: &Schema, fields: Fields) -> Result<ArrowReaderMetadata> {
    let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    guarded(|| ArrowReaderMetadata::try_new(file, ArrowReaderOptions::new().with_schema(schema)))
}

/// The Arrow schema that the writer left in the file, if there is one that can be read.
fn embedded(metadata: &ParquetMetaData) -> Option<Schema> {
    let entries = metadata.file_metadata().key_value_metadata()?;
    let text = entries.iter().find(|entry| entry.key == ARROW_SCHEMA_META_KEY)?.value.as_ref()?;
    let mut bytes = Vec::new();
    if !base64::decode(text.as_bytes(), &mut bytes) {
        return None;
    }
    // A mark and a length may stand before the message.
    let start = if bytes.starts_with(&[0xff; 4]) { 8 } else { 0 };
    guarded(|| Ok::<_, ParquetError>(schema_in_message(bytes.get(start..).unwrap_or_default()))).ok().flatten()
}

/// As which bytes a leaf column is read.
#[derive(Clone, Copy)]
enum Bytes {
    /// Twelve, of which a value is made.
    Cell,
    /// As many as the text has that they are.
    Text,
}

struct Walk<'a> {
    schema: &'a SchemaDescriptor,
    /// The number of the next leaf column.
    next: usize,
    /// The leaf columns that are read as bytes.
    bytes: HashMap<usize, Bytes>,
    /// Whether categories are in the order that they had.
    keeps_order: bool,
    changed: bool,
}

impl Walk<'_> {
    /// These fields, and what the Arrow schema of the file says of them.
    fn fields(&mut self, fields: &Fields, embedded: Option<&Fields>) -> Fields {
        let embedded = embedded.filter(|embedded| embedded.len() == fields.len());
        let beside = |i: usize, field: &Field| embedded.map(|all| &all[i]).filter(|own| own.name() == field.name());
        fields.iter().enumerate().map(|(i, field)| self.field(field, beside(i, field))).collect()
    }

    fn field(&mut self, field: &FieldRef, embedded: Option<&FieldRef>) -> FieldRef {
        let own = embedded.map(|field| field.data_type());
        if let DataType::Struct(fields) = field.data_type() {
            let below = match own {
                Some(DataType::Struct(own)) => Some(own),
                _ => None,
            };
            let made = self.fields(fields, below);
            return Arc::new(field.as_ref().clone().with_data_type(DataType::Struct(made)));
        }
        inside(field, &mut |part| self.field(part, own.and_then(item))).unwrap_or_else(|| self.leaf(field, own))
    }

    fn leaf(&mut self, field: &FieldRef, embedded: Option<&DataType>) -> FieldRef {
        let number = self.next;
        self.next += 1;
        if number >= self.schema.num_columns() {
            return field.clone();
        }
        let unordered = unordered(field).filter(|_| !self.keeps_order);
        self.changed |= unordered.is_some();
        let field = unordered.as_ref().unwrap_or(field);
        let column = self.schema.column(number);
        let values = values_of(field, column.physical_type());
        self.changed |= values.is_some();
        let field = values.as_ref().unwrap_or(field);
        let made = match (field.data_type(), column.physical_type()) {
            (found, Physical::INT96) if matches!(plain_of(found), DataType::Timestamp(..)) => {
                self.bytes.insert(number, Bytes::Cell);
                noted(field, plain_of(found))
            }
            (DataType::Interval(_), Physical::FIXED_LEN_BYTE_ARRAY) => {
                self.bytes.insert(number, Bytes::Cell);
                let unit = match embedded {
                    Some(DataType::Interval(unit)) => *unit,
                    _ => IntervalUnit::MonthDayNano,
                };
                noted(field, &DataType::Interval(unit))
            }
            (found, _) => match (in_zone(found, embedded), extension(found, column.self_type())) {
                (Some(zoned), _) => Arc::new(field.as_ref().clone().with_data_type(zoned)),
                (None, Some(name)) if !field.metadata().contains_key(EXTENSION_TYPE_NAME_KEY) => {
                    let mut metadata = field.metadata().clone();
                    metadata.insert(EXTENSION_TYPE_NAME_KEY.into(), name.into());
                    Arc::new(field.as_ref().clone().with_metadata(metadata))
                }
                _ => match as_bytes(field) {
                    Some(made) => {
                        self.bytes.insert(number, Bytes::Text);
                        made
                    }
                    None => return field.clone(),
                },
            },
        };
        self.changed = true;
        made
    }
}

/// The field of twelve bytes that says what they are.
fn noted(field: &Field, data_type: &DataType) -> FieldRef {
    let mut metadata = field.metadata().clone();
    metadata.insert(UNIT.into(), cells::note(data_type));
    Arc::new(field.clone().with_data_type(DataType::FixedSizeBinary(CELL)).with_metadata(metadata))
}

/// Categories that the crate does not decode as such, as the values that they are.
fn values_of(field: &Field, physical: Physical) -> Option<FieldRef> {
    match (field.data_type(), physical) {
        (DataType::Dictionary(_, words), Physical::FIXED_LEN_BYTE_ARRAY | Physical::BOOLEAN) => {
            Some(Arc::new(field.clone().with_data_type(words.as_ref().clone())))
        }
        _ => None,
    }
}

/// The type of the words of a dictionary; any other as it is.
fn plain_of(found: &DataType) -> &DataType {
    match found {
        DataType::Dictionary(_, words) => words,
        other => other,
    }
}

/// Times in the zone that the Arrow schema has for them, where that has another unit.
fn in_zone(found: &DataType, embedded: Option<&DataType>) -> Option<DataType> {
    match (found, plain_of(embedded?)) {
        (DataType::Timestamp(unit, Some(zone)), DataType::Timestamp(_, Some(own))) if own != zone => {
            Some(DataType::Timestamp(*unit, Some(own.clone())))
        }
        _ => None,
    }
}

/// The extension type that an annotation stands for.
fn extension(found: &DataType, column: &Type) -> Option<&'static str> {
    let about = column.get_basic_info();
    match (found, about.logical_type_ref(), about.converted_type()) {
        (DataType::FixedSizeBinary(16), Some(LogicalType::Uuid), _) => Some("arrow.uuid"),
        (DataType::Utf8 | DataType::LargeUtf8, Some(LogicalType::Json), _)
        | (DataType::Utf8 | DataType::LargeUtf8, None, ConvertedType::JSON) => Some("arrow.json"),
        _ => None,
    }
}

/// The metadata in which these leaf columns are bytes, as which they are written.
fn of_bytes(metadata: &ParquetMetaData, bytes: &HashMap<usize, Bytes>) -> Result<Arc<ParquetMetaData>> {
    guarded(|| {
        let file = metadata.file_metadata();
        let root = as_written(file.schema_descr().root_schema(), &mut 0, bytes)?;
        let file = FileMetaData::new(
            file.version(),
            file.num_rows(),
            file.created_by().map(String::from),
            file.key_value_metadata().cloned(),
            Arc::new(SchemaDescriptor::new(Arc::new(root))),
            file.column_orders().cloned(),
        );
        Ok::<_, ParquetError>(Arc::new(ParquetMetaData::new(file, metadata.row_groups().to_vec())))
    })
}

fn as_written(of: &Type, next: &mut usize, bytes: &HashMap<usize, Bytes>) -> std::result::Result<Type, ParquetError> {
    if let Type::GroupType { basic_info, fields } = of {
        let made = fields.iter().map(|field| as_written(field, next, bytes).map(Arc::new));
        return Ok(Type::GroupType {
            basic_info: basic_info.clone(),
            fields: made.collect::<std::result::Result<_, _>>()?,
        });
    }
    let number = *next;
    *next += 1;
    let (physical, length) = match bytes.get(&number) {
        Some(Bytes::Cell) => (Physical::FIXED_LEN_BYTE_ARRAY, CELL),
        Some(Bytes::Text) => (of.get_physical_type(), -1),
        None => return Ok(of.clone()),
    };
    let about = of.get_basic_info();
    Type::primitive_type_builder(about.name(), physical)
        .with_repetition(about.repetition())
        .with_length(length)
        .with_id(about.has_id().then(|| about.id()))
        .build()
}

#[cfg(test)]
mod tests {
    use crate::json::base64;
    use crate::parquet::{ParquetOptions, ParquetSource, read_parquet, read_parquet_blocks};
    use arrow_schema::{DataType, Field, IntervalUnit, Schema, TimeUnit};
    use extenso_core::{ExtensionType, Tensor};
    use extenso_ext::{TimestampTensor, to_literal};
    use extenso_types::{Result, Spec};
    use parquet::arrow::{ARROW_SCHEMA_META_KEY, encode_arrow_schema};
    use parquet::data_type::{ByteArray, ByteArrayType, DataType as Kind, FixedLenByteArray, FixedLenByteArrayType};
    use parquet::data_type::{Int64Type, Int96, Int96Type};
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    /// A file of one optional column `x`, of which the second row is missing, with what the Arrow schema says of it.
    fn file<T: Kind>(column: &str, values: &[T::T], said: Option<DataType>) -> ParquetSource {
        let schema = format!("message rows {{ optional {column}; }}");
        let schema = Arc::new(parse_message_type(&schema).expect("a schema"));
        let said = said.map(|said| encode_arrow_schema(&Schema::new(vec![Field::new("x", said, true)])));
        let said = said.map(|text| vec![KeyValue::new(ARROW_SCHEMA_META_KEY.to_string(), text)]);
        let properties = WriterProperties::builder().set_key_value_metadata(said).build();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        let mut columns = group.next_column().expect("a column").expect("one");
        let levels: Vec<i16> = (0..=values.len()).map(|i| i16::from(i != 1)).collect();
        columns.typed::<T>().write_batch(values, Some(&levels), None).expect("writes");
        columns.close().expect("closes");
        group.close().expect("closes");
        writer.into_inner().expect("a file").into()
    }

    fn read(source: &ParquetSource, spec: Option<Spec>) -> Result<String> {
        let options = ParquetOptions { spec, ..ParquetOptions::default() };
        let whole = to_literal(&read_parquet(source, &options)?.value)?.to_string();
        let blocks = read_parquet_blocks(source, 1, options)?;
        let texts = blocks.map(|block| Ok(to_literal(&block?.value)?.to_string())).collect::<Result<Vec<_>>>()?;
        let joined: Vec<&str> = texts.iter().map(|text| &text[1..text.len() - 1]).collect();
        assert_eq!(format!("[{}]", joined.join(", ")), whole);
        Ok(whole)
    }

    fn span(parts: [u32; 3]) -> FixedLenByteArray {
        ByteArray::from(parts.map(u32::to_le_bytes).concat()).into()
    }

    #[test]
    fn months_of_intervals_are_read() {
        let column = "fixed_len_byte_array(12) x (INTERVAL)";
        let of = |parts, said: Option<IntervalUnit>| {
            let source = file::<FixedLenByteArrayType>(column, &[span(parts)], said.map(DataType::Interval));
            read(&source, None)
        };
        let check = |parts, said, wanted: &str| {
            assert_eq!(of(parts, said).expect("reads"), format!("[{{\"x\": \"{wanted}\"}}, {{\"x\": None}}]"));
        };
        check([12, 2, 3000], None, "12mo 2d 3000000000ns");
        check([0, u32::MAX, 3000], Some(IntervalUnit::DayTime), "-1d 3000ms");
        check([u32::MAX, 0, 0], Some(IntervalUnit::YearMonth), "-1mo");
        for (parts, said) in [
            ([1, 2, 3], Some(IntervalUnit::DayTime)),
            ([1, 2, 0], Some(IntervalUnit::YearMonth)),
            ([u32::MAX, 0, 0], None),
        ] {
            let error = of(parts, said).expect_err("another unit").to_string();
            assert!(error.starts_with("column 'x': an interval of "), "{error}");
        }
    }

    fn int96(day: u32, nanos: u64) -> Int96 {
        let mut time = Int96::new();
        time.set_data(nanos as u32, (nanos >> 32) as u32, day);
        time
    }

    fn spec(unit: &str) -> Spec {
        let times = TimestampTensor::new(Tensor::from_vec(Vec::<i64>::new()), unit, None).expect("times").into_value();
        let missing = extenso_ext::MaskedTensor::new(times, Tensor::bools(&[0], &[]).expect("bits")).expect("masked");
        let fields = [("x", missing.into_value())];
        let rows = extenso_ext::StructTensor::from_fields(extenso_types::Shape::known(&[0]), fields).expect("records");
        rows.into_value().spec().expect("a spec")
    }

    #[test]
    fn times_of_twelve_bytes_do_not_wrap() {
        // The last day of the year 9999, and the first of the year 1.
        let far = file::<Int96Type>("int96 x", &[int96(5_373_484, 1_000_000), int96(1_721_426, 0)], None);
        let error = read(&far, None).expect_err("too far for nanoseconds").to_string();
        assert!(error.contains("column 'x'") && error.contains("such as 'us'"), "{error}");
        for (unit, digits) in [("us", "000000"), ("ms", "000")] {
            let fraction = format!("001{digits}").chars().take(digits.len()).collect::<String>();
            let wanted = format!(
                "[{{\"x\": \"9999-12-31T00:00:00.{fraction}\"}}, {{\"x\": None}}, {{\"x\": \"0001-01-01T00:00:00\"}}]"
            );
            assert_eq!(read(&far, Some(spec(unit))).expect("reads"), wanted);
        }
        assert!(read(&far, Some(spec("s"))).expect_err("no whole second").to_string().contains("'s', exactly"));
        let near = file::<Int96Type>("int96 x", &[int96(2_440_588, 1)], None);
        assert_eq!(read(&near, None).expect("reads"), "[{\"x\": \"1970-01-01T00:00:00.000000001\"}, {\"x\": None}]");
    }

    #[test]
    fn zones_are_those_of_the_arrow_schema_whatever_its_unit() {
        let said = |unit| Some(DataType::Timestamp(unit, Some("+05:30".into())));
        for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Nanosecond] {
            let source = file::<Int64Type>("int64 x (TIMESTAMP(MILLIS,true))", &[0], said(unit));
            let wanted = "[{\"x\": \"1970-01-01T05:30:00+05:30\"}, {\"x\": None}]";
            assert_eq!(read(&source, None).expect("reads"), wanted, "{unit:?}");
        }
        let local = file::<Int64Type>("int64 x (TIMESTAMP(MILLIS,false))", &[0], said(TimeUnit::Second));
        assert_eq!(read(&local, None).expect("reads"), "[{\"x\": \"1970-01-01T00:00:00\"}, {\"x\": None}]");
    }

    #[test]
    fn annotations_of_identifiers_and_json_are_types() {
        let of = |source: &ParquetSource| {
            let value = read_parquet(source, &ParquetOptions::default()).expect("reads").value;
            let spec = value.spec().expect("a spec");
            read(source, Some(spec.clone())).expect("reads by its own spec");
            spec.to_string()
        };
        let id: FixedLenByteArray = ByteArray::from(vec![5_u8; 16]).into();
        let id = of(&file::<FixedLenByteArrayType>("fixed_len_byte_array(16) x (UUID)", &[id], None));
        assert!(id.contains("kind=\"uuid\""), "{id}");
        let json = of(&file::<ByteArrayType>("binary x (JSON)", &["{}".into()], None));
        assert!(json.contains("JsonTensor"), "{json}");
    }

    #[test]
    fn columns_beside_those_that_nobody_knows_are_read() {
        let schema = "message rows { required fixed_len_byte_array(16) i; required int64 a; }";
        let schema = Arc::new(parse_message_type(schema).expect("a schema"));
        let fields = vec![
            Field::new("i", DataType::FixedSizeBinary(16), false),
            Field::new("a", DataType::Timestamp(TimeUnit::Microsecond, None), false),
        ];
        let (mut said, mut text) = (Vec::new(), Vec::new());
        assert!(base64::decode(encode_arrow_schema(&Schema::new(fields)).as_bytes(), &mut said));
        crate::arrow::make_unknown(&mut said[8..]);
        base64::encode(&said, &mut text);
        let said = KeyValue::new(ARROW_SCHEMA_META_KEY.to_string(), String::from_utf8(text).expect("a text"));
        let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![said])).build();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        let cell: FixedLenByteArray = ByteArray::from(vec![5_u8; 16]).into();
        let mut column = group.next_column().expect("a column").expect("one");
        column.typed::<FixedLenByteArrayType>().write_batch(&[cell], None, None).expect("writes");
        column.close().expect("closes");
        let mut column = group.next_column().expect("a column").expect("one");
        column.typed::<Int64Type>().write_batch(&[1], None, None).expect("writes");
        column.close().expect("closes");
        group.close().expect("closes");
        let source: ParquetSource = writer.into_inner().expect("a file").into();
        let read = |path: Option<&str>| {
            let paths = path.map(|path| vec![path.parse().expect("a path")]);
            read_parquet(&source, &ParquetOptions { paths, ..ParquetOptions::default() })
        };
        // The others are what the Arrow schema says.
        let a = to_literal(&read(Some("a")).expect("reads").value).expect("a literal").to_string();
        assert_eq!(a, r#"[{"a": "1970-01-01T00:00:00.000001"}]"#);
        for asked in [None, Some("i")] {
            let error = read(asked).expect_err("nobody knows it").to_string();
            assert!(error.contains("column 'i' is of type UInt128.\nWanted: integers of at most 64 bits"), "{error}");
        }
    }
}
