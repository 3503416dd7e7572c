//! The way into the call pipeline: every operator, method and function of Python applies an op here.
//!
//! Invariant: a panic in Rust becomes an error; large work runs without the GIL.

use crate::error::{self, OrRaise, guarded};
use crate::{arg, value};
use extenso_core::OpDef;
use extenso_core::attrs::{AttrSet, Axes, NoAttrs};
use extenso_core::{Arg, Value, ops};
use extenso_types::Error;
use pyo3::basic::CompareOp;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Elements from which on it pays to let other Python threads run.
const LARGE: usize = 1 << 14;

/// Applies an op; one output comes back as it is, several as a tuple.
///
/// Errors: those of the op, as exceptions.
pub fn apply<'py>(
    py: Python<'py>,
    op: &'static OpDef,
    args: &[Arg],
    attrs: &dyn AttrSet,
) -> PyResult<Bound<'py, PyAny>> {
    let run = || guarded(|| extenso_core::call(op, args, attrs));
    let outputs = if args.iter().any(is_large) { py.detach(run) } else { run() };
    value::outputs_to_py(py, outputs.or_raise()?)
}

/// Applies an op of one output and gives the core value.
pub fn apply_one(op: &'static OpDef, args: &[Arg], attrs: &dyn AttrSet) -> PyResult<Value> {
    guarded(|| extenso_core::call_one(op, args, attrs)).or_raise()
}

fn is_large(arg: &Arg) -> bool {
    match arg {
        Arg::Value(Value::Tensor(t)) => t.data().is_ok_and(|dense| dense.len() >= LARGE),
        Arg::List(items) => items.iter().any(is_large),
        // Handlers written in Python run on this thread and let go themselves, around the ops that they call.
        Arg::Value(Value::Partition(_) | Value::Ext(_)) | Arg::Scalar(_) => false,
    }
}

/// Applies a binary operator; an operand that no op takes gives `NotImplemented`.
#[inline]
pub fn binary<'py>(op: &'static OpDef, x: &Bound<'py, PyAny>, y: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let operand = |object| arg::operand(object).map_err(|e| error::at(py, e, op.name));
    match (operand(x)?, operand(y)?) {
        (Some(x), Some(y)) => apply(py, op, &[x, y], &NoAttrs {}),
        _ => Ok(py.NotImplemented().into_bound(py)),
    }
}

/// The quotient, rounded down, and the remainder.
pub fn divmod<'py>(x: &Bound<'py, PyAny>, y: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let quotient = binary(&ops::FLOOR_DIVIDE, x, y)?;
    if quotient.is(x.py().NotImplemented()) {
        return Ok(quotient);
    }
    let rest = binary(&ops::REMAINDER, x, y)?;
    Ok(PyTuple::new(x.py(), [quotient, rest])?.into_any())
}

/// Elements rounded to whole numbers, or to so many digits.
pub fn rounded<'py>(x: &Bound<'py, PyAny>, digits: Option<i64>) -> PyResult<Bound<'py, PyAny>> {
    let Some(digits) = digits else { return unary(&ops::ROUND, x) };
    let given = value::from_py(x)?;
    value::to_py(x.py(), guarded(|| extenso_ext::round_to(&given, digits)).or_raise()?)
}

/// Whether any element equals the item; `None` is equal to what is missing.
///
/// Errors: an item that the elements are not compared with; a symbol, of which nobody knows it.
pub fn contains(x: &Bound<'_, PyAny>, item: &Bound<'_, PyAny>) -> PyResult<bool> {
    let given = value::from_py(x)?;
    let item = if item.is_none() { None } else { Some(arg::from_py(item)?) };
    let found = guarded(|| {
        let equal = match item {
            None => extenso_ext::is_none(&given, None)?,
            Some(item) => ops::equal(&given, item)?,
        };
        let any = ops::any(extenso_ext::fill_none(&equal, false)?, Axes::All, false)?;
        any.tensor()?.to_bool()
    });
    found.map_err(|e| e.at("in")).or_raise()
}

/// The text of one element by a format, as Python writes it; of other values without one.
///
/// Errors: a format for more than one element.
pub fn formatted(x: &Bound<'_, PyAny>, format: &str) -> PyResult<String> {
    if format.is_empty() {
        return Ok(x.str()?.to_string());
    }
    let spec = value::from_py(x)?.spec().or_raise()?;
    let shape = extenso_ext::shape_of(&spec);
    if shape.rank() != Some(0) {
        let error = Error::value(format!("the format '{format}' is given for a value of shape {shape}"))
            .wanted("one element")
            .hint("Take one, or write each: `[format(item, spec) for item in x.to_py()]`.");
        return Err(error.at("format")).or_raise();
    }
    let item = crate::literal::to_py(x)?;
    x.py().import("builtins")?.call_method1("format", (item, format))?.extract()
}

/// Applies `**`; no op has the modulus of `pow(x, y, modulus)`.
pub fn power<'py>(
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
    modulus: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match modulus {
        None => binary(&ops::POW, x, y),
        Some(_) => Ok(x.py().NotImplemented().into_bound(x.py())),
    }
}

/// Applies a unary operator.
pub fn unary<'py>(op: &'static OpDef, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    apply(x.py(), op, &[arg::from_py(x)?], &NoAttrs {})
}

/// Applies a comparison operator.
pub fn compare<'py>(x: &Bound<'py, PyAny>, y: &Bound<'py, PyAny>, op: CompareOp) -> PyResult<Bound<'py, PyAny>> {
    let op = match op {
        CompareOp::Lt => &ops::LESS,
        CompareOp::Le => &ops::LESS_EQUAL,
        CompareOp::Eq => &ops::EQUAL,
        CompareOp::Ne => &ops::NOT_EQUAL,
        CompareOp::Gt => &ops::GREATER,
        CompareOp::Ge => &ops::GREATER_EQUAL,
    };
    binary(op, x, y)
}

/// Applies `@`.
pub fn matmul<'py>(x: &Bound<'py, PyAny>, y: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    match (arg::operand(x)?, arg::operand(y)?) {
        (Some(x), Some(y)) => apply(py, &ops::MATMUL, &[x, y], &ops::MatMul { transpose_y: false }),
        _ => Ok(py.NotImplemented().into_bound(py)),
    }
}

/// Calls a Python function without building a tuple where there are few arguments and no keywords.
///
/// Errors: what the function raises.
pub fn python<'py>(
    function: &Bound<'py, PyAny>,
    args: &[Bound<'py, PyAny>],
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, end) = (function.py(), std::ptr::null_mut::<ffi::PyObject>());
    // SAFETY: the arguments are objects that outlive the call, and a null pointer ends them.
    let result = unsafe {
        match (args, keywords) {
            ([x], None) => ffi::PyObject_CallFunctionObjArgs(function.as_ptr(), x.as_ptr(), end),
            ([x, y], None) => ffi::PyObject_CallFunctionObjArgs(function.as_ptr(), x.as_ptr(), y.as_ptr(), end),
            ([x, y, z], None) => {
                ffi::PyObject_CallFunctionObjArgs(function.as_ptr(), x.as_ptr(), y.as_ptr(), z.as_ptr(), end)
            }
            _ => return function.call(PyTuple::new(py, args)?, keywords),
        }
    };
    // SAFETY: the call gave a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, result) }
}
