//! Elements as Python objects: lists, single elements, truth and numbers.

use crate::error::OrRaise;
use extenso_core::kernels::pool::affordable;
use extenso_core::{Dense, Storage, Tensor};
use extenso_types::{DType, DTypeKind, Error, Result};
use half::{bf16, f16};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString};

/// The elements as nested lists.
///
/// Errors: endless lists without an element.
pub fn to_list<'py>(py: Python<'py>, dense: &Dense) -> PyResult<Bound<'py, PyAny>> {
    dense.check_lists().or_raise()?;
    affordable(dense.len().saturating_mul(OBJECT)).or_raise()?;
    axis(py, dense, dense.dims(), 0)
}

/// What an element takes in a list: a number of Python, where it stands, and where it stood before.
pub const OBJECT: usize = 48;

fn axis<'py>(py: Python<'py>, dense: &Dense, dims: &[usize], at: usize) -> PyResult<Bound<'py, PyAny>> {
    let Some((&n, inner)) = dims.split_first() else { return element(py, dense, at) };
    let step: usize = inner.iter().product();
    let items: PyResult<Vec<_>> = (0..n).map(|i| axis(py, dense, inner, at + i * step)).collect();
    Ok(PyList::new(py, items?)?.into_any())
}

/// One element; `i` is below the number of elements.
fn element<'py>(py: Python<'py>, dense: &Dense, i: usize) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! numbers {
        ($($d:ident $t:ty => $make:expr;)*) => {
            match dense.dtype() {
                $(DType::$d => {
                    let make: fn(Python<'py>, $t) -> Bound<'py, PyAny> = $make;
                    Ok(make(py, dense.as_slice::<$t>().or_raise()?[i]))
                })*
                DType::Bool => Ok(PyBool::new(py, dense.bits().or_raise()?.value(i)).to_owned().into_any()),
                DType::String => Ok(PyString::new(py, dense.str_at(i).or_raise()?).into_any()),
                DType::Bytes => Ok(PyBytes::new(py, dense.text_at(i).or_raise()?).into_any()),
                DType::Variant => crate::value::to_py(py, dense.boxed().or_raise()?[i].clone()),
            }
        };
    }
    numbers! {
        I8 i8 => |py, v| PyInt::new(py, v).into_any();
        I16 i16 => |py, v| PyInt::new(py, v).into_any();
        I32 i32 => |py, v| PyInt::new(py, v).into_any();
        I64 i64 => |py, v| PyInt::new(py, v).into_any();
        U8 u8 => |py, v| PyInt::new(py, v).into_any();
        U16 u16 => |py, v| PyInt::new(py, v).into_any();
        U32 u32 => |py, v| PyInt::new(py, v).into_any();
        U64 u64 => |py, v| PyInt::new(py, v).into_any();
        F16 f16 => |py, v| PyFloat::new(py, v.to_f64()).into_any();
        BF16 bf16 => |py, v| PyFloat::new(py, v.to_f64()).into_any();
        F32 f32 => |py, v| PyFloat::new(py, v.into()).into_any();
        F64 f64 => |py, v| PyFloat::new(py, v).into_any();
    }
}

/// The only element of a tensor of one.
///
/// Errors: more or fewer elements; a symbol.
pub fn item<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    element(py, one(tensor).or_raise()?, 0)
}

fn one(tensor: &Tensor) -> Result<&Dense> {
    let dense = tensor.data()?;
    if dense.len() == 1 {
        return Ok(dense);
    }
    Err(Error::value(format!("the tensor {} has {} elements", tensor.spec(), dense.len()))
        .wanted("one element")
        .hint("Use `any` or `all` to ask about many."))
}

/// Whether the only element is true, not zero, not empty.
///
/// Errors: more or fewer elements; a symbol.
pub fn truth(tensor: &Tensor) -> PyResult<bool> {
    let dense = one(tensor).or_raise()?;
    match dense.storage() {
        Storage::Bits(bits) => Ok(bits.value(0)),
        _ => Python::attach(|py| element(py, dense, 0)?.is_truthy()),
    }
}

/// The only element by one of Python's number methods.
///
/// Errors: more or fewer elements; a symbol; an element that is no number.
pub fn number<'py>(py: Python<'py>, tensor: &Tensor, method: &str) -> PyResult<Bound<'py, PyAny>> {
    match tensor.dtype().kind() {
        DTypeKind::Text | DTypeKind::Variant => {
            one(tensor).or_raise()?;
            Err(Error::dtype(format!("found {}", tensor.spec())).wanted("a number")).or_raise()
        }
        DTypeKind::Bool | DTypeKind::Signed | DTypeKind::Unsigned | DTypeKind::Float => {
            item(py, tensor)?.call_method0(method)
        }
    }
}

/// The only element of a tensor of integers, as an index.
///
/// Errors: more or fewer elements; a symbol; another dtype.
pub fn index<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let element = item(py, tensor)?;
    if tensor.dtype().is_integer() {
        return Ok(element);
    }
    Err(Error::dtype(format!("found {}", tensor.spec())).wanted("an integer")).or_raise()
}
