//! Values of Python classes as core sees them.

use crate::error::OrCarry;
use extenso_core::{Extension, Tensor, Value, without_ops};
use extenso_types::{ExtSpec, Result, TypeDef};
use pyo3::prelude::*;
use std::any::Any;
use std::sync::Arc;

use super::class::{Class, Form};
use super::{base, written};
use crate::arg;

/// An instance of a Python class, as a value of an extension type.
pub struct PyExtension {
    object: Py<PyAny>,
    class: Arc<Class>,
}

impl PyExtension {
    /// Wraps an instance of `class`.
    pub fn new(object: Py<PyAny>, class: Arc<Class>) -> PyExtension {
        PyExtension { object, class }
    }

    /// The instance.
    pub fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.object.bind(py).clone()
    }
}

impl Extension for PyExtension {
    fn def(&self) -> &Arc<TypeDef> {
        &self.class.def
    }

    fn spec(&self) -> Result<ExtSpec> {
        Python::attach(|py| {
            let object = self.object.bind(py);
            without_ops("type_spec", || match &self.class.form {
                Form::Annotated(annotated) => base::spec(&self.class, annotated, object),
                Form::Written => written::spec(object),
            })
            .or_carry(py)
        })
    }

    fn components(&self) -> Result<Vec<Value>> {
        Python::attach(|py| {
            let object = self.object.bind(py);
            without_ops("to_components", || match &self.class.form {
                Form::Annotated(annotated) => base::components(annotated, object),
                Form::Written => written::components(object),
            })
            .or_carry(py)
        })
    }

    fn to_tensor(&self) -> Option<Result<Tensor>> {
        Python::attach(|py| {
            let convert = self.object.bind(py).getattr_opt("__extenso_tensor__").transpose()?;
            let tensor = convert.and_then(|convert| arg::tensor(&convert.call0()?, None));
            Some(tensor.or_carry(py))
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
