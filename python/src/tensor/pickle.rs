//! Pickling of tensors: dtype, sizes and plain bytes; what comes back is checked like any data from outside.

use crate::error::OrRaise;
use arrow_buffer::{BooleanBuffer, Buffer, ScalarBuffer};
use extenso_core::{Offsets, Storage, Tensor, element_count};
use extenso_types::{DType, Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::PyTensor;

/// What `__reduce__` returns: the function below and its arguments.
///
/// Errors: a symbol; boxed values, which have no bytes.
pub fn reduce<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
    let dense = tensor.data().or_raise()?;
    let (data, offsets) = match dense.storage() {
        Storage::Fixed(buffer) => (PyBytes::new(py, buffer.as_slice()), None),
        Storage::Bits(bits) => (PyBytes::new(py, bits.sliced().as_slice()), None),
        Storage::Text { offsets, bytes } => {
            let used = &bytes.as_slice()[offsets.first()..offsets.last()];
            let relative = offsets.relative();
            (PyBytes::new(py, used), Some(PyBytes::new(py, bytemuck::cast_slice(&relative))))
        }
        Storage::Boxed(_) => {
            let error = Error::dtype("a tensor of boxed values cannot be pickled").hint("Unbox the values first.");
            return Err(error).or_raise();
        }
    };
    let make = py.import("extenso._core")?.getattr("_tensor_from_bytes")?;
    let args = (tensor.dtype().name(), PyTuple::new(py, dense.dims())?, data, offsets);
    Ok((make, args.into_pyobject(py)?))
}

/// The tensor of a pickle.
///
/// Errors: bytes that are not what dtype and sizes say.
#[pyfunction]
#[pyo3(name = "_tensor_from_bytes", signature = (dtype, dims, data, offsets=None))]
pub fn tensor_from_bytes(
    dtype: &str,
    dims: Vec<usize>,
    data: &Bound<'_, PyBytes>,
    offsets: Option<&Bound<'_, PyBytes>>,
) -> PyResult<PyTensor> {
    let dtype: DType = dtype.parse().or_raise()?;
    let made = match (dtype, offsets) {
        (DType::String | DType::Bytes, Some(offsets)) => text(dtype, &dims, data.as_bytes(), offsets.as_bytes()),
        (DType::Bool, None) => bits(&dims, data.as_bytes()),
        (_, None) => Tensor::from_buffer(dtype, &dims, Buffer::from_slice_ref(data.as_bytes())),
        (_, Some(_)) => Err(Error::data(format!("a tensor of {dtype} comes with offsets"))),
    };
    made.map_err(|e| e.at("pickle")).or_raise().map(PyTensor)
}

fn bits(dims: &[usize], data: &[u8]) -> Result<Tensor> {
    let n = element_count(dims)?;
    if data.len() < n.div_ceil(8) {
        return Err(Error::data(format!("{} bytes are given for {n} booleans", data.len())));
    }
    Tensor::from_bits(dims, BooleanBuffer::new(Buffer::from_slice_ref(data), 0, n))
}

fn text(dtype: DType, dims: &[usize], data: &[u8], offsets: &[u8]) -> Result<Tensor> {
    let whole = offsets.chunks_exact(8);
    if !whole.remainder().is_empty() {
        return Err(Error::data(format!("{} bytes of offsets", offsets.len())).wanted("a multiple of 8"));
    }
    let offsets: Vec<i64> = whole.map(bytemuck::pod_read_unaligned).collect();
    Tensor::from_text(dtype, dims, Offsets::I64(ScalarBuffer::from(offsets)), Buffer::from_slice_ref(data))
}
