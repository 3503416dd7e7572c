//! From a value to a literal.

use super::Literal;
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
    plain(value, None).and_then(|value| literal(&value)).map_err(|e| e.at_part("to_literal"))
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

fn literal(value: &Value) -> Result<Literal> {
    if let Some(x) = typed::<MaskedTensor>(value).filter(|x| x.mask_rank().is_ok_and(|rank| rank == 0)) {
        return if x.mask().to_bool()? { literal(x.values()) } else { Ok(Literal::None) };
    }
    if rank(value)? > 0 {
        return items(value).map(Literal::List);
    }
    if let Some(x) = typed::<StructTensor>(value) {
        let field = |(name, value): &Field| Ok((name.to_string(), literal(value)?));
        return Ok(Literal::Record(x.fields().iter().map(field).collect::<Result<_>>()?));
    }
    if let Value::Ext(_) = value {
        let mut one = items(&ops::expand_dims(value, 0_i64)?)?;
        return one.pop().ok_or_else(|| Error::internal("one element without an element"));
    }
    let mut leaf = leaves(value.tensor()?.data()?)?;
    leaf.pop().ok_or_else(|| Error::internal("a scalar without an element"))
}

/// The items of the outer axis.
fn items(value: &Value) -> Result<Vec<Literal>> {
    if let Some(x) = typed::<RaggedTensor>(value) {
        let (rows, values) = (x.partition().data()?, items(x.values())?);
        return Ok((0..rows.nrows()).map(|row| Literal::List(values[rows.row(row)].to_vec())).collect());
    }
    if let Some((merged, n, k)) = merge_outer(value)? {
        let inner = items(&merged)?;
        return Ok((0..n).map(|i| Literal::List(inner[i * k..(i + 1) * k].to_vec())).collect());
    }
    if let Some(x) = typed::<MaskedTensor>(value) {
        let (values, mask) = (items(x.values())?, x.mask().data()?.bits()?.clone());
        let item = |(value, there): (Literal, bool)| if there { value } else { Literal::None };
        return Ok(values.into_iter().zip(mask.iter()).map(item).collect());
    }
    if let Some(x) = typed::<StructTensor>(value) {
        return of_records(&x);
    }
    if let Some(items) = of_meaning(value)? {
        return Ok(items);
    }
    leaves(value.tensor()?.data()?)
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

fn of_records(x: &StructTensor) -> Result<Vec<Literal>> {
    let count = x.shape().to_dims().and_then(|dims| dims.first().copied());
    let count = count.ok_or_else(|| Error::scope("the number of records is not known while tracing"))?;
    let columns: Vec<Vec<Literal>> = x.fields().iter().map(|(_, value)| items(value)).collect::<Result<_>>()?;
    let mut records: Vec<Vec<(String, Literal)>> = vec![Vec::with_capacity(columns.len()); count];
    for ((name, _), column) in x.fields().iter().zip(columns) {
        for (record, item) in records.iter_mut().zip(column) {
            record.push((name.to_string(), item));
        }
    }
    Ok(records.into_iter().map(Literal::Record).collect())
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
fn leaves(dense: &Dense) -> Result<Vec<Literal>> {
    affordable(dense.len().saturating_mul(size_of::<Literal>()))?;
    macro_rules! numbers {
        ($($d:ident $t:ty => $x:ident: $literal:expr;)*) => {
            match (dense.dtype(), dense.storage()) {
                $((DType::$d, _) => dense.as_slice::<$t>()?.iter().map(|&$x| $literal).collect(),)*
                (_, Storage::Bits(bits)) => Ok(bits.iter().map(Literal::Bool).collect()),
                (DType::String, _) => (0..dense.len()).map(|i| Ok(Literal::Str(dense.str_at(i)?.to_string()))).collect(),
                (DType::Bytes, _) => (0..dense.len()).map(|i| Ok(Literal::Bytes(dense.text_at(i)?.to_vec()))).collect(),
                (other, _) => Err(Error::dtype(format!("{other} has no literal")).wanted("numbers, booleans or text")),
            }
        };
    }
    numbers! {
        I8 i8 => x: Ok(Literal::Int(x.into()));
        I16 i16 => x: Ok(Literal::Int(x.into()));
        I32 i32 => x: Ok(Literal::Int(x.into()));
        I64 i64 => x: Ok(Literal::Int(x));
        U8 u8 => x: Ok(Literal::Int(x.into()));
        U16 u16 => x: Ok(Literal::Int(x.into()));
        U32 u32 => x: Ok(Literal::Int(x.into()));
        U64 u64 => x: Ok(i64::try_from(x).map_or(Literal::Unsigned(x), Literal::Int));
        F16 half::f16 => x: Ok(Literal::Float(x.into()));
        BF16 half::bf16 => x: Ok(Literal::Float(x.into()));
        F32 f32 => x: Ok(Literal::Float(x.into()));
        F64 f64 => x: Ok(Literal::Float(x));
    }
}
