//! Times, decimals, categories, unions and the registered extension types as the arrays that they come from.

use super::{Column, arrow, column, flat, items_in_lists, of_width};
use arrow_array::{Array, ArrayRef, UnionArray, make_array, new_null_array};
use arrow_buffer::{BooleanBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, FieldRef, IntervalUnit, TimeUnit, UnionFields};
use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_ext::{
    Bool8Tensor, CategoricalTensor, DateTensor, DecimalTensor, DurationTensor, FixedBytesTensor, IntervalTensor,
    JsonTensor, MaskedTensor, TimeTensor, TimestampTensor, UnionChild, UnionTensor, outer,
};
use extenso_types::{Dim, Error, Result};
use std::collections::HashSet;
use std::sync::Arc;

/// The column of a value of these types; none of another.
pub fn column_of(value: &Value) -> Result<Option<Column>> {
    if let Ok(x) = TimestampTensor::from_value(value) {
        let zone = x.zone().map(Arc::from);
        return counts(x.values(), DataType::Timestamp(unit(x.unit())?, zone));
    }
    if let Ok(x) = DateTensor::from_value(value) {
        return counts(x.values(), if x.unit() == "d" { DataType::Date32 } else { DataType::Date64 });
    }
    if let Ok(x) = TimeTensor::from_value(value) {
        let unit = unit(x.unit())?;
        let narrow = matches!(unit, TimeUnit::Second | TimeUnit::Millisecond);
        return counts(x.values(), if narrow { DataType::Time32(unit) } else { DataType::Time64(unit) });
    }
    if let Ok(x) = DurationTensor::from_value(value) {
        return counts(x.values(), DataType::Duration(unit(x.unit())?));
    }
    if let Ok(x) = IntervalTensor::from_value(value) {
        let unit = match x.unit() {
            "month" => IntervalUnit::YearMonth,
            "day_time" => IntervalUnit::DayTime,
            _ => IntervalUnit::MonthDayNano,
        };
        return cells(x.cells(), |_| Ok(DataType::Interval(unit)));
    }
    if let Ok(x) = DecimalTensor::from_value(value) {
        return decimals(&x);
    }
    bytes_or_codes(value)
}

fn bytes_or_codes(value: &Value) -> Result<Option<Column>> {
    if let Ok(x) = FixedBytesTensor::from_value(value) {
        let name = (x.kind() == Some("uuid")).then_some("arrow.uuid");
        return cells_of(x.cells(), name, |width| Ok(DataType::FixedSizeBinary(width)));
    }
    if let Ok(x) = Bool8Tensor::from_value(value) {
        let dense = x.values().data()?;
        let elements = of_width(DataType::Int8, dense.len(), x.values().buffer()?)?;
        return in_lists(elements, Some("arrow.bool8"), dense.dims()).map(Some);
    }
    if let Ok(x) = JsonTensor::from_value(value) {
        return in_lists(flat(x.text())?, Some("arrow.json"), x.text().data()?.dims()).map(Some);
    }
    if let Ok(x) = CategoricalTensor::from_value(value) {
        return categories(&x).map(Some);
    }
    match UnionTensor::from_value(value) {
        Ok(x) => union(&x).map(Some),
        Err(_) => Ok(None),
    }
}

fn unit(text: &str) -> Result<TimeUnit> {
    match text {
        "s" => Ok(TimeUnit::Second),
        "ms" => Ok(TimeUnit::Millisecond),
        "us" => Ok(TimeUnit::Microsecond),
        "ns" => Ok(TimeUnit::Nanosecond),
        other => Err(Error::internal(format!("a unit '{other}'"))),
    }
}

/// Integers under another type.
fn counts(values: &Tensor, data_type: DataType) -> Result<Option<Column>> {
    let dense = values.data()?;
    let elements = of_width(data_type, dense.len(), values.buffer()?)?;
    in_lists(elements, None, dense.dims()).map(Some)
}

/// Elements, of an extension type if it has a name, in lists of one length for each axis behind the first.
fn in_lists(elements: ArrayRef, name: Option<&str>, dims: &[usize]) -> Result<Column> {
    let items = match name {
        Some(name) => Column::named(elements, name, String::new()),
        None => Column::plain(elements),
    };
    items_in_lists(items, dims)
}

/// Bytes, so many for each element.
fn cells(cells: &Tensor, data_type: impl Fn(i32) -> Result<DataType>) -> Result<Option<Column>> {
    cells_of(cells, None, data_type)
}

fn cells_of(cells: &Tensor, name: Option<&str>, data_type: impl Fn(i32) -> Result<DataType>) -> Result<Option<Column>> {
    let dense = cells.data()?;
    let (width, dims) = dense.dims().split_last().ok_or_else(|| Error::internal("cells without an axis"))?;
    let width = i32::try_from(*width).map_err(|_| Error::shape(format!("{width} bytes are too wide for Arrow")))?;
    let elements = of_width(data_type(width)?, dims.iter().product(), cells.buffer()?)?;
    in_lists(elements, name, dims).map(Some)
}

fn decimals(x: &DecimalTensor) -> Result<Option<Column>> {
    let odd = || Error::internal("a decimal of too many digits");
    let (precision, scale) =
        (u8::try_from(x.precision()).map_err(|_| odd())?, i8::try_from(x.scale()).map_err(|_| odd())?);
    cells(x.cells(), |width| {
        Ok(if width == 16 { DataType::Decimal128(precision, scale) } else { DataType::Decimal256(precision, scale) })
    })
}

fn categories(x: &CategoricalTensor) -> Result<Column> {
    let keys = flat(x.codes())?;
    let codes = x.codes().data()?;
    let mut values = column(x.categories())?.array;
    if values.is_empty() && !codes.is_empty() {
        // Without a category all elements are missing, and Arrow wants a place for each of these too.
        values = new_null_array(values.data_type(), 1);
    }
    let data_type = DataType::Dictionary(Box::new(keys.data_type().clone()), Box::new(values.data_type().clone()));
    let data = ArrayData::builder(data_type).len(codes.len()).add_buffer(x.codes().buffer()?);
    let array = make_array(data.add_child_data(values.to_data()).build().map_err(arrow)?);
    items_in_lists(Column { ordered: x.ordered(), ..Column::plain(array) }, codes.dims())
}

fn union(x: &UnionTensor) -> Result<Column> {
    match in_order(x)? {
        Some(x) => union_in_order(&x),
        None => union_in_order(x),
    }
}

/// The union whose elements of each child stand there in the order of the rows, as Arrow has it; none where they do.
fn in_order(x: &UnionTensor) -> Result<Option<UnionTensor>> {
    let (tags, Some(offsets)) = tags_and_offsets(x)? else { return Ok(None) };
    let places = |id: i8| tags.iter().zip(offsets).filter(move |(tag, _)| **tag == id).map(|(_, place)| *place);
    if x.children().iter().all(|child| places(child.id).is_sorted()) {
        return Ok(None);
    }
    let taken = |child: &UnionChild| {
        let places: Vec<i32> = places(child.id).collect();
        // To take counts places below 0 from the end.
        if let Some(place) = places.iter().find(|place| **place < 0) {
            return Err(Error::index(format!("an offset of child '{}' is {place}", child.name)).wanted("0 or more"));
        }
        let values = ops::take(&child.values, Tensor::from_vec(places), 0)?;
        Ok(UnionChild { values, ..child.clone() })
    };
    let children = x.children().iter().map(taken).collect::<Result<Vec<UnionChild>>>()?;
    let mut next = [0_i32; 1 << 8];
    let counted = |tag: &i8| {
        let place = &mut next[usize::from(tag.cast_unsigned())];
        *place += 1;
        *place - 1
    };
    let offsets = Tensor::from_vec(tags.iter().map(counted).collect::<Vec<i32>>());
    UnionTensor::new(x.tags().clone(), Some(offsets), children).map(Some)
}

/// The tags, and as many offsets where there are any: of what a graph computed nobody looked at their number.
///
/// Errors: another number of offsets.
fn tags_and_offsets(x: &UnionTensor) -> Result<(&[i8], Option<&[i32]>)> {
    let tags = x.tags().data()?.as_slice::<i8>()?;
    let offsets = x.offsets().map(|offsets| offsets.data()?.as_slice::<i32>()).transpose()?;
    match offsets.filter(|offsets| offsets.len() != tags.len()) {
        Some(offsets) => Err(Error::shape(format!("a union has {} tags and {} offsets", tags.len(), offsets.len()))
            .wanted("an offset for each tag")),
        None => Ok((tags, offsets)),
    }
}

fn union_in_order(x: &UnionTensor) -> Result<Column> {
    let tags = x.tags().buffer()?;
    let len = x.tags().data()?.len();
    let offsets = match x.offsets() {
        Some(offsets) => Some(ScalarBuffer::<i32>::new(offsets.buffer()?, 0, len)),
        None => None,
    };
    let (mut fields, mut children): (Vec<(i8, FieldRef)>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for child in x.children() {
        let made = column(&child.values).map_err(|e| e.at(format!("child '{}'", child.name)))?;
        fields.push((child.id, made.field(&child.name)));
        children.push(made.array);
    }
    let fields: UnionFields =
        UnionFields::try_new(fields.iter().map(|(id, _)| *id), fields.iter().map(|(_, f)| f.clone())).map_err(arrow)?;
    let array = UnionArray::try_new(fields, ScalarBuffer::<i8>::new(tags, 0, len), offsets, children);
    Ok(Column::plain(Arc::new(array.map_err(arrow)?)))
}

/// A union of which some elements are missing: each is so in the child that it is of, since unions have no validity in Arrow.
///
/// Errors: a missing element and another one share a place of a child; another number of offsets, or of marks of what is there.
pub fn masked_union(x: &UnionTensor, there: &BooleanBuffer) -> Result<Column> {
    let (tags, offsets) = tags_and_offsets(x)?;
    if there.len() != tags.len() {
        return Err(Error::shape(format!("a union of {} elements has a mask of {}", tags.len(), there.len()))
            .wanted("a mask of each element"));
    }
    let place = |row: usize| offsets.map_or(row, |offsets| usize::try_from(offsets[row]).unwrap_or(0));
    let child = |child: &UnionChild| {
        let rows = || (0..tags.len()).filter(|&row| tags[row] == child.id);
        let missing: HashSet<usize> = rows().filter(|&row| !there.value(row)).map(place).collect();
        if rows().any(|row| there.value(row) && missing.contains(&place(row))) {
            return Err(Error::dtype("a missing element of a union shares its place with another")
                .wanted("masks of the union's children"));
        }
        Ok(UnionChild { values: without(&child.values, &missing)?, ..child.clone() })
    };
    let children: Result<Vec<UnionChild>> = x.children().iter().map(child).collect();
    union(&UnionTensor::new(x.tags().clone(), x.offsets().cloned(), children?)?)
}

/// The values, of which those at these places are missing.
fn without(values: &Value, missing: &HashSet<usize>) -> Result<Value> {
    let Some(Dim::Known(len)) = outer(values).filter(|_| !missing.is_empty()) else { return Ok(values.clone()) };
    let left = Tensor::from_bits(&[len], (0..len).map(|place| !missing.contains(&place)).collect())?;
    Ok(match MaskedTensor::from_value(values) {
        Ok(masked) if masked.mask().data()?.dims().len() == 1 => {
            let mask = ops::logical_and(left, masked.mask())?;
            MaskedTensor::new(masked.values().clone(), mask.tensor()?.clone())?.into_value()
        }
        _ => MaskedTensor::new(values.clone(), left)?.into_value(),
    })
}
