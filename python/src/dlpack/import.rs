//! Capsules of DLPack as tensors.

use crate::error::{OrRaise, raised};
use crate::import::{Strided, in_order};
use crate::tensor::PyTensor;
use crate::typed::{Typed, typed};
use crate::{arg, standard};
use arrow_buffer::Buffer;
use extenso_core::{Tensor, bits_of_bytes, element_count};
use extenso_types::{DType, Error, Result};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::ptr::NonNull;
use std::sync::Arc;

use super::export::delete;
use super::{CPU, Managed, READABLE, RawTensor, Unversioned, VERSION, Versioned};

/// Makes a tensor of an array of any library that has DLPack, sharing its memory.
///
/// Numbers that lie in order are shared; booleans, which are bits here, and other strides are copied. With `copy` all are
/// copied, and with `copy=False` what cannot be shared is an error. An array that is not in the memory of the CPU is one too.
///
/// >>> import extenso as ex
/// >>> ex.from_dlpack(ex.tensor([[1, 2], [3, 4]]))
/// Tensor([[1, 2], [3, 4]], i64[2, 2])
#[pyfunction]
#[pyo3(signature = (x, /, *, device=None, copy=None))]
pub fn from_dlpack(
    x: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
    copy: Option<Typed<bool>>,
) -> PyResult<PyTensor> {
    typed!(from_dlpack: copy);
    standard::device(device)?;
    tensor_of(x, copy).map(PyTensor)
}

/// The tensor of an object with `__dlpack__`, or of a capsule.
///
/// Errors: neither; memory of another device; an element type that tensors do not have; a copy that is forbidden and needed.
pub fn tensor_of(object: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Tensor> {
    let py = object.py();
    let capsule = match object.cast::<PyCapsule>() {
        Ok(capsule) => capsule.clone(),
        Err(_) => offered(object)?.cast_into::<PyCapsule>()?,
    };
    let taken = take(&capsule).map_err(|e| raised(py, e.at("from_dlpack")))?;
    read(taken, copy).map_err(|e| e.at("from_dlpack")).or_raise()
}

/// The capsule that an object offers.
fn offered<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    if !object.hasattr("__dlpack__")? {
        let error = Error::dtype(format!("found a value of type {}", arg::type_name(object)))
            .wanted("an array with `__dlpack__`")
            .hint("`tensor` takes lists, numbers and arrays of NumPy.");
        return Err(raised(py, error.at("from_dlpack")));
    }
    if object.hasattr("__dlpack_device__")? {
        let (kind, _): (i32, i64) = object.call_method0("__dlpack_device__")?.extract()?;
        if !READABLE.contains(&kind) {
            return Err(raised(py, elsewhere(kind).at("from_dlpack")));
        }
    }
    if let Some(dtype) = without_dlpack(object) {
        let error = Error::dtype(format!("the array is of {dtype}, which DLPack does not have"));
        let error = error.wanted("numbers or booleans").hint("`tensor` takes arrays of strings.");
        return Err(raised(py, error.at("from_dlpack")));
    }
    let options = PyDict::new(py);
    options.set_item("max_version", (VERSION.major, VERSION.minor))?;
    match object.call_method("__dlpack__", (), Some(&options)) {
        // A producer from before versions takes no such argument.
        Err(e) if e.is_instance_of::<PyTypeError>(py) => object.call_method0("__dlpack__"),
        offered => offered,
    }
}

/// The dtype of an array that no capsule can hold: a library may end the process over it.
fn without_dlpack(object: &Bound<'_, PyAny>) -> Option<String> {
    let name: String = object.getattr("dtype").ok()?.getattr("name").ok()?.extract().ok()?;
    matches!(&*name, "string" | "variant" | "resource").then_some(name)
}

fn elsewhere(kind: i32) -> Error {
    Error::value(format!("the array is on a device of DLPack's kind {kind}"))
        .wanted(format!("memory of the CPU, kind {CPU}"))
        .hint("Copy the array to the CPU first.")
}

/// A managed tensor that is given back when it is dropped.
struct Owned<M: Managed>(NonNull<M>);

// SAFETY: the deleter of a managed tensor may be called from any thread, and what it points to is only read.
unsafe impl<M: Managed> Send for Owned<M> {}
// SAFETY: what it points to is only read.
unsafe impl<M: Managed> Sync for Owned<M> {}
impl<M: Managed> std::panic::RefUnwindSafe for Owned<M> {}

impl<M: Managed> Drop for Owned<M> {
    fn drop(&mut self) {
        // Deleters of Python's libraries expect a thread that holds the interpreter; when that is gone, so is their memory.
        let _ = Python::try_attach(|_| {
            // SAFETY: the tensor was taken out of its capsule, so that this is its only owner.
            unsafe { delete(self.0.as_ptr()) }
        });
    }
}

/// What a capsule held.
struct Taken {
    tensor: NonNull<RawTensor>,
    owner: Arc<dyn arrow_buffer::alloc::Allocation>,
}

/// Takes the tensor out of a capsule.
///
/// Errors: it was taken before; another kind of capsule; a version of another layout.
fn take(capsule: &Bound<'_, PyCapsule>) -> Result<Taken> {
    if let Some(owned) = taken_as::<Versioned>(capsule) {
        let pointer = owned.0.as_ptr();
        // SAFETY: the version stands first in every version's layout.
        let major = unsafe { (*pointer).version.major };
        if major != VERSION.major {
            return Err(Error::data(format!("the capsule has the layout of DLPack {major}"))
                .wanted(format!("version {}", VERSION.major)));
        }
        // SAFETY: the tensor is a field of what the owner keeps alive.
        let tensor = unsafe { NonNull::from(&mut (*pointer).tensor) };
        return Ok(Taken { tensor, owner: Arc::new(owned) });
    }
    if let Some(owned) = taken_as::<Unversioned>(capsule) {
        // SAFETY: the tensor is a field of what the owner keeps alive.
        let tensor = unsafe { NonNull::from(&mut (*owned.0.as_ptr()).tensor) };
        return Ok(Taken { tensor, owner: Arc::new(owned) });
    }
    Err(Error::value("the capsule holds no tensor of DLPack")
        .hint("A capsule is used once: ask the array for another."))
}

fn taken_as<M: Managed>(capsule: &Bound<'_, PyCapsule>) -> Option<Owned<M>> {
    // SAFETY: the capsule is alive; one of this name holds a managed tensor of this kind, and has another name afterwards.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule.as_ptr(), M::NAME.as_ptr()) != 1 {
            return None;
        }
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), M::NAME.as_ptr());
        let owned = NonNull::new(pointer.cast::<M>())?;
        (ffi::PyCapsule_SetName(capsule.as_ptr(), M::USED.as_ptr()) == 0).then_some(Owned(owned))
    }
}

fn read(taken: Taken, copy: Option<bool>) -> Result<Tensor> {
    // SAFETY: the owner keeps the tensor alive, which nobody writes.
    let raw = unsafe { taken.tensor.as_ref() };
    if !READABLE.contains(&raw.device.kind) {
        return Err(elsewhere(raw.device.kind));
    }
    let dtype = raw.element.dtype().ok_or_else(|| {
        let found = (raw.element.code, raw.element.bits, raw.element.lanes);
        Error::dtype(format!("the array has DLPack's element type {found:?} (code, bits, lanes)"))
            .wanted("booleans, integers or floats of 8 to 64 bits")
    })?;
    let width = usize::from(raw.element.bits / 8);
    let dims = sizes(raw)?;
    let count = element_count(&dims)?;
    let bytes = count.checked_mul(width).filter(|&n| isize::try_from(n).is_ok());
    let bytes =
        bytes.ok_or_else(|| Error::shape(format!("the array has the shape {dims:?}")).wanted("a smaller one"))?;
    let (memory, shared) = memory(raw, &dims, width, bytes, taken.owner)?;
    if copy == Some(false) && !(shared && dtype != DType::Bool) {
        let error = Error::value(format!("an array of {dtype} with these strides cannot be shared"));
        return Err(error.wanted("numbers in row-major order").hint("Leave `copy` out."));
    }
    if dtype == DType::Bool {
        return Tensor::from_bits(&dims, bits_of_bytes(&memory[..count]));
    }
    let copied = shared && copy == Some(true);
    Tensor::from_buffer(dtype, &dims, if copied { Buffer::from_slice_ref(&memory) } else { memory })
}

/// More axes than any array has.
const MAX_RANK: usize = 64;

fn sizes(raw: &RawTensor) -> Result<Vec<usize>> {
    let rank = usize::try_from(raw.rank).ok().filter(|&rank| rank <= MAX_RANK && (rank == 0 || !raw.sizes.is_null()));
    let rank = rank.ok_or_else(|| Error::data(format!("the array has {} axes", raw.rank)))?;
    let size = |axis| {
        // SAFETY: the producer has as many sizes as axes.
        let size = unsafe { *raw.sizes.add(axis) };
        usize::try_from(size).map_err(|_| Error::data(format!("axis {axis} has the size {size}")))
    };
    (0..rank).map(size).collect()
}

/// The bytes of the elements in row-major order, and whether they are those of the array, which they are where they lie so.
fn memory(
    raw: &RawTensor,
    dims: &[usize],
    width: usize,
    bytes: usize,
    owner: Arc<dyn arrow_buffer::alloc::Allocation>,
) -> Result<(Buffer, bool)> {
    if bytes == 0 {
        return Ok((Buffer::from_vec(Vec::<u8>::new()), true));
    }
    let base = NonNull::new(raw.data.cast::<u8>()).ok_or_else(|| Error::data("the array has no memory"))?;
    let offset = usize::try_from(raw.byte_offset).map_err(|_| Error::data("the array begins beyond all memory"))?;
    // SAFETY: the producer says that the first element stands at this offset of its memory.
    let base = unsafe { base.add(offset) };
    let strides = strides(raw, dims);
    if strides.as_ref().is_none_or(|strides| are_in_order(dims, strides)) {
        // SAFETY: elements in order fill `bytes` bytes from the first one, which the owner keeps alive.
        return Ok((unsafe { Buffer::from_custom_allocation(base, bytes, owner) }, true));
    }
    let long = |_| Error::shape(format!("the strides of the array are {strides:?}")).wanted("strides within memory");
    let step = |stride: &i64| isize::try_from(stride.saturating_mul(i64::try_from(width).unwrap_or(i64::MAX)));
    let steps = strides.iter().flatten().map(step).collect::<std::result::Result<Vec<isize>, _>>().map_err(long)?;
    // SAFETY: the producer has an element at each position, which the owner keeps alive.
    let copied = unsafe { in_order(&Strided { base, sizes: dims, strides: &steps, width }) }?;
    Ok((Buffer::from_vec(copied), false))
}

/// The strides in elements; none where the elements lie in order.
fn strides(raw: &RawTensor, dims: &[usize]) -> Option<Vec<i64>> {
    if raw.strides.is_null() {
        return None;
    }
    // SAFETY: strides that are there are as many as axes.
    Some((0..dims.len()).map(|axis| unsafe { *raw.strides.add(axis) }).collect())
}

fn are_in_order(dims: &[usize], strides: &[i64]) -> bool {
    let mut wanted = 1_usize;
    dims.iter().zip(strides).rev().all(|(&size, &stride)| {
        // Nobody goes along an axis of size 1.
        let fits = size == 1 || usize::try_from(stride) == Ok(wanted);
        wanted = wanted.saturating_mul(size);
        fits
    })
}
