//! What counts records without fields: booleans of the records' shape with an axis of size 0 behind it.
//!
//! Invariant: it has no elements, and its outer sizes are the shape. So it moves as a field does, and takes no memory.

use super::{Field, StructTensor};
use crate::axes::zeros_of;
use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_types::{DType, Dim, Error, Result, Segment, Shape, Spec, TensorSpec};

/// The name of the component.
pub(super) fn segment() -> Segment {
    Segment::component("records")
}

/// The spec of what counts records of this shape; none for one record.
pub(super) fn spec_of(shape: &Shape) -> Option<Spec> {
    let dims = shape.dims().filter(|dims| !dims.is_empty())?;
    let dims = dims.iter().copied().chain([Dim::Known(0)]);
    Some(TensorSpec::new(DType::Bool, Shape::new(dims)).into())
}

/// What counts records of these sizes.
pub(super) fn of_sizes(sizes: &[usize]) -> Result<Option<Tensor>> {
    let dims: Vec<usize> = sizes.iter().copied().chain([0]).collect();
    if sizes.is_empty() { Ok(None) } else { Tensor::bools(&dims, &[]).map(Some) }
}

/// What counts records of the shape of a tensor.
pub(super) fn like(shape: &Value) -> Result<Tensor> {
    let bits = ops::expand_dims(ops::cast(shape, DType::Bool)?, -1)?;
    ops::slice(bits, -1, 0, Some(vec![0]), 1)?.tensor().cloned()
}

impl StructTensor {
    /// Records without fields, of the outer sizes of what counts them.
    pub(crate) fn counted(records: Tensor, rank: usize) -> Result<StructTensor> {
        let whole = records.shape();
        let dims = whole.dims().filter(|dims| dims.len() == rank + 1 && rank > 0);
        match (dims, records.dtype()) {
            // A graph for any sizes knows none of them.
            (Some([shape @ .., last]), DType::Bool) if last.is_compatible_with(Dim::Known(0)) => {
                let shape = Shape::new(shape.iter().copied());
                Ok(StructTensor { shape, fields: [].into(), records: Some(records) })
            }
            _ => Err(Error::shape(format!("what counts the records is {}", records.spec()))
                .wanted(format!("bool of {rank} axes and one of size 0 behind them"))),
        }
    }

    /// What counts them, of records with axes and without fields.
    pub(crate) fn count(&self) -> Option<&Tensor> {
        self.records.as_ref()
    }

    /// These records with other fields, which may be none.
    pub(crate) fn with_fields(&self, fields: Vec<Field>) -> Result<StructTensor> {
        if !fields.is_empty() || self.shape.to_dims().is_some() {
            return StructTensor::new(self.shape.clone(), fields);
        }
        match &self.records {
            Some(_) => Ok(self.clone()),
            None => {
                let zeros = zeros_of(&self.clone().into_value(), self.rank())?;
                StructTensor::counted(like(&zeros)?, self.rank())
            }
        }
    }
}
