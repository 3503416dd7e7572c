//! Numbers, booleans and texts among the arguments of functions that are no ops.
//!
//! Invariant: an object that is none is refused by the function that it was given to, under the name of the argument.

use crate::arg::{is_value, type_name};
use crate::error::{OrRaise, carried};
use extenso_types::{Error, Result};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;

/// What a caller gave, or what is wrong with it.
pub struct Typed<T>(Result<T>);

impl<T> Typed<T> {
    /// A default.
    pub const fn new(value: T) -> Typed<T> {
        Typed(Ok(value))
    }
}

impl<T> From<Result<T>> for Typed<T> {
    fn from(read: Result<T>) -> Typed<T> {
        Typed(read)
    }
}

/// What arguments are.
pub trait Wanted {
    /// What is wanted of the caller.
    const KIND: &'static str;
    /// What is wanted of a number that is too large.
    const RANGE: &'static str = Self::KIND;
}

macro_rules! wanted {
    ($($type:ty: $kind:literal $(, $range:literal)?;)*) => { $(
        impl Wanted for $type {
            const KIND: &'static str = $kind;
            $(const RANGE: &'static str = $range;)?
        }
    )* };
}

wanted! {
    i64: "an integer", "an integer from -2**63 to 2**63 - 1";
    i128: "an integer", "an integer from -2**127 to 2**127 - 1";
    usize: "an integer", "an integer from 0 to 2**64 - 1";
    f64: "a number", "a number that a float of 64 bits holds";
    bool: "`True` or `False`";
    &str: "a string";
    String: "a string";
    PathBuf: "a path: a string, or an `os.PathLike`";
}

impl<'a, 'py, T: Wanted + FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Typed<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Typed<T>> {
        Ok(Typed(object.extract::<T>().map_err(|exception| refused::<T>(&object, exception.into()))))
    }
}

/// What is wrong with an object. What it raised itself comes through: a symbol says that it has no data.
pub fn refused<T: Wanted>(object: &Bound<'_, PyAny>, exception: PyErr) -> Error {
    let py = object.py();
    let class = exception.get_type(py);
    if class.is(py.get_type::<PyOverflowError>()) {
        return Error::value(format!("found {}", shown(object))).wanted(T::RANGE);
    }
    // A value of many elements says that it is not one.
    let many = exception.is_instance_of::<PyValueError>(py) && is_value(object);
    let other = exception.is_instance_of::<PyTypeError>(py) && is_value(object);
    if many || other || class.is(py.get_type::<PyTypeError>()) {
        return Error::dtype(format!("found a value of type {}", type_name(object))).wanted(T::KIND);
    }
    carried(py, exception)
}

/// The number, or its size: Python refuses to write very long integers.
fn shown(object: &Bound<'_, PyAny>) -> String {
    let text = object.str().map(|text| text.to_string()).ok().filter(|text| text.len() <= 50);
    let bits = || object.call_method0("bit_length").and_then(|bits| bits.extract::<u64>());
    text.or_else(|| Some(format!("an integer of {} bits", bits().ok()?))).unwrap_or_else(|| "a long integer".into())
}

/// An argument, or one that may be left out, as a function wants it.
pub trait Named {
    /// What it is, or none.
    type Value;

    /// The value.
    ///
    /// Errors: what came is none.
    fn named(self, function: &'static str, argument: &'static str) -> PyResult<Self::Value>;
}

impl<T> Named for Typed<T> {
    type Value = T;

    fn named(self, function: &'static str, argument: &'static str) -> PyResult<T> {
        self.0.map_err(|e| e.at(format!("argument '{argument}'")).at(function)).or_raise()
    }
}

impl<T> Named for Option<Typed<T>> {
    type Value = Option<T>;

    fn named(self, function: &'static str, argument: &'static str) -> PyResult<Option<T>> {
        self.map(|typed| typed.named(function, argument)).transpose()
    }
}

/// The values of arguments, under the same names.
macro_rules! typed {
    ($function:ident: $($argument:ident),+) => {
        $(let $argument = $crate::typed::Named::named($argument, stringify!($function), stringify!($argument))?;)+
    };
}
pub(crate) use typed;
