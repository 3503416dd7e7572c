//! Values as plain tensors: every component down to tensors, with row splits in the place of partitions.
//!
//! Invariant: packing what expanding gave is the value, but for values outside every row, which are left behind.

use crate::args::typed;
use crate::axes::witness;
use crate::masked::MaskedTensor;
use crate::ragged::{RaggedTensor, RaggedTensorSpec};
use crate::specs::axis_of;
use crate::structs::StructTensor;
use extenso_core::{Provenance, RowPartition, Tensor, TypeSpec, Value, ops, rebuild};
use extenso_types::{DType, Dim, Error, LeafSpec, PartitionSpec, Path, Result, Shape, Spec, TensorSpec};

/// The tensors that a value is made of, with the row splits of its partitions, in the order of its spec.
///
/// Errors: a foreign type that cannot be taken apart.
///
/// ```
/// # use extenso_ext::{constant, expand};
/// let x = constant(vec![vec![1, 2], vec![], vec![3]]).unwrap();
/// let text: Vec<String> = expand(&x).unwrap().iter().map(ToString::to_string).collect();
/// assert_eq!(text, ["[1, 2, 3]", "[0, 2, 2, 3]"]);
/// ```
pub fn expand(value: &Value) -> Result<Vec<Tensor>> {
    let mut tensors = Vec::new();
    push(value, &mut tensors).map(|()| tensors)
}

fn push(value: &Value, out: &mut Vec<Tensor>) -> Result<()> {
    if let Some(rows) = typed::<RaggedTensor>(value) {
        let rows = rows.compact()?;
        push(rows.values(), out)?;
        out.push(rows.row_splits()?);
        return Ok(());
    }
    match value {
        Value::Tensor(tensor) => out.push(tensor.clone()),
        Value::Partition(partition) => out.push(ops::row_splits(partition)?.tensor()?.clone()),
        Value::Ext(ext) => {
            if let Some(masked) = typed::<MaskedTensor>(value) {
                push(masked.values(), out)?;
                return push(&masked.mask().clone().into(), out);
            }
            if let Some(records) = typed::<StructTensor>(value) {
                out.extend(records.count().cloned());
                return records.fields().iter().try_for_each(|(_, field)| push(field, out));
            }
            ext.components()?.iter().try_for_each(|component| push(component, out))?;
        }
    }
    Ok(())
}

/// The specs of the tensors that [`expand`] gives of a value of this spec.
pub fn expand_spec(spec: &Spec) -> Vec<TensorSpec> {
    let tensor = |leaf: LeafSpec| match leaf {
        LeafSpec::Tensor(spec) => spec,
        LeafSpec::Partition(spec) => {
            let splits = spec.nrows.known().and_then(|n| n.checked_add(1)).map_or_else(Dim::any, Dim::Known);
            TensorSpec::new(spec.index, Shape::new([splits]))
        }
    };
    spec.leaves(&Path::root()).into_iter().map(|(_, leaf)| tensor(leaf)).collect()
}

/// The value of a spec that these tensors are the expansion of; partitions are proven here.
///
/// Errors: too few or too many tensors; a tensor of another dtype or shape than the spec's; splits that cut no rows.
pub fn collapse(spec: &Spec, tensors: impl IntoIterator<Item = Tensor>) -> Result<Value> {
    let mut tensors = tensors.into_iter();
    let value = take(spec, &mut tensors)?;
    match tensors.next() {
        None => Ok(value),
        Some(_) => Err(Error::value(format!("tensors are left over for {spec}")).wanted("as many as it expands to")),
    }
}

/// The spec of the shape of another, with these specs of tensors where [`expand_spec`] has those of its own.
///
/// Errors: too few or too many; a tensor in the place of row splits that is no vector of i32 or i64.
pub fn collapse_spec(spec: &Spec, tensors: impl IntoIterator<Item = TensorSpec>) -> Result<Spec> {
    let mut tensors = tensors.into_iter();
    let collapsed = take_spec(spec, &mut tensors)?;
    match tensors.next() {
        None => Ok(collapsed),
        Some(_) => Err(Error::value(format!("specs are left over for {spec}")).wanted("as many as it expands to")),
    }
}

fn take_spec(spec: &Spec, tensors: &mut dyn Iterator<Item = TensorSpec>) -> Result<Spec> {
    let mut next = || tensors.next().ok_or_else(|| Error::value(format!("no spec is left for {spec}")));
    match spec {
        Spec::Tensor(_) => Ok(next()?.into()),
        Spec::Partition(given) => {
            let splits = next()?;
            if !matches!(splits.dtype, DType::I32 | DType::I64) || splits.shape.rank().is_some_and(|rank| rank != 1) {
                return Err(Error::dtype(format!("the row splits are {splits}")).wanted("a vector of i32 or i64"));
            }
            let rows = splits.shape.dims().and_then(|dims| dims[0].known()?.checked_sub(1));
            Ok(Spec::Partition(PartitionSpec { nrows: rows.into(), index: splits.dtype, ..given.clone() }))
        }
        Spec::Ext(ext) => {
            let mut ext = (**ext).clone();
            for (_, component) in &mut ext.components {
                *component = take_spec(component, tensors)?;
            }
            // The values of rows are what their partition cuts.
            if let [(_, values), (_, Spec::Partition(rows))] = &mut ext.components[..] {
                rows.nvalues = axis_of(values, 0).unwrap_or(rows.nvalues);
            }
            Ok(ext.into())
        }
    }
}

fn take(spec: &Spec, tensors: &mut dyn Iterator<Item = Tensor>) -> Result<Value> {
    match spec {
        Spec::Tensor(wanted) => {
            let tensor = next(spec, tensors)?;
            let given = tensor.spec();
            if given.dtype != wanted.dtype || !given.shape.is_compatible_with(&wanted.shape) {
                return Err(Error::dtype(format!("found {given}")).wanted(wanted.to_string()));
            }
            Ok(tensor.into())
        }
        Spec::Partition(wanted) => Ok(partition(wanted, &next(spec, tensors)?)?.into()),
        Spec::Ext(ext) if ext.def.is_a(RaggedTensorSpec::def()) => {
            let [(_, values), (_, Spec::Partition(wanted))] = &ext.components[..] else {
                return Err(Error::value(format!("{spec} is no spec of rows")));
            };
            let values = take(values, tensors)?;
            let splits = next(spec, tensors)?;
            if splits.dtype() != wanted.index {
                return Err(Error::dtype(format!("the row splits are {}", splits.dtype())).wanted(wanted.index.name()));
            }
            let rows = ops::row_partition(&splits, witness(&values)?)?;
            rebuild(ext, vec![values, rows], Provenance::Outside)
        }
        Spec::Ext(ext) => {
            let components: Result<Vec<Value>> = ext.components.iter().map(|(_, spec)| take(spec, tensors)).collect();
            rebuild(ext, components?, Provenance::Outside)
        }
    }
}

fn next(spec: &Spec, tensors: &mut dyn Iterator<Item = Tensor>) -> Result<Tensor> {
    tensors.next().ok_or_else(|| Error::value(format!("no tensor is left for {spec}")))
}

/// A partition that stands alone, over as many values as its spec knows, or as its splits end at.
fn partition(spec: &PartitionSpec, splits: &Tensor) -> Result<RowPartition> {
    let last = || {
        let ends = splits.data().ok()?;
        let last = ops::cast(splits, DType::I64).ok()?;
        let last = *last.tensor().ok()?.as_slice::<i64>().ok()?.get(ends.len().checked_sub(1)?)?;
        usize::try_from(last).ok()
    };
    let nvalues = spec.nvalues.known().or_else(last).unwrap_or(0);
    RowPartition::from_row_splits(splits, nvalues)
}
