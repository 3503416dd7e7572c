//! From a literal to a value of a spec that is given.
//!
//! Items are built column by column, as without a spec, but what becomes an axis, a row, a record or a missing value is said
//! by the spec. Where an element is missing, or a record is, the values below are absent: zeros, empty text, empty rows.

use super::held::{holds_values, written_out};
use super::{Literal, check_depth};
use crate::masked::{MaskedTensor, MaskedTensorSpec};
use crate::ragged::{RaggedTensor, RaggedTensorSpec};
use crate::spelling::{Cell, Spelling};
use crate::structs::{Field, StructSpec, StructTensor};
use extenso_core::kernels::pool::{affordable, buffer};
use extenso_core::{
    ExtensionType, Offsets, Provenance, RowPartition, Tensor, TypeSpec, Value, element_count, ops, pack,
};
use extenso_types::{
    DType, DTypeKind, Dim, Error, ExtSpec, PartitionSpec, Path, Result, Segment, Shape, Spec, TensorSpec,
};
use std::rc::Rc;
use std::sync::Arc;

/// How many elements may lie under what is missing: a spec alone must not take the memory.
const MAX_ABSENT: usize = 1 << 28;

/// The value of a spec that a literal means: its dtypes, rows and masks are those of the spec, whatever the lengths.
///
/// An element that may be missing is `None`, and so is the field of a record that does not have it.
/// Errors, with the path: a literal that is not of the spec's dtypes, sizes or fields; a number outside its dtype; a missing
/// element that the spec does not allow; a spec of row partitions or foreign types, which have no literals.
///
/// Times, decimals and identifiers are values of themselves, or texts that spell them ([`Spelling`]); one that the unit, the scale or the zone
/// of the spec does not have exactly is an error.
///
/// ```
/// # use extenso_ext::{Literal, constant, constant_of, to_literal};
/// let spec = constant(vec![vec![1], vec![2, 3]]).unwrap().spec().unwrap();
/// let x = constant_of(vec![vec![4, 5], vec![6]], &spec).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), "[[4, 5], [6]]");
/// ```
pub fn constant_of(literal: impl Into<Literal>, spec: &Spec) -> Result<Value> {
    let literal = literal.into();
    // What a value means is said by the spec alone.
    let literal = if holds_values(&literal) { written_out(&literal).map_err(|e| e.at("constant"))? } else { literal };
    let whole = Item { literal: Some(&literal), place: Place::Root };
    check_depth(&literal, 0).and_then(|()| build(spec, vec![], vec![whole])).map_err(|e| e.at("constant"))
}

/// A literal and where it stands; none where something around it is missing.
#[derive(Clone)]
struct Item<'a> {
    literal: Option<&'a Literal>,
    place: Place,
}

/// Where an item stands; made a path when an error asks for it.
#[derive(Clone)]
enum Place {
    Root,
    In(Rc<Place>, usize),
    Field(Rc<Place>, Arc<str>),
}

impl Place {
    fn path(&self) -> Path {
        match self {
            Place::Root => Path::root(),
            Place::In(list, i) => list.path().child(Segment::Index(*i)),
            Place::Field(record, name) => record.path().child(Segment::field(name.clone())),
        }
    }
}

impl<'a> Item<'a> {
    fn error(&self, error: Error) -> Error {
        let path = self.place.path();
        if path.is_root() { error } else { error.at(path.to_string()) }
    }

    fn found(&self, wanted: &str) -> Error {
        let found = self.literal.map_or("nothing", Literal::kind);
        self.error(Error::value(format!("found {found}")).wanted(wanted))
    }

    /// The items of a list; none if the item is absent.
    fn list(&self, wanted: &str) -> Result<Option<Vec<Item<'a>>>> {
        match self.literal {
            None => Ok(None),
            Some(Literal::List(items)) => {
                let list = Rc::new(self.place.clone());
                let item = |(i, literal)| Item { literal: Some(literal), place: Place::In(list.clone(), i) };
                Ok(Some(items.iter().enumerate().map(item).collect()))
            }
            Some(_) => Err(self.found(wanted)),
        }
    }

    fn is_missing(&self) -> bool {
        matches!(self.literal, None | Some(Literal::None))
    }

    /// The item without its literal.
    fn absent(&self) -> Item<'a> {
        Item { literal: None, place: self.place.clone() }
    }
}

/// The value of `spec`, whose first axes have the sizes `lead`, of these items in order.
fn build(spec: &Spec, lead: Vec<usize>, items: Vec<Item<'_>>) -> Result<Value> {
    match spec {
        Spec::Tensor(spec) => tensor(spec, lead, items),
        Spec::Partition(_) => Err(Error::dtype("the spec is of a row partition").wanted("a tensor, rows, or records")),
        Spec::Ext(spec) if spec.def.is_a(StructSpec::def()) => records(spec, lead, items),
        Spec::Ext(spec) if spec.def.is_a(RaggedTensorSpec::def()) => rows(spec, lead, items),
        Spec::Ext(spec) if spec.def.is_a(MaskedTensorSpec::def()) => masked(spec, lead, items),
        Spec::Ext(spec) => match Spelling::of(spec).filter(|spelling| !spelling.is_bytes()) {
            Some(spelling) => meant(spec, &spelling, lead, items),
            None => Err(Error::dtype(format!("the spec is of a {}", spec.def.name()))
                .wanted("tensors, rows, masked values, records, times and decimals")
                .hint("Make the value by its own constructor, and the record by `StructTensor`.")),
        },
    }
}

/// Times, decimals and identifiers of the texts that spell them; an absent one is zero.
fn meant(spec: &ExtSpec, spelling: &Spelling, lead: Vec<usize>, items: Vec<Item<'_>>) -> Result<Value> {
    let Spec::Tensor(cells) = component(spec, 0)? else { return Err(Error::value(format!("{spec} has no tensor"))) };
    let inner = usize::from(spelling.dtype() == DType::U8);
    let (mut dims, items) = match cells.shape.dims() {
        Some(dims) if dims.len() < lead.len() + inner => {
            return Err(too_few_axes(dims.len().saturating_sub(inner), lead.len()));
        }
        Some(dims) => to_axes(&dims[..dims.len() - inner], lead, items)?,
        None => any_axes(lead, items)?,
    };
    let width = spelling.width();
    affordable(element_count(&dims)?.saturating_mul(width))?;
    let mut bytes = Vec::with_capacity(items.len() * width);
    for item in &items {
        bytes.extend_from_slice(&cell(spelling, item)?[..width]);
    }
    dims.extend((inner > 0).then_some(width));
    let cells = Tensor::from_buffer(spelling.dtype(), &dims, buffer(bytes))?;
    pack(&Spec::Ext(spec.clone().into()), &mut std::iter::once(cells.into()), Provenance::Outside)
}

fn cell(spelling: &Spelling, item: &Item<'_>) -> Result<Cell> {
    let text = match item.literal {
        None => return Ok(Cell::default()),
        Some(Literal::None) => return Err(missing(item)),
        Some(Literal::Str(text)) => text.clone(),
        Some(number @ (Literal::Int(_) | Literal::Unsigned(_) | Literal::Float(_))) if spelling.is_number() => {
            number.to_string()
        }
        Some(_) => return Err(item.found(&spelling.wanted())),
    };
    let wrong = || item.error(Error::value(format!("found '{text}'")).wanted(spelling.wanted()));
    spelling.parse(&text).ok_or_else(wrong)
}

/// The items one list further in, and the sizes with that of the lists; `wanted` is what the spec says of it.
fn deeper<'a>(mut lead: Vec<usize>, items: Vec<Item<'a>>, wanted: Dim) -> Result<(Vec<usize>, Vec<Item<'a>>)> {
    let lists: Result<Vec<Option<Vec<Item<'a>>>>> = items.iter().map(|item| item.list("a list")).collect();
    let lists = lists?;
    let first = lists.iter().flatten().map(Vec::len).next();
    let size = wanted.known().or(first).unwrap_or(0);
    let absent = lists.iter().filter(|list| list.is_none()).count().saturating_mul(size);
    if absent > MAX_ABSENT {
        return Err(
            Error::value(format!("{absent} elements are under what is missing")).wanted("a spec of smaller axes")
        );
    }
    let mut inner = Vec::new();
    for (item, list) in items.iter().zip(lists) {
        match list {
            Some(list) if list.len() == size => inner.extend(list),
            Some(list) => {
                let error = Error::shape(format!("the list has {} items", list.len()));
                return Err(item.error(error.wanted(format!("{size}, as the spec or the first list has"))));
            }
            None => inner.extend(std::iter::repeat_n(item.absent(), size)),
        }
    }
    lead.push(size);
    Ok((lead, inner))
}

/// The items inside as many lists as the spec has further axes.
fn to_axes<'a>(shape: &[Dim], mut lead: Vec<usize>, mut items: Vec<Item<'a>>) -> Result<(Vec<usize>, Vec<Item<'a>>)> {
    for (axis, (given, wanted)) in lead.iter().zip(shape).enumerate() {
        if wanted.known().is_some_and(|n| n != *given) {
            let error =
                Error::shape(format!("axis {axis} has size {given}")).wanted(format!("{wanted}, as the spec has"));
            return Err(items.first().map_or(error.clone(), |item| item.error(error)));
        }
    }
    for wanted in shape.iter().skip(lead.len()) {
        (lead, items) = deeper(lead, items, *wanted)?;
    }
    Ok((lead, items))
}

fn tensor(spec: &TensorSpec, lead: Vec<usize>, items: Vec<Item<'_>>) -> Result<Value> {
    let (dims, items) = match spec.shape.dims() {
        Some(dims) if dims.len() < lead.len() => return Err(too_few_axes(dims.len(), lead.len())),
        Some(dims) => to_axes(dims, lead, items)?,
        None => any_axes(lead, items)?,
    };
    element_count(&dims)?;
    Ok(leaves(spec.dtype, &items)?.with_dims(&dims)?.into())
}

fn too_few_axes(rank: usize, lead: usize) -> Error {
    Error::shape(format!("the spec has rank {rank} inside {lead} axes"))
        .wanted("the axes of the records, and any inside")
}

/// As many axes as the literal has lists.
fn any_axes<'a>(mut lead: Vec<usize>, mut items: Vec<Item<'a>>) -> Result<(Vec<usize>, Vec<Item<'a>>)> {
    while items.iter().any(|item| matches!(item.literal, Some(Literal::List(_)))) {
        (lead, items) = deeper(lead, items, Dim::any())?;
    }
    Ok((lead, items))
}

/// A vector of this dtype; an absent item is zero, false, or empty.
fn leaves(dtype: DType, items: &[Item<'_>]) -> Result<Tensor> {
    let wanted = format!("a value of {dtype}");
    macro_rules! all {
        ($($pattern:pat => $value:expr),+; $absent:expr) => {
            items.iter().map(|item| match item.literal {
                None => Ok($absent),
                $(Some($pattern) => Ok($value),)+
                Some(Literal::None) => Err(missing(item)),
                Some(_) => Err(item.found(&wanted)),
            }).collect::<Result<Vec<_>>>()?
        };
    }
    let n = [items.len()];
    match dtype.kind() {
        DTypeKind::Bool => Tensor::bools(&n, &all!(Literal::Bool(v) => *v; false)),
        DTypeKind::Text if dtype == DType::Bytes => {
            Tensor::byte_strings(&n, &all!(Literal::Bytes(v) => v.as_slice(); &[][..]))
        }
        DTypeKind::Text => Tensor::strings(&n, &all!(Literal::Str(v) => v.as_str(); "")),
        DTypeKind::Unsigned if items.iter().any(|item| matches!(item.literal, Some(Literal::Unsigned(_)))) => {
            let numbers = all!(Literal::Unsigned(v) => Some(*v), Literal::Int(v) => u64::try_from(*v).ok(); Some(0));
            let outside = |(item, number): (&Item<'_>, &Option<u64>)| match number {
                Some(number) if dtype == DType::U64 => Ok(*number),
                _ => Err(item.found(&wanted)),
            };
            Ok(Tensor::from_vec(items.iter().zip(&numbers).map(outside).collect::<Result<Vec<u64>>>()?))
        }
        DTypeKind::Signed | DTypeKind::Unsigned => {
            let numbers = all!(Literal::Int(v) => *v; 0);
            in_range(dtype, &numbers, items)?;
            cast(Tensor::from_vec(numbers), dtype)
        }
        DTypeKind::Float
            if items.iter().any(|item| matches!(item.literal, Some(Literal::Float(_) | Literal::Unsigned(_)))) =>
        {
            cast(
                Tensor::from_vec(
                    all!(Literal::Float(v) => *v, Literal::Int(v) => *v as f64, Literal::Unsigned(v) => *v as f64; 0.0),
                ),
                dtype,
            )
        }
        DTypeKind::Float => cast(Tensor::from_vec(all!(Literal::Int(v) => *v; 0_i64)), dtype),
        DTypeKind::Variant => Err(Error::dtype("boxed values have no literal").wanted("numbers, booleans or text")),
    }
}

fn cast(numbers: Tensor, dtype: DType) -> Result<Tensor> {
    if numbers.dtype() == dtype { Ok(numbers) } else { ops::cast(numbers, dtype)?.tensor().cloned() }
}

fn missing(item: &Item<'_>) -> Error {
    item.error(
        Error::missing("the element is missing")
            .wanted("a value")
            .hint("Use a masked spec where elements may be missing."),
    )
}

fn in_range(dtype: DType, numbers: &[i64], items: &[Item<'_>]) -> Result<()> {
    let signed = dtype.kind() == DTypeKind::Signed;
    let bits = 8 * dtype.width().unwrap_or(8);
    let (low, high) = match (signed, bits) {
        (_, 64..) => (if signed { i64::MIN } else { 0 }, i64::MAX),
        (true, bits) => (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1),
        (false, bits) => (0, (1_i64 << bits) - 1),
    };
    match numbers.iter().zip(items).find(|(n, _)| !(low..=high).contains(*n)) {
        None => Ok(()),
        Some((n, item)) => {
            Err(item.error(Error::value(format!("{n} is outside {dtype}")).wanted(format!("{low} to {high}"))))
        }
    }
}

fn component(spec: &ExtSpec, at: usize) -> Result<&Spec> {
    let found = spec.components.get(at).map(|(_, spec)| spec);
    found.ok_or_else(|| Error::value(format!("{spec} lacks a component")).wanted("a spec of the type"))
}

/// Rows of the values that the spec has; the outer axis is the rows.
fn rows(spec: &ExtSpec, lead: Vec<usize>, items: Vec<Item<'_>>) -> Result<Value> {
    let (values, partition) = (component(spec, 0)?, component(spec, 1)?);
    let Spec::Partition(partition) = partition else { return Err(Error::value(format!("{spec} has no partition"))) };
    let (lead, items) = to_axes(&[partition.nrows], lead, items)?;
    if lead.len() != 1 {
        return Err(Error::shape(format!("rows stand inside {} axes", lead.len())).wanted("rows of one outer axis"));
    }
    if let Some(item) = items.iter().find(|item| matches!(item.literal, Some(Literal::None))) {
        return Err(missing(item));
    }
    if let Some(length) = partition.uniform_row_length {
        let partition = RowPartition::of_length(items.len(), length, partition.index)?;
        let (_, inner) = deeper(lead, items, Dim::Known(length))?;
        let values = build(values, vec![inner.len()], inner)?;
        return Ok(RaggedTensor::from_partition(values, partition)?.into_value());
    }
    let (mut lengths, mut inner) = (Vec::with_capacity(items.len()), Vec::new());
    for item in &items {
        let list = item.list("a list")?.unwrap_or_default();
        lengths.push(list.len());
        inner.extend(list);
    }
    let partition = partition_of(&lengths, partition)?;
    let values = build(values, vec![inner.len()], inner)?;
    Ok(RaggedTensor::from_partition(values, partition)?.into_value())
}

/// The partition of these lengths in the width of the spec.
fn partition_of(lengths: &[usize], spec: &PartitionSpec) -> Result<RowPartition> {
    if spec.index != DType::I32 {
        return RowPartition::from_lengths(lengths.iter().copied());
    }
    let (mut end, mut offsets) = (0_usize, vec![0_i32]);
    for length in lengths {
        end += length;
        let offset =
            i32::try_from(end).map_err(|_| Error::value(format!("{end} values are in rows")).wanted("i64 splits"));
        offsets.push(offset?);
    }
    RowPartition::from_offsets(Offsets::I32(offsets.into()), end)
}

fn masked(spec: &ExtSpec, lead: Vec<usize>, items: Vec<Item<'_>>) -> Result<Value> {
    let (values, mask) = (component(spec, 0)?, component(spec, 1)?);
    let Spec::Tensor(mask) = mask else { return Err(Error::value(format!("{spec} has no mask"))) };
    let dims = mask.shape.dims().ok_or_else(|| Error::shape("the rank of the mask is not known").wanted("a rank"))?;
    if dims.len() < lead.len() {
        return Err(too_few_axes(dims.len(), lead.len()));
    }
    let (lead, items) = to_axes(dims, lead, items)?;
    let there: Vec<bool> = items.iter().map(|item| !item.is_missing()).collect();
    let items = items.iter().map(|item| if item.is_missing() { item.absent() } else { item.clone() }).collect();
    let mask = Tensor::bools(&lead, &there)?;
    Ok(MaskedTensor::new(build(values, lead, items)?, mask)?.into_value())
}

fn records(spec: &ExtSpec, lead: Vec<usize>, items: Vec<Item<'_>>) -> Result<Value> {
    let spec = StructSpec::deserialize(spec)?;
    let shape = spec.known_shape();
    let dims = shape.dims().unwrap_or_default();
    if dims.len() < lead.len() {
        return Err(too_few_axes(dims.len(), lead.len()));
    }
    let (lead, items) = to_axes(dims, lead, items)?;
    items.iter().try_for_each(|item| check_record(item, &spec))?;
    let places: Vec<Rc<Place>> = items.iter().map(|item| Rc::new(item.place.clone())).collect();
    let field = |(i, (name, field)): (usize, &(Arc<str>, Spec))| {
        let inner = items
            .iter()
            .zip(&places)
            .map(|(item, place)| field_item(item.literal, Place::Field(place.clone(), name.clone()), name, i, field));
        let inner: Result<Vec<Item<'_>>> = inner.collect();
        Ok((name.clone(), build(field, lead.clone(), inner?)?))
    };
    let fields: Result<Vec<Field>> = spec.fields().iter().enumerate().map(field).collect();
    Ok(StructTensor::new(Shape::known(&lead), fields?)?.into_value())
}

fn check_record(item: &Item<'_>, spec: &StructSpec) -> Result<()> {
    let fields = match item.literal {
        None => return Ok(()),
        Some(Literal::Record(fields)) => fields,
        Some(Literal::None) => return Err(missing(item)),
        Some(_) => return Err(item.found("a record")),
    };
    // Records of one program have their fields in one order.
    if fields.iter().map(|(name, _)| name.as_str()).eq(spec.fields().iter().map(|(name, _)| &**name)) {
        return Ok(());
    }
    match fields.iter().find(|(name, _)| !spec.fields().iter().any(|(known, _)| **known == **name)) {
        None => Ok(()),
        Some((name, _)) => {
            let known: Vec<&str> = spec.fields().iter().map(|(name, _)| &**name).collect();
            let error = Error::value("the spec has no such field").wanted(format!("one of: {}", known.join(", ")));
            Err(error.at(item.place.path().child(Segment::field(name.as_str())).to_string()))
        }
    }
}

/// One field of a record; the one that a masked spec lets it go without is missing.
fn field_item<'a>(record: Option<&'a Literal>, place: Place, name: &str, at: usize, spec: &Spec) -> Result<Item<'a>> {
    let Some(Literal::Record(fields)) = record else { return Ok(Item { literal: None, place }) };
    let found = fields.get(at).filter(|(known, _)| known == name);
    match found.or_else(|| fields.iter().find(|(known, _)| known == name)) {
        Some((_, literal)) => Ok(Item { literal: Some(literal), place }),
        None if is_optional(spec) => Ok(Item { literal: Some(&Literal::None), place }),
        None => Err(Error::missing("the record has no such field")
            .wanted("a value")
            .hint("Use a masked spec where fields may be missing.")
            .at(place.path().to_string())),
    }
}

fn is_optional(spec: &Spec) -> bool {
    matches!(spec, Spec::Ext(spec) if spec.def.is_a(MaskedTensorSpec::def()))
}
