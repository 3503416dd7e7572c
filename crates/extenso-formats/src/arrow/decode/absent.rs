//! What stands for fields that a source does not have: under nulls, and so of no meaning.

use crate::looks::provenance;
use crate::records::is;
use arrow_buffer::{BooleanBuffer, MutableBuffer};
use extenso_core::{Offsets, RowPartition, Tensor, Value, rebuild};
use extenso_ext::MaskedTensorSpec;
use extenso_types::{DType, Error, ExtSpec, Result, Segment, Spec, TensorSpec};

/// `len` nulls, zeros, empty texts or empty lists of this spec.
///
/// Errors: a type that has no such value; more elements than memory can address.
pub fn defaults(spec: &Spec, len: usize) -> Result<Value> {
    match spec {
        Spec::Tensor(tensor) => zeros(tensor, len).map(Value::Tensor),
        Spec::Partition(rows) => {
            let offsets = match rows.index {
                DType::I32 => Offsets::I32(vec![0; len + 1].into()),
                _ => Offsets::I64(vec![0; len + 1].into()),
            };
            match rows.uniform_row_length {
                Some(length) => Ok(RowPartition::of_length(len, length, rows.index)?.into()),
                None => Ok(RowPartition::from_offsets(offsets, 0)?.into()),
            }
        }
        Spec::Ext(ext) => {
            let masked = is::<MaskedTensorSpec>(ext);
            let component = |(segment, spec): &(Segment, Spec)| match segment {
                // No item is in an empty list.
                Segment::Each => defaults(spec, len.saturating_mul(row_length(ext))),
                Segment::Component(_) if masked => all_null(spec, len),
                _ => defaults(spec, len),
            };
            let components: Result<Vec<Value>> = ext.components.iter().map(component).collect();
            rebuild(ext, components?, provenance(ext))
        }
    }
}

/// How many items are in each list of a type that is known to have as many in each; otherwise none.
fn row_length(ext: &ExtSpec) -> usize {
    let of = |(_, spec): &(Segment, Spec)| match spec {
        Spec::Partition(rows) => rows.uniform_row_length,
        Spec::Tensor(_) | Spec::Ext(_) => None,
    };
    ext.components.iter().find_map(of).unwrap_or(0)
}

/// A mask of nothing.
fn all_null(spec: &Spec, len: usize) -> Result<Value> {
    match spec {
        Spec::Tensor(mask) => zeros(mask, len).map(Value::Tensor),
        Spec::Partition(_) | Spec::Ext(_) => Err(Error::internal("a mask that is no tensor")),
    }
}

fn zeros(spec: &TensorSpec, len: usize) -> Result<Tensor> {
    let inner = spec.shape.dims().unwrap_or_default().iter().skip(1).map(|dim| dim.known().unwrap_or(0));
    let dims: Vec<usize> = std::iter::once(len).chain(inner).collect();
    let count = extenso_core::element_count(&dims)?;
    match spec.dtype {
        DType::Bool => Tensor::from_bits(&dims, BooleanBuffer::new_unset(count)),
        DType::String | DType::Bytes => {
            Tensor::from_text(spec.dtype, &dims, Offsets::I64(vec![0; count + 1].into()), MutableBuffer::new(0).into())
        }
        DType::Variant => Err(Error::dtype("boxed values have no default").wanted("numbers, booleans or text")),
        other => {
            let width = other.width().unwrap_or(0);
            let bytes = count.checked_mul(width).filter(|&n| n <= isize::MAX as usize);
            let bytes = bytes.ok_or_else(|| Error::shape(format!("{other}{dims:?} does not fit into memory")))?;
            Tensor::from_buffer(other, &dims, MutableBuffer::from_len_zeroed(bytes).into())
        }
    }
}
