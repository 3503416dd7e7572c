//! Strings and bytes as the two arrays that they are: where each begins and ends, and all their bytes.
//!
//! Invariant: both share the memory of the tensor, either way; a tensor made of them is proven as any from outside.

use crate::arg;
use crate::error::OrRaise;
use arrow_buffer::{Buffer, ScalarBuffer};
use extenso_core::{Offsets, Storage, Tensor};
use extenso_types::{DType, Error};
use pyo3::prelude::*;

use super::PyTensor;

/// The offsets, i32 or i64 as they are and not always from 0, and the bytes as u8.
#[pyfunction]
pub fn _text_parts(x: &Bound<'_, PyAny>) -> PyResult<(PyTensor, PyTensor)> {
    let tensor = arg::tensor(x, None)?;
    let Storage::Text { offsets, bytes } = tensor.data().or_raise()?.storage() else {
        return Err(Error::dtype(format!("found a tensor of {}", tensor.dtype())).wanted("strings or bytes"))
            .or_raise();
    };
    let (width, cuts) = match offsets {
        Offsets::I32(cuts) => (DType::I32, cuts.inner()),
        Offsets::I64(cuts) => (DType::I64, cuts.inner()),
    };
    let cuts = Tensor::from_buffer(width, &[offsets.len()], cuts.clone()).or_raise()?;
    let bytes = Tensor::from_buffer(DType::U8, &[bytes.len()], bytes.clone()).or_raise()?;
    Ok((PyTensor(cuts), PyTensor(bytes)))
}

/// The strings or bytes that these offsets cut these bytes into, sharing both.
///
/// Errors: offsets that do not cut the bytes; strings that are not UTF-8.
#[pyfunction]
pub fn _text_of(
    dtype: &Bound<'_, PyAny>,
    shape: Vec<usize>,
    offsets: &Bound<'_, PyAny>,
    bytes: &Bound<'_, PyAny>,
) -> PyResult<PyTensor> {
    let (cuts, bytes) = (arg::tensor(offsets, None)?, arg::tensor(bytes, Some(DType::U8))?);
    let memory: Buffer = cuts.buffer().or_raise()?;
    let count = cuts.data().or_raise()?.len();
    let offsets = match cuts.dtype() {
        DType::I32 => Offsets::I32(ScalarBuffer::new(memory, 0, count)),
        DType::I64 => Offsets::I64(ScalarBuffer::new(memory, 0, count)),
        other => return Err(Error::dtype(format!("the offsets are {other}")).wanted("i32 or i64")).or_raise(),
    };
    let bytes = bytes.buffer().or_raise()?;
    Tensor::from_text(crate::dtype::from_py(dtype)?, &shape, offsets, bytes).or_raise().map(PyTensor)
}
