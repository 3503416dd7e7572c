//! Unions to a spec: each child is read by its own.
//!
//! Invariant: an item of a child is seen where an element that is seen stands there; so what is missing by a mask around the union is no
//! fault of its children, in which Arrow says it.

use super::source::{Rows, Source};
use super::value;
use crate::arrow::import::Items;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UnionArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_schema::{DataType, FieldRef, UnionFields};
use extenso_core::{Provenance, Tensor, TypeSpec, Value, rebuild};
use extenso_ext::UnionSpec;
use extenso_types::{DType, Error, ExtSpec, Result, Segment, Spec};

/// The union of a spec; none where the array is none, or one of other children.
pub fn union(source: &Source<'_>, ext: &ExtSpec) -> Option<Result<Value>> {
    let DataType::Union(fields, _) = source.array.data_type() else { return None };
    let array = source.array.as_union();
    if !crate::records::is::<UnionSpec>(ext) || !is_of(fields, array, &UnionSpec::deserialize(ext).ok()?) {
        return None;
    }
    let component = |(segment, spec): &(Segment, Spec)| match segment {
        Segment::Itself => tags(DType::I8, array, array.type_ids().inner()),
        Segment::Index(i) => child(source, array, fields.iter().nth(*i), segment, spec),
        _ => match array.offsets() {
            Some(offsets) => tags(DType::I32, array, offsets.inner()),
            None => Err(source.mismatch(spec)),
        },
    };
    let components: Result<Vec<Value>> = ext.components.iter().map(component).collect();
    Some(components.and_then(|components| rebuild(ext, components, Provenance::Outside)))
}

/// Whether an array has the children of a spec, whatever these are.
fn is_of(fields: &UnionFields, array: &UnionArray, spec: &UnionSpec) -> bool {
    let found = fields.iter().map(|(id, field)| (id, field.name().as_str()));
    let wanted = spec.children().iter().map(|(id, name, _)| (*id, &**name));
    array.offsets().is_some() == spec.offsets().is_some() && found.eq(wanted)
}

fn tags(dtype: DType, array: &UnionArray, buffer: &arrow_buffer::Buffer) -> Result<Value> {
    Ok(Tensor::from_buffer(dtype, &[array.len()], buffer.clone())?.into())
}

fn child(
    source: &Source<'_>,
    array: &UnionArray,
    field: Option<(i8, &FieldRef)>,
    segment: &Segment,
    spec: &Spec,
) -> Result<Value> {
    let (id, field) = field.ok_or_else(|| Error::internal("a union has fewer children than its spec"))?;
    let items = Items { field: field.clone(), array: array.child(id).clone() };
    let (places, seen) = standing(source, array, id, &items.array);
    value(&source.part(segment.clone(), items, Rows::Places(&places, &source.rows), Some(seen)), spec)
}

/// For each item of a child which element it is, and whether that is seen.
fn standing(source: &Source<'_>, array: &UnionArray, id: i8, items: &ArrayRef) -> (Vec<usize>, BooleanBuffer) {
    let mut places = vec![0; items.len()];
    let mut seen = BooleanBufferBuilder::new(items.len());
    seen.append_n(items.len(), false);
    for element in (0..array.len()).filter(|&element| array.type_id(element) == id && source.sees(element)) {
        let place = array.value_offset(element);
        places[place] = element;
        seen.set_bit(place, true);
    }
    (places, seen.finish())
}
