//! Integers among the arguments of functions that are no ops.
//!
//! Invariant: an object that is no such integer is refused by the function that it was given to, under the name of the argument.

use crate::arg::type_name;
use crate::error::{OrRaise, carried};
use extenso_types::{Error, Result};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;

/// An integer of a caller, or what is wrong with what came.
pub struct Int<T = i64>(Result<T>);

impl<T> Int<T> {
    /// A default.
    pub const fn new(value: T) -> Int<T> {
        Int(Ok(value))
    }
}

/// The integers that arguments are.
pub trait Whole: Copy {
    /// What is wanted of the caller.
    const WANTED: &'static str;
}

impl Whole for i64 {
    const WANTED: &'static str = "an integer from -2**63 to 2**63 - 1";
}

impl Whole for usize {
    const WANTED: &'static str = "an integer from 0 to 2**64 - 1";
}

impl<'a, 'py, T: Whole + FromPyObject<'a, 'py, Error = PyErr>> FromPyObject<'a, 'py> for Int<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Int<T>> {
        Ok(Int(object.extract::<T>().map_err(|exception| refused::<T>(&object, exception))))
    }
}

/// What is wrong with an object. What it raised itself comes through: a symbol says that it has no data.
pub fn refused<T: Whole>(object: &Bound<'_, PyAny>, exception: PyErr) -> Error {
    let py = object.py();
    let class = exception.get_type(py);
    if class.is(py.get_type::<PyOverflowError>()) {
        return Error::value(format!("found {}", shown(object))).wanted(T::WANTED);
    }
    if class.is(py.get_type::<PyTypeError>()) {
        return Error::dtype(format!("found a value of type {}", type_name(object))).wanted("an integer");
    }
    carried(py, exception)
}

/// The integer, or its size: Python refuses to write very long ones.
fn shown(object: &Bound<'_, PyAny>) -> String {
    let text = object.str().map(|text| text.to_string()).ok().filter(|text| text.len() <= 50);
    let bits = || object.call_method0("bit_length").and_then(|bits| bits.extract::<u64>());
    text.or_else(|| Some(format!("an integer of {} bits", bits().ok()?))).unwrap_or_else(|| "a long integer".into())
}

/// An integer, or one that may be left out, as a function wants it.
pub trait Named {
    /// The number, or none.
    type Number;

    /// The number.
    ///
    /// Errors: what came is no such integer.
    fn named(self, function: &'static str, argument: &'static str) -> PyResult<Self::Number>;
}

impl<T> Named for Int<T> {
    type Number = T;

    fn named(self, function: &'static str, argument: &'static str) -> PyResult<T> {
        self.0.map_err(|e| e.at(format!("argument '{argument}'")).at(function)).or_raise()
    }
}

impl<T> Named for Option<Int<T>> {
    type Number = Option<T>;

    fn named(self, function: &'static str, argument: &'static str) -> PyResult<Option<T>> {
        self.map(|int| int.named(function, argument)).transpose()
    }
}

/// The numbers of arguments, under the same names.
macro_rules! ints {
    ($function:ident: $($argument:ident),+) => {
        $(let $argument = $crate::int::Named::named($argument, stringify!($function), stringify!($argument))?;)+
    };
}
pub(crate) use ints;
