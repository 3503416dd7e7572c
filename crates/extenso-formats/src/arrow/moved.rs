//! Rows of values moved: end to end, picked, repeated.
//!
//! Invariant: a type that is stored by its components need not know the ops that move rows. Its values move as the Arrow arrays do that they
//! are stored in, and come out as what they were.

use super::chunks::has_components;
use super::decode::as_it_is;
use super::export::to_arrow_field;
use crate::ops::any_rows;
use crate::records::is;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::ArrowError;
use extenso_core::{Offsets, Provenance, RowPartition, Tensor, Value, ops, rebuild};
use extenso_ext::MaskedTensorSpec;
use extenso_types::{Error, ExtSpec, Result, Segment, Spec};

/// The rows of values of one spec, one value after the other.
///
/// Errors: no value; those of `concat`, and of Arrow for types that are stored by their components.
pub fn end_to_end(mut values: Vec<Value>) -> Result<Value> {
    match (values.pop(), values.is_empty()) {
        (Some(only), true) => return Ok(only),
        (Some(last), false) => values.push(last),
        (None, _) => return Err(Error::internal("there are no values to join")),
    }
    match components(&values)? {
        Some(stored) => stored.rebuilt(&values, &joined(&stored.arrays)?),
        None => ops::concat(counted(values, i32::MAX as usize)?, 0_i64),
    }
}

/// The values, of which the first has wide row splits where all together have more values than `most`, which narrow ones count: so the
/// rows of all have them.
fn counted(mut values: Vec<Value>, most: usize) -> Result<Vec<Value>> {
    let mut sums: Vec<usize> = Vec::new();
    for value in &values {
        let mut leaves = Vec::new();
        value.push_leaves(&mut leaves)?;
        sums.resize(leaves.len(), 0);
        for (sum, leaf) in sums.iter_mut().zip(&leaves) {
            if let Value::Partition(rows) = leaf {
                *sum = sum.saturating_add(rows.data()?.nvalues());
            }
        }
    }
    if let Some(first) = values.first_mut().filter(|_| sums.iter().any(|sum| *sum > most)) {
        *first = widened(first, &mut sums.iter().map(|sum| *sum > most))?;
    }
    Ok(values)
}

/// A value with wide row splits where `wide` says so of a leaf.
fn widened(value: &Value, wide: &mut dyn Iterator<Item = bool>) -> Result<Value> {
    match value {
        Value::Ext(ext) => {
            let parts: Vec<Value> = ext.components()?.iter().map(|part| widened(part, wide)).collect::<Result<_>>()?;
            let mut spec = ext.spec()?;
            for ((_, spec), part) in spec.components.iter_mut().zip(&parts) {
                *spec = part.spec()?;
            }
            rebuild(&spec, parts, Provenance::Trusted)
        }
        Value::Partition(rows) if wide.next().unwrap_or(false) => {
            let rows = rows.data()?;
            let ends: Vec<i64> = match rows.offsets() {
                Offsets::I32(ends) => ends.iter().map(|end| i64::from(*end)).collect(),
                Offsets::I64(_) => return Ok(value.clone()),
            };
            let wide = RowPartition::from_offsets(Offsets::I64(ends.into()), rows.nvalues())?;
            Ok(wide.with_uniform_row_length(rows.uniform_row_length())?.into())
        }
        Value::Partition(_) => Ok(value.clone()),
        Value::Tensor(_) => {
            wide.next();
            Ok(value.clone())
        }
    }
}

/// The rows at these places of values of one spec, counted from the first row of the first value.
///
/// Errors: as [`end_to_end`], and of `take`.
pub fn picked(values: Vec<Value>, places: Vec<i64>) -> Result<Value> {
    match components(&values)? {
        Some(stored) => stored.rebuilt(&values, &taken(&stored.arrays, &places)?),
        None => ops::take(end_to_end(values)?, Tensor::from_vec(places), 0_i64),
    }
}

/// Values as the arrays that they are stored in.
struct Stored {
    field: arrow_schema::FieldRef,
    arrays: Vec<ArrayRef>,
}

/// The arrays of values of which a part is stored by its components; none if no part is.
fn components(values: &[Value]) -> Result<Option<Stored>> {
    let (mut field, mut arrays) = (None, Vec::with_capacity(values.len()));
    for value in values {
        // What has no type of an extension inside is not looked at further.
        let Value::Ext(_) = value else { return Ok(None) };
        let (stored, array) = to_arrow_field(value)?;
        if !has_components(&stored) {
            return Ok(None);
        }
        field.get_or_insert(stored);
        arrays.push(array);
    }
    Ok(field.map(|field| Stored { field, arrays }))
}

impl Stored {
    fn rebuilt(&self, values: &[Value], array: &ArrayRef) -> Result<Value> {
        let [first, others @ ..] = values else { return Err(Error::internal("there are no values to move")) };
        let mut spec = any_rows(&first.spec()?);
        for other in others {
            spec = optional_in_any(&spec, &any_rows(&other.spec()?));
        }
        as_it_is(&self.field, array.as_ref(), &spec)
    }
}

/// A spec with a mask wherever it or the other has one.
fn optional_in_any(spec: &Spec, other: &Spec) -> Spec {
    if let Some(mask) = mask_of(spec).or(mask_of(other)) {
        let mut made = ExtSpec::clone(mask);
        for (_, part) in made.components.iter_mut().filter(|(segment, _)| *segment == Segment::Itself) {
            *part = optional_in_any(under_mask(spec), under_mask(other));
        }
        return made.into();
    }
    let (Spec::Ext(ext), Spec::Ext(others)) = (spec, other) else { return spec.clone() };
    let mut made = ExtSpec::clone(ext);
    for ((_, part), (_, other)) in made.components.iter_mut().zip(&others.components) {
        *part = optional_in_any(part, other);
    }
    made.into()
}

fn mask_of(spec: &Spec) -> Option<&ExtSpec> {
    let Spec::Ext(ext) = spec else { return None };
    is::<MaskedTensorSpec>(ext).then_some(&**ext)
}

/// What is under the mask of a spec that has one.
fn under_mask(spec: &Spec) -> &Spec {
    mask_of(spec).and_then(|ext| ext.component(&Segment::Itself)).unwrap_or(spec)
}

/// The arrays as one.
///
/// Errors: arrays of two types; more items than the offsets or codes of the arrays count.
pub fn joined(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let every = arrays.iter().enumerate().map(|(i, array)| (i, 0, array.len()));
    extended(arrays, arrays.iter().map(|array| array.len()).sum(), every)
}

/// The first rows, without what the others have: a slice of lists still holds the items of all.
///
/// Errors: those of Arrow.
#[cfg(feature = "ipc")]
pub fn first_rows(array: ArrayRef, rows: usize) -> Result<ArrayRef> {
    if rows >= array.len() { Ok(array) } else { extended(&[array], rows, std::iter::once((0, 0, rows))) }
}

fn taken(arrays: &[ArrayRef], places: &[i64]) -> Result<ArrayRef> {
    let of = |place: &i64| {
        let mut row = usize::try_from(*place).unwrap_or(usize::MAX);
        for (i, array) in arrays.iter().enumerate() {
            if row < array.len() {
                return Ok((i, row, row + 1));
            }
            row -= array.len();
        }
        Err(Error::internal(format!("there is no row {place}")))
    };
    let places: Vec<(usize, usize, usize)> = places.iter().map(of).collect::<Result<_>>()?;
    extended(arrays, places.len(), places.into_iter())
}

/// The rows of these ranges, each of an array by its place.
///
/// Errors: as [`joined`].
pub fn extended(
    arrays: &[ArrayRef],
    rows: usize,
    ranges: impl Iterator<Item = (usize, usize, usize)>,
) -> Result<ArrayRef> {
    let parts: Vec<ArrayData> = arrays.iter().map(|array| array.to_data()).collect();
    if let Some(two) = parts.windows(2).find(|two| two[0].data_type() != two[1].data_type()) {
        let error = Error::dtype(format!("parts of one column are {} and {}", two[0].data_type(), two[1].data_type()));
        return Err(error.wanted("one type"));
    }
    let mut made = MutableArrayData::new(parts.iter().collect(), false, rows);
    for (i, from, to) in ranges {
        made.try_extend(i, from, to).map_err(refused)?;
    }
    Ok(make_array(made.freeze()))
}

fn refused(e: ArrowError) -> Error {
    Error::data(format!("Arrow refuses the array: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use extenso_core::ExtensionType;
    use extenso_ext::RaggedTensor;
    use extenso_types::DType;

    fn rows(ends: &[i32], values: Value) -> Value {
        let nvalues = usize::try_from(*ends.last().expect("an end")).expect("an end");
        let rows = RowPartition::from_offsets(Offsets::I32(ends.to_vec().into()), nvalues).expect("rows");
        RaggedTensor::from_partition(values, rows).expect("lists").into_value()
    }

    #[test]
    fn lists_of_more_items_than_narrow_ends_count_have_wide_ones() {
        let lists = |x: i64| rows(&[0, 1, 1], rows(&[0, 3], Tensor::from_vec(vec![x, x + 1, x + 2]).into()));
        let joined =
            |most| ops::concat(counted(vec![lists(0), lists(5)], most).expect("counted"), 0_i64).expect("joined");
        let indices = |value: &Value| {
            let mut leaves = Vec::new();
            value.push_leaves(&mut leaves).expect("leaves");
            let index = |leaf: Value| Some(leaf.partition().ok()?.spec().index);
            leaves.into_iter().filter_map(index).collect::<Vec<_>>()
        };
        let narrow = joined(6);
        // The leaves of a list are its items, those of the list inside first.
        assert_eq!(indices(&narrow), [DType::I32, DType::I32]);
        assert_eq!(indices(&joined(5)), [DType::I64, DType::I32]);
        assert_eq!(indices(&joined(1)), [DType::I64, DType::I64]);
        let shown = |value: &Value| extenso_ext::to_literal(value).expect("a literal").to_string();
        assert_eq!(shown(&joined(1)), shown(&narrow));
    }
}
