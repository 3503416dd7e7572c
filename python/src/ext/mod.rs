//! Extension types written in Python: annotated classes, and classes with a spec written by hand.
//!
//! Invariant: core sees every value of a Python class as a [`PyExtension`], whose definition is the one of its class.

mod annotation;
mod assemble;
mod base;
mod batch;
mod class;
mod convert;
pub mod equal;
mod field;
mod kind;
mod value;
mod written;

pub use assemble::{from_static, join, split};
pub use base::{PyExtensionBase, plain, plain_components};
pub use class::{Annotated, Class, Form, own_attribute};
pub use convert::convert_static;
pub use equal::equal;
pub use value::PyExtension;
pub use written::{deserialized, link_spec_class, name_spec_class, value_class, written_spec};

use crate::arg;
use crate::record::PyStruct;
use crate::value::PyOpaque;
use pyo3::prelude::*;

/// Adds the base class and the questions about extension types to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyExtensionBase>()?;
    module.add_class::<field::PyField>()?;
    module.add_function(wrap_pyfunction!(is_extension_type, module)?)?;
    module.add_function(wrap_pyfunction!(base::extension_from_fields, module)?)
}

/// Whether `value` is a value of an extension type, or a class of such values.
#[pyfunction]
fn is_extension_type(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = match value.cast::<pyo3::types::PyType>() {
        Ok(class) => class.clone(),
        Err(_) => value.get_type(),
    };
    let py = value.py();
    let ours = [py.get_type::<PyExtensionBase>(), py.get_type::<PyStruct>(), py.get_type::<PyOpaque>()];
    for known in ours {
        if class.is_subclass(&known)? {
            return Ok(true);
        }
    }
    arg::is_written_extension(&class)
}
