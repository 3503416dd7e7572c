//! The Python Array API standard: its functions that no op is, its names of dtypes, its constants, what it asks of a module.
//!
//! Invariant: no logic of a function stands here. `book/array_api.md` says where Extenso differs from the standard.

mod dtypes;
mod functions;
mod info;

pub use functions::transposed;
pub use info::{CPU, device};

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The version of the standard.
const VERSION: &str = "2024.12";

/// The names of dtypes in the standard, and our own.
const DTYPES: [(&str, &str); 10] = [
    ("int8", "i8"),
    ("int16", "i16"),
    ("int32", "i32"),
    ("int64", "i64"),
    ("uint8", "u8"),
    ("uint16", "u16"),
    ("uint32", "u32"),
    ("uint64", "u64"),
    ("float32", "f32"),
    ("float64", "f64"),
];

/// Adds everything to the module, which has the dtypes already.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__array_api_version__", VERSION)?;
    module.add("e", std::f64::consts::E)?;
    module.add("inf", f64::INFINITY)?;
    module.add("nan", f64::NAN)?;
    module.add("newaxis", module.py().None())?;
    module.add("pi", std::f64::consts::PI)?;
    DTYPES.iter().try_for_each(|(name, ours)| module.add(*name, module.getattr(*ours)?))?;
    dtypes::add_to(module)?;
    functions::add_to(module)?;
    info::add_to(module)
}

/// The module as the namespace of the standard.
///
/// Errors: another version than the one that it follows.
pub fn namespace<'py>(py: Python<'py>, version: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    use crate::error::OrRaise;
    match version {
        None | Some(VERSION | "2021.12" | "2022.12" | "2023.12") => py.import("extenso").map(Bound::into_any),
        Some(other) => Err(extenso_types::Error::value(format!("version '{other}' of the Array API is asked for"))
            .wanted(format!("'{VERSION}' or an earlier one")))
        .or_raise(),
    }
}

/// A dict of these items, in order.
fn dict<'py, V: IntoPyObject<'py>>(
    py: Python<'py>,
    items: impl IntoIterator<Item = (&'static str, V)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    items.into_iter().try_for_each(|(key, value)| dict.set_item(key, value))?;
    Ok(dict)
}
