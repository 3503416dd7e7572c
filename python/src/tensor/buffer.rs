//! The buffer protocol outward: numbers are shared with NumPy and every other reader, read-only.
//!
//! Invariant: a view keeps its tensor alive; its shape and strides live until it is released.

use crate::error::{OrRaise, raised};
use extenso_core::{Storage, Tensor, bytes_of_bits};
use extenso_types::{DType, Error};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMemoryView};
use std::ffi::{CStr, c_int};
use std::ptr;

use super::PyTensor;

/// Whether C's `long` has 64 bits: NumPy's int64 is then that, and `long long` another dtype that only equals it.
const LONG: bool = cfg!(all(unix, target_pointer_width = "64"));

/// The format character of a dtype, if it has one.
fn format(dtype: DType) -> Option<&'static CStr> {
    Some(match dtype {
        DType::I8 => c"b",
        DType::I16 => c"h",
        DType::I32 => c"i",
        DType::I64 if LONG => c"l",
        DType::I64 => c"q",
        DType::U8 => c"B",
        DType::U16 => c"H",
        DType::U32 => c"I",
        DType::U64 if LONG => c"L",
        DType::U64 => c"Q",
        DType::F16 => c"e",
        DType::F32 => c"f",
        DType::F64 => c"d",
        DType::Bool | DType::BF16 | DType::String | DType::Bytes | DType::Variant => return None,
    })
}

/// Sizes and strides of a view, which `Py_buffer.internal` owns.
struct Extent(Vec<ffi::Py_ssize_t>);

/// Fills a view of a tensor's numbers.
///
/// Errors: a symbol, a dtype without a buffer format, a writable view.
///
/// # Safety
/// `view` points to a `Py_buffer` that Python owns.
pub unsafe fn fill(slf: Bound<'_, PyTensor>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
    let tensor = slf.get();
    // SAFETY: the view is Python's; where filling fails its `obj` must be null.
    unsafe { (*view).obj = ptr::null_mut() };
    let dense = tensor.0.data().map_err(|e| PyBufferError::new_err(e.to_string()))?;
    let (Storage::Fixed(buffer), Some(format)) = (dense.storage(), format(dense.dtype())) else {
        return Err(PyBufferError::new_err(format!(
            "a tensor of {} has no buffer. Wanted: numbers. Use `numpy.asarray`, which copies.",
            dense.dtype()
        )));
    };
    if flags & ffi::PyBUF_WRITABLE != 0 {
        return Err(PyBufferError::new_err("a tensor is read-only. Copy it to write: `numpy.array(tensor)`."));
    }
    let (width, rank) = (dense.dtype().width().unwrap_or(1), dense.dims().len());
    let extent = Box::into_raw(Box::new(Extent(extent(dense.dims(), width))));
    // SAFETY: the view is Python's, the tensor outlives it because `obj` owns a reference, and the extent until `release`.
    unsafe {
        let sizes = (*extent).0.as_mut_ptr();
        (*view).buf = buffer.as_ptr().cast_mut().cast();
        (*view).len = signed(buffer.len());
        (*view).readonly = 1;
        (*view).itemsize = signed(width);
        (*view).format = if flags & ffi::PyBUF_FORMAT != 0 { format.as_ptr().cast_mut() } else { ptr::null_mut() };
        (*view).ndim = c_int::try_from(rank).unwrap_or(c_int::MAX);
        (*view).shape = if flags & ffi::PyBUF_ND != 0 { sizes } else { ptr::null_mut() };
        (*view).strides =
            if flags & ffi::PyBUF_STRIDES == ffi::PyBUF_STRIDES { sizes.add(rank) } else { ptr::null_mut() };
        (*view).suboffsets = ptr::null_mut();
        (*view).internal = extent.cast();
        (*view).obj = slf.into_any().into_ptr();
    }
    Ok(())
}

/// Gives back what `fill` allocated.
///
/// # Safety
/// `view` is one that `fill` filled, and is released once.
pub unsafe fn release(view: *mut ffi::Py_buffer) {
    // SAFETY: `internal` is the box that `fill` made.
    drop(unsafe { Box::from_raw((*view).internal.cast::<Extent>()) });
}

/// The sizes of the axes and behind them their strides in bytes.
fn extent(dims: &[usize], width: usize) -> Vec<ffi::Py_ssize_t> {
    let mut strides: Vec<_> = dims
        .iter()
        .rev()
        .scan(width, |stride, &size| {
            let this = *stride;
            *stride *= size;
            Some(signed(this))
        })
        .collect();
    strides.reverse();
    dims.iter().map(|&size| signed(size)).chain(strides).collect()
}

fn signed(n: usize) -> ffi::Py_ssize_t {
    ffi::Py_ssize_t::try_from(n).unwrap_or(ffi::Py_ssize_t::MAX)
}

/// A NumPy array of the tensor.
///
/// Errors: a symbol; a copy that is forbidden and needed; a dtype that NumPy does not have.
pub fn to_numpy<'py>(
    slf: &Bound<'py, PyTensor>,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    let dense = slf.get().0.data().or_raise()?;
    let numpy = py.import("numpy")?;
    let options = PyDict::new(py);
    if let Some(dtype) = dtype {
        options.set_item("dtype", dtype)?;
    }
    if format(dense.dtype()).is_some() {
        options.set_item("copy", copy)?;
        return numpy.call_method("array", (PyMemoryView::from(slf.as_any())?,), Some(&options));
    }
    if copy == Some(false) {
        let error = Error::value(format!("an array of {} cannot be made without a copy", dense.dtype()));
        return Err(raised(py, error.hint("Leave `copy` out.")));
    }
    if dense.dtype() == DType::BF16 {
        let halves = py.import("extenso._interop.numpy")?.call_method1("bf16_to_numpy", (slf,))?;
        return numpy.call_method("array", (halves,), Some(&options));
    }
    if dense.dtype() == DType::Bool {
        let bytes = bytes_of_bits(dense.bits().or_raise()?).to_buffer();
        let bytes = Tensor::from_buffer(DType::U8, dense.dims(), bytes).or_raise()?;
        let bools = numpy.call_method1("asarray", (PyTensor(bytes),))?.call_method1("view", ("bool",))?;
        return numpy.call_method("array", (bools,), Some(&options));
    }
    if dtype.is_none() {
        // NumPy's own strings drop zeros at the end and are as long as the longest; objects keep them as they are.
        options.set_item("dtype", "object")?;
    }
    let flat = super::scalar::to_list(py, slf.get().0.with_dims(&[dense.len()]).or_raise()?.data().or_raise()?)?;
    numpy.call_method("array", (flat,), Some(&options))?.call_method1("reshape", (dense.dims().to_vec(),))
}
