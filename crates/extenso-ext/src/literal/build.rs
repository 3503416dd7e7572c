//! From objects of a host language to a value.
//!
//! Lists become axes, column by column: all objects at one depth are looked at together. A list level is uniform if its lists
//! have one length and everything inside is uniform too; otherwise it is ragged. Levels are built from what is there, and
//! then spread over the places of `None`. Where an object stands is found when an error asks for it.

use super::held::{side_by_side, single_of_meaning, written_out};
use super::object::{Object, Seen};
use super::{Literal, MAX_DEPTH, check_depth, too_deep};
use crate::args::typed;
use crate::masked::MaskedTensor;
use crate::meaning::over_elements;
use crate::ragged::RaggedTensor;
use crate::structs::{Field, StructTensor};
use extenso_core::kernels::pool::affordable;
use extenso_core::ops::{Run, assemble};
use extenso_core::{ExtensionType, RowPartition, Tensor, Value};
use extenso_types::{Dims, Error, Path, Result, Segment, Shape};
use std::sync::Arc;

/// The value that a literal means: dense if lists at each depth have one length, otherwise ragged; records are structs;
/// `None` is a missing value. Integers are i64, floats and both together f64, lists without any leaf f64.
///
/// A value in the literal keeps its dtype: as a field it is shared, and in a list it is joined with others of its dtype; beside
/// anything else it is what its own literal is.
///
/// Errors, with the path: lists and other items side by side, dtypes or fields that differ, more than 64 levels.
pub fn constant(literal: impl Into<Literal>) -> Result<Value> {
    constant_from(&literal.into())
}

/// The value that an object of a host language means; see [`constant`].
///
/// Errors: those of [`constant`], and of the host.
pub fn constant_from<O: Object>(object: O) -> Result<Value> {
    value_of(object, &Above::Root, 0).map_err(|e| e.at_part("constant"))
}

/// What stands above the objects of a level.
#[derive(Clone, Copy)]
enum Above<'a> {
    Root,
    /// Lists of these lengths, whose items they are.
    Lists(&'a Above<'a>, &'a [usize]),
    /// Records, whose fields they are.
    Field(&'a Above<'a>, &'a str),
    /// Those of a level that are there.
    There(&'a Above<'a>, &'a [bool]),
}

impl Above<'_> {
    /// Where object `i` stands.
    fn path(&self, mut i: usize) -> Path {
        match self {
            Above::Root => Path::root(),
            Above::Lists(above, lengths) => {
                let mut list = 0;
                while let Some(length) = lengths.get(list).filter(|length| i >= **length) {
                    (i, list) = (i - length, list + 1);
                }
                above.path(list).child(Segment::Index(i))
            }
            Above::Field(above, name) => above.path(i).child(Segment::field(*name)),
            Above::There(above, there) => {
                let mut places = there.iter().enumerate().filter(|(_, there)| **there);
                above.path(places.nth(i).map_or(0, |(place, _)| place))
            }
        }
    }

    /// The error of object `i`, which says where it is.
    fn at(&self, i: usize, error: Error) -> Error {
        let path = self.path(i);
        if path.is_root() { error } else { error.at(path.to_string()) }
    }
}

fn value_of<O: Object>(object: O, above: &Above<'_>, depth: usize) -> Result<Value> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    let here = |e| above.at(0, e);
    match object.seen().map_err(here)? {
        Seen::Value => object.value().ok_or_else(|| Error::internal("a value is held")),
        Seen::List => {
            let mut items = Vec::new();
            items_of(&object, &mut items, 0, above)?;
            let lengths = [items.len()];
            column(&items, &Above::Lists(above, &lengths), depth + 1)
        }
        Seen::Record => {
            let names = object.names().map_err(here)?;
            let mut fields = Vec::with_capacity(names.len());
            for (at, name) in names.iter().enumerate() {
                let above = Above::Field(above, O::text(name));
                let item = object.field(name, at).map_err(|e| above.at(0, e))?;
                let item = item.ok_or_else(|| above.at(0, Error::value("the record changed while it was read")))?;
                fields.push((Arc::from(O::text(name)), value_of(item, &above, depth + 1)?));
            }
            Ok(StructTensor::new(Shape::scalar(), fields).map_err(here)?.into_value())
        }
        Seen::None
        | Seen::Bool(_)
        | Seen::Int(_)
        | Seen::Unsigned(_)
        | Seen::Float(_)
        | Seen::Str(_)
        | Seen::Bytes(_) => scalar(object, above, depth),
    }
}

/// A 0-d value: a column of one without its axis.
fn scalar<O: Object>(object: O, above: &Above<'_>, depth: usize) -> Result<Value> {
    let column = column(&[object], above, depth)?;
    let single = |t: &Tensor| t.with_dims(&[]);
    match typed::<MaskedTensor>(&column) {
        Some(x) => Ok(MaskedTensor::new(single(x.values().tensor()?)?, single(x.mask())?)?.into_value()),
        None => Ok(single(column.tensor()?)?.into()),
    }
}

/// Adds the items of a list, which is object `i` of its level; how many they are.
fn items_of<O: Object>(list: &O, items: &mut Vec<O>, i: usize, above: &Above<'_>) -> Result<usize> {
    let before = items.len();
    list.items(items).map_err(|e| {
        let path = above.path(i).child(Segment::Index(items.len() - before));
        e.at(path.to_string())
    })?;
    Ok(items.len() - before)
}

/// The objects as a value whose outer axis counts them.
fn column<O: Object>(objects: &[O], above: &Above<'_>, depth: usize) -> Result<Value> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    if let Some(tensor) = alike(objects)? {
        return Ok(tensor.into());
    }
    let missing = objects.iter().any(O::is_none);
    let present = || objects.iter().map(|object| !object.is_none()).collect::<Vec<bool>>();
    let spread_out = |made: &dyn Fn(&[&O], &Above<'_>) -> Result<Value>| {
        if !missing {
            return made(&objects.iter().collect::<Vec<_>>(), above);
        }
        let present = present();
        let there: Vec<&O> = objects.iter().filter(|object| !object.is_none()).collect();
        spread(&made(&there, &Above::There(above, &present))?, &present)
    };
    let first = objects.iter().position(|object| !object.is_none());
    let kind = first.map(|first| objects[first].seen().map_err(|e| above.at(first, e))).transpose()?;
    if depth == LOOKED && matches!(kind, Some(Seen::List | Seen::Record)) {
        objects.iter().try_for_each(|object| object.check_depth(depth))?;
    }
    let values = match kind {
        _ if objects.iter().any(O::is_value) => spread_out(&|there, above| held(there, above, depth))?,
        Some(Seen::List) => spread_out(&|there, above| lists(there, missing, above, depth))?,
        Some(Seen::Record) => spread_out(&|there, above| records(there, above, depth))?,
        _ => leaves(objects, first, above)?,
    };
    if !missing {
        return Ok(values);
    }
    Ok(MaskedTensor::new(values, Tensor::bools(&[objects.len()], &present())?)?.into_value())
}

/// Leaves that are all there and of one kind, as most are; none of any others.
fn alike<O: Object>(objects: &[O]) -> Result<Option<Tensor>> {
    let Some(Ok(first)) = objects.first().map(O::seen) else { return Ok(None) };
    macro_rules! all {
        ($kind:ident) => {{
            let leaves = objects.iter().map(|object| match object.seen() {
                Ok(Seen::$kind(value)) => Some(value),
                Ok(_) | Err(_) => None,
            });
            leaves.collect::<Option<Vec<_>>>()
        }};
    }
    let n = [objects.len()];
    Ok(match first {
        Seen::Float(_) => all!(Float).map(Tensor::from_vec),
        Seen::Int(_) => all!(Int).map(Tensor::from_vec),
        Seen::Bool(_) => all!(Bool).map(|all| Tensor::bools(&n, &all)).transpose()?,
        Seen::Str(_) => all!(Str).map(|all| Tensor::strings(&n, &all)).transpose()?,
        Seen::None | Seen::Unsigned(_) | Seen::Bytes(_) | Seen::List | Seen::Record | Seen::Value => None,
    })
}

/// At this depth objects are looked at for lists that are in themselves, before there are too many of them.
const LOOKED: usize = 2;

/// A level with values in it.
fn held<O: Object>(objects: &[&O], above: &Above<'_>, depth: usize) -> Result<Value> {
    if let Some(values) = objects.iter().map(|object| object.value()).collect::<Option<Vec<Value>>>()
        && let Some(joined) = side_by_side(&values.iter().collect::<Vec<_>>())
    {
        return joined.map_err(|e| above.at(0, e));
    }
    let literal = |(i, object): (usize, &&O)| object.literal(&|| above.path(i));
    let literals = objects.iter().enumerate().map(literal).collect::<Result<Vec<Literal>>>()?;
    literals.iter().try_for_each(|literal| check_depth(literal, depth))?;
    // The text of a time is no time: single ones stand beside their kind alone.
    if let Some(single) = literals.iter().find_map(single_of_meaning) {
        let other = literals.iter().position(|literal| single_of_meaning(literal).as_ref() != Some(&single));
        let other = other.unwrap_or(0);
        let found = single_of_meaning(&literals[other]).unwrap_or_else(|| literals[other].kind().to_string());
        let error = Error::dtype(format!("{found} stands beside {single}")).wanted("items of one kind");
        return Err(above.at(other, error));
    }
    let written = |(i, literal): (usize, &Literal)| written_out(literal).map_err(|e| above.at(i, e));
    let written = literals.iter().enumerate().map(written).collect::<Result<Vec<Literal>>>()?;
    column(&written.iter().collect::<Vec<_>>(), above, depth)
}

/// The error of an object that is of another kind than the first.
fn not_alike<O: Object>(object: &O, first: &O, i: usize, above: &Above<'_>) -> Result<Error> {
    let (found, first) = (object.seen()?, first.seen()?);
    let error = Error::value(format!("{} stands beside {}", found.kind(), first.kind()));
    let lists = matches!(found, Seen::List) || matches!(first, Seen::List);
    let wanted = if lists { "equal nesting: lists beside lists alone" } else { "items of one kind" };
    Ok(above.at(i, error.wanted(wanted)))
}

/// A level of lists.
fn lists<O: Object>(objects: &[&O], missing: bool, above: &Above<'_>, depth: usize) -> Result<Value> {
    let count = objects.iter().fold(0_usize, |count, object| count.saturating_add(object.len()));
    affordable(count.saturating_mul(size_of::<O>()))?;
    let (mut lengths, mut inner) = (Vec::with_capacity(objects.len()), Vec::with_capacity(count));
    for (i, object) in objects.iter().enumerate() {
        let Seen::List = object.seen().map_err(|e| above.at(i, e))? else {
            return Err(not_alike(*object, objects[0], i, above)?);
        };
        lengths.push(items_of(*object, &mut inner, i, above)?);
    }
    let values = column(&inner, &Above::Lists(above, &lengths), depth + 1)?;
    let uniform = lengths.iter().all(|n| *n == lengths[0]) && !missing;
    if let Some(dense) = uniform.then(|| split_outer(&values, lengths.len(), lengths[0])).flatten() {
        return dense;
    }
    Ok(RaggedTensor::from_partition(values, RowPartition::from_lengths(lengths)?)?.into_value())
}

/// The value with its outer axis as two; none if something in it is ragged.
fn split_outer(value: &Value, n: usize, k: usize) -> Option<Result<Value>> {
    let split = |t: &Tensor| {
        let dims = t.data()?.dims();
        let sizes: Vec<usize> = [n, k].into_iter().chain(dims[1..].iter().copied()).collect();
        t.with_dims(&sizes)
    };
    if let Value::Tensor(t) = value {
        return Some(split(t).map(Value::Tensor));
    }
    if let Some(x) = typed::<MaskedTensor>(value) {
        let values = split_outer(x.values(), n, k)?;
        return Some(values.and_then(|values| Ok(MaskedTensor::new(values, split(x.mask())?)?.into_value())));
    }
    let inside = |elements: Value| split_outer(&elements, n, k).unwrap_or_else(|| Err(Error::dtype("rows inside")));
    if let Some(made) = over_elements(value, &inside) {
        return Some(made);
    }
    let x = typed::<StructTensor>(value)?;
    let fields: Option<Result<Vec<Field>>> = x
        .fields()
        .iter()
        .map(|(name, value)| Some(split_outer(value, n, k)?.map(|value| (name.clone(), value))))
        .collect();
    let shape: Vec<usize> = [n, k].into_iter().chain(x.shape().to_dims()?[1..].iter().copied()).collect();
    Some(fields?.and_then(|fields| Ok(StructTensor::new(Shape::known(&shape), fields)?.into_value())))
}

/// A level of records: a column per field.
fn records<O: Object>(records: &[&O], above: &Above<'_>, depth: usize) -> Result<Value> {
    let names = records[0].names().map_err(|e| above.at(0, e))?;
    for (i, record) in records.iter().enumerate() {
        let Seen::Record = record.seen().map_err(|e| above.at(i, e))? else {
            return Err(not_alike(*record, records[0], i, above)?);
        };
        if record.len() != names.len() {
            return Err(other_fields(records, &names, above)?);
        }
    }
    let mut fields: Vec<Field> = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        let (below, mut items) = (Above::Field(above, O::text(name)), Vec::with_capacity(records.len()));
        for (i, record) in records.iter().enumerate() {
            match record.field(name, at).map_err(|e| below.at(i, e))? {
                Some(item) => items.push(item),
                None => return Err(other_fields(records, &names, above)?),
            }
        }
        fields.push((Arc::from(O::text(name)), column(&items, &below, depth + 1)?));
    }
    let made = StructTensor::new(Shape::known(&[records.len()]), fields).map_err(|e| above.at(0, e))?;
    Ok(made.into_value())
}

/// The error of records of which some have other fields than the first.
#[cold]
fn other_fields<O: Object>(records: &[&O], names: &[O::Name], above: &Above<'_>) -> Result<Error> {
    for (i, record) in records.iter().enumerate() {
        let Seen::Record = record.seen().map_err(|e| above.at(i, e))? else {
            return not_alike(*record, records[0], i, above);
        };
        let own = record.names().map_err(|e| above.at(i, e))?;
        let other = own.iter().find(|own| !names.iter().any(|name| O::text(name) == O::text(own)));
        if let Some(name) = other {
            let error = Error::value("the first record has no such field").wanted("the same fields in all records");
            return Ok(Above::Field(above, O::text(name)).at(i, error));
        }
    }
    for (at, name) in names.iter().enumerate() {
        for (i, record) in records.iter().enumerate() {
            if record.field(name, at)?.is_none() {
                let error = Error::value("the record has no such field").wanted("the same fields in all records");
                return Ok(Above::Field(above, O::text(name)).at(i, error));
            }
        }
    }
    Ok(Error::value("a record has a field twice").wanted("each field once"))
}

/// A level of leaves, of which one is the first that is there; zero or empty where one is missing.
fn leaves<O: Object>(objects: &[O], first: Option<usize>, above: &Above<'_>) -> Result<Value> {
    let n = [objects.len()];
    let Some(first) = first else { return Ok(Tensor::from_vec(vec![0.0; objects.len()]).into()) };
    macro_rules! all {
        ($($pattern:pat => $value:expr),+; $absent:expr) => {{
            let mut all = Vec::with_capacity(objects.len());
            for (i, object) in objects.iter().enumerate() {
                all.push(match object.seen().map_err(|e| above.at(i, e))? {
                    $($pattern => $value,)+
                    Seen::None => $absent,
                    _ => return Err(not_alike(object, &objects[first], i, above)?),
                });
            }
            all
        }};
    }
    let kind = objects[first].seen().map_err(|e| above.at(first, e))?;
    // Most are all of i64.
    if let (Seen::Int(_), Some(all)) = (kind, whole(objects)) {
        return Ok(Tensor::from_vec(all).into());
    }
    Ok(Value::Tensor(match kind {
        Seen::Bool(_) => Tensor::bools(&n, &all!(Seen::Bool(v) => v; false))?,
        Seen::Str(_) => Tensor::strings(&n, &all!(Seen::Str(v) => v; ""))?,
        Seen::Bytes(_) => Tensor::byte_strings(&n, &all!(Seen::Bytes(v) => v; &[][..]))?,
        Seen::Int(_) | Seen::Unsigned(_) if !has(objects, |seen| matches!(seen, Seen::Float(_))) => {
            match has(objects, |seen| matches!(seen, Seen::Unsigned(_))) {
                true => Tensor::from_vec(unsigned(objects, first, above)?),
                false => Tensor::from_vec(all!(Seen::Int(v) => v; 0)),
            }
        }
        // An integer beside floats is rounded once, to f64.
        _ => Tensor::from_vec(all!(Seen::Float(v) => v, Seen::Int(v) => v as f64, Seen::Unsigned(v) => v as f64; 0.0)),
    }))
}

/// Integers of i64, if that is what all objects are that are there.
fn whole<O: Object>(objects: &[O]) -> Option<Vec<i64>> {
    let number = |object: &O| match object.seen() {
        Ok(Seen::Int(v)) => Some(v),
        Ok(Seen::None) => Some(0),
        Ok(_) | Err(_) => None,
    };
    objects.iter().map(number).collect()
}

/// Whether an object is such; of what says nothing of itself, no.
fn has<O: Object>(objects: &[O], is: impl Fn(Seen<'_>) -> bool) -> bool {
    objects.iter().any(|object| object.seen().is_ok_and(&is))
}

/// Integers of which some are above the largest i64.
///
/// Errors: a negative one among them.
fn unsigned<O: Object>(objects: &[O], first: usize, above: &Above<'_>) -> Result<Vec<u64>> {
    let number = |(i, object): (usize, &O)| match object.seen()? {
        Seen::Unsigned(v) => Ok(v),
        Seen::Int(v) => u64::try_from(v).map_err(|_| {
            let error = Error::value(format!("{v} stands beside an integer above the largest i64"));
            above.at(i, error.wanted("integers that one dtype holds").hint("Write them as floats."))
        }),
        Seen::None => Ok(0),
        _ => Err(not_alike(object, &objects[first], i, above)?),
    };
    objects.iter().enumerate().map(number).collect()
}

/// The values at the places that are present, and zeros, empty text or empty rows at the others.
fn spread(value: &Value, present: &[bool]) -> Result<Value> {
    let mut next = 0;
    let runs: Vec<Run> = present
        .iter()
        .map(|there| {
            let run = Run { source: there.then_some(0), start: next, len: 1 };
            next += usize::from(*there);
            run
        })
        .collect();
    if let Some(x) = typed::<RaggedTensor>(value) {
        let rows = x.partition().data()?;
        let lengths = runs.iter().map(|run| run.source.map_or(0, |_| rows.row(run.start).len()));
        return Ok(RaggedTensor::from_partition(x.values().clone(), RowPartition::from_lengths(lengths)?)?.into_value());
    }
    if let Some(x) = typed::<MaskedTensor>(value) {
        let mask = spread_tensor(x.mask(), &runs)?;
        return Ok(MaskedTensor::new(spread(x.values(), present)?, mask)?.into_value());
    }
    if let Some(x) = typed::<StructTensor>(value) {
        let fields: Result<Vec<Field>> =
            x.fields().iter().map(|(name, value)| Ok((name.clone(), spread(value, present)?))).collect();
        let inner = x.shape().dims().unwrap_or_default().iter().skip(1).copied();
        let shape = Shape::new(std::iter::once(present.len().into()).chain(inner));
        return Ok(StructTensor::new(shape, fields?)?.into_value());
    }
    if let Some(made) = over_elements(value, &|elements| spread(&elements, present)) {
        return made;
    }
    spread_tensor(value.tensor()?, &runs).map(Value::Tensor)
}

fn spread_tensor(tensor: &Tensor, runs: &[Run]) -> Result<Tensor> {
    let dense = tensor.data()?;
    let mut dims = Dims::from_slice(dense.dims());
    let width: usize = dims[1..].iter().product();
    dims[0] = runs.len();
    let wide = runs.iter().map(|run| Run { source: run.source, start: run.start * width, len: width });
    assemble(dense.dtype(), dims, &[dense], wide)
}
