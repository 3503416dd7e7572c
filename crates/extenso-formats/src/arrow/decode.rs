//! Arrow to a value of a given spec: schemas drift, and what is read does not.
//!
//! Invariant: the value is one of the spec, or the error says at which path and row the array is not. Columns that the spec does not
//! know are not looked at; a buffer of the wanted type is shared.

mod absent;
mod meant;
mod noted;
mod rectangle;
mod source;
mod union;

use super::levels::checked_levels;
use super::{import, registered};
use crate::columns::{BadRow, Misfits, OnError};
use crate::looks::{in_row, most, provenance, refused, without};
use crate::names::some_names;
use crate::records::is;
pub(crate) use absent::defaults;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::extension::EXTENSION_TYPE_METADATA_KEY;
use arrow_schema::{DataType, FieldRef};
use extenso_core::kernels::pool::affordable;
use extenso_core::{ExtensionType, Offsets, Provenance, RowPartition, Tensor, Value, ops, rebuild};
use extenso_ext::{
    CategoricalTensor, CategoricalTensorSpec, MaskedTensorSpec, RaggedTensorSpec, StructSpec, TimestampTensor, is_utc,
};
use extenso_types::{
    Bindings, DType, Dim, Error, ExtSpec, Path, Result, Segment, Shape, Spec, StaticValue, TensorSpec,
};
use source::{Faults, Rows, Source};
#[cfg(feature = "ipc")]
use std::collections::HashSet;
#[cfg(feature = "ipc")]
use std::sync::Arc;

/// The value of an array as one of `spec`, sharing the buffers whose type is the wanted one.
///
/// Fields that the spec does not know are not looked at; an optional field that the array lacks is null; numbers are widened where that is
/// exact; lists of one size are further axes, of tensors, records and values under a mask; an array that may have nulls and has none is a plain value. Text is read as the times, decimals, identifiers and JSON that it spells, and
/// values as categories in the order in which they come first; decimals may have any digits in which they are exact.
/// Shapes: the array's length is the outer axis.
/// Errors: a null where the spec is not optional, with its row and path; a field that is missing or of another type, with its path, what it
/// is and what is wanted.
///
/// ```
/// # use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int16Array, StructArray};
/// use extenso_formats::{FieldSpec, arrow::from_arrow_as, struct_spec};
/// # use extenso_types::DType;
/// let ids: ArrayRef = Arc::new(Int16Array::from(vec![7, 8]));
/// let rows = StructArray::try_from(vec![("id", ids)]).unwrap();
/// let score = FieldSpec::Optional(Box::new(FieldSpec::Scalar(DType::F32, vec![])));
/// let spec = struct_spec([("id", FieldSpec::Scalar(DType::I64, vec![])), ("score", score)]).unwrap();
/// let value = from_arrow_as(&rows, &spec).unwrap();
/// let text = extenso_ext::to_literal(&value).unwrap().to_string();
/// assert_eq!(text, r#"[{"id": 7, "score": None}, {"id": 8, "score": None}]"#);
/// ```
pub fn from_arrow_as(array: &dyn Array, spec: &Spec) -> Result<Value> {
    from_arrow_field_as(&import::field_of(array), array, spec)
}

/// The value of an array as one of `spec`, where the array's field says what type of an extension it is.
///
/// Errors: as [`from_arrow_as`].
pub fn from_arrow_field_as(field: &FieldRef, array: &dyn Array, spec: &Spec) -> Result<Value> {
    Ok(rows_as(field, array, 0, Vec::new(), spec, OnError::Raise)?.0)
}

/// As [`from_arrow_field_as`], with the rows that do not fit left out or replaced by defaults, and noted; rows are counted from `start`. Of some it is
/// known that they do not fit.
///
/// Errors: as [`from_arrow_field_as`], but for nulls where they are noted.
pub(crate) fn rows_as(
    field: &FieldRef,
    array: &dyn Array,
    start: usize,
    known: Vec<BadRow>,
    spec: &Spec,
    on_error: OnError,
) -> Result<(Value, Misfits)> {
    checked_levels(array.data_type())?;
    let failed = match read_rows(field, array, start, known.clone(), spec, on_error) {
        Err(error) if array.data_type().is_nested() => error,
        done => return done,
    };
    // What no row has may be what failed.
    read_rows(field, import::alone(array, failed)?.as_ref(), start, known, spec, on_error)
}

fn read_rows(
    field: &FieldRef,
    array: &dyn Array,
    start: usize,
    known: Vec<BadRow>,
    spec: &Spec,
    on_error: OnError,
) -> Result<(Value, Misfits)> {
    // Nulls and records without fields take no memory in an array, and a row takes a byte of it here.
    affordable(array.len())?;
    let faults = Faults::new(Misfits::of(known));
    let noted = (on_error != OnError::Raise).then_some(&faults);
    let source = Source::root(field.clone(), array.slice(0, array.len()), start, noted);
    let read = checked(value(&source, spec)?, spec)?;
    let mut bad = faults.into_inner();
    let mut fits = vec![true; array.len()];
    bad.rows().for_each(|row| fits[row - start] = false);
    for found in refused(&read, Some(&BooleanBuffer::from(&fits[..])), most(on_error))? {
        fits[found.row] = false;
        let found = in_row(found, start);
        if on_error == OnError::Raise {
            return Err(found.error);
        }
        bad.note(found.row, || found);
    }
    if bad.is_empty() {
        return Ok((read, bad));
    }
    Ok((without(read, spec, &fits, on_error)?, bad))
}

/// The value of an array that was made of a value, which types looked at when that was made.
pub(super) fn as_it_is(field: &FieldRef, array: &dyn Array, spec: &Spec) -> Result<Value> {
    checked(value(&Source::root(field.clone(), array.slice(0, array.len()), 0, None), spec)?, spec)
}

/// The value, which is one of the spec.
///
/// Errors: it is not.
pub(super) fn checked(found: Value, spec: &Spec) -> Result<Value> {
    let given = found.spec()?;
    if spec.accepts(&given, &mut Bindings::default()) {
        return Ok(found);
    }
    Err(Error::shape(format!("the array is a {given}")).wanted(spec.to_string()))
}

fn value(source: &Source<'_>, spec: &Spec) -> Result<Value> {
    match (source.array.data_type(), spec) {
        (DataType::RunEndEncoded(..), Spec::Ext(_)) => return value(&source.without_runs()?, spec),
        (DataType::RunEndEncoded(_, values), _) if values.data_type().is_nested() => {
            return value(&source.without_runs()?, spec);
        }
        (DataType::ListView(_) | DataType::LargeListView(_), _) => return value(&source.without_views()?, spec),
        _ => {}
    }
    let masked = matches!(spec, Spec::Ext(ext) if is::<MaskedTensorSpec>(ext));
    let nulls = is_nothing(source, spec);
    if nulls {
        affordable(source.array.len())?;
    } else if !masked && is_of_floats(source) && takes_no_floats(spec) {
        // Whatever of them is null.
        return Err(source.mismatch(spec));
    }
    if nulls && !masked {
        // Nulls that nobody sees, or none at all, are of any type.
        source.all_there(spec)?;
        return defaults(spec, source.array.len());
    }
    if let Spec::Ext(ext) = spec
        && let Some(made) = rectangle::rectangle(source, ext)
    {
        return made;
    }
    match spec {
        Spec::Tensor(tensor) => dense(source, tensor).map(Value::Tensor),
        Spec::Partition(_) => Err(source.mismatch(spec)),
        Spec::Ext(ext) if is::<MaskedTensorSpec>(ext) => optional(source, ext),
        Spec::Ext(ext) if is::<RaggedTensorSpec>(ext) => list(source, ext),
        Spec::Ext(ext) if is::<StructSpec>(ext) => record(source, ext),
        Spec::Ext(ext) => typed(source, ext),
    }
}

/// Whether an array is of no type: nulls, as which a value that lacks them all, and lists without items, come back as floats.
fn is_nothing(source: &Source<'_>, wanted: &Spec) -> bool {
    let floats = matches!(wanted, Spec::Tensor(tensor) if tensor.dtype == DType::F64);
    let nothing = !floats && source.array.null_count() == source.array.len() && is_of_floats(source);
    *source.array.data_type() == DataType::Null || nothing
}

/// Whether an array is of floats without another meaning.
fn is_of_floats(source: &Source<'_>) -> bool {
    *source.array.data_type() == DataType::Float64 && import::extension_name(&source.field).is_none()
}

fn takes_no_floats(spec: &Spec) -> bool {
    match spec {
        Spec::Tensor(tensor) => !tensor.dtype.holds(DType::F64),
        Spec::Partition(_) => false,
        Spec::Ext(ext) => is::<RaggedTensorSpec>(ext) || is::<StructSpec>(ext),
    }
}

/// What an array is by itself, whatever its validity is.
fn plain(source: &Source<'_>) -> Result<Value> {
    match noted::texts(source) {
        Some(texts) => texts.map(Value::Tensor),
        None => import::plain(&source.at, &source.field, source.array.as_ref()),
    }
}

/// A tensor; lists of one size are its further axes.
fn dense(source: &Source<'_>, spec: &TensorSpec) -> Result<Tensor> {
    let wanted = || Spec::from(spec.clone());
    source.all_there(&wanted())?;
    let lists =
        matches!(source.array.data_type(), DataType::FixedSizeList(..) | DataType::List(_) | DataType::LargeList(_))
            && import::extension_name(&source.field).is_none();
    match spec.shape.dims() {
        Some([_, size, inner @ ..]) if lists => {
            let (size, items) = source.uniform(size.known()).ok_or_else(|| source.mismatch(&wanted()))??;
            let inner = Shape::new(std::iter::once(Dim::any()).chain(inner.iter().copied()));
            let rows = Rows::Uniform(size, &source.rows);
            let items = dense(&source.each(items, rows, source.seen_of(size)), &TensorSpec::new(spec.dtype, inner))?;
            let dims: Vec<usize> =
                [source.array.len(), size].into_iter().chain(items.data()?.dims()[1..].iter().copied()).collect();
            items.with_dims(&dims)
        }
        _ => {
            let found = match plain(source)? {
                Value::Tensor(tensor) => tensor,
                Value::Partition(_) => return Err(source.mismatch(&wanted())),
                Value::Ext(ext) => ext.to_tensor().ok_or_else(|| source.mismatch(&wanted()))??,
            };
            // A list that is wanted here is none, unless one value has axes of its own.
            if spec
                .shape
                .dims()
                .is_some_and(|dims| dims.len() > found.data().map_or(dims.len(), |data| data.dims().len()))
            {
                return Err(source.mismatch(&wanted()));
            }
            widened(found, spec.dtype).unwrap_or_else(|| Err(source.mismatch(&wanted())))
        }
    }
}

/// The tensor in a dtype that holds all its elements exactly; none if this one does not.
fn widened(tensor: Tensor, dtype: DType) -> Option<Result<Tensor>> {
    let from = tensor.dtype();
    if from == dtype {
        return Some(Ok(tensor));
    }
    if (from, dtype) == (DType::String, DType::Bytes) {
        let bytes = |tensor: &Tensor| {
            let dense = tensor.data()?;
            let (offsets, bytes) = dense.text()?;
            Tensor::from_text(dtype, dense.dims(), offsets.clone(), bytes.clone())
        };
        return Some(bytes(&tensor));
    }
    dtype.holds(from).then(|| ops::cast(&tensor, dtype)?.tensor().cloned())
}

/// Values of which some may be null.
fn optional(source: &Source<'_>, ext: &ExtSpec) -> Result<Value> {
    let inner = ext.component(&Segment::Itself).ok_or_else(|| Error::internal("a masked spec without values"))?;
    let len = source.array.len();
    let there = import::nulls_of(source.array.as_ref());
    let values = match is_nothing(source, inner) {
        true => defaults(inner, len)?,
        false => value(&source.seen_where(there.as_ref()), inner)?,
    };
    let bits = there.map_or_else(|| BooleanBuffer::new_set(len), |nulls| nulls.into_inner());
    rebuild(ext, parts(ext, values, Tensor::from_bits(&[len], bits)?), Provenance::Outside)
}

/// Values and mask in the order of the spec.
fn parts(ext: &ExtSpec, values: Value, mask: Tensor) -> Vec<Value> {
    let part = |(segment, _): &(Segment, Spec)| match segment {
        Segment::Itself => values.clone(),
        _ => mask.clone().into(),
    };
    ext.components.iter().map(part).collect()
}

/// Rows, from lists of any layout.
fn list(source: &Source<'_>, ext: &ExtSpec) -> Result<Value> {
    let wanted = || Spec::from(ext.clone());
    source.all_there(&wanted())?;
    let (offsets, items) =
        import::lists_of(&source.at, source.array.as_ref()).ok_or_else(|| source.mismatch(&wanted()))??;
    let seen = source.seen_in(&offsets, items.array.as_ref());
    let child = source.each(items, Rows::Lists(&offsets, &source.rows), seen);
    let nvalues = child.array.len();
    let part = |(_, spec): &(Segment, Spec)| match spec {
        Spec::Partition(rows) => {
            let made = RowPartition::from_offsets(in_width(&offsets, rows.index)?, nvalues)?;
            Ok(made
                .with_uniform_row_length(rows.uniform_row_length)
                .map_err(|e| e.at(format!("'{}'", source.at)))?
                .into())
        }
        Spec::Tensor(_) | Spec::Ext(_) => value(&child, spec),
    };
    let components: Result<Vec<Value>> = ext.components.iter().map(part).collect();
    rebuild(ext, components?, Provenance::Outside)
}

/// The offsets in the width that is wanted; as they stand where it is theirs.
fn in_width(offsets: &Offsets, index: DType) -> Result<Offsets> {
    match (offsets, index) {
        (Offsets::I32(_), DType::I32) | (Offsets::I64(_), DType::I64) => Ok(offsets.clone()),
        (Offsets::I32(narrow), _) => {
            Ok(Offsets::I64(narrow.iter().map(|&at| i64::from(at)).collect::<Vec<_>>().into()))
        }
        (Offsets::I64(wide), _) => {
            let narrow: std::result::Result<Vec<i32>, _> = wide.iter().map(|&at| i32::try_from(at)).collect();
            let narrow = narrow.map_err(|_| {
                Error::value(format!("the rows end at value {}", offsets.last())).wanted("row splits that fit i32")
            })?;
            Ok(Offsets::I32(narrow.into()))
        }
    }
}

/// A struct, by the names of its fields.
fn record(source: &Source<'_>, ext: &ExtSpec) -> Result<Value> {
    let wanted = || Spec::from(ext.clone());
    let count = |(segment, spec): &(Segment, Spec)| match segment {
        Segment::Component(_) if is::<StructSpec>(ext) => Some(defaults(spec, source.array.len())),
        _ => None,
    };
    let records = match source.array.data_type() {
        // Of records without fields, words tell as much as the records that they stand for.
        DataType::Dictionary(_, words) if ext.components.iter().all(|part| count(part).is_some()) => words,
        other => other,
    };
    if !matches!(records, DataType::Struct(_)) {
        return Err(source.mismatch(&wanted()));
    }
    source.all_there(&wanted())?;
    if let Some(counts) = ext.components.iter().map(count).collect::<Option<Result<Vec<Value>>>>() {
        return rebuild(ext, counts?, Provenance::Outside);
    }
    let Some(array) = source.array.as_struct_opt() else { return Err(source.mismatch(&wanted())) };
    let component = |(segment, spec): &(Segment, Spec)| {
        let Segment::Field(name) = segment else { return Err(source.mismatch(&wanted())) };
        let at = source.at.child(segment.clone());
        let mut named = array.fields().iter().zip(array.columns()).filter(|(field, _)| *field.name() == **name);
        match (named.next(), named.next()) {
            (Some((field, column)), None) => value(&source.field_of(at, field, column), spec),
            (Some(_), Some(_)) => {
                Err(Error::data(format!("there are several columns '{at}'")).wanted("each name once"))
            }
            (None, _) => missing(&at, array.column_names(), spec, array.len()),
        }
    };
    let components: Result<Vec<Value>> = ext.components.iter().map(component).collect();
    rebuild(ext, components?, provenance(ext))
}

/// Nulls for a field that is not there.
///
/// Errors: the field is not optional.
fn missing(at: &Path, known: Vec<&str>, spec: &Spec, len: usize) -> Result<Value> {
    match spec {
        Spec::Ext(ext) if is::<MaskedTensorSpec>(ext) => defaults(spec, len),
        _ => Err(no_column(at, &known, spec)),
    }
}

/// The error that a field is missing, with those that there are.
pub(crate) fn no_column(at: &Path, known: &[&str], wanted: &Spec) -> Error {
    Error::missing(format!("there is no column '{at}'; there are: {}", some_names(known)))
        .wanted(wanted.to_string())
        .hint("Give a masked spec for a field that may be missing.")
}

/// The fields of records, by their names.
#[cfg(feature = "ipc")]
pub(crate) fn named(ext: &ExtSpec) -> impl Iterator<Item = (&Arc<str>, &Spec)> + Clone {
    ext.components.iter().filter_map(|(segment, spec)| match segment {
        Segment::Field(name) => Some((name, spec)),
        _ => None,
    })
}

/// Checks that there are columns for these fields of the records at a path, before the others are left out.
///
/// Errors: there is none for a field that is not optional; the error names all columns.
#[cfg(feature = "ipc")]
pub(crate) fn columns_there<'a>(
    at: &Path,
    columns: &arrow_schema::Fields,
    fields: impl IntoIterator<Item = (&'a Arc<str>, &'a Spec)>,
) -> Result<()> {
    let known: HashSet<&str> = columns.iter().map(|column| column.name().as_str()).collect();
    let optional = |spec: &Spec| matches!(spec, Spec::Ext(ext) if is::<MaskedTensorSpec>(ext));
    let mut fields = fields.into_iter();
    match fields.find(|(name, spec)| !known.contains(&***name) && !optional(spec)) {
        Some((name, spec)) => {
            let known: Vec<&str> = columns.iter().map(|column| column.name().as_str()).collect();
            Err(no_column(&at.child(Segment::Field(name.clone())), &known, spec))
        }
        None => Ok(()),
    }
}

/// A value of another extension type: what the array is by itself, or a struct with the fields that the type has.
fn typed(source: &Source<'_>, ext: &ExtSpec) -> Result<Value> {
    let wanted = Spec::from(ext.clone());
    let fields = ext.components.iter().all(|(segment, _)| matches!(segment, Segment::Field(_)));
    if fields && source.array.as_struct_opt().is_some() && import::extension_name(&source.field).is_none() {
        return record(source, ext);
    }
    if let Some(union) = union::union(source, ext) {
        return union;
    }
    source.all_there(&wanted)?;
    if let Some(framed) = framed(source, ext) {
        return framed;
    }
    let found = plain(source)?;
    let categories = is::<CategoricalTensorSpec>(ext);
    let found = match CategoricalTensor::from_value(&found) {
        // What is no category by the spec is what the categories stand for.
        Ok(words) if !categories => words.decoded().map_err(|e| e.at_path(&source.at))?,
        _ => found,
    };
    let found = in_zone_of(found, ext)?;
    match found.spec()? {
        Spec::Ext(given) if given.def == ext.def && given.static_data == ext.static_data && !categories => Ok(found),
        Spec::Ext(given) if given.def == ext.def && finer(&given, ext).is_some() => {
            noted::in_unit(source, &found, &finer(&given, ext).unwrap_or_default())
        }
        given => match meant::meant(source, &found, ext) {
            Some(made) => made,
            None => Err(source.mismatch(&wanted).note(format!("By itself it is a {given}."))),
        },
    }
}

/// A value that is stored by its components, each as the spec has it; none of another array, and of components that are no columns.
fn framed(source: &Source<'_>, ext: &ExtSpec) -> Option<Result<Value>> {
    let frame = import::extension_name(&source.field)
        .zip(source.field.metadata().get(EXTENSION_TYPE_METADATA_KEY))
        .and_then(|(name, text)| registered::frame(name, text)?.ok())?;
    let array = source.array.as_struct_opt().filter(|array| array.num_columns() == ext.components.len())?;
    let columns = ext.components.iter().all(|(_, spec)| !matches!(spec, Spec::Partition(_)));
    if !columns || !frame.is_of(ext) {
        return None;
    }
    let source = source.seen_where(array.nulls());
    let parts = ext.components.iter().zip(array.fields().iter().zip(array.columns()));
    let component = |((segment, spec), (field, column)): (&(Segment, Spec), (&FieldRef, &ArrayRef))| {
        value(&source.field_of(source.at.child(segment.clone()), field, column), spec)
    };
    let components: Result<Vec<Value>> = parts.map(component).collect();
    Some(components.and_then(|components| rebuild(ext, components, provenance(ext))))
}

/// Moments of UTC under the name that the spec has for it; all else as it is.
fn in_zone_of(found: Value, wanted: &ExtSpec) -> Result<Value> {
    let (Ok(times), Some(StaticValue::Str(zone))) =
        (TimestampTensor::from_value(&found), wanted.static_data.get("zone"))
    else {
        return Ok(found);
    };
    match times.zone() {
        Some(own) if is_utc(own) && is_utc(zone) => {
            TimestampTensor::new(times.values().clone(), times.unit(), Some(zone)).map(ExtensionType::into_value)
        }
        _ => Ok(found),
    }
}

/// The unit of a spec of times, where counts of the given one are exact in it and all else is alike.
fn finer(given: &ExtSpec, wanted: &ExtSpec) -> Option<String> {
    let unit = |spec: &ExtSpec| match spec.static_data.get("unit") {
        Some(StaticValue::Str(unit)) => Some(unit.clone()),
        _ => None,
    };
    let rest = |spec: &ExtSpec| match &spec.static_data {
        StaticValue::Map(map) => map.iter().filter(|(key, _)| *key != "unit").map(|(_, v)| v.clone()).collect(),
        _ => Vec::new(),
    };
    let (from, to) = (unit(given)?, unit(wanted)?);
    let place = |unit: &str| ["d", "s", "ms", "us", "ns"].iter().position(|known| *known == unit);
    (rest(given) == rest(wanted) && place(&from)? < place(&to)?).then_some(to)
}

/// Whether an item is there and somebody sees it.
fn both(seen: Option<&BooleanBuffer>, nulls: Option<&NullBuffer>) -> Option<BooleanBuffer> {
    match (seen, nulls) {
        (Some(seen), Some(nulls)) => Some(seen & nulls.inner()),
        (Some(seen), None) => Some(seen.clone()),
        (None, nulls) => nulls.map(|nulls| nulls.inner().clone()),
    }
}
