//! From a literal to a value.
//!
//! Lists become axes, column by column: all items at one depth are looked at together. A list level is uniform if its lists
//! have one length and everything inside is uniform too; otherwise it is ragged. Levels are built from what is there, and
//! then spread over the places of `None`.

use super::held::{side_by_side, single_of_meaning, written_out};
use super::{Literal, check_depth};
use crate::args::typed;
use crate::masked::MaskedTensor;
use crate::meaning::over_elements;
use crate::ragged::RaggedTensor;
use crate::structs::{Field, StructTensor};
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
    let literal = literal.into();
    check_depth(&literal, 0)
        .and_then(|()| value_of(&Item { literal: &literal, place: Place::Root }))
        .map_err(|e| e.at_part("constant"))
}

/// An item and where it stands.
#[derive(Clone, Copy)]
struct Item<'a> {
    literal: &'a Literal,
    place: Place<'a>,
}

/// Where an item stands; made a path when an error asks for it.
#[derive(Clone, Copy)]
enum Place<'a> {
    Root,
    In(&'a Item<'a>, usize),
    Field(&'a Item<'a>, &'a str),
}

impl Item<'_> {
    fn path(&self) -> Path {
        match self.place {
            Place::Root => Path::root(),
            Place::In(list, i) => list.path().child(Segment::Index(i)),
            Place::Field(record, name) => record.path().child(Segment::field(name)),
        }
    }

    /// The error, which is here.
    fn at(&self, error: Error) -> Error {
        let path = self.path();
        if path.is_root() { error } else { error.at(path.to_string()) }
    }
}

fn items_of<'a>(list: &'a [Literal], of: &'a Item<'a>) -> impl Iterator<Item = Item<'a>> {
    list.iter().enumerate().map(move |(i, literal)| Item { literal, place: Place::In(of, i) })
}

fn value_of(item: &Item<'_>) -> Result<Value> {
    match item.literal {
        Literal::Value(held) => Ok(held.0.clone()),
        Literal::List(items) => column(&items_of(items, item).collect::<Vec<_>>()),
        Literal::Record(fields) => {
            let field = |(name, literal): &(String, Literal)| {
                Ok((Arc::from(name.as_str()), value_of(&Item { literal, place: Place::Field(item, name) })?))
            };
            let fields: Result<Vec<Field>> = fields.iter().map(field).collect();
            Ok(StructTensor::new(Shape::scalar(), fields?).map_err(|e| item.at(e))?.into_value())
        }
        Literal::None
        | Literal::Bool(_)
        | Literal::Int(_)
        | Literal::Unsigned(_)
        | Literal::Float(_)
        | Literal::Str(_)
        | Literal::Bytes(_) => scalar(item),
    }
}

/// A 0-d value: a column of one without its axis.
fn scalar(item: &Item<'_>) -> Result<Value> {
    let column = column(&[*item])?;
    let single = |t: &Tensor| t.with_dims(&[]);
    match typed::<MaskedTensor>(&column) {
        Some(x) => Ok(MaskedTensor::new(single(x.values().tensor()?)?, single(x.mask())?)?.into_value()),
        None => Ok(single(column.tensor()?)?.into()),
    }
}

/// The items as a value whose outer axis counts them.
fn column(items: &[Item<'_>]) -> Result<Value> {
    let is_there = |item: &Item<'_>| !matches!(item.literal, Literal::None);
    let first = items.iter().find(|item| is_there(item));
    let missing = !items.iter().all(is_there);
    let present = || items.iter().map(is_there).collect::<Vec<bool>>();
    let spread_out = |made: &dyn Fn(&[&Item<'_>]) -> Result<Value>| {
        let values = made(&items.iter().filter(|item| is_there(item)).collect::<Vec<_>>())?;
        if missing { spread(&values, &present()) } else { Ok(values) }
    };
    let values = match first.map(|item| item.literal) {
        _ if items.iter().any(|item| matches!(item.literal, Literal::Value(_))) => spread_out(&held)?,
        Some(Literal::List(_)) => spread_out(&|there| lists(there, missing))?,
        Some(Literal::Record(fields)) => spread_out(&|there| records(there, fields))?,
        _ => leaves(items, first)?,
    };
    if !missing {
        return Ok(values);
    }
    Ok(MaskedTensor::new(values, Tensor::bools(&[items.len()], &present())?)?.into_value())
}

/// A level with values in it.
fn held(items: &[&Item<'_>]) -> Result<Value> {
    let value = |item: &&Item<'_>| match item.literal {
        Literal::Value(held) => Some(held.0.clone()),
        _ => None,
    };
    if let Some(values) = items.iter().map(value).collect::<Option<Vec<Value>>>()
        && let Some(joined) = side_by_side(&values.iter().collect::<Vec<_>>())
    {
        return joined.map_err(|e| items[0].at(e));
    }
    // The text of a time is no time: single ones stand beside their kind alone.
    if let Some(single) = items.iter().find_map(|item| single_of_meaning(item.literal)) {
        let other = |item: &&&Item<'_>| single_of_meaning(item.literal).as_ref() != Some(&single);
        let item = items.iter().find(other).unwrap_or(&items[0]);
        let found = single_of_meaning(item.literal).unwrap_or_else(|| item.literal.kind().to_string());
        let error = Error::dtype(format!("{found} stands beside {single}")).wanted("items of one kind");
        return Err(item.at(error));
    }
    let written: Result<Vec<Literal>> =
        items.iter().map(|item| written_out(item.literal).map_err(|e| item.at(e))).collect();
    let written = written?;
    let plain: Vec<Item<'_>> = items.iter().zip(&written).map(|(item, literal)| Item { literal, ..**item }).collect();
    column(&plain)
}

fn not_alike(item: &Item<'_>, first: &Item<'_>) -> Error {
    let list = |item: &Item<'_>| matches!(item.literal, Literal::List(_));
    let error = Error::value(format!("{} stands beside {}", item.literal.kind(), first.literal.kind()));
    let error = if list(item) || list(first) {
        error.wanted("equal nesting: lists beside lists alone")
    } else {
        error.wanted("items of one kind")
    };
    item.at(error)
}

/// A level of lists.
fn lists(items: &[&Item<'_>], missing: bool) -> Result<Value> {
    let mut lengths = Vec::with_capacity(items.len());
    let total = items.iter().map(|item| if let Literal::List(list) = item.literal { list.len() } else { 0 }).sum();
    let mut inner = Vec::with_capacity(total);
    for item in items {
        let Literal::List(list) = item.literal else { return Err(not_alike(item, items[0])) };
        lengths.push(list.len());
        inner.extend(items_of(list, item));
    }
    let values = column(&inner)?;
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
fn records(items: &[&Item<'_>], first: &[(String, Literal)]) -> Result<Value> {
    for item in items {
        let Literal::Record(fields) = item.literal else { return Err(not_alike(item, items[0])) };
        // Records of one program have their fields in one order.
        if fields.iter().map(|f| &f.0).eq(first.iter().map(|f| &f.0)) {
            continue;
        }
        let unknown = fields.iter().find(|(name, _)| !first.iter().any(|(known, _)| known == name));
        if let Some((name, _)) = unknown {
            let error = Error::value("the first record has no such field").wanted("the same fields in all records");
            return Err(Item { literal: item.literal, place: Place::Field(item, name) }.at(error));
        }
    }
    let field = |(i, (name, _)): (usize, &(String, Literal))| {
        Ok((Arc::from(name.as_str()), column(&field_items(items, name, i)?)?))
    };
    let fields: Result<Vec<Field>> = first.iter().enumerate().map(field).collect();
    let made = StructTensor::new(Shape::known(&[items.len()]), fields?).map_err(|e| items[0].at(e))?;
    Ok(made.into_value())
}

/// One field of all records, which is looked for at its place in the first.
fn field_items<'a>(records: &'a [&Item<'a>], name: &'a str, at: usize) -> Result<Vec<Item<'a>>> {
    let mut items = Vec::with_capacity(records.len());
    for record in records {
        let place = Place::Field(record, name);
        let Literal::Record(fields) = record.literal else { return Err(not_alike(record, records[0])) };
        let found = fields.get(at).filter(|(known, _)| known == name);
        let Some((_, literal)) = found.or_else(|| fields.iter().find(|(known, _)| known == name)) else {
            let error = Error::value("the record has no such field").wanted("the same fields in all records");
            return Err(Item { literal: record.literal, place }.at(error));
        };
        items.push(Item { literal, place });
    }
    Ok(items)
}

/// A level of leaves, of which `first` is the first that is there; zero or empty where one is missing.
fn leaves(items: &[Item<'_>], first: Option<&Item<'_>>) -> Result<Value> {
    let n = [items.len()];
    let Some(first) = first else { return Ok(Tensor::from_vec(vec![0.0; items.len()]).into()) };
    let float = || items.iter().any(|item| matches!(item.literal, Literal::Float(_)));
    let large = || items.iter().any(|item| matches!(item.literal, Literal::Unsigned(_)));
    macro_rules! all {
        ($($pattern:pat => $value:expr),+; $absent:expr) => {
            items.iter().map(|item| match item.literal {
                $($pattern => Ok($value),)+
                Literal::None => Ok($absent),
                _ => Err(not_alike(item, first)),
            }).collect::<Result<Vec<_>>>()?
        };
    }
    Ok(Value::Tensor(match first.literal {
        Literal::Bool(_) => Tensor::bools(&n, &all!(Literal::Bool(v) => *v; false))?,
        Literal::Str(_) => Tensor::strings(&n, &all!(Literal::Str(v) => v.as_str(); ""))?,
        Literal::Bytes(_) => Tensor::byte_strings(&n, &all!(Literal::Bytes(v) => v.as_slice(); &[][..]))?,
        Literal::Int(_) | Literal::Unsigned(_) if !float() && large() => Tensor::from_vec(unsigned(items, first)?),
        Literal::Int(_) if !float() => Tensor::from_vec(all!(Literal::Int(v) => *v; 0)),
        // An integer beside floats is rounded once, to f64.
        _ => Tensor::from_vec(
            all!(Literal::Float(v) => *v, Literal::Int(v) => *v as f64, Literal::Unsigned(v) => *v as f64; 0.0),
        ),
    }))
}

/// Integers of which some are above the largest i64.
///
/// Errors: a negative one among them.
fn unsigned(items: &[Item<'_>], first: &Item<'_>) -> Result<Vec<u64>> {
    let number = |item: &Item<'_>| match item.literal {
        Literal::Unsigned(v) => Ok(*v),
        Literal::Int(v) => u64::try_from(*v).map_err(|_| {
            let error = Error::value(format!("{v} stands beside an integer above the largest i64"));
            item.at(error.wanted("integers that one dtype holds").hint("Write them as floats."))
        }),
        Literal::None => Ok(0),
        _ => Err(not_alike(item, first)),
    };
    items.iter().map(number).collect()
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
