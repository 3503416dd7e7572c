//! Tensors as capsules of DLPack.

use crate::error::{OrRaise, raised};
use arrow_buffer::Buffer;
use extenso_core::{Storage, Tensor, bytes_of_bits};
use extenso_types::{DType, Error, Result};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;

use super::{CPU, Device, Element, IS_COPIED, Managed, READ_ONLY, RawTensor, Unversioned, VERSION, Versioned};

/// What a consumer asks of `__dlpack__`.
pub struct Wish<'a, 'py> {
    pub stream: Option<&'a Bound<'py, PyAny>>,
    pub max_version: Option<(u32, u32)>,
    pub device: Option<(i32, i32)>,
    pub copy: Option<bool>,
}

/// A capsule with the tensor's memory, which the consumer may not write, or with a copy, which it may.
///
/// A consumer that knows no version cannot be told that memory is read-only; it gets a copy unless it forbids one.
/// Errors: a symbol; a dtype that DLPack has not; another device; a stream; a copy that is forbidden and needed.
pub fn capsule<'py>(py: Python<'py>, tensor: &Tensor, wish: &Wish<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    check(py, wish)?;
    let dense = tensor.data().or_raise()?;
    let element = Element::of(dense.dtype()).ok_or_else(|| {
        PyBufferError::new_err(format!("DLPack has no {}. Wanted: numbers or booleans.", dense.dtype()))
    })?;
    let versioned = wish.max_version.is_some_and(|(major, _)| major >= VERSION.major);
    let copy = wish.copy.unwrap_or(!versioned);
    let memory = memory(tensor, copy, wish.copy == Some(false)).map_err(|e| PyBufferError::new_err(e.to_string()))?;
    let copied = copy || dense.dtype() == DType::Bool;
    let held = Held::new(memory, dense.dims(), element).or_raise()?;
    if versioned {
        let flags = if copied { IS_COPIED } else { READ_ONLY };
        let make =
            |tensor, context| Versioned { version: VERSION, context, deleter: Some(drop_versioned), flags, tensor };
        return in_capsule(py, held.managed(make));
    }
    let make = |tensor, context| Unversioned { tensor, context, deleter: Some(drop_unversioned) };
    in_capsule(py, held.managed(make))
}

fn check(py: Python<'_>, wish: &Wish<'_, '_>) -> PyResult<()> {
    if wish.device.is_some_and(|device| device != (CPU, 0)) {
        let found = wish.device.unwrap_or_default();
        return Err(PyBufferError::new_err(format!("the device {found:?} is asked for. Wanted: ({CPU}, 0), the CPU.")));
    }
    match wish.stream {
        // A consumer that knows streams says by -1 that it needs none.
        Some(stream) if !stream.eq(-1)? => {
            let error = Error::value("a stream is given").wanted("None: the device 'cpu' has no streams");
            Err(raised(py, error.at("__dlpack__")))
        }
        _ => Ok(()),
    }
}

/// The bytes of the elements, one after another; of booleans a byte each.
fn memory(tensor: &Tensor, copy: bool, forbidden: bool) -> Result<Buffer> {
    let dense = tensor.data()?;
    match dense.storage() {
        Storage::Fixed(elements) if copy => Ok(Buffer::from_slice_ref(elements.as_slice())),
        Storage::Fixed(_) => tensor.buffer(),
        Storage::Bits(_) if forbidden => {
            Err(Error::value("booleans are bits here and bytes in DLPack").hint("Leave `copy` out."))
        }
        Storage::Bits(bits) => Ok(bytes_of_bits(bits).to_buffer()),
        Storage::Text { .. } | Storage::Boxed(_) => Err(Error::dtype(format!("DLPack has no {}", dense.dtype()))),
    }
}

/// What a managed tensor points to, and what keeps it alive.
struct Held {
    memory: Buffer,
    /// The sizes and behind them the strides, in elements.
    extent: Vec<i64>,
    rank: i32,
    element: Element,
}

impl Held {
    fn new(memory: Buffer, dims: &[usize], element: Element) -> Result<Box<Held>> {
        let long = |_| Error::shape(format!("the shape {dims:?} is too large for DLPack"));
        let sizes: Vec<i64> = dims.iter().map(|&size| i64::try_from(size).map_err(long)).collect::<Result<_>>()?;
        let rank = i32::try_from(sizes.len()).map_err(long)?;
        let mut strides = vec![1_i64; sizes.len()];
        for axis in (1..sizes.len()).rev() {
            // Without elements a product may pass the largest number, and nobody goes along a stride.
            strides[axis - 1] = strides[axis].wrapping_mul(sizes[axis].max(1));
        }
        Ok(Box::new(Held { memory, extent: sizes.into_iter().chain(strides).collect(), rank, element }))
    }

    /// The managed tensor that owns what it points to until its deleter is called.
    fn managed<M>(self: Box<Held>, make: impl FnOnce(RawTensor, *mut c_void) -> M) -> Box<M> {
        let held = Box::into_raw(self);
        // SAFETY: `held` was just made of a box, and the deleter alone takes it back, so that all it owns stays in place.
        let held_ref = unsafe { &mut *held };
        let sizes = held_ref.extent.as_mut_ptr();
        let rank = held_ref.extent.len() / 2;
        let tensor = RawTensor {
            data: held_ref.memory.as_ptr().cast_mut().cast(),
            device: Device { kind: CPU, id: 0 },
            rank: held_ref.rank,
            element: held_ref.element,
            sizes,
            // SAFETY: the strides stand behind the sizes in the same vector.
            strides: unsafe { sizes.add(rank) },
            byte_offset: 0,
        };
        Box::new(make(tensor, held.cast()))
    }
}

// SAFETY: called once, by the last owner of a managed tensor that `capsule` made; both boxes are those that it made.
unsafe extern "C" fn drop_versioned(managed: *mut Versioned) {
    // SAFETY: as the function says.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Held>()));
    }
}

// SAFETY: called once, by the last owner of a managed tensor that `capsule` made; both boxes are those that it made.
unsafe extern "C" fn drop_unversioned(managed: *mut Unversioned) {
    // SAFETY: as the function says.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Held>()));
    }
}

fn in_capsule<M: Managed>(py: Python<'_>, managed: Box<M>) -> PyResult<Bound<'_, PyAny>> {
    let pointer = Box::into_raw(managed);
    // SAFETY: the pointer is not null and the name lives for ever; the capsule is a new reference.
    unsafe {
        let capsule = ffi::PyCapsule_New(pointer.cast(), M::NAME.as_ptr(), Some(drop_unused::<M>));
        Bound::from_owned_ptr_or_err(py, capsule).inspect_err(|_| delete(pointer))
    }
}

// SAFETY: called by Python with a capsule that `in_capsule` made, when it goes away.
unsafe extern "C" fn drop_unused<M: Managed>(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule that still has its first name still owns its tensor; a consumer gives it another.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr()).cast::<M>());
        }
    }
}

/// Gives a managed tensor back.
///
/// # Safety
/// The pointer is that of a managed tensor which nobody uses any more.
pub(super) unsafe fn delete<M: Managed>(managed: *mut M) {
    // SAFETY: as the function asks; a null deleter means that there is nothing to give back.
    unsafe {
        if let Some(deleter) = (*managed).deleter() {
            deleter(managed);
        }
    }
}
