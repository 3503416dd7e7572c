//! Values of Python classes as core sees them.

use crate::error::OrCarry;
use extenso_core::{Extension, Tensor, Value, without_ops};
use extenso_types::{ExtSpec, Result, TypeDef};
use pyo3::prelude::*;
use std::any::Any;
use std::sync::Arc;

use super::class::{Class, Form};
use super::{PyExtensionBase, base, written};
use crate::arg;
use crate::depth::deeper;

/// An instance of a Python class, as a value of an extension type.
pub enum PyExtension {
    /// An instance of an annotated class, which knows its class.
    Annotated(Py<PyExtensionBase>),
    /// An instance of a class with a spec written by hand.
    Written(Py<PyAny>, Arc<Class>),
}

impl PyExtension {
    /// Wraps an instance of `class`.
    #[inline]
    pub fn new(object: &Bound<'_, PyAny>, class: &Arc<Class>) -> PyExtension {
        match object.cast::<PyExtensionBase>() {
            Ok(base) => PyExtension::Annotated(base.clone().unbind()),
            Err(_) => PyExtension::Written(object.clone().unbind(), class.clone()),
        }
    }

    /// The instance.
    #[inline]
    pub fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.bind(py).clone()
    }

    fn bind<'a, 'py>(&'a self, py: Python<'py>) -> &'a Bound<'py, PyAny> {
        match self {
            PyExtension::Annotated(base) => base.bind(py).as_any(),
            PyExtension::Written(object, _) => object.bind(py),
        }
    }

    fn class(&self) -> &Arc<Class> {
        match self {
            PyExtension::Annotated(base) => base.get().class(),
            PyExtension::Written(_, class) => class,
        }
    }
}

impl Extension for PyExtension {
    fn def(&self) -> &Arc<TypeDef> {
        &self.class().def
    }

    fn spec(&self) -> Result<ExtSpec> {
        Python::attach(|py| {
            let object = self.bind(py);
            without_ops("type_spec", || match &self.class().form {
                Form::Annotated(annotated) => base::spec(self.class(), annotated, object),
                Form::Written => written::spec(object),
            })
            .or_carry(py)
        })
    }

    fn components(&self) -> Result<Vec<Value>> {
        Python::attach(|py| {
            let object = self.bind(py);
            without_ops("to_components", || match &self.class().form {
                Form::Annotated(annotated) => base::components(annotated, object),
                Form::Written => written::components(object),
            })
            .or_carry(py)
        })
    }

    fn to_tensor(&self) -> Option<Result<Tensor>> {
        Python::attach(|py| {
            let convert = self.bind(py).getattr_opt("__extenso_tensor__").transpose()?;
            let made = |convert: Bound<'_, PyAny>| arg::tensor(&convert.call0()?, None);
            let tensor = convert.and_then(|convert| deeper(py, "what `__extenso_tensor__` gives", || made(convert)));
            Some(tensor.or_carry(py))
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
