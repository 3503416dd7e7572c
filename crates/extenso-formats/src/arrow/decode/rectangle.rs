//! Values with further axes of one size, from lists of that size: records, values under a mask, and types with a meaning.
//!
//! Invariant: an axis is taken off the spec, the items are read as rows of what is left, and their leaves get the axis back.

use super::source::{Rows, Source};
use super::{is, value};
use crate::arrow::import;
use crate::looks::provenance;
use arrow_array::Array;
use arrow_schema::DataType;
use extenso_core::{TypeSpec, Value, pack};
use extenso_ext::{Bool8TensorSpec, CategoricalTensorSpec, JsonTensorSpec, MaskedTensorSpec, Spelling, StructSpec};
use extenso_types::{DType, Dim, ExtSpec, Result, Segment, Shape, Spec, StaticValue, TensorSpec};

/// The value of lists as one of this spec, whose second axis is theirs; none of other arrays, and of a spec without such an axis.
///
/// Errors: a list of another size, with its row; those of the items.
pub fn rectangle(source: &Source<'_>, ext: &ExtSpec) -> Option<Result<Value>> {
    let lists =
        matches!(source.array.data_type(), DataType::FixedSizeList(..) | DataType::List(_) | DataType::LargeList(_));
    if !lists || import::extension_name(&source.field).is_some() {
        return None;
    }
    let (size, mut leaves) = (second(ext)?, Vec::new());
    let inner = without(&Spec::from(ext.clone()), true, &mut leaves)?;
    let (size, items) = match source.uniform(size.known())? {
        Ok(items) => items,
        Err(e) => return Some(Err(e)),
    };
    Some(read(source, ext, &inner, &leaves, size, items))
}

fn read(
    source: &Source<'_>,
    ext: &ExtSpec,
    inner: &Spec,
    along: &[bool],
    size: usize,
    items: import::Items,
) -> Result<Value> {
    let wanted = Spec::from(ext.clone());
    match is::<MaskedTensorSpec>(ext) {
        true => {
            source.all_there_or(&wanted, "The mask is of elements: give one of the axes outside, as lists may be null.")
        }
        false => source.all_there(&wanted),
    }?;
    let made = value(&source.each(items, Rows::Uniform(size, &source.rows), source.seen_of(size)), inner)?;
    let mut leaves = Vec::new();
    made.push_leaves(&mut leaves)?;
    let axes = |leaf: Value, along: &bool| -> Result<Value> {
        let (true, Value::Tensor(tensor)) = (*along, &leaf) else { return Ok(leaf) };
        let behind = tensor.data()?.dims().get(1..).unwrap_or_default().iter().copied();
        Ok(tensor.with_dims(&[source.array.len(), size].into_iter().chain(behind).collect::<Vec<_>>())?.into())
    };
    let leaves = leaves.into_iter().zip(along).map(|(leaf, along)| axes(leaf, along)).collect::<Result<Vec<_>>>()?;
    pack(&Spec::from(ext.clone()), &mut leaves.into_iter(), provenance(ext))
}

/// The second axis of a type whose elements have one each behind it.
fn second(ext: &ExtSpec) -> Option<Dim> {
    if is::<StructSpec>(ext) {
        return StructSpec::deserialize(ext).ok()?.known_shape().dims()?.get(1).copied();
    }
    if is::<MaskedTensorSpec>(ext) {
        let mask = ext.components.iter().find(|(segment, _)| *segment != Segment::Itself)?;
        return dims_of(&mask.1)?.get(1).copied();
    }
    let cells = Spelling::of(ext).map(|spelling| usize::from(spelling.dtype() == DType::U8));
    let plain = is::<Bool8TensorSpec>(ext) || is::<JsonTensorSpec>(ext) || is::<CategoricalTensorSpec>(ext);
    let cells = cells.or(plain.then_some(0))?;
    let dims = dims_of(&ext.components.first()?.1)?;
    dims.get(..dims.len().checked_sub(cells)?)?.get(1).copied()
}

fn dims_of(spec: &Spec) -> Option<&[Dim]> {
    match spec {
        Spec::Tensor(tensor) => tensor.shape.dims(),
        Spec::Partition(_) | Spec::Ext(_) => None,
    }
}

/// The spec without its second axis, and for each leaf whether it had one; none if something in it has none.
fn without(spec: &Spec, along: bool, leaves: &mut Vec<bool>) -> Option<Spec> {
    match spec {
        Spec::Tensor(tensor) => {
            leaves.push(along);
            if !along {
                return Some(spec.clone());
            }
            let inner = tensor.shape.dims()?.get(2..)?.iter().copied();
            Some(TensorSpec::new(tensor.dtype, Shape::new(std::iter::once(Dim::any()).chain(inner))).into())
        }
        Spec::Partition(_) => None,
        Spec::Ext(ext) => {
            let mut ext = (**ext).clone();
            for (segment, part) in &mut ext.components {
                // A vocabulary has a size of its own.
                let own = matches!(segment, Segment::Component(name) if **name == *"categories");
                *part = without(part, along && !own, leaves)?;
            }
            if is::<StructSpec>(&ext) {
                let rank = match ext.static_data.get("rank") {
                    Some(StaticValue::Int(rank)) => {
                        usize::try_from(*rank).ok()?.checked_sub(1).filter(|rank| *rank > 0)?
                    }
                    _ => return None,
                };
                ext.static_data = StaticValue::map([("rank", StaticValue::Int(i64::try_from(rank).ok()?))]);
            }
            Some(Spec::from(ext))
        }
    }
}
