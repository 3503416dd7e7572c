//! `Tensor`: a core tensor as a Python object.
//!
//! Invariant: holds nothing but the core tensor; what computes is an op.

mod buffer;
mod pickle;
mod scalar;
mod text;

pub use pickle::tensor_from_bytes;
pub use scalar::OBJECT;
pub use text::{_text_of, _text_parts};

use crate::error::OrRaise;
use crate::operators::with_operators;
use crate::typed::{Typed, typed};
use crate::{arg, arrow, call, dlpack, dtype, index, shape, spec, standard, value};
use arrow_buffer::Buffer;
use extenso_core::{Dense, Storage, Tensor, ops};
use extenso_types::{Error, Result, Spec};
use pyo3::basic::CompareOp;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyTuple};

/// A dense, immutable array of one dtype: numbers, booleans, strings or bytes.
///
/// Made by `tensor`; a *symbol*, which stands for data while a function is traced, is one too.
#[pyclass(name = "Tensor", module = "extenso", frozen)]
pub struct PyTensor(pub Tensor);

with_operators!(PyTensor {
    /// The element type.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, dtype::PyDType>> {
        dtype::object(py, self.0.dtype())
    }

    /// The sizes of the axes; where a symbol's is not known `None`, or in a trace for several sizes what must not be asked for.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        shape::tuple(py, &self.0.shape())
    }

    /// The number of axes.
    #[getter]
    fn ndim(&self, py: Python<'_>) -> PyResult<usize> {
        match self.0.rank() {
            Some(rank) => Ok(rank),
            // The error of a symbol without a rank is that of its sizes.
            None => shape::tuple(py, &self.0.shape()).map(|sizes| sizes.len()),
        }
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> PyResult<usize> {
        let known = || self.0.shape().dims()?.iter().map(|size| size.known()).product::<Option<usize>>();
        match self.0.symbol().and_then(|_| known()) {
            Some(size) => Ok(size),
            None => Ok(self.0.data().or_raise()?.len()),
        }
    }

    /// Whether it is a symbol, which stands for data while a function is traced.
    #[getter]
    fn is_symbolic(&self) -> bool {
        self.0.symbol().is_some()
    }

    /// The spec.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        spec::to_py(py, Spec::Tensor(self.0.spec()))
    }

    /// The axes in reverse order.
    #[getter(T)]
    fn transposed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        call::apply(py, &ops::TRANSPOSE, &[(&self.0).into()], &ops::Transpose { axes: None })
    }

    /// The matrices of the last two axes, transposed.
    #[getter(mT)]
    fn matrices_transposed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        standard::transposed(py, &self.0)
    }

    /// Where the elements are: `'cpu'`, the only device.
    #[getter]
    fn device(&self) -> &'static str {
        standard::CPU
    }

    /// The tensor itself: `'cpu'` is the only device.
    #[pyo3(signature = (device, /, *, stream=None))]
    fn to_device<'py>(
        slf: &Bound<'py, Self>,
        device: &Bound<'py, PyAny>,
        stream: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        standard::device(Some(device))?;
        match stream {
            None => Ok(slf.clone()),
            Some(_) => Err(Error::value("a stream is given").wanted("None: the device 'cpu' has no streams")).or_raise(),
        }
    }

    /// The module as the namespace of the Python Array API standard.
    #[pyo3(signature = (*, api_version=None))]
    fn __array_namespace__<'py>(&self, py: Python<'py>, api_version: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        standard::namespace(py, api_version)
    }

    /// The elements as nested lists; a 0-d tensor gives its element.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        scalar::to_list(py, self.0.data().or_raise()?)
    }

    /// The elements as nested lists, as any value gives itself back to Python.
    fn to_py<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.tolist(py)
    }

    /// The array of Arrow that shares the buffers: one of pyarrow if that is installed.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrow::array_of(py, &self.0.clone().into())
    }

    /// The C interface of Arrow: a schema and an array in capsules.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<arrow::Capsules<'py>> {
        arrow::capsules_of(py, &self.0.clone().into(), requested_schema.as_ref())
    }

    /// The C interface of Arrow: a stream of one array in a capsule.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<arrow::Stream<'py>> {
        arrow::stream_of(py, &self.0.clone().into(), requested_schema.as_ref())
    }

    /// The only element.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        scalar::item(py, &self.0)
    }

    /// A NumPy array: of numbers without a copy, of booleans, strings and bytes by copying.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        buffer::to_numpy(slf, dtype, copy)
    }

    /// The elements as a NumPy array: of numbers without a copy.
    fn to_numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        buffer::to_numpy(slf, None, None)
    }

    /// The memory as a capsule of DLPack, read-only; a copy for a consumer of an older version, which cannot be told so.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dlpack::capsule(py, &self.0, &dlpack::Wish { stream, max_version, device: dl_device, copy })
    }

    /// DLPack's number of the CPU, the only device.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (dlpack::CPU, 0)
    }

    /// NumPy leaves operators between an array and a tensor to the tensor.
    #[classattr]
    fn __array_priority__() -> f64 {
        1000.0
    }

    fn __extenso_type_spec__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.spec(py)
    }

    fn __extenso_tensor__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        index::item(py, &self.0.clone().into(), key)
    }

    fn __len__(&self) -> PyResult<usize> {
        outer_size(&self.0)
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<PyTensorIterator> {
        Ok(PyTensorIterator { len: outer_size(&slf.get().0)?, tensor: slf.get().0.clone(), next: 0.into() })
    }

    fn __bool__(&self) -> PyResult<bool> {
        scalar::truth(&self.0)
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        scalar::number(py, &self.0, "__int__")
    }

    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        scalar::number(py, &self.0, "__float__")
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        scalar::number(py, &self.0, "__float__").and_then(|real| py.get_type::<PyComplex>().call1((real,)))
    }

    fn __setitem__(&self, _key: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(Error::dtype("a tensor cannot be changed").hint("Make another: `where(mask, value, x)`.")).or_raise()
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        scalar::index(py, &self.0)
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        call::compare(slf, other, op)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }

    // Values are immutable, so that a copy is the value.
    fn __copy__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        pickle::reduce(py, &self.0)
    }

    // SAFETY: called by Python with a live view; `buffer::fill` fills every field of it or raises.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: std::ffi::c_int,
    ) -> PyResult<()> {
        // SAFETY: the view is the one that Python gave.
        unsafe { buffer::fill(slf, view, flags) }
    }

    // SAFETY: called by Python once for each view that `__getbuffer__` filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: the view is one that `buffer::fill` filled.
        unsafe { buffer::release(view) }
    }
});

/// The size of the outer axis.
///
/// Errors: a scalar; a symbol, whose size is data.
fn outer_size(tensor: &Tensor) -> PyResult<usize> {
    if tensor.symbol().is_some()
        && let Some(size) = tensor.shape().dims().and_then(|dims| dims.first()?.known())
    {
        return Ok(size);
    }
    let dense = tensor.data().or_raise()?;
    let error = || Error::shape("a 0-d tensor has no length").hint("Use `item()` for its element.");
    dense.dims().first().copied().ok_or_else(error).or_raise()
}

/// Row `i` of the outer axis, which is known to exist.
fn row<'py>(py: Python<'py>, tensor: &Tensor, i: usize) -> PyResult<Bound<'py, PyAny>> {
    if tensor.symbol().is_some() {
        let at = Tensor::scalar(i64::try_from(i).unwrap_or(i64::MAX));
        return value::to_py(py, ops::take(tensor, at, 0).or_raise()?);
    }
    let inner = tensor.data().or_raise()?.dims()[1..].to_vec();
    let row = tensor.slice_rows(i, 1).and_then(|row| row.with_dims(&inner)).or_raise()?;
    value::to_py(py, row.into())
}

/// Makes a tensor.
///
/// Numbers, strings, bytes, nested lists of these, arrays, and whatever has a buffer, `__array__`, `__dlpack__`,
/// `__extenso_tensor__` or a registered conversion. Without `dtype`, integers are i64 and floats f64. A contiguous array of numbers is not copied.
#[pyfunction]
#[pyo3(signature = (value, dtype=None))]
pub fn tensor(value: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<PyTensor> {
    arg::tensor(value, dtype.map(dtype::from_py).transpose()?).map(PyTensor)
}

/// Makes a tensor of an array; NumPy's name of `tensor`.
///
/// >>> import extenso as ex
/// >>> ex.asarray([1, 2], dtype="f32")
/// Tensor([1.0, 2.0], f32[2])
#[pyfunction]
#[pyo3(signature = (obj, dtype=None, device=None, copy=None))]
pub fn asarray(
    obj: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
    copy: Option<Typed<bool>>,
) -> PyResult<PyTensor> {
    typed!(asarray: copy);
    standard::device(device)?;
    let made = tensor(obj, dtype)?;
    match copy {
        None => Ok(made),
        Some(true) => copied(&made.0).or_raise().map(PyTensor),
        Some(false) if shares(obj, &made.0) => Ok(made),
        Some(false) => {
            let error = Error::value("a tensor cannot be made of this without a copy");
            Err(error.wanted("a tensor, or an array of numbers, of that dtype").hint("Leave `copy` out.")).or_raise()
        }
    }
}

/// The tensor in memory of its own, which no array can change.
fn copied(tensor: &Tensor) -> Result<Tensor> {
    match tensor.data().map(Dense::storage) {
        Ok(Storage::Fixed(buffer)) => {
            let memory = Buffer::from_slice_ref(buffer.as_slice());
            Tensor::from_buffer(tensor.dtype(), tensor.data()?.dims(), memory)
        }
        // Other memory is never shared with an array, and a symbol has none.
        Ok(Storage::Bits(_) | Storage::Text { .. } | Storage::Boxed(_)) | Err(_) => Ok(tensor.clone()),
    }
}

/// Whether a tensor that was made of an object is that object, or has its memory.
fn shares(object: &Bound<'_, PyAny>, made: &Tensor) -> bool {
    if let Ok(tensor) = object.cast::<PyTensor>() {
        return tensor.get().0.dtype() == made.dtype();
    }
    match (PyUntypedBuffer::get(object), made.data().and_then(Dense::fixed)) {
        (Ok(view), Ok(memory)) => memory.is_empty() || view.buf_ptr().addr() == memory.as_ptr().addr(),
        _ => false,
    }
}

/// An iterator over the outer axis of a tensor.
#[pyclass(name = "TensorIterator", module = "extenso", frozen)]
pub struct PyTensorIterator {
    tensor: Tensor,
    len: usize,
    next: std::sync::atomic::AtomicUsize,
}

#[pymethods]
impl PyTensorIterator {
    fn __iter__(slf: &Bound<'_, Self>) -> Py<Self> {
        slf.clone().unbind()
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let i = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if i >= self.len {
            // Stays at the end however often it is asked.
            self.next.store(self.len, std::sync::atomic::Ordering::Relaxed);
            return Ok(None);
        }
        row(py, &self.tensor, i).map(Some)
    }

    fn __length_hint__(&self) -> usize {
        self.len.saturating_sub(self.next.load(std::sync::atomic::Ordering::Relaxed))
    }
}
