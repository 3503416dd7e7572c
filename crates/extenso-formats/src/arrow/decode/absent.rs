//! What stands for fields that a source does not have: under nulls, and so of no meaning.

use crate::looks::provenance;
use crate::records::is;
use arrow_buffer::{BooleanBuffer, MutableBuffer};
use extenso_core::kernels::pool::affordable;
use extenso_core::{Offsets, RowPartition, Tensor, Value, rebuild};
use extenso_ext::MaskedTensorSpec;
use extenso_types::{DType, Error, ExtSpec, Result, Segment, Spec, TensorSpec};

/// `len` nulls, zeros, empty texts or empty lists of this spec.
///
/// Errors: a type that has no such value; more elements than memory can address.
pub fn defaults(spec: &Spec, len: usize) -> Result<Value> {
    match spec {
        Spec::Tensor(tensor) => zeros(tensor, len).map(Value::Tensor),
        Spec::Partition(rows) => match rows.uniform_row_length {
            Some(length) => Ok(RowPartition::of_length(len, length, rows.index)?.into()),
            None => Ok(RowPartition::from_offsets(zero_offsets(len, rows.index)?, 0)?.into()),
        },
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
        DType::Bool => {
            affordable(count.div_ceil(8))?;
            Tensor::from_bits(&dims, BooleanBuffer::new_unset(count))
        }
        DType::String | DType::Bytes => {
            let offsets = zero_offsets(count, DType::I64)?;
            Tensor::from_text(spec.dtype, &dims, offsets, MutableBuffer::new(0).into())
        }
        DType::Variant => Err(Error::dtype("boxed values have no default").wanted("numbers, booleans or text")),
        other => {
            let width = other.width().unwrap_or(0);
            let bytes = count.checked_mul(width).filter(|&n| n <= isize::MAX as usize);
            let bytes = bytes.ok_or_else(|| Error::shape(format!("{other}{dims:?} does not fit into memory")))?;
            affordable(bytes)?;
            Tensor::from_buffer(other, &dims, MutableBuffer::from_len_zeroed(bytes).into())
        }
    }
}

/// The offsets of so many empty texts or lists.
///
/// Errors: more than there is memory for.
fn zero_offsets(len: usize, index: DType) -> Result<Offsets> {
    let count = len.saturating_add(1);
    affordable(count.saturating_mul(size_of::<i64>()))?;
    Ok(match index {
        DType::I32 => Offsets::I32(vec![0; count].into()),
        _ => Offsets::I64(vec![0; count].into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use extenso_types::{Dim, PartitionSpec, Shape};

    #[test]
    fn defaults_are_made_where_there_is_memory_for_them() {
        let vectors = |dtype, size| Spec::from(TensorSpec::new(dtype, Shape::new([Dim::any(), Dim::Known(size)])));
        let rows = |index| Spec::Partition(PartitionSpec::new(Dim::any(), Dim::any(), index));
        let dtypes = [DType::F32, DType::Bool, DType::String, DType::Bytes];
        for dtype in dtypes {
            for (size, len) in [(1, 1 << 58), (1 << 58, 1), (1 << 40, 1 << 18), (1, usize::MAX)] {
                assert!(defaults(&vectors(dtype, size), len).is_err(), "{len} of {dtype}[{size}]");
            }
            assert_eq!(
                defaults(&vectors(dtype, 2), 3).expect("a few").spec().expect("a spec").to_string(),
                format!("{dtype}[3, 2]")
            );
        }
        for index in [DType::I32, DType::I64] {
            assert!([1 << 58, usize::MAX].iter().all(|len| defaults(&rows(index), *len).is_err()));
            assert!(defaults(&rows(index), 3).is_ok());
        }
        let error = defaults(&vectors(DType::F32, 1 << 40), 1 << 17).expect_err("no machine has as much").to_string();
        assert!(error.contains(&(4_u64 << 57).to_string()), "{error}");
    }
}
