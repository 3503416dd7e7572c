//! Buffers and arrays as tensors.

use crate::arg::type_name;
use crate::dlpack;
use crate::error::{OrRaise, raised, reworded};
use crate::value;
use arrow_buffer::Buffer;
use extenso_core::{Tensor, Value, bits_of_bytes};
use extenso_types::{DType, Error};
use pyo3::buffer::{ElementType, PyUntypedBuffer};
use pyo3::prelude::*;
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use super::strided::{Strided, advance, in_order};
use super::{list_value, nested, to_dtype};

/// The tensor of an object with a buffer, `__array__` or `__dlpack__`.
///
/// Errors: a dtype that tensors do not have.
pub fn array(object: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    match read(object)? {
        Found::Tensor(tensor) => to_dtype(tensor, dtype),
        Found::Array(array) => from_numpy(&array, dtype),
    }
}

/// The value of such an object: times of an array of times, and what objects are in an array of objects.
///
/// Errors: a dtype that no value has.
pub fn array_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let array = match read(object)? {
        Found::Tensor(tensor) => return Ok(Value::Tensor(tensor)),
        Found::Array(array) => array,
    };
    // The object itself may say what is missing.
    let value = times(object)?;
    if let Some(value) = value.map_or_else(|| times(&array), |value| Ok(Some(value)))? {
        return Ok(value);
    }
    match kind(&array).as_str() {
        // Records, whatever is nested in them.
        "V" => value_of_numpy(&array),
        "O" if array.getattr("ndim")?.ne(0)? && array.getattr("size")?.ne(0)? => {
            list_value(&array.call_method0("tolist")?)
        }
        _ => from_numpy(&array, None).map(Value::Tensor),
    }
}

/// The dates, points in time or durations of an array of `datetime64` or `timedelta64`, or of one element; none of another object.
///
/// Errors: a unit that no times have; a count that does not fit.
pub fn times(object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    if !matches!(kind(object).as_str(), "m" | "M") {
        return Ok(None);
    }
    value_of_numpy(object).map(Some)
}

/// What `from_numpy` makes of an array.
fn value_of_numpy(array: &Bound<'_, PyAny>) -> PyResult<Value> {
    let made = array.py().import("extenso._interop.numpy")?.call_method1("from_numpy", (array,));
    // What was called says its own name.
    let unnamed = |text: &str| text.strip_prefix("from_numpy: ").unwrap_or(text).to_string();
    value::from_py(&made.map_err(|e| reworded(array.py(), e, unnamed))?)
}

/// What is in an object: a tensor, or an array that NumPy reads.
enum Found<'py> {
    Tensor(Tensor),
    Array(Bound<'py, PyAny>),
}

fn read<'py>(object: &Bound<'py, PyAny>) -> PyResult<Found<'py>> {
    if let Some(tensor) = from_buffer(object)? {
        return Ok(Found::Tensor(tensor));
    }
    let array = match object.getattr_opt("__array__")?.map(|make| make.call0()) {
        // NumPy does not have every dtype of other libraries, such as bfloat16.
        None | Some(Err(_)) if object.hasattr("__dlpack__")? => {
            return dlpack::tensor_of(object, None).map(Found::Tensor);
        }
        Some(array) => array?,
        None => object.clone(),
    };
    if let Some(tensor) = from_buffer(&array)? {
        return Ok(Found::Tensor(tensor));
    }
    // The buffer of a 0-d array has no shape, which PyO3 does not read.
    if array.getattr_opt("ndim")?.is_some_and(|rank| rank.eq(0).unwrap_or(false))
        && let Some(tensor) = from_buffer(&array.call_method1("reshape", (1,))?)?
    {
        return tensor.with_dims(&[]).map(Found::Tensor).or_raise();
    }
    Ok(Found::Array(array))
}

/// The letter of the kind of dtype that an array has; empty if it has none.
fn kind(array: &Bound<'_, PyAny>) -> String {
    array.getattr("dtype").and_then(|d| d.getattr("kind")).and_then(|k| k.extract()).unwrap_or_default()
}

/// The tensor of a buffer, or none if the object has no buffer or one that needs NumPy to be read.
fn from_buffer(object: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    let Ok(buffer) = PyUntypedBuffer::get(object) else { return Ok(None) };
    let Some(element) = native_element(&buffer) else { return Ok(None) };
    let dims = buffer.shape().to_vec();
    let Element::Number(dtype) = element else {
        let is_read = buffer.is_c_contiguous() && buffer.suboffsets().is_none();
        let bytes = if is_read { shared(buffer) } else { Buffer::from_vec(copied(&buffer)?) };
        return Tensor::from_bits(&dims, bits_of_bytes(&bytes)).or_raise().map(Some);
    };
    let memory = if buffer.is_c_contiguous() && buffer.suboffsets().is_none() {
        shared(buffer)
    } else {
        Buffer::from_vec(copied(&buffer)?)
    };
    Tensor::from_buffer(dtype, &dims, memory).or_raise().map(Some)
}

enum Element {
    Bool,
    Number(DType),
}

/// The element type of a buffer in the machine's byte order.
fn native_element(buffer: &PyUntypedBuffer) -> Option<Element> {
    let swapped = if cfg!(target_endian = "little") { b">!" } else { b"<\0" };
    let format = buffer.format();
    if format.to_bytes().first().is_some_and(|first| swapped.contains(first)) {
        return None;
    }
    let dtype = match (ElementType::from_format(format), buffer.item_size()) {
        (ElementType::Bool, 1) => return Some(Element::Bool),
        (ElementType::SignedInteger { bytes: 1 }, 1) => DType::I8,
        (ElementType::SignedInteger { bytes: 2 }, 2) => DType::I16,
        (ElementType::SignedInteger { bytes: 4 }, 4) => DType::I32,
        (ElementType::SignedInteger { bytes: 8 }, 8) => DType::I64,
        (ElementType::UnsignedInteger { bytes: 1 }, 1) => DType::U8,
        (ElementType::UnsignedInteger { bytes: 2 }, 2) => DType::U16,
        (ElementType::UnsignedInteger { bytes: 4 }, 4) => DType::U32,
        (ElementType::UnsignedInteger { bytes: 8 }, 8) => DType::U64,
        (ElementType::Float { bytes: 2 }, 2) => DType::F16,
        (ElementType::Float { bytes: 4 }, 4) => DType::F32,
        (ElementType::Float { bytes: 8 }, 8) => DType::F64,
        _ => return None,
    };
    Some(Element::Number(dtype))
}

/// The memory of a contiguous buffer, whose owner lives as long.
fn shared(buffer: PyUntypedBuffer) -> Buffer {
    let (address, len) = (buffer.buf_ptr().cast::<u8>(), buffer.len_bytes());
    let Some(address) = NonNull::new(address).filter(|_| len > 0) else { return Buffer::from_vec(Vec::<u8>::new()) };
    // SAFETY: the exporter keeps `len` bytes at this address for as long as the view is held, which the allocation does.
    unsafe { Buffer::from_custom_allocation(address, len, Arc::new(AssertUnwindSafe(buffer))) }
}

/// The bytes of a buffer in row-major order.
fn copied(buffer: &PyUntypedBuffer) -> PyResult<Vec<u8>> {
    let (sizes, width) = (buffer.shape(), buffer.item_size());
    if let (Some(base), None) = (NonNull::new(buffer.buf_ptr().cast::<u8>()), buffer.suboffsets()) {
        let array = Strided { base, sizes, strides: buffer.strides(), width };
        // SAFETY: the exporter has an element at each position for as long as the view is held.
        return unsafe { in_order(&array) }.or_raise();
    }
    let mut bytes = Vec::with_capacity(buffer.len_bytes());
    let mut at = vec![0; sizes.len()];
    for _ in 0..buffer.item_count() {
        let element = buffer.get_ptr(&at).cast::<u8>();
        // SAFETY: `at` is within the sizes, so the exporter has `width` bytes there.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(element, width) });
        advance(&mut at, sizes);
    }
    Ok(bytes)
}

/// The tensor of a NumPy array whose memory no buffer describes: text, objects, foreign byte order, bfloat16.
fn from_numpy(array: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    let py = array.py();
    let name: String =
        array.getattr("dtype").and_then(|d| d.getattr("name")).and_then(|n| n.extract()).unwrap_or_default();
    if name == "bfloat16" {
        // The buffer of a 0-d array has no shape.
        let dims: Vec<usize> = array.getattr("shape")?.extract()?;
        let bits = array.call_method1("reshape", (-1,))?.call_method1("view", ("uint16",))?;
        let bits = from_buffer(&bits)?.ok_or_else(|| not_an_array(array))?;
        let made = Tensor::from_buffer(DType::BF16, &dims, bits.buffer().or_raise()?).or_raise()?;
        return to_dtype(made, dtype);
    }
    match kind(array).as_str() {
        "U" | "S" | "O" | "T" => {
            let dims: Vec<usize> = array.getattr("shape")?.extract()?;
            let flat = array.call_method1("ravel", ())?.call_method0("tolist")?;
            // Of no elements, the list does not say what they are.
            let own = match kind(array).as_str() {
                "U" | "T" => Some(DType::String),
                "S" => Some(DType::Bytes),
                _ => None,
            };
            let made = nested(&flat, dtype.or(own.filter(|_| dims.contains(&0))))?;
            made.with_dims(&dims).or_raise()
        }
        "b" | "i" | "u" | "f" => {
            let native = array.getattr("dtype")?.call_method1("newbyteorder", ("=",))?;
            let native = array.call_method1("astype", (native,))?;
            let made = from_buffer(&native)?.ok_or_else(|| not_an_array(array))?;
            to_dtype(made, dtype)
        }
        "m" | "M" => {
            let error = unknown_dtype(&name, array).hint("`constant` and `from_numpy` make times of it.");
            Err(raised(py, error))
        }
        _ => Err(raised(py, unknown_dtype(&name, array))),
    }
}

fn unknown_dtype(name: &str, array: &Bound<'_, PyAny>) -> Error {
    let what = if name.is_empty() { format!("a {}", type_name(array)) } else { format!("an array of {name}") };
    Error::dtype(format!("found {what}")).wanted("numbers, booleans, strings or bytes")
}

fn not_an_array(array: &Bound<'_, PyAny>) -> PyErr {
    raised(array.py(), unknown_dtype("", array))
}
