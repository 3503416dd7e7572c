//! Times of units that Parquet does not have: seconds are written as milliseconds, dates of milliseconds as days.
//!
//! Invariant: what was written is read again in its own unit, which stands in the metadata of its field; other readers see times of
//! Parquet. Counts are exact or refused; those that nobody sees are zero.

use super::cells;
use super::order::{ORDER, restored};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Time32MillisecondType, Time32SecondType, TimestampMillisecondType, TimestampSecondType,
};
use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, ArrowPrimitiveType, FixedSizeListArray, GenericListArray,
    GenericListViewArray, MapArray, OffsetSizeTrait, PrimitiveArray, StructArray,
};
use arrow_buffer::{ArrowNativeType, BooleanBufferBuilder, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, TimeUnit};
use extenso_types::{Error, Path, Result, Segment};
use std::sync::Arc;

/// Where the metadata of a field says in which unit its counts were given.
pub const UNIT: &str = "extenso:unit";

/// How many milliseconds a day has.
pub const DAY: i64 = 86_400_000;

/// Which way counts are brought.
#[derive(Clone, Copy)]
enum Way {
    Stored,
    Given,
}

/// The rows as Parquet has them.
///
/// Errors: a time that milliseconds do not hold, or a date that is no whole day, with the column.
pub fn stored(rows: StructArray) -> Result<StructArray> {
    brought(rows, Way::Stored)
}

/// The rows that were read in the units that were given, and with the words of dictionaries in the order that they had.
///
/// Errors: counts that are not whole in the unit that the field names, with the column.
pub fn given(rows: StructArray) -> Result<StructArray> {
    brought(rows, Way::Given)
}

/// What a statistic of a field and a count that was given are multiplied by before they are compared.
pub fn scales(field: &Field) -> (i128, i128) {
    match (unit_of(field), counts_of(field.data_type())) {
        (Some("s"), DataType::Timestamp(..) | DataType::Time32(_)) => (1, 1000),
        (Some("ms"), DataType::Date32) => (DAY.into(), 1),
        _ => (1, 1),
    }
}

/// The unit in which the counts of a field were given, if it says one.
pub fn unit_of(field: &Field) -> Option<&str> {
    field.metadata().get(UNIT).map(String::as_str)
}

impl Way {
    /// The type that a leaf becomes; none if it stays. The values of a dictionary are what its field says.
    fn of(self, field: &Field) -> Option<DataType> {
        match field.data_type() {
            DataType::Dictionary(keys, values) => {
                let made = self.of_counts(values, unit_of(field));
                let made = made.or_else(|| self.has_order(field).then(|| values.as_ref().clone()))?;
                Some(DataType::Dictionary(keys.clone(), Box::new(made)))
            }
            DataType::FixedSizeBinary(_) => match self {
                Way::Stored => None,
                Way::Given => cells::of(field),
            },
            counts => self.of_counts(counts, unit_of(field)),
        }
    }

    /// Whether words of a dictionary are brought into the order that its field tells.
    fn has_order(self, field: &Field) -> bool {
        matches!(self, Way::Given) && field.metadata().contains_key(ORDER)
    }

    fn of_counts(self, data_type: &DataType, unit: Option<&str>) -> Option<DataType> {
        use TimeUnit::{Millisecond, Second};
        match (self, data_type, unit) {
            (Way::Stored, DataType::Timestamp(Second, zone), _) => Some(DataType::Timestamp(Millisecond, zone.clone())),
            (Way::Stored, DataType::Time32(Second), _) => Some(DataType::Time32(Millisecond)),
            (Way::Stored, DataType::Date64, _) => Some(DataType::Date32),
            (Way::Given, DataType::Timestamp(Millisecond, zone), Some("s")) => {
                Some(DataType::Timestamp(Second, zone.clone()))
            }
            (Way::Given, DataType::Time32(Millisecond), Some("s")) => Some(DataType::Time32(Second)),
            (Way::Given, DataType::Date32, Some("ms")) => Some(DataType::Date64),
            _ => None,
        }
    }

    /// The field of another type, which says how it was given.
    fn field(self, field: &Field, data_type: DataType) -> Field {
        let mut metadata = field.metadata().clone();
        match self {
            Way::Stored => {
                metadata.insert(UNIT.into(), if *counts_of(&data_type) == DataType::Date32 { "ms" } else { "s" }.into())
            }
            Way::Given => metadata.remove(UNIT),
        };
        field.clone().with_data_type(data_type).with_metadata(metadata)
    }

    /// Whether there are such leaves below a field.
    fn concerns(self, field: &Field) -> bool {
        match field.data_type() {
            DataType::Struct(fields) => fields.iter().any(|field| self.concerns(field)),
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::ListView(item)
            | DataType::LargeListView(item)
            | DataType::FixedSizeList(item, _)
            | DataType::Map(item, _) => self.concerns(item),
            _ => self.of(field).is_some(),
        }
    }
}

/// The type of the counts of a leaf.
fn counts_of(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        counts => counts,
    }
}

fn brought(rows: StructArray, way: Way) -> Result<StructArray> {
    if !rows.fields().iter().any(|field| way.concerns(field)) {
        return Ok(rows);
    }
    record(&Path::root(), &rows, None, way)
}

fn record(at: &Path, rows: &StructArray, above: Option<&NullBuffer>, way: Way) -> Result<StructArray> {
    let hidden = NullBuffer::union(rows.nulls(), above);
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in rows.fields().iter().zip(rows.columns()) {
        let at = at.child(Segment::field(field.name().as_str()));
        let (field, column) = column_of(&at, field, column, hidden.as_ref(), way)?;
        fields.push(field);
        columns.push(column);
    }
    StructArray::try_new_with_length(fields.into(), columns, rows.nulls().cloned(), rows.len()).map_err(|e| odd(&e))
}

fn column_of(
    at: &Path,
    field: &FieldRef,
    array: &ArrayRef,
    above: Option<&NullBuffer>,
    way: Way,
) -> Result<(FieldRef, ArrayRef)> {
    if !way.concerns(field) {
        return Ok((field.clone(), array.clone()));
    }
    let hidden = NullBuffer::union(array.nulls(), above);
    let hidden = hidden.as_ref();
    let each = at.child(Segment::Each);
    let made: ArrayRef = match array.data_type() {
        DataType::Struct(_) => Arc::new(record(at, array.as_struct(), above, way)?),
        DataType::List(item) => list(&each, item, array.as_list::<i32>(), hidden, way)?,
        DataType::LargeList(item) => list(&each, item, array.as_list::<i64>(), hidden, way)?,
        DataType::ListView(item) => list_view(&each, item, array.as_list_view::<i32>(), hidden, way)?,
        DataType::LargeListView(item) => list_view(&each, item, array.as_list_view::<i64>(), hidden, way)?,
        DataType::FixedSizeList(item, size) => {
            let lists = array.as_fixed_size_list();
            let width = size.as_usize();
            let seen =
                seen((0..lists.len()).map(|i| (lists.value_offset(i).as_usize(), width)), hidden, lists.values());
            let (item, values) = column_of(&each, item, lists.values(), seen.as_ref(), way)?;
            let nulls = lists.nulls().cloned();
            let made = FixedSizeListArray::try_new_with_length(item, *size, values, nulls, lists.len());
            Arc::new(made.map_err(|e| odd(&e))?)
        }
        DataType::Map(entries, sorted) => {
            let map = array.as_map();
            let all: ArrayRef = Arc::new(map.entries().clone());
            let (entries, kept) = column_of(&each, entries, &all, seen_of(map.offsets(), hidden, &all).as_ref(), way)?;
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            let made = MapArray::try_new(entries, offsets, kept.as_struct().clone(), nulls, *sorted);
            Arc::new(made.map_err(|e| odd(&e))?)
        }
        DataType::Dictionary(..) if way.has_order(field) => {
            return Ok(restored(field, array)?.unwrap_or_else(|| (field.clone(), array.clone())));
        }
        _ => {
            let Some(data_type) = way.of(field) else { return Ok((field.clone(), array.clone())) };
            let made = match array.as_any_dictionary_opt() {
                _ if array.as_fixed_size_binary_opt().is_some() => cells::made(array, &data_type, hidden),
                Some(words) => dictionary(words, counts_of(&data_type), hidden, way),
                None => leaf(array, &data_type, hidden, way),
            };
            let made = made.map_err(|e| e.at(format!("column '{at}'")))?;
            return Ok((Arc::new(way.field(field, data_type)), made));
        }
    };
    Ok((Arc::new(field.as_ref().clone().with_data_type(made.data_type().clone())), made))
}

fn list<O: OffsetSizeTrait>(
    each: &Path,
    item: &FieldRef,
    lists: &GenericListArray<O>,
    hidden: Option<&NullBuffer>,
    way: Way,
) -> Result<ArrayRef> {
    let seen = seen_of(lists.offsets(), hidden, lists.values());
    let (item, values) = column_of(each, item, lists.values(), seen.as_ref(), way)?;
    let made = GenericListArray::<O>::try_new(item, lists.offsets().clone(), values, lists.nulls().cloned());
    Ok(Arc::new(made.map_err(|e| odd(&e))?))
}

fn list_view<O: OffsetSizeTrait>(
    each: &Path,
    item: &FieldRef,
    lists: &GenericListViewArray<O>,
    hidden: Option<&NullBuffer>,
    way: Way,
) -> Result<ArrayRef> {
    let (offsets, sizes) = (lists.offsets(), lists.sizes());
    let views = offsets.iter().zip(sizes).map(|(from, size)| (from.as_usize(), size.as_usize()));
    let seen = seen(views, hidden, lists.values());
    let (item, values) = column_of(each, item, lists.values(), seen.as_ref(), way)?;
    let nulls = lists.nulls().cloned();
    let made = GenericListViewArray::<O>::try_new(item, offsets.clone(), sizes.clone(), values, nulls);
    Ok(Arc::new(made.map_err(|e| odd(&e))?))
}

fn seen_of<O: OffsetSizeTrait>(
    offsets: &OffsetBuffer<O>,
    hidden: Option<&NullBuffer>,
    items: &ArrayRef,
) -> Option<NullBuffer> {
    let row = |cut: &[O]| (cut[0].as_usize(), cut[1].as_usize() - cut[0].as_usize());
    seen(offsets.windows(2).map(row), hidden, items)
}

/// Which items stand in rows that are seen, each row being where it begins and how long it is; none if all do.
fn seen(
    rows: impl Iterator<Item = (usize, usize)>,
    hidden: Option<&NullBuffer>,
    items: &ArrayRef,
) -> Option<NullBuffer> {
    let mut seen = BooleanBufferBuilder::new(items.len());
    seen.append_n(items.len(), false);
    for (row, (from, size)) in rows.enumerate() {
        if hidden.is_none_or(|hidden| hidden.is_valid(row)) {
            (from..from + size).for_each(|item| seen.set_bit(item, true));
        }
    }
    Some(NullBuffer::new(seen.finish())).filter(|seen| seen.null_count() > 0)
}

/// A dictionary whose values are of another type; those that no row that is seen has are zero.
fn dictionary(
    words: &dyn AnyDictionaryArray,
    counts: &DataType,
    hidden: Option<&NullBuffer>,
    way: Way,
) -> Result<ArrayRef> {
    let values = words.values();
    let keys = if values.is_empty() { Vec::new() } else { words.normalized_keys() };
    let used = seen(keys.into_iter().map(|key| (key, 1)), hidden, values);
    let hidden = NullBuffer::union(values.nulls(), used.as_ref());
    Ok(words.with_values(leaf(values, counts, hidden.as_ref(), way)?))
}

fn leaf(array: &ArrayRef, data_type: &DataType, hidden: Option<&NullBuffer>, way: Way) -> Result<ArrayRef> {
    let fine = |n: i64| n.checked_mul(1000);
    let coarse = |n: i64| (n % 1000 == 0).then_some(n / 1000);
    let fine_clock = |n: i32| n.checked_mul(1000);
    let coarse_clock = |n: i32| (n % 1000 == 0).then_some(n / 1000);
    let days = |n: i64| (n % DAY == 0).then(|| i32::try_from(n / DAY).ok()).flatten();
    let made: std::result::Result<ArrayRef, String> = match (way, data_type) {
        (Way::Stored, DataType::Timestamp(_, zone)) => {
            counts::<TimestampSecondType, TimestampMillisecondType>(array, hidden, fine)
                .map(|made| Arc::new(made.with_timezone_opt(zone.clone())) as ArrayRef)
        }
        (Way::Given, DataType::Timestamp(_, zone)) => {
            counts::<TimestampMillisecondType, TimestampSecondType>(array, hidden, coarse)
                .map(|made| Arc::new(made.with_timezone_opt(zone.clone())) as ArrayRef)
        }
        (Way::Stored, DataType::Date32) => {
            counts::<Date64Type, Date32Type>(array, hidden, days).map(|made| Arc::new(made) as ArrayRef)
        }
        (Way::Given, DataType::Date64) => {
            counts::<Date32Type, Date64Type>(array, hidden, |n| i64::from(n).checked_mul(DAY))
                .map(|made| Arc::new(made) as ArrayRef)
        }
        (Way::Stored, _) => counts::<Time32SecondType, Time32MillisecondType>(array, hidden, fine_clock)
            .map(|made| Arc::new(made) as ArrayRef),
        (Way::Given, _) => counts::<Time32MillisecondType, Time32SecondType>(array, hidden, coarse_clock)
            .map(|made| Arc::new(made) as ArrayRef),
    };
    made.map_err(|count| {
        let error = Error::value(format!("{count} of {} is not exact in {data_type}", array.data_type()));
        match (way, data_type) {
            (Way::Stored, DataType::Date32) => error.wanted("whole days").hint("Write a timestamp instead of a date"),
            (Way::Stored, _) => error.wanted("times that milliseconds count, because Parquet has no seconds"),
            (Way::Given, _) => error.wanted("counts of the unit that the field names"),
        }
    })
}

/// The counts in another unit, zero where nobody sees them.
///
/// Errors: a count that it does not have.
fn counts<A: ArrowPrimitiveType, B: ArrowPrimitiveType>(
    array: &ArrayRef,
    hidden: Option<&NullBuffer>,
    of: impl Fn(A::Native) -> Option<B::Native>,
) -> std::result::Result<PrimitiveArray<B>, String> {
    let array = array.as_primitive::<A>();
    let count = |(i, n): (usize, &A::Native)| match hidden {
        Some(hidden) if hidden.is_null(i) => Ok(B::Native::default()),
        _ => of(*n).ok_or_else(|| format!("{n:?}")),
    };
    let counts: std::result::Result<Vec<B::Native>, String> = array.values().iter().enumerate().map(count).collect();
    Ok(PrimitiveArray::new(counts?.into(), array.nulls().cloned()))
}

fn odd(e: &ArrowError) -> Error {
    Error::internal(format!("Arrow refuses what was proven: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{DictionaryArray, Int8Array, StringArray};
    use arrow_buffer::ScalarBuffer;

    /// Four counts of each type that Parquet lacks, plain and as the words of categories. Parquet does not hold the third.
    fn leaves() -> Vec<ArrayRef> {
        let seconds = PrimitiveArray::<TimestampSecondType>::from(vec![-1, 0, i64::MAX, 1_700_000_000]);
        let plain: Vec<ArrayRef> = vec![
            Arc::new(seconds.clone()),
            Arc::new(seconds.with_timezone("Europe/Berlin")),
            Arc::new(PrimitiveArray::<Time32SecondType>::from(vec![0, 1, i32::MAX, 86_399])),
            Arc::new(PrimitiveArray::<Date64Type>::from(vec![0, DAY, 1, -2 * DAY])),
        ];
        let words = |values: &ArrayRef| {
            Arc::new(DictionaryArray::new(Int8Array::from(vec![3, 1, 2, 0]), values.clone())) as ArrayRef
        };
        let categories: Vec<ArrayRef> = plain.iter().map(words).collect();
        [plain, categories].concat()
    }

    /// What times may stand in.
    const KINDS: [&str; 8] = ["list", "large list", "view", "large view", "fixed size", "keys", "values", "record"];

    /// Four rows of a kind, of one item each. The third is seen, or it is missing where a kind has rows that are.
    fn wrapped(kind: &str, items: &ArrayRef, seen: bool) -> ArrayRef {
        let field = |name: &str, items: &ArrayRef| Arc::new(Field::new(name, items.data_type().clone(), true));
        let item = field("item", items);
        let nulls = Some(NullBuffer::from(vec![true, true, seen, true]));
        // A view need not be null to show nothing.
        let (from, size) = (ScalarBuffer::from(vec![3, 1, 2, 0]), ScalarBuffer::from(vec![1, 1, i32::from(seen), 1]));
        let (far, long) = (ScalarBuffer::from(vec![0_i64, 1, 2, 3]), ScalarBuffer::from(vec![1_i64; 4]));
        let ends = OffsetBuffer::from_lengths([1; 4]);
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"; 4]));
        let map = |keys: &ArrayRef, values: &ArrayRef| {
            let key = Field::new("key", keys.data_type().clone(), false);
            let fields = vec![Arc::new(key), field("value", values)];
            let entries = StructArray::new(fields.into(), vec![keys.clone(), values.clone()], None);
            let field = Field::new("entries", entries.data_type().clone(), false);
            MapArray::new(Arc::new(field), OffsetBuffer::from_lengths([1; 4]), entries, nulls.clone(), false)
        };
        let items = items.clone();
        match kind {
            "list" => Arc::new(GenericListArray::<i32>::new(item, ends, items, nulls)),
            "large list" => {
                Arc::new(GenericListArray::<i64>::new(item, OffsetBuffer::from_lengths([1; 4]), items, nulls))
            }
            "view" => Arc::new(GenericListViewArray::<i32>::new(item, from, size, items, None)),
            "large view" => Arc::new(GenericListViewArray::<i64>::new(item, far, long, items, nulls)),
            "fixed size" => Arc::new(FixedSizeListArray::new(item, 1, items, nulls)),
            "keys" => Arc::new(map(&items, &texts)),
            "values" => Arc::new(map(&texts, &items)),
            _ => Arc::new(StructArray::new(vec![item].into(), vec![items], nulls)),
        }
    }

    fn column(array: ArrayRef) -> StructArray {
        StructArray::from(vec![(Arc::new(Field::new("x", array.data_type().clone(), true)), array)])
    }

    #[test]
    fn times_in_whatever_they_stand_are_given_as_they_were() {
        for (leaf, outer, inner) in each() {
            let rows = column(wrapped(outer, &wrapped(inner, &leaf, true), false));
            let stored = stored(rows.clone()).unwrap_or_else(|e| panic!("{outer} of {inner}: {e}"));
            let name = format!("{outer} of {inner} of {}", leaf.data_type());
            let made = stored.data_type().to_string();
            assert!(!["Timestamp(s", "Time32(s", "Date64"].iter().any(|lacking| made.contains(lacking)), "{made}");
            let again = given(stored).expect("what was stored");
            assert_eq!(again.fields(), rows.fields(), "{name}");
            assert_eq!(again, rows, "{name}");
        }
    }

    #[test]
    fn times_in_whatever_they_stand_are_exact_or_refused() {
        for (leaf, outer, inner) in each() {
            let rows = column(wrapped(outer, &wrapped(inner, &leaf, true), true));
            let error = stored(rows).expect_err("a count that Parquet does not hold").to_string();
            assert!(error.contains("column 'x") && error.contains("is not exact in"), "{outer} of {inner}: {error}");
        }
    }

    fn each() -> impl Iterator<Item = (ArrayRef, &'static str, &'static str)> {
        let kinds = KINDS.iter().flat_map(|outer| KINDS.iter().map(move |inner| (*outer, *inner)));
        kinds.flat_map(|(outer, inner)| leaves().into_iter().map(move |leaf| (leaf, outer, inner)))
    }
}
