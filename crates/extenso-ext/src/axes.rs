//! The axes of any value: its rank, its outer size, and tensors that stand for its rows.
//!
//! Invariant: nothing here reads data. A foreign type has the axes that it shares with its components if it is batchable, otherwise those of
//! the component that holds the value itself; without one it has no more than the outer axis that its components have alike.

use crate::args::{int, typed_ref};
use crate::batchable::records_of;
use crate::decimal::DecimalTensor;
use crate::logical::FixedBytesTensor;
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use crate::specs::shape_of;
use crate::structs::StructTensor;
use crate::temporal::IntervalTensor;
use extenso_core::attrs::Axes;
use extenso_core::{Ext, RowPartition, Scalar, Tensor, Value, ops};
use extenso_types::{DType, DTypeKind, Dim, Error, Result, Segment};
use std::borrow::Cow;

/// The number of axes, ragged ones included.
///
/// Errors: a tensor of unknown rank, a row partition, a foreign type without a component that holds the value itself.
pub fn rank(value: &Value) -> Result<usize> {
    match value {
        Value::Tensor(t) => t.shape().rank().ok_or_else(|| {
            Error::shape(format!("the rank of {} is not known", t.spec()))
                .wanted("a known rank")
                .hint("Give the function's argument a spec with a rank.")
        }),
        Value::Partition(_) => Err(not_a_tensor("a row partition")),
        Value::Ext(ext) => match known(value) {
            Known::Ragged(x) => Ok(rank(x.values())? + 1),
            Known::Masked(x) => rank(x.values()),
            Known::Struct(x) => Ok(x.rank()),
            Known::Cells(x) => Ok(rank(&x.into())?.saturating_sub(1)),
            Known::Foreign => rank(&itself(ext)?),
        },
    }
}

/// Whether it is known what the axes of a value are: not of a foreign type without a component that holds the value itself.
pub(crate) fn has_axes(value: &Value) -> bool {
    match value {
        Value::Tensor(_) | Value::Partition(_) => true,
        Value::Ext(ext) => match known(value) {
            Known::Ragged(_) | Known::Masked(_) | Known::Struct(_) | Known::Cells(_) => true,
            Known::Foreign => ext.spec().is_ok_and(|spec| spec.component(&Segment::Itself).is_some()),
        },
    }
}

/// The size of the outer axis; none for a scalar, an unknown size where nothing is known of it.
pub fn outer(value: &Value) -> Option<Dim> {
    match value {
        Value::Tensor(t) => t.shape().dims().map_or_else(|| Some(Dim::any()), |dims| dims.first().copied()),
        Value::Partition(p) => Some(p.spec().nrows),
        Value::Ext(ext) => match known(value) {
            Known::Ragged(x) => Some(x.partition().spec().nrows),
            Known::Masked(x) => outer(x.values()),
            Known::Struct(x) => x.shape().dims().and_then(|dims| dims.first().copied()),
            Known::Cells(x) => x.shape().dims().and_then(|dims| dims.split_last()?.1.first().copied()),
            Known::Foreign => itself(ext).map_or_else(|_| shared_outer(ext), |value| outer(&value)),
        },
    }
}

/// The outer size that all components have; none if all are scalars, an unknown size where they differ.
fn shared_outer(ext: &Ext) -> Option<Dim> {
    let components = ext.components().unwrap_or_default();
    let mut sizes = components.iter().map(outer);
    let Some(first) = sizes.next() else { return Some(Dim::any()) };
    if sizes.all(|size| size == first) { first } else { Some(Dim::any()) }
}

/// A value by how its axes are found.
enum Known<'a> {
    Ragged(Cow<'a, RaggedTensor>),
    Masked(Cow<'a, MaskedTensor>),
    Struct(Cow<'a, StructTensor>),
    /// Elements of so many bytes: the innermost axis is one element.
    Cells(Tensor),
    Foreign,
}

fn known(value: &Value) -> Known<'_> {
    // What a value is as it stands is asked before what it refines, which takes longer.
    if let Value::Ext(ext) = value {
        if let Some(x) = ext.downcast() {
            return Known::Ragged(Cow::Borrowed(x));
        }
        if let Some(x) = ext.downcast() {
            return Known::Masked(Cow::Borrowed(x));
        }
        if let Some(x) = ext.downcast() {
            return Known::Struct(Cow::Borrowed(x));
        }
    }
    let ragged = typed_ref(value).map(Known::Ragged);
    let masked = || typed_ref(value).map(Known::Masked);
    let record = || typed_ref(value).or_else(|| batch(value).map(Cow::Owned)).map(Known::Struct);
    ragged.or_else(masked).or_else(record).or_else(|| cells(value).map(Known::Cells)).unwrap_or(Known::Foreign)
}

/// The records that a value of a type that refines `Batchable` moves as.
fn batch(value: &Value) -> Option<StructTensor> {
    match value {
        Value::Ext(ext) => records_of(ext),
        Value::Tensor(_) | Value::Partition(_) => None,
    }
}

/// The bytes of elements of a fixed width.
fn cells(value: &Value) -> Option<Tensor> {
    let decimal = typed_ref::<DecimalTensor>(value).map(|x| x.cells().clone());
    let interval = || typed_ref::<IntervalTensor>(value).map(|x| x.cells().clone());
    let bytes = || typed_ref::<FixedBytesTensor>(value).map(|x| x.cells().clone());
    decimal.or_else(interval).or_else(bytes)
}

/// The component that holds the value itself.
fn itself(ext: &Ext) -> Result<Value> {
    let at = ext.spec()?.components.iter().position(|(segment, _)| *segment == Segment::Itself);
    let component = at.and_then(|i| ext.components().ok()?.into_iter().nth(i));
    component.ok_or_else(|| not_a_tensor(&format!("a value of type {}", ext.def().name())))
}

fn not_a_tensor(found: &str) -> Error {
    Error::dtype(format!("found {found}, which has no axes"))
        .wanted("a tensor, or a type with a component for the value itself")
}

/// A tensor whose outer size is the value's, for ops that look at sizes only.
///
/// Errors: a scalar; a type of which no component has the outer axis.
pub(crate) fn witness(value: &Value) -> Result<Value> {
    match value {
        Value::Tensor(_) => Ok(value.clone()),
        Value::Partition(p) => ops::row_lengths(p),
        Value::Ext(ext) => match known(value) {
            Known::Ragged(x) => ops::row_lengths(x.partition()),
            Known::Masked(x) => witness(x.values()),
            Known::Struct(x) => x.witness(),
            Known::Cells(x) => Ok(x.into()),
            Known::Foreign => witness(&itself(ext)?),
        },
    }
}

/// The size of one axis; unknown for a ragged one and where nothing is known of it.
///
/// Errors: the rank is not known, or the value has fewer axes.
pub(crate) fn dim(value: &Value, axis: usize) -> Result<Dim> {
    let of = |dims: Option<&[Dim]>| dims.map_or_else(Dim::any, |dims| dims.get(axis).copied().unwrap_or_else(Dim::any));
    if axis >= rank(value)? {
        return Err(Error::shape(format!("there is no axis {axis}")));
    }
    Ok(match (value, known(value)) {
        (Value::Tensor(t), _) => of(t.shape().dims()),
        (Value::Partition(_), _) => Dim::any(),
        (Value::Ext(_), Known::Ragged(x)) if axis == 0 => x.nrows(),
        (Value::Ext(_), Known::Ragged(_)) if axis == 1 => Dim::any(),
        (Value::Ext(_), Known::Ragged(x)) => dim(x.values(), axis - 1)?,
        (Value::Ext(_), Known::Masked(x)) => dim(x.values(), axis)?,
        (Value::Ext(_), Known::Struct(x)) => of(x.shape().dims()),
        (Value::Ext(_), Known::Cells(x)) => of(x.shape().dims()),
        (Value::Ext(ext), Known::Foreign) => dim(&itself(ext)?, axis)?,
    })
}

/// Whether the value is cut into rows along this axis.
pub(crate) fn is_ragged(value: &Value, axis: usize) -> bool {
    let Value::Ext(ext) = value else { return false };
    match known(value) {
        Known::Ragged(x) => axis == 1 || (axis > 1 && is_ragged(x.values(), axis - 1)),
        Known::Masked(x) => is_ragged(x.values(), axis),
        Known::Struct(_) | Known::Cells(_) => false,
        Known::Foreign => itself(ext).is_ok_and(|value| is_ragged(&value, axis)),
    }
}

/// Zeros, i64, as many as the value's outer axis is long.
///
/// Errors: as [`witness`]; a tensor of boxed values.
pub(crate) fn zeros(value: &Value) -> Result<Value> {
    zeros_of(value, 1)
}

/// One element at every place of these sizes, which may be more than there is memory for.
///
/// Errors: they are.
pub(crate) fn filled(element: Tensor, sizes: &[usize]) -> Result<Value> {
    ops::broadcast_to(element, sizes.iter().map(|&n| int(n)).collect::<Vec<i64>>())
}

/// Zeros, i64, of the shape of the first `axes` axes, which are not ragged, or of rows that are known to have one length.
///
/// Errors: as [`witness`]; a tensor of boxed values.
pub(crate) fn zeros_of(value: &Value, axes: usize) -> Result<Value> {
    let size = |axis| dim_or_outer(value, axis).and_then(Dim::known).or_else(|| one_size(value, axis));
    let sizes: Option<Vec<usize>> = (0..axes).map(size).collect();
    if let Some(sizes) = sizes {
        return filled(Tensor::scalar(0_i64), &sizes);
    }
    let witness = witness(value)?;
    let numbers = match witness.tensor()?.dtype().kind() {
        DTypeKind::Text => ops::string_length(&witness, "byte".to_string())?,
        DTypeKind::Bool | DTypeKind::Signed | DTypeKind::Unsigned | DTypeKind::Float => {
            ops::cast(&witness, DType::I64)?
        }
        DTypeKind::Variant => {
            return Err(Error::dtype("boxed values are stretched while tracing").wanted("numbers or text"));
        }
    };
    let inner: Vec<i64> = (axes..rank(&witness)?).map(int).collect();
    ops::sum(ops::zeros_like(numbers)?, Axes::List(inner), false)
}

fn dim_or_outer(value: &Value, axis: usize) -> Option<Dim> {
    if axis == 0 { outer(value) } else { dim(value, axis).ok() }
}

/// The numbers from 0 to before `n`, which may be more than there is memory for.
///
/// Errors: they are.
pub(crate) fn counted(n: usize) -> Result<Value> {
    ops::arange(Scalar::Int(0), Scalar::Int(int(n)), Scalar::Int(1), None)
}

/// The positions 0, 1, ... along the value's outer axis, as i64.
pub(crate) fn positions(value: &Value) -> Result<Value> {
    if let Some(Dim::Known(n)) = outer(value) {
        return counted(n);
    }
    // In a partition whose rows have one value each, the row of a value is its position.
    ops::value_rowids(rows_of_one(value)?)
}

/// The partition that puts each element of the value's outer axis into a row of its own.
pub(crate) fn rows_of_one(value: &Value) -> Result<RowPartition> {
    rows_of_one_as(value, DType::I64)
}

/// The same with offsets of this dtype.
pub(crate) fn rows_of_one_as(value: &Value, index: DType) -> Result<RowPartition> {
    ops::partition_of_length(witness(value)?, 1, index)?.partition().cloned()
}

/// The partition that puts the value's whole outer axis into one row.
pub(crate) fn one_row(value: &Value) -> Result<RowPartition> {
    one_row_as(value, DType::I64)
}

/// The same with offsets of this dtype.
pub(crate) fn one_row_as(value: &Value, index: DType) -> Result<RowPartition> {
    if let Some(Dim::Known(n)) = outer(value) {
        return RowPartition::of_length(1, n, index);
    }
    let count = ops::sum(ops::add(zeros(value)?, 1)?, 0, true)?;
    rows_of_lengths(count, index)
}

/// The partition into rows of these lengths, i64, with offsets of this dtype.
pub(crate) fn rows_of_lengths(lengths: Value, index: DType) -> Result<RowPartition> {
    let lengths = if index == DType::I64 { lengths } else { ops::cast(lengths, index)? };
    ops::partition_from_lengths(lengths)?.partition().cloned()
}

/// The size of an axis that is known to be one size: of a uniform one, or of rows of one length.
pub(crate) fn one_size(value: &Value, axis: usize) -> Option<usize> {
    shape_of(&value.spec().ok()?).dims()?.get(axis)?.known()
}
