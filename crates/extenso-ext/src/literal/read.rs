//! From a value to what a host language makes of it, and to a literal.
//!
//! Whatever the host, objects are made column by column: those of all elements, then the lists of them.

use super::{Held, Literal};
use crate::args::{int, typed};
use crate::axes::{rank, witness};
use crate::batchable::records;
use crate::masked::MaskedTensor;
use crate::meaning::elements_of;
use crate::ragged::RaggedTensor;
use crate::specs::shape_of;
use crate::structs::{Field, StructTensor};
use crate::union::UnionTensor;
use extenso_core::kernels::pool::affordable;
use extenso_core::{Dense, ExtensionType, Storage, Tensor, Value, ops};
use extenso_types::{DType, Error, Result, Shape};

/// The value as nested lists and records; a missing value is `None`.
///
/// A value of a user's type is a record of its components. Errors: a symbol; boxed values; a type without components; more than
/// `MAX_EMPTY` lists without any element.
pub fn to_literal(value: &Value) -> Result<Literal> {
    to_host(&Literals, value)
}

/// The value as objects of a host language: nested lists and records, `None` where one is missing.
///
/// Errors: those of [`to_literal`], and of the host.
pub fn to_host<H: Host>(host: &H, value: &Value) -> Result<H::Object> {
    plain(value, None).and_then(|value| object(host, &value)).map_err(|e| e.at_part("to_literal"))
}

/// What a host language makes of elements, of lists and of records.
#[allow(missing_docs)] // The methods' names are those of the literals.
pub trait Host {
    /// An object of the language.
    type Object;
    /// The name of a field, which all records share.
    type Name;
    /// About how many bytes of memory an element takes.
    const SIZE: usize;

    fn none(&self) -> Self::Object;
    fn bool(&self, value: bool) -> Self::Object;
    fn int(&self, value: i64) -> Self::Object;
    fn unsigned(&self, value: u64) -> Self::Object;
    fn float(&self, value: f64) -> Self::Object;
    fn str(&self, value: &str) -> Self::Object;
    fn bytes(&self, value: &[u8]) -> Self::Object;
    /// A value that stands in a literal.
    fn value(&self, value: &Value) -> Result<Self::Object>;
    fn list(&self, items: impl ExactSizeIterator<Item = Self::Object>) -> Result<Self::Object>;
    fn name(&self, name: &str) -> Self::Name;
    /// A record of fields of these names, in order.
    fn record(&self, names: &[Self::Name], items: impl Iterator<Item = Self::Object>) -> Result<Self::Object>;

    /// What a literal is.
    ///
    /// Errors: those of the host.
    fn literal(&self, literal: Literal) -> Result<Self::Object> {
        Ok(match literal {
            Literal::None => self.none(),
            Literal::Bool(value) => self.bool(value),
            Literal::Int(value) => self.int(value),
            Literal::Unsigned(value) => self.unsigned(value),
            Literal::Float(value) => self.float(value),
            Literal::Str(value) => self.str(&value),
            Literal::Bytes(value) => self.bytes(&value),
            Literal::List(items) => {
                let items = items.into_iter().map(|item| self.literal(item)).collect::<Result<Vec<_>>>()?;
                self.list(items.into_iter())?
            }
            Literal::Record(fields) => {
                let field = |(name, item): (String, Literal)| Ok((self.name(&name), self.literal(item)?));
                let fields = fields.into_iter().map(field).collect::<Result<Vec<_>>>()?;
                let (names, items): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
                self.record(&names, items.into_iter())?
            }
            Literal::Value(held) => self.value(held.value())?,
        })
    }
}

/// The host whose objects are literals.
struct Literals;

impl Host for Literals {
    type Object = Literal;
    type Name = String;
    const SIZE: usize = size_of::<Literal>();

    fn none(&self) -> Literal {
        Literal::None
    }
    fn bool(&self, value: bool) -> Literal {
        Literal::Bool(value)
    }
    fn int(&self, value: i64) -> Literal {
        Literal::Int(value)
    }
    fn unsigned(&self, value: u64) -> Literal {
        Literal::Unsigned(value)
    }
    fn float(&self, value: f64) -> Literal {
        Literal::Float(value)
    }
    fn str(&self, value: &str) -> Literal {
        Literal::Str(value.to_string())
    }
    fn bytes(&self, value: &[u8]) -> Literal {
        Literal::Bytes(value.to_vec())
    }
    fn value(&self, value: &Value) -> Result<Literal> {
        Ok(Literal::Value(Held(value.clone())))
    }
    fn list(&self, items: impl ExactSizeIterator<Item = Literal>) -> Result<Literal> {
        Ok(Literal::List(items.collect()))
    }
    fn name(&self, name: &str) -> String {
        name.to_string()
    }
    fn record(&self, names: &[String], items: impl Iterator<Item = Literal>) -> Result<Literal> {
        Ok(Literal::Record(names.iter().cloned().zip(items).collect()))
    }
    fn literal(&self, literal: Literal) -> Result<Literal> {
        Ok(literal)
    }
}

/// The value with records in the place of a user's type, of so many axes if that is known.
fn plain(value: &Value, axes: Option<usize>) -> Result<Value> {
    let Value::Ext(ext) = value else { return Ok(value.clone()) };
    if let Some(rows) = typed::<RaggedTensor>(value) {
        return Ok(rows.with_values(plain(rows.values(), Some(1))?)?.into_value());
    }
    if let Some(masked) = typed::<MaskedTensor>(value) {
        let values = plain(masked.values(), axes.or(Some(masked.mask_rank()?)))?;
        return Ok(MaskedTensor::new(values, masked.mask().clone())?.into_value());
    }
    let records = match typed::<StructTensor>(value) {
        Some(records) if records.fields().is_empty() => return Ok(value.clone()),
        Some(records) => records,
        None if elements_of(value).is_some() || typed::<UnionTensor>(value).is_some() => return Ok(value.clone()),
        None => match records(ext, axes)? {
            Some(records) => records,
            None => return Ok(value.clone()),
        },
    };
    let field = |(name, value): &Field| Ok((name.clone(), plain(value, Some(records.rank()))?));
    let fields: Result<Vec<Field>> = records.fields().iter().map(field).collect();
    Ok(StructTensor::new(records.shape().clone(), fields?)?.into_value())
}

fn object<H: Host>(host: &H, value: &Value) -> Result<H::Object> {
    if let Some(x) = typed::<MaskedTensor>(value).filter(|x| x.mask_rank().is_ok_and(|rank| rank == 0)) {
        return if x.mask().to_bool()? { object(host, x.values()) } else { Ok(host.none()) };
    }
    if rank(value)? > 0 {
        return host.list(items(host, value)?.into_iter());
    }
    if let Some(x) = typed::<StructTensor>(value) {
        let names: Vec<H::Name> = x.fields().iter().map(|(name, _)| host.name(name)).collect();
        let items: Result<Vec<H::Object>> = x.fields().iter().map(|(_, value)| object(host, value)).collect();
        return host.record(&names, items?.into_iter());
    }
    if let Value::Ext(_) = value {
        let mut one = items(host, &ops::expand_dims(value, 0_i64)?)?;
        return one.pop().ok_or_else(|| Error::internal("one element without an element"));
    }
    let mut leaf = leaves(host, value.tensor()?.data()?)?;
    leaf.pop().ok_or_else(|| Error::internal("a scalar without an element"))
}

/// The items of the outer axis.
fn items<H: Host>(host: &H, value: &Value) -> Result<Vec<H::Object>> {
    if let Some(x) = typed::<RaggedTensor>(value) {
        let (rows, values) = (x.partition().data()?, items(host, x.values())?);
        // What stands before the first row and behind the last is in none.
        let mut values = values.into_iter().skip(rows.first());
        return (0..rows.nrows()).map(|row| host.list(values.by_ref().take(rows.row(row).len()))).collect();
    }
    if let Some((merged, n, k)) = merge_outer(value)? {
        let mut inner = items(host, &merged)?.into_iter();
        return (0..n).map(|_| host.list(inner.by_ref().take(k))).collect();
    }
    if let Some(x) = typed::<MaskedTensor>(value) {
        let (values, mask) = (items(host, x.values())?, x.mask().data()?.bits()?.clone());
        let item = |(value, there): (H::Object, bool)| if there { value } else { host.none() };
        return Ok(values.into_iter().zip(mask.iter()).map(item).collect());
    }
    if let Some(x) = typed::<StructTensor>(value) {
        return of_records(host, &x);
    }
    if let Some(items) = of_meaning(value)? {
        return items.into_iter().map(|item| host.literal(item)).collect();
    }
    leaves(host, value.tensor()?.data()?)
}

/// The items of a type that is one value under a meaning; none of another type.
fn of_meaning(value: &Value) -> Result<Option<Vec<Literal>>> {
    if let Some(Literal::List(items)) = crate::categorical::literals(value)? {
        return Ok(Some(items));
    }
    for items in [crate::temporal::literals, crate::decimal::literals, crate::logical::literals, crate::union::literals]
    {
        if let Some(items) = items(value)? {
            return Ok(Some(items));
        }
    }
    Ok(None)
}

fn of_records<H: Host>(host: &H, x: &StructTensor) -> Result<Vec<H::Object>> {
    let count = x.shape().to_dims().and_then(|dims| dims.first().copied());
    let count = count.ok_or_else(|| Error::scope("the number of records is not known while tracing"))?;
    let names: Vec<H::Name> = x.fields().iter().map(|(name, _)| host.name(name)).collect();
    let column = |(_, value): &Field| Ok(items(host, value)?.into_iter());
    let mut columns: Vec<std::vec::IntoIter<H::Object>> = x.fields().iter().map(column).collect::<Result<_>>()?;
    let mut record = |_| host.record(&names, columns.iter_mut().filter_map(Iterator::next));
    (0..count).map(&mut record).collect()
}

/// The value with a mask for each of records of two axes, where it has one for those of the first alone.
fn masked_by_record(value: &Value, n: usize, k: usize) -> Result<Value> {
    match typed::<MaskedTensor>(value) {
        Some(x) if x.mask_rank()? == 1 => {
            let mask = ops::broadcast_to(ops::expand_dims(x.mask(), 1)?, vec![int(n), int(k)])?;
            Ok(MaskedTensor::new(x.values().clone(), mask.tensor()?.clone())?.into_value())
        }
        _ => Ok(value.clone()),
    }
}

/// The value with its outer two axes as one, and their sizes; none for a value that is looked at item by item.
fn merge_outer(value: &Value) -> Result<Option<(Value, usize, usize)>> {
    if let Some(x) = typed::<MaskedTensor>(value) {
        if x.mask_rank()? < 2 {
            return Ok(None);
        }
        let Some((values, n, k)) = merge_outer(x.values())? else { return Ok(None) };
        let mask = merged(x.mask())?.0;
        return Ok(Some((MaskedTensor::new(values, mask)?.into_value(), n, k)));
    }
    if let Some(x) = typed::<StructTensor>(value) {
        let dims = x.shape().to_dims().unwrap_or_default();
        let [n, k, inner @ ..] = &dims[..] else { return Ok(None) };
        let field = |(name, value): &Field| match merge_outer(&masked_by_record(value, *n, *k)?)? {
            Some((value, ..)) => Ok((name.clone(), value)),
            None => Err(Error::internal(format!("field '{name}' has fewer axes than its records"))),
        };
        let fields: Result<Vec<Field>> = x.fields().iter().map(field).collect();
        let shape: Vec<usize> = std::iter::once(n * k).chain(inner.iter().copied()).collect();
        return Ok(Some((StructTensor::new(Shape::known(&shape), fields?)?.into_value(), *n, *k)));
    }
    match value {
        Value::Tensor(t) if rank(value)? >= 2 => {
            t.data()?.check_lists()?;
            merged(t).map(|(t, n, k)| Some((t.into(), n, k)))
        }
        Value::Ext(_) => merge_meant(value),
        Value::Tensor(_) | Value::Partition(_) => Ok(None),
    }
}

/// As [`merge_outer`], for a type whose elements `reshape` moves.
fn merge_meant(value: &Value) -> Result<Option<(Value, usize, usize)>> {
    let Some(dims) = shape_of(&value.spec()?).to_dims() else { return Ok(None) };
    let [n, k, inner @ ..] = &dims[..] else { return Ok(None) };
    witness(value)?.tensor()?.data()?.check_lists()?;
    let sizes: Vec<i64> = std::iter::once(n * k).chain(inner.iter().copied()).map(int).collect();
    Ok(ops::reshape(value, sizes).ok().map(|merged| (merged, *n, *k)))
}

fn merged(t: &Tensor) -> Result<(Tensor, usize, usize)> {
    let [n, k, inner @ ..] = t.data()?.dims() else { return Err(Error::internal("fewer than two axes")) };
    let dims: Vec<usize> = std::iter::once(n * k).chain(inner.iter().copied()).collect();
    Ok((t.with_dims(&dims)?, *n, *k))
}

/// The elements of a tensor without inner axes.
fn leaves<H: Host>(host: &H, dense: &Dense) -> Result<Vec<H::Object>> {
    affordable(dense.len().saturating_mul(H::SIZE))?;
    macro_rules! numbers {
        ($($d:ident $t:ty => $x:ident: $object:expr;)*) => {
            match (dense.dtype(), dense.storage()) {
                $((DType::$d, _) => Ok(dense.as_slice::<$t>()?.iter().map(|&$x| $object).collect()),)*
                (_, Storage::Bits(bits)) => Ok(bits.iter().map(|bit| host.bool(bit)).collect()),
                (DType::String, _) => (0..dense.len()).map(|i| Ok(host.str(dense.str_at(i)?))).collect(),
                (DType::Bytes, _) => (0..dense.len()).map(|i| Ok(host.bytes(dense.text_at(i)?))).collect(),
                (other, _) => Err(Error::dtype(format!("{other} has no literal")).wanted("numbers, booleans or text")),
            }
        };
    }
    numbers! {
        I8 i8 => x: host.int(x.into());
        I16 i16 => x: host.int(x.into());
        I32 i32 => x: host.int(x.into());
        I64 i64 => x: host.int(x);
        U8 u8 => x: host.int(x.into());
        U16 u16 => x: host.int(x.into());
        U32 u32 => x: host.int(x.into());
        U64 u64 => x: i64::try_from(x).map_or_else(|_| host.unsigned(x), |x| host.int(x));
        F16 half::f16 => x: host.float(x.into());
        BF16 half::bf16 => x: host.float(x.into());
        F32 f32 => x: host.float(x.into());
        F64 f64 => x: host.float(x);
    }
}
