//! Arrow arrays on their way out: the schema of a file, and how each value is written.
//!
//! Invariant: the schema follows from the fields of the arrays, and from the words of categories, alone. A field whose name is no name of Avro gets one
//! and keeps its own beside it; so do types that Avro has not, so that reading what was written gives the same value.

use super::put::Put;
use crate::arrow::nulls_of;
use crate::json::write_string;
use arrow_array::cast::AsArray;
use arrow_array::types::ArrowDictionaryKeyType;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer, i256};
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Field, IntervalUnit, TimeUnit, UnionFields,
};
use arrow_select::take::take;
use extenso_types::{Error, Path, Result, Segment};
use std::collections::HashSet;

/// How the rows of a batch are written.
#[derive(Debug)]
pub struct Rows {
    root: Put,
    pub count: usize,
}

/// The schema of a batch, as text, and how its rows are written; categories `decoded`, where other batches may have others.
///
/// Errors: a type that Avro cannot hold, with its path and what to do.
pub fn rows_of(batch: &RecordBatch, decoded: bool) -> Result<(Vec<u8>, Rows)> {
    let mut layout = Layout { decoded, ..Layout::default() };
    let mut schema = Vec::new();
    let schema_of = batch.schema();
    let fields: Vec<(&Field, &ArrayRef)> = schema_of.fields().iter().map(|f| &**f).zip(batch.columns()).collect();
    let root = layout.record("row", &[], fields, &Path::root(), &mut schema)?;
    Ok((schema, Rows { root, count: batch.num_rows() }))
}

impl Rows {
    /// Writes a row.
    pub fn put(&self, row: usize, out: &mut Vec<u8>) {
        self.root.put(row, out);
    }
}

/// What the object of a type says beside what it is.
type Said<'a> = Vec<(&'a str, Json)>;

#[derive(Clone)]
enum Json {
    Text(String),
    Int(i64),
    Bool(bool),
}

/// A schema being written.
#[derive(Default)]
struct Layout {
    /// The names of definitions.
    names: HashSet<String>,
    /// Whether categories are written as what they are, and not as an enum of the words that there are now.
    decoded: bool,
}

impl Layout {
    /// The type of a field, with null if it may be missing.
    fn optional(&mut self, field: &Field, array: &ArrayRef, at: &Path, out: &mut Vec<u8>) -> Result<Put> {
        let nulls = !matches!(field.data_type(), DataType::Union(..) | DataType::Null) && field.is_nullable();
        if !nulls {
            return Ok(self.value(field, array, &[], at, out)?.0);
        }
        out.extend_from_slice(b"[\"null\",");
        let put = self.value(field, array, &[], at, out)?.0;
        out.push(b']');
        Ok(Put::Optional(nulls_of(array.as_ref()), Box::new(put)))
    }

    /// The type of a field's values, and what two of a union cannot both be; none of a type with a name of its own.
    fn value(
        &mut self,
        field: &Field,
        array: &ArrayRef,
        more: &[(&'static str, Json)],
        at: &Path,
        out: &mut Vec<u8>,
    ) -> Result<(Put, Option<&'static str>)> {
        let mut said: Said<'_> = more.to_vec();
        let extension = field.metadata().get(EXTENSION_TYPE_NAME_KEY).map(String::as_str);
        if let Some(name) = extension.filter(|name| *name != "arrow.uuid") {
            said.push(("arrowExtension", Json::Text(name.to_string())));
            let text = field.metadata().get(EXTENSION_TYPE_METADATA_KEY).cloned().unwrap_or_default();
            said.push(("arrowExtensionMetadata", Json::Text(text)));
        }
        let data_type = field.data_type();
        if let Some((kind, logical, put)) = scalar(data_type, array) {
            said.extend(logical.map(|logical| ("logicalType", Json::Text(logical.to_string()))));
            if let DataType::Timestamp(_, Some(zone)) = data_type
                && **zone != *"UTC"
            {
                said.push(("arrowZone", Json::Text(zone.to_string())));
            }
            plain(kind, &said, out);
            return Ok((put, Some(kind)));
        }
        if let Some((size, logical)) = fixed(data_type) {
            let cells = buffer(array, size);
            if extension == Some("arrow.uuid") && size == 16 {
                said.push(("logicalType", Json::Text("uuid".to_string())));
                plain("string", &said, out);
                return Ok((Put::Uuid(cells), Some("string")));
            }
            said.extend(logical.map(|logical| ("logicalType", Json::Text(logical.to_string()))));
            said.push(("size", Json::Int(i64::try_from(size).unwrap_or(i64::MAX))));
            self.begin("fixed", field.name(), &said, out);
            out.push(b'}');
            return Ok((Put::Cells(cells, size), None));
        }
        match data_type {
            DataType::Decimal128(precision, scale) => decimal(array, (*precision, *scale), 16, said, at, out),
            DataType::Decimal256(precision, scale) => decimal(array, (*precision, *scale), 32, said, at, out),
            DataType::Dictionary(_, words) if self.decoded || !are_symbols(array) => {
                let plain = take(array.as_any_dictionary().values(), array.as_any_dictionary().keys(), None);
                let plain = plain.map_err(|e| Error::internal(format!("Arrow refuses codes: {e}")))?;
                self.value(&Field::new(field.name(), (**words).clone(), field.is_nullable()), &plain, more, at, out)
            }
            DataType::Dictionary(..) => self.words(field, array, said, at, out),
            DataType::List(item) => {
                said.push(("arrowLargeList", Json::Bool(false)));
                let list = array.as_list::<i32>();
                let item = self.items(item, list.values(), said, at, out)?;
                Ok((Put::List32(list.offsets().inner().clone(), Box::new(item)), Some("array")))
            }
            DataType::LargeList(item) => {
                let list = array.as_list::<i64>();
                let item = self.items(item, list.values(), said, at, out)?;
                Ok((Put::List64(list.offsets().inner().clone(), Box::new(item)), Some("array")))
            }
            DataType::FixedSizeList(item, size) => {
                said.push(("arrowFixedSize", Json::Int(i64::from(*size))));
                let list = array.as_fixed_size_list();
                let items = crate::arrow::uniform_items(list);
                let item = self.items(item, &items, said, at, out)?;
                Ok((Put::Sized(usize::try_from(*size).unwrap_or(0), Box::new(item)), Some("array")))
            }
            DataType::Struct(fields) => {
                let fields = fields.iter().map(|f| &**f).zip(array.as_struct().columns()).collect();
                Ok((self.record(field.name(), &said, fields, at, out)?, None))
            }
            DataType::Union(fields, _) => Ok((self.union(fields, array, at, out)?, Some("union"))),
            other => Err(Error::dtype(format!("'{at}' has the Arrow type {other}, and Avro has no such type"))
                .wanted("numbers, booleans, text, times, decimals, categories, lists, records or unions")),
        }
    }

    fn items(&mut self, item: &Field, items: &ArrayRef, said: Said<'_>, at: &Path, out: &mut Vec<u8>) -> Result<Put> {
        out.extend_from_slice(b"{\"type\":\"array\"");
        put_said(&said, out);
        out.extend_from_slice(b",\"items\":");
        let put = self.optional(item, items, &at.child(Segment::Each), out)?;
        out.push(b'}');
        Ok(put)
    }

    fn record(
        &mut self,
        name: &str,
        said: &[(&str, Json)],
        fields: Vec<(&Field, &ArrayRef)>,
        at: &Path,
        out: &mut Vec<u8>,
    ) -> Result<Put> {
        self.begin("record", name, said, out);
        out.extend_from_slice(b",\"fields\":[");
        let (mut names, mut parts) = (HashSet::new(), Vec::with_capacity(fields.len()));
        for (i, (field, array)) in fields.into_iter().enumerate() {
            out.extend_from_slice(if i > 0 { b",{\"name\":" } else { b"{\"name\":" });
            let own = unique(field.name(), &mut names);
            write_string(own.as_bytes(), out);
            if own != *field.name() {
                put_said(&[("arrowName", Json::Text(field.name().clone()))], out);
            }
            out.extend_from_slice(b",\"type\":");
            parts.push(self.optional(field, array, &at.child(Segment::field(field.name().as_str())), out)?);
            out.push(b'}');
        }
        out.extend_from_slice(b"]}");
        Ok(Put::Record(parts))
    }

    /// Words as an enum, whose symbols they are.
    fn words(
        &mut self,
        field: &Field,
        array: &ArrayRef,
        mut said: Said<'_>,
        at: &Path,
        out: &mut Vec<u8>,
    ) -> Result<(Put, Option<&'static str>)> {
        let any = array.as_any_dictionary();
        let (DataType::Dictionary(key, _), Some(words)) = (field.data_type(), texts(any.values())) else {
            return Err(Error::internal("no dictionary of words").at_path(at));
        };
        let (index, put) = codes(key, array).ok_or_else(|| Error::internal(format!("codes of type {key}")))?;
        said.extend((index != "int32").then(|| ("arrowIndex", Json::Text(index.to_string()))));
        said.extend(field.dict_is_ordered().filter(|ordered| *ordered).map(|_| ("arrowOrdered", Json::Bool(true))));
        self.begin("enum", field.name(), &said, out);
        out.extend_from_slice(b",\"symbols\":[");
        for (i, word) in words.into_iter().enumerate() {
            out.extend_from_slice(if i > 0 { b"," } else { b"" });
            write_string(word.as_bytes(), out);
        }
        out.extend_from_slice(b"]}");
        Ok((put, None))
    }

    fn union(&mut self, fields: &UnionFields, array: &ArrayRef, at: &Path, out: &mut Vec<u8>) -> Result<Put> {
        let union = array.as_union();
        out.extend_from_slice(b"[\"null\"");
        let (mut kinds, mut children) = (HashSet::new(), Vec::new());
        for (place, (id, field)) in fields.iter().enumerate() {
            let child = union.child(id);
            let mut said = vec![("arrowName", Json::Text(field.name().clone()))];
            if usize::try_from(id).ok() != Some(place) {
                said.push(("arrowTypeId", Json::Int(i64::from(id))));
            }
            if union.offsets().is_some() {
                said.push(("arrowDense", Json::Bool(true)));
            }
            // By itself this and null are a type that may be missing.
            if fields.len() == 1 {
                said.push(("arrowUnion", Json::Bool(true)));
            }
            let mut text = Vec::new();
            let at = at.child(Segment::field(field.name().as_str()));
            let (put, kind) = self.value(field, child, &said, &at, &mut text)?;
            out.push(b',');
            // No two types of a union are of one kind, unless they have names; and none is a union.
            if kind.is_none_or(|kind| kind != "union" && kind != "null" && kinds.insert(kind)) {
                out.extend_from_slice(&text);
            } else {
                said.push(("arrowBoxed", Json::Bool(true)));
                self.begin("record", field.name(), &said, out);
                out.extend_from_slice(b",\"fields\":[{\"name\":\"value\",\"type\":");
                out.extend_from_slice(&text);
                out.extend_from_slice(b"}]}");
            }
            children.push((id, nulls_of(child.as_ref()), put));
        }
        out.push(b']');
        Ok(Put::Union { ids: union.type_ids().clone(), offsets: union.offsets().cloned(), children })
    }

    /// The beginning of a definition.
    fn begin(&mut self, kind: &str, name: &str, said: &[(&str, Json)], out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{{\"type\":\"{kind}\",\"name\":").as_bytes());
        write_string(unique(name, &mut self.names).as_bytes(), out);
        put_said(said, out);
    }
}

/// The words of a dictionary of strings, but for null.
fn texts(words: &ArrayRef) -> Option<Vec<&str>> {
    match words.data_type() {
        DataType::Utf8 => Some(words.as_string::<i32>().iter().flatten().collect()),
        DataType::LargeUtf8 => Some(words.as_string::<i64>().iter().flatten().collect()),
        _ => None,
    }
}

/// Whether the words of a dictionary may be the symbols of an enum: names, each of which is there once.
fn are_symbols(array: &ArrayRef) -> bool {
    let any = array.as_any_dictionary();
    let coded = codes(any.keys().data_type(), array).is_some();
    let words = texts(any.values()).filter(|words| words.iter().all(|word| is_name(word)));
    coded && words.is_some_and(|words| words.iter().collect::<HashSet<_>>().len() == any.values().len())
}

/// Whether Avro takes a text for a name.
fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A name of Avro that is not there yet, the text itself if it can be.
fn unique(text: &str, names: &mut HashSet<String>) -> String {
    let known = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let mut name: String = text.chars().map(known).collect();
    if !is_name(&name) || is_primitive(&name) {
        name.insert(0, '_');
    }
    let first = name.clone();
    for n in 2.. {
        if names.insert(name.clone()) {
            break;
        }
        name = format!("{first}_{n}");
    }
    name
}

/// Whether a definition of this name would be taken for a type that is there before.
fn is_primitive(name: &str) -> bool {
    matches!(name, "null" | "boolean" | "int" | "long" | "float" | "double" | "bytes" | "string")
}

fn put_said(said: &[(&str, Json)], out: &mut Vec<u8>) {
    for (key, value) in said {
        out.extend_from_slice(format!(",\"{key}\":").as_bytes());
        match value {
            Json::Text(text) => write_string(text.as_bytes(), out),
            Json::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Json::Bool(flag) => out.extend_from_slice(flag.to_string().as_bytes()),
        }
    }
}

/// A type without a name.
fn plain(kind: &str, said: &[(&str, Json)], out: &mut Vec<u8>) {
    if said.is_empty() {
        return write_string(kind.as_bytes(), out);
    }
    out.extend_from_slice(format!("{{\"type\":\"{kind}\"").as_bytes());
    put_said(said, out);
    out.push(b'}');
}

/// The buffer of values of a fixed number of bytes.
fn buffer(array: &ArrayRef, width: usize) -> Buffer {
    let data = array.to_data();
    match data.buffers().first() {
        Some(buffer) => buffer.slice_with_length(data.offset() * width, data.len() * width),
        None => Buffer::default(),
    }
}

fn numbers<T: ArrowNativeType>(array: &ArrayRef) -> ScalarBuffer<T> {
    ScalarBuffer::new(buffer(array, size_of::<T>()), 0, array.len())
}

/// The type, the logical type, and how values without parts are written; none of others.
fn scalar(data_type: &DataType, array: &ArrayRef) -> Option<(&'static str, Option<&'static str>, Put)> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let int = |logical| Some(("int", logical, Put::I32(numbers(array))));
    let long = |logical| Some(("long", logical, Put::I64(numbers(array))));
    match data_type {
        DataType::Null => Some(("null", None, Put::Nothing)),
        DataType::Boolean => Some(("boolean", None, Put::Bool(array.as_boolean().values().clone()))),
        DataType::Int8 => Some(("int", Some("arrow.int8"), Put::I8(numbers(array)))),
        DataType::Int16 => Some(("int", Some("arrow.int16"), Put::I16(numbers(array)))),
        DataType::Int32 => int(None),
        DataType::Int64 => long(None),
        DataType::UInt8 => Some(("int", Some("arrow.uint8"), Put::U8(numbers(array)))),
        DataType::UInt16 => Some(("int", Some("arrow.uint16"), Put::U16(numbers(array)))),
        DataType::UInt32 => Some(("long", Some("arrow.uint32"), Put::U32(numbers(array)))),
        DataType::Float32 => Some(("float", None, Put::Cells(buffer(array, 4), 4))),
        DataType::Float64 => Some(("double", None, Put::Cells(buffer(array, 8), 8))),
        DataType::Utf8 => Some(("string", None, text32(array))),
        DataType::LargeUtf8 => Some(("string", None, text64(array))),
        DataType::Binary => Some(("bytes", None, text32(array))),
        DataType::LargeBinary => Some(("bytes", None, text64(array))),
        DataType::Date32 => int(Some("date")),
        DataType::Date64 => long(Some("arrow.date64")),
        DataType::Time32(Second) => int(Some("arrow.time32-second")),
        DataType::Time32(_) => int(Some("time-millis")),
        DataType::Time64(Nanosecond) => long(Some("arrow.time64-nanosecond")),
        DataType::Time64(_) => long(Some("time-micros")),
        DataType::Timestamp(Second, Some(_)) => long(Some("arrow.timestamp-second")),
        DataType::Timestamp(Millisecond, Some(_)) => long(Some("timestamp-millis")),
        DataType::Timestamp(Microsecond, Some(_)) => long(Some("timestamp-micros")),
        DataType::Timestamp(Nanosecond, Some(_)) => long(Some("timestamp-nanos")),
        DataType::Timestamp(Second, None) => long(Some("arrow.local-timestamp-second")),
        DataType::Timestamp(Millisecond, None) => long(Some("local-timestamp-millis")),
        DataType::Timestamp(Microsecond, None) => long(Some("local-timestamp-micros")),
        DataType::Timestamp(Nanosecond, None) => long(Some("local-timestamp-nanos")),
        DataType::Duration(Second) => long(Some("arrow.duration-seconds")),
        DataType::Duration(Millisecond) => long(Some("arrow.duration-millis")),
        DataType::Duration(Microsecond) => long(Some("arrow.duration-micros")),
        DataType::Duration(Nanosecond) => long(Some("arrow.duration-nanos")),
        _ => None,
    }
}

/// How many bytes the values of a type have that is written as a fixed, and its logical type.
fn fixed(data_type: &DataType) -> Option<(usize, Option<&'static str>)> {
    match data_type {
        DataType::UInt64 => Some((8, Some("arrow.uint64"))),
        DataType::Float16 => Some((2, Some("arrow.float16"))),
        DataType::FixedSizeBinary(size) => Some((usize::try_from(*size).ok()?, None)),
        DataType::Interval(IntervalUnit::YearMonth) => Some((4, Some("arrow.interval-year-month"))),
        DataType::Interval(IntervalUnit::DayTime) => Some((8, Some("arrow.interval-day-time"))),
        DataType::Interval(IntervalUnit::MonthDayNano) => Some((16, Some("arrow.interval-month-day-nano"))),
        _ => None,
    }
}

fn text32(array: &ArrayRef) -> Put {
    let data = array.to_data();
    let ends = ScalarBuffer::new(data.buffers()[0].clone(), data.offset(), data.len() + 1);
    Put::Text32(ends, data.buffers()[1].clone())
}

fn text64(array: &ArrayRef) -> Put {
    let data = array.to_data();
    let ends = ScalarBuffer::new(data.buffers()[0].clone(), data.offset(), data.len() + 1);
    Put::Text64(ends, data.buffers()[1].clone())
}

fn decimal(
    array: &ArrayRef,
    (mut precision, mut scale): (u8, i8),
    mut width: usize,
    mut said: Said<'_>,
    at: &Path,
    out: &mut Vec<u8>,
) -> Result<(Put, Option<&'static str>)> {
    let mut cells = buffer(array, width);
    if scale < 0 {
        (precision, cells) = without_scale(&cells, (precision, scale), width, at)?;
        (scale, width) = (0, if precision <= DECIMAL128_MAX_PRECISION { 16 } else { 32 });
    }
    said.push(("logicalType", Json::Text("decimal".to_string())));
    said.push(("precision", Json::Int(i64::from(precision))));
    said.push(("scale", Json::Int(i64::from(scale))));
    said.extend((width == 32 && precision <= 38).then_some(("arrowDecimalBytes", Json::Int(32))));
    plain("bytes", &said, out);
    Ok((Put::Decimal(cells, width), Some("bytes")))
}

/// Decimals of a scale below zero, which Avro has not, with the zeros as digits: how many digits there are then, and the integers.
///
/// Errors: more digits than a decimal has.
fn without_scale(cells: &Buffer, (precision, scale): (u8, i8), width: usize, at: &Path) -> Result<(u8, Buffer)> {
    let digits = precision.saturating_add(scale.unsigned_abs());
    if digits > DECIMAL256_MAX_PRECISION {
        let error = Error::dtype(format!("'{at}' is a decimal of {precision} digits and a scale of {scale}"));
        let wanted = format!("at most {DECIMAL256_MAX_PRECISION} digits with its zeros");
        return Err(error.wanted(wanted).hint("Rescale it before"));
    }
    let each = i256::from_i128(10).checked_pow(scale.unsigned_abs().into()).unwrap_or(i256::ONE);
    let bytes = if digits <= DECIMAL128_MAX_PRECISION { 16 } else { 32 };
    let mut wide = Vec::with_capacity((cells.len() / width).saturating_mul(bytes));
    for cell in cells.chunks_exact(width) {
        let mut value = if cell.last().is_some_and(|top| *top >= 0x80) { [0xff; 32] } else { [0; 32] };
        value[..width].copy_from_slice(cell);
        // What lies under a null may be any number.
        let value = i256::from_le_bytes(value).checked_mul(each).unwrap_or_default();
        wide.extend_from_slice(&value.to_le_bytes()[..bytes]);
    }
    Ok((digits, Buffer::from_vec(wide)))
}

/// The codes of words, and what they are.
fn codes(key: &DataType, array: &ArrayRef) -> Option<(&'static str, Put)> {
    use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type};
    fn keys<K: ArrowDictionaryKeyType>(array: &ArrayRef) -> ScalarBuffer<K::Native> {
        array.as_dictionary::<K>().keys().values().clone()
    }
    Some(match key {
        DataType::Int8 => ("int8", Put::I8(keys::<Int8Type>(array))),
        DataType::Int16 => ("int16", Put::I16(keys::<Int16Type>(array))),
        DataType::Int32 => ("int32", Put::I32(keys::<Int32Type>(array))),
        DataType::Int64 => ("int64", Put::I64(keys::<Int64Type>(array))),
        DataType::UInt8 => ("uint8", Put::U8(keys::<UInt8Type>(array))),
        DataType::UInt16 => ("uint16", Put::U16(keys::<UInt16Type>(array))),
        DataType::UInt32 => ("uint32", Put::U32(keys::<UInt32Type>(array))),
        _ => return None,
    })
}
